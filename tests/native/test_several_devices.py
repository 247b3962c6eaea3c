"""Programs that say on which device what runs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import relay
from relay.base.diagnostics import RelayError
from relay.driver.build import compile_stages
from relay.driver.compilation import Compilation
from relay.runtime.devices.table import LEAST_BYTES
from relay.transform import PlanDevices
from tests.lower.interpreting import run_as_text
from tests.messages import check_message
from tests.native.test_device_regions import KIND, Frame, FrameKernels, FrameKind

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


CUDA = """#[version = "0.0.5"]
def @main(%x: Tensor[(4), float32]) { tanh(on_device(exp(%x), device="cuda")) }
"""


@pytest.fixture
def frames() -> Iterator[dict[int, Frame]]:
    """The devices that programs open, by their indices. They have no `sort`."""
    opened: dict[int, Frame] = {}
    relay.register_target(FrameKind(FrameKernels(frozenset({"sort"}))))
    relay.register_device(KIND, lambda index: opened.setdefault(index, Frame()), replace=True)
    yield opened
    relay.unregister_target(KIND)


def there(value: relay.Expr, index: int | None = None, result: bool = False) -> relay.Expr:
    device = KIND if index is None else f"{KIND}:{index}"
    return relay.annotation.on_device(value, device, constrain_result=result)


def here(value: relay.Expr, result: bool = False) -> relay.Expr:
    return relay.annotation.on_device(value, "cpu", constrain_result=result)


def program(make: object) -> relay.Function:
    x = relay.var("x", shape=("n", 4))
    return relay.Function([x], make(x))


PROGRAMS = {
    "all on the host": (lambda x: here(relay.exp(relay.tanh(x)), result=True), {}, ["fused_tanh_exp"]),
    "one step on the host": (lambda x: relay.tanh(here(relay.exp(relay.nn.relu(x)))), {0: 1}, ["fused_nn_relu_exp"]),
    "one step on another": (lambda x: relay.tanh(there(relay.exp(x), 1)), {0: 1, 1: 1}, []),
    "the first by its kind": (lambda x: relay.tanh(there(relay.exp(x))), {0: 1}, []),
    "a copy that is written": (
        lambda x: relay.tanh(relay.device_copy(relay.exp(x), f"{KIND}:1", f"{KIND}:0")), {0: 1, 1: 1}, []),
    "three, and both ways": (
        lambda x: relay.add(there(relay.exp(x), 1), there(relay.tanh(here(relay.sqrt(relay.abs(there(x, 1))))), 2)),
        {0: 1, 1: 1, 2: 1}, ["fused_abs_sqrt"]),
    "what it refuses": (lambda x: relay.tanh(there(relay.sort(x), 1)), {0: 1}, ["fused_sort"]),
}  # fmt: skip


@pytest.mark.parametrize(("make", "launches", "on_the_host"), PROGRAMS.values(), ids=PROGRAMS)
def test_annotations_choose_devices(frames, make, launches, on_the_host):
    module = relay.IRModule.from_expr(program(make))
    stages = compile_stages(module, KIND)
    assert [each.info.name.rpartition("_")[0] for each in stages.called_kernels] == on_the_host
    built = relay.build(module, target=KIND)
    np.testing.assert_allclose(built(X), plain(module)(X), rtol=1e-5)
    assert {index: frame.asked.count("run") for index, frame in frames.items()} == launches
    assert sorted(each.index for each in built.manifest.devices) == sorted(launches)
    np.testing.assert_allclose(run_as_text(module, target=KIND)(X), plain(module)(X), rtol=1e-5)


def plain(module: relay.IRModule) -> object:
    return relay.create_executor("interpreter", module).evaluate()


def refusals(stages: Compilation) -> list[tuple[str, ...]]:
    return [each.refusals for each in stages.called_kernels]


def test_only_what_is_refused_has_a_reason(frames):
    refused, chosen = (
        compile_stages(program(PROGRAMS[each][0]), KIND) for each in ("what it refuses", "all on the host")
    )
    assert refusals(refused) == [(f"{KIND}: it has no sort",)]
    assert refusals(chosen) == [()]


def test_a_planned_module_is_placed_as_it_says(frames):
    module = relay.IRModule.from_expr(program(PROGRAMS["one step on another"][0]))
    built = relay.build(PlanDevices(f"{KIND}:2")(module), target=KIND)
    np.testing.assert_allclose(built(X), plain(module)(X), rtol=1e-5)
    assert {index: frame.asked.count("run") for index, frame in frames.items()} == {1: 1, 2: 1}


def test_a_loop_keeps_its_state_on_the_device_that_it_says(frames):
    module = relay.parse(f"""#[version = "0.0.5"]
def @loop(%i: int32, %x: Tensor[(3, 4), float32]) -> Tensor[(3, 4), float32] {{
  if (%i == 0) {{ %x }} else {{ @loop(%i - 1, on_device(tanh(%x), device="{KIND}:1", constrain_result=True)) }}
}}
def @main(%n: int32, %x: Tensor[(3, 4), float32]) {{ @loop(%n, %x) }}
""")
    built = relay.build(module, target=KIND)
    np.testing.assert_allclose(built(np.int32(4), X), plain(module)(np.int32(4), X), rtol=1e-5)
    (frame,) = [frame for index, frame in frames.items() if index == 1]
    assert (frame.asked.count("run"), frame.asked.count("upload"), frame.asked.count("download")) == (4, 1, 1)


def test_another_kind_is_refused(frames):
    with pytest.raises(RelayError) as caught:
        relay.build(relay.parse(CUDA), target=KIND)
    check_message("transform", "no-back-end-of-two", caught.value)


def older(frame: Frame) -> Frame:
    """A device whose table ends before what a table may do without."""
    frame._table.table_bytes = LEAST_BYTES
    return frame


def ring(index: int, step: relay.Expr) -> relay.Expr:
    return there(relay.tanh(step), index)


@pytest.mark.parametrize("is_older", [False, True])
@pytest.mark.parametrize("rows", [3, 0])
def test_tensors_go_from_device_to_device(is_older: bool, rows: int):
    opened: dict[int, Frame] = {}

    def opens(index: int) -> Frame:
        return opened.setdefault(index, older(Frame()) if is_older else Frame())

    relay.register_target(FrameKind(FrameKernels()))
    relay.register_device(KIND, opens, replace=True)
    module = relay.IRModule.from_expr(program(lambda x: ring(2, ring(1, ring(0, x)))))
    built = relay.build(module, target=KIND)
    data = np.linspace(-1, 1, 4 * rows, dtype=np.float32).reshape(rows, 4)
    np.testing.assert_allclose(built(data), plain(module)(data), rtol=1e-5)
    np.testing.assert_allclose(run_as_text(module, target=KIND)(data), plain(module)(data), rtol=1e-5)
    built(data)
    held = {index: frame.held for index, frame in opened.items()}
    for frame in opened.values():
        frame.asked.clear()
    built(data)
    asked = {index: [frame.asked.count(each) for each in COPIES] for index, frame in opened.items()}
    if not rows:
        assert asked == {0: [0, 0, 0], 1: [0, 0, 0], 2: [0, 0, 0]}
    elif is_older:
        assert asked == {0: [1, 1, 0], 1: [1, 1, 0], 2: [1, 1, 0]}, "up and down at each step"
    else:
        assert asked == {0: [1, 0, 0], 1: [0, 0, 1], 2: [0, 1, 1]}, "each has it of the one before"
    assert {index: frame.held for index, frame in opened.items()} == held
    relay.unregister_target(KIND)


COPIES = "upload", "download", "copy_from"


def test_a_copy_that_fails_is_told(frames):
    module = relay.IRModule.from_expr(program(lambda x: ring(1, ring(0, x))))
    built = relay.build(module, target=KIND)
    expected = built(X)
    held = {index: frame.held for index, frame in frames.items()}
    frames[1].fails = frozenset({"copy_from"})
    with pytest.raises(RelayError, match="could not run its part on a device") as caught:
        built(X)
    assert caught.value.found == f"{KIND}:1: ValueError: no copy_from today"
    assert {index: frame.held for index, frame in frames.items()} == held
    frames[1].fails = frozenset()
    np.testing.assert_array_equal(built(X), expected)


@pytest.mark.parametrize(("index", "function"), [(0, "download"), (1, "upload")])
def test_an_older_device_that_fails_on_the_way_by_the_host(frames, index: int, function: str):
    module = relay.IRModule.from_expr(program(lambda x: ring(1, ring(0, x))))
    built = relay.build(module, target=KIND)
    older(frames[1])
    expected = built(X)
    frames[index].fails = frozenset({function})
    with pytest.raises(RelayError) as caught:
        built(X)
    assert caught.value.found == f"{KIND}:{index}: ValueError: no {function} today"
    frames[index].fails = frozenset()
    np.testing.assert_array_equal(built(X), expected)
