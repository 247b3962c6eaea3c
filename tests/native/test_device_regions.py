"""Regions of programs that run on a device, and what a device may do wrong."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

import relay
from relay.arith.expr import evaluate
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.target import PROTOCOL_VERSION, Target
from relay.driver.build import compile_stages
from relay.ir.expr import Call, Function, Op
from relay.ir.traversal import post_order
from relay.lower.program.launch import Access, BufferArgument, KernelModule, Launch, ScalarArgument
from relay.lower.targets import LoopTarget, Refused, Supported
from relay.ops.indexing.check_indices import check_indices
from relay.runtime.devices.device import PythonDevice, StartedLaunch
from relay.runtime.devices.table import LEAST_BYTES
from relay.runtime.executable import Executable
from relay.runtime.values.values import DataValue
from relay.tir.interpretation.interpreter import interpret
from relay.tir.pipeline import lower
from relay.tir.stmt import PrimFunc
from relay.tir.text.parser import parse_primfunc
from relay.tir.text.printer import print_primfunc
from tests.lower.interpreting import run_as_text

KIND = "counting_frame"


@frozen
class FrameTarget(Target):
    kind: ClassVar[str] = KIND

    def __str__(self) -> str:
        return KIND


@frozen
class FrameKernels(LoopTarget):
    """Makes tir text of every kernel but those of `refused` operators."""

    refused: frozenset[str] = frozenset()
    device_kind: str = KIND
    target: Target = FrameTarget()

    def supports(self, group: Function) -> Supported | Refused:
        calls = (node.op for node in post_order(group.body) if isinstance(node, Call))
        refused = self.refused.intersection(op.name for op in calls if isinstance(op, Op))
        return Refused(f"it has no {min(refused)}") if refused else Supported()

    def schedule(self, group: object) -> tuple[()]:
        return ()

    def lower(self, function: PrimFunc) -> PrimFunc:
        return lower(function)

    def module(self, function: PrimFunc) -> KernelModule:
        return _module(function)


def _module(function: PrimFunc) -> KernelModule:
    inputs = len(function.parameters) - len(function.outputs)
    buffers = (BufferArgument(i, Access.READ if i < inputs else Access.WRITE) for i in range(len(function.parameters)))
    launch = Launch(function.name, (*buffers, *map(ScalarArgument, function.symbols)))
    return KernelModule("tir", print_primfunc(function).encode(), (launch,))


@dataclass
class FrameKind:
    kernels: FrameKernels
    name: str = KIND
    protocol_version: int = PROTOCOL_VERSION

    def parse(self, flags: Sequence[str]) -> Target:
        return FrameTarget()

    def resolve(self, target: Target) -> Target:
        return target

    def kernel_target(self, target: Target) -> FrameKernels:
        return self.kernels

    def host_target(self, target: Target) -> None:
        return None


@dataclass
class Frame(PythonDevice):
    """Counts what it is asked; `fails` names the functions that go wrong."""

    fails: frozenset[str] = frozenset()
    asked: list[str] = field(default_factory=list)
    left: int = 0

    def __post_init__(self) -> None:
        super().__init__()

    def fails_behind(self, name: str, good: int) -> None:
        """From then on `name` goes wrong, but for so many times."""
        self.fails, self.left = frozenset({name}), good

    def _ask(self, name: str) -> None:
        self.asked.append(name)
        if name in self.fails:
            self.left -= 1
        if name in self.fails and self.left < 0:
            raise ValueError(f"no {name} today")

    def allocate(self, size_bytes: int) -> int:
        self._ask("allocate")
        return super().allocate(size_bytes)

    def release(self, handle: int) -> None:
        self.asked.append("release")
        super().release(handle)

    def upload(self, to: int, offset: int, source: int, size_bytes: int) -> int:
        self._ask("upload")
        return super().upload(to, offset, source, size_bytes)

    def download(self, target: int, source: int, offset: int, size_bytes: int) -> int:
        self._ask("download")
        return super().download(target, source, offset, size_bytes)

    def copy_from(self, to: int, to_offset: int, device: int, source: int, offset: int, size_bytes: int) -> int:
        self._ask("copy_from")
        return super().copy_from(to, to_offset, device, source, offset, size_bytes)

    def record(self, commands: object, command_count: int) -> int:
        self._ask("record")
        return super().record(commands, command_count)

    def wait(self, event: int, timeout_nanoseconds: int) -> int:
        self._ask("wait")
        return super().wait(event, timeout_nanoseconds)

    def load_module(self, form: str, data: bytes) -> PrimFunc:
        self._ask("load")
        assert form == "tir"
        return parse_primfunc(data.decode())

    def run(self, module: PrimFunc, launch: StartedLaunch) -> None:
        self._ask("run")
        symbols = dict(zip(module.symbols, launch.scalars, strict=True))
        arrays = [
            np.ndarray([evaluate(extent, symbols) for extent in each.shape], each.dtype.numpy, memory)
            for each, memory in zip(module.parameters, launch.buffers, strict=True)
        ]
        interpret(module, arrays, symbols)

    @property
    def launched(self) -> bool:
        return "run" in self.asked

    @property
    def held(self) -> int:
        return len(self._owned)


@pytest.fixture(autouse=True)
def _kind_is_forgotten() -> Iterator[None]:
    relay.register_target(FrameKind(FrameKernels()))
    yield
    relay.unregister_target(KIND)


def built(program: object, kernels: FrameKernels, device: PythonDevice) -> Executable:
    relay.register_device(KIND, lambda _: device, replace=True)
    relay.register_target(FrameKind(kernels), replace=True)
    return relay.build(program, target=KIND)


def network() -> relay.Function:
    x = relay.var("x", shape=(4, 8))
    weight = relay.const(np.linspace(-1, 1, 128, dtype=np.float32).reshape(16, 8))
    hidden = relay.nn.relu(relay.nn.dense(x, weight))
    return relay.Function([x], relay.nn.dense(relay.nn.softmax(hidden), relay.const(np.ones((3, 16), np.float32))))


def test_a_whole_program_is_one_region_and_constants_go_there_once():
    device = Frame()
    run = built(network(), FrameKernels(), device)
    x = np.linspace(-2, 2, 32, dtype=np.float32).reshape(4, 8)
    expected = relay.build(network())(x)
    for _ in range(3):
        np.testing.assert_allclose(run(x), expected, rtol=1e-5)
    assert device.asked.count("record") == 1
    assert device.asked.count("upload") == 2 + 3, "two constants, and the input of each call"
    assert device.asked.count("download") == 3


def test_what_the_device_refuses_runs_on_the_host():
    device = Frame()
    target = FrameKernels(frozenset({"nn.softmax"}))
    relay.register_target(FrameKind(target), replace=True)
    stages = compile_stages(network(), KIND)
    assert len(stages.program.device_regions) == 2
    (softmax,) = stages.called_kernels
    assert softmax.refusals == ("counting_frame: it has no nn.softmax",)
    x = np.linspace(-2, 2, 32, dtype=np.float32).reshape(4, 8)
    np.testing.assert_allclose(built(network(), target, device)(x), relay.build(network())(x), rtol=1e-5)


@pytest.mark.parametrize("refused", [(), ("nn.softmax",)])
def test_the_text_of_a_program_tells_what_runs_on_the_device(refused: tuple[str, ...]):
    relay.register_target(FrameKind(FrameKernels(frozenset(refused))), replace=True)
    x = np.linspace(-2, 2, 32, dtype=np.float32).reshape(4, 8)
    np.testing.assert_allclose(run_as_text(network(), target=KIND)(x), relay.build(network())(x), rtol=1e-5)


def test_extents_that_calls_tell():
    program = relay.parse(
        '#[version = "0.0.5"]\ndef @main(%x: Tensor[(n, 3), float32]) { nn.softmax(exp(multiply(%x, %x))) }'
    )
    run = built(program, FrameKernels(), Frame())
    for rows in (1, 5, 2, 9):
        x = np.linspace(-1, 1, rows * 3, dtype=np.float32).reshape(rows, 3)
        np.testing.assert_allclose(run(x), relay.build(program)(x), rtol=1e-5)


def test_extents_that_are_computed_of_those():
    x = relay.var("x", shape=("n", 3))
    program = relay.Function([x], relay.nn.softmax(relay.sort(relay.concatenate([x, x], axis=0), axis=0)))
    kernels = FrameKernels(frozenset({"concatenate", "sort"}))
    run = built(program, kernels, Frame())
    relay.register_target(FrameKind(kernels), replace=True)
    assert len(compile_stages(program, KIND).program.device_regions) == 1
    for rows in (1, 4):
        data = np.linspace(-1, 1, rows * 3, dtype=np.float32).reshape(rows, 3)
        np.testing.assert_allclose(run(data), relay.build(program)(data), rtol=1e-5)


def test_what_may_fail_is_the_hosts():
    x, i = relay.var("x", shape=(4, 3)), relay.var("i", shape=(2,), dtype="int32")
    index = check_indices(relay.add(i, relay.const(1, "int32")), (4,), "the table")
    program = relay.Function([x, i], relay.tanh(relay.take(relay.exp(x), index, axis=0)))
    run = built(program, FrameKernels(), Frame())
    data = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
    np.testing.assert_allclose(run(data, np.int32([0, 2])), np.tanh(np.exp(data[[1, 3]])), rtol=1e-5)
    with pytest.raises(RelayError) as caught:
        run(data, np.int32([0, 3]))
    assert (caught.value.rule, caught.value.found) == ("index-out-of-range", "4")
    relay.register_target(FrameKind(FrameKernels()), replace=True)
    (check,) = compile_stages(program, KIND).called_kernels
    assert check.refusals == (f"{KIND}: it tells of no failures",)


def test_what_nobody_wants_is_not_run():
    x = relay.var("x", shape=(2,))
    program = relay.Function([x], relay.Let(relay.var("y"), relay.exp(x), relay.const(1.0)))
    device = Frame()
    relay.register_device(KIND, lambda _: device, replace=True)
    assert relay.build(program, target=KIND, opt_level=0)(np.zeros(2, np.float32)) == 1
    assert not device.launched


def test_threads_take_turns_on_a_device():
    run, plain = built(network(), FrameKernels(), Frame()), relay.build(network())
    inputs = [np.full((4, 8), seed, np.float32) for seed in range(6)]
    with ThreadPoolExecutor(3) as threads:
        for found, given in zip(threads.map(run, inputs), inputs, strict=True):
            np.testing.assert_allclose(found, plain(given), rtol=1e-5)


def test_regions_inside_of_recursion():
    program = relay.parse(
        """#[version = "0.0.5"]
def @loop(%i: int32, %x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {
  if (%i == 0) { %x } else { @loop(%i - 1, tanh(add(%x, %x))) }
}
def @main(%n: int32, %x: Tensor[(2, 3), float32]) { @loop(%n, %x) }
"""
    )
    device = Frame()
    run = built(program, FrameKernels(frozenset({"equal", "subtract"})), device)
    x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_allclose(run(np.int32(5), x), relay.build(program)(np.int32(5), x), rtol=1e-5)
    assert device.asked.count("run") >= 5
    assert device.asked.count("record") == device.asked.count("load")


LOOP = """#[version = "0.0.5"]
def @loop(%i: int32, %x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {
  if (%i == 0) { %x } else { @loop(%i - 1, reshape(tanh(add(%x, %x)), newshape=[2, 3])) }
}
def @main(%n: int32, %x: Tensor[(2, 3), float32]) { @loop(%n, %x) }
"""


STATE = """#[version = "0.0.5"]
def @loop(%i: int32, %s: (Tensor[(2, 3), float32], Tensor[(2, 3), float32]), %x: Tensor[(2, 3), float32])
    -> (Tensor[(2, 3), float32], Tensor[(2, 3), float32]) {
  if (%i == 0) { %s } else { @loop(%i - 1, (tanh(add(%s.0, %x)), multiply(%s.1, %s.0)), %x) }
}
def @main(%n: int32, %x: Tensor[(2, 3), float32]) {
  let %s = @loop(%n, (%x, zeros_like(%x)), %x);
  (%s.1, sort(%s.0), %s)
}
"""


NESTED = """#[version = "0.0.5"]
def @loop(%i: int32, %s: ((Tensor[(2, 3), float32], Tensor[(2, 3), float32]), (Tensor[(2, 3), float32],)),
    %x: Tensor[(2, 3), float32])
    -> ((Tensor[(2, 3), float32], Tensor[(2, 3), float32]), (Tensor[(2, 3), float32],)) {
  if (%i == 0) { %s } else {
    let %p = %s.0;
    let %next = (tanh(add(%p.0, %x)), multiply(%p.1, %p.0));
    @loop(%i - 1, (if (%i == 3) { %p } else { %next }, (add(%s.1.0, %next.1),)), %x)
  }
}
def @main(%n: int32, %x: Tensor[(2, 3), float32]) {
  let %s = @loop(%n, ((%x, zeros_like(%x)), (%x,)), %x);
  (%s.0.1, sort(%s.0.0), %s, %s.1)
}
"""


def between() -> relay.Function:
    """Two regions, between which the host sorts what the second reads too."""
    x, weight = relay.var("x", shape=("n", 8)), relay.const(np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8))
    hidden = relay.nn.dense(x, weight)
    return relay.Function([x], relay.add(relay.nn.dense(hidden, weight), relay.sort(hidden)))


CROSSING = {
    "loop": (lambda: relay.parse(LOOP), {"equal", "subtract"}, (np.int32(5), np.ones((2, 3), np.float32) / 9)),
    "state": (
        lambda: relay.parse(STATE),
        {"equal", "subtract", "sort"},
        (np.int32(5), np.ones((2, 3), np.float32) / 9),
    ),
    "nested state": (
        lambda: relay.parse(NESTED),
        {"equal", "subtract", "sort"},
        (np.int32(5), np.ones((2, 3), np.float32) / 9),
    ),
    "between": (between, {"sort"}, (np.linspace(-1, 1, 24, dtype=np.float32).reshape(3, 8),)),
    "nothing": (between, {"sort"}, (np.zeros((0, 8), np.float32),)),
}


@pytest.mark.parametrize(("program", "refused", "inputs"), CROSSING.values(), ids=CROSSING)
def test_tensors_between_regions_stay_on_the_device(program, refused, inputs):
    device, kernels = Frame(), FrameKernels(frozenset(refused))
    run = built(program(), kernels, device)
    expected = relay.build(program())(*inputs)
    for _ in range(2):
        assert_alike(run(*inputs), expected)
    held = device.held
    run(*inputs)
    assert device.held == held, "all that a call made is given back"
    assert_alike(run_as_text(program(), target=KIND)(*inputs), expected)


def assert_alike(found: object, expected: object) -> None:
    if isinstance(expected, DataValue):
        assert found.constructor == expected.constructor
        assert_alike(found.fields, expected.fields)
    elif isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            assert_alike(one, other)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("name", "uploads", "downloads"), [("state", 1, 2), ("nested state", 1, 3)])
def test_the_state_of_a_loop_stays_there_in_tuples(name: str, uploads: int, downloads: int):
    program, refused, inputs = CROSSING[name]
    device = Frame()
    run = built(program(), FrameKernels(frozenset(refused)), device)
    run(*inputs)
    device.asked.clear()
    run(np.int32(9), inputs[1])
    assert device.asked.count("run") >= 9
    assert (device.asked.count("upload"), device.asked.count("download")) == (uploads, downloads)


@pytest.mark.parametrize("function", ["allocate", "run", "upload", "download"])
def test_a_call_that_fails_gives_back_its_tensors(function: str):
    program, refused, inputs = CROSSING["loop"]
    device = Frame()
    run = built(program(), FrameKernels(frozenset(refused)), device)
    expected = run(*inputs)
    held = device.held
    for good in range(device.asked.count(function) // 2):
        device.fails_behind(function, good)
        with pytest.raises(RelayError, match="could not run its part on a device"):
            run(*inputs)
        assert device.held <= held
    device.fails = frozenset()
    np.testing.assert_array_equal(run(*inputs), expected)


def test_a_recursion_that_needs_a_larger_stack_keeps_nothing():
    program = relay.parse(LOOP.replace("@loop(%i - 1, ", "add(%x, @loop(%i - 1, ").replace("[2, 3])) }", "[2, 3]))) }"))
    device = Frame()
    run = built(program, FrameKernels(frozenset({"equal", "subtract"})), device)
    x = np.zeros((2, 3), np.float32)
    run(np.int32(1), x)
    held = device.held
    np.testing.assert_array_equal(run(np.int32(4000), x), x)
    assert device.held == held


@pytest.mark.parametrize("function", ["load", "allocate", "upload", "record", "run", "wait", "download"])
def test_what_goes_wrong_on_the_device_is_told(function: str):
    device = Frame(frozenset({function}))
    run = built(network(), FrameKernels(), device)
    with pytest.raises(RelayError) as caught:
        run(np.zeros((4, 8), np.float32))
    assert caught.value.rule == "device-failed"
    assert caught.value.found == f"counting_frame:0: ValueError: no {function} today"
    device.fails = frozenset()
    run(np.zeros((4, 8), np.float32))


def test_a_program_gives_back_what_it_has_of_the_device():
    device = Frame()
    run = built(network(), FrameKernels(), device)
    run(np.zeros((4, 8), np.float32))
    assert device.held
    del run
    gc.collect()
    assert not device.held


def test_a_device_that_is_not_there():
    relay.register_target(FrameKind(FrameKernels(device_kind="quipu")), replace=True)
    with pytest.raises(RelayError) as caught:
        relay.build(network(), target=KIND)
    assert caught.value.rule == "no-device"
    assert "quipu" in caught.value.message


def test_a_saved_program_says_what_it_needs(tmp_path):
    device = Frame()
    built(network(), FrameKernels(), device).save(tmp_path / "network.rlx")
    loaded = relay.load(tmp_path / "network.rlx")
    (needed,) = loaded.manifest.devices
    assert (needed.kind, needed.index, needed.formats) == (KIND, 0, ("tir",))
    x = np.ones((4, 8), np.float32)
    np.testing.assert_allclose(loaded(x), relay.build(network())(x), rtol=1e-5)


def test_a_device_of_another_version():
    device = Frame()
    device._table.version = 2
    with pytest.raises(RelayError) as caught:
        built(network(), FrameKernels(), device)
    assert caught.value.rule == "device-version"
    device._table.version, device._table.table_bytes = 1, LEAST_BYTES - 8
    with pytest.raises(RelayError) as caught:
        built(network(), FrameKernels(), device)
    assert caught.value.rule == "device-version"


def test_a_device_whose_table_ends_before_what_it_may_do_without():
    device = Frame()
    device._table.table_bytes = LEAST_BYTES
    x = np.ones((4, 8), np.float32)
    np.testing.assert_allclose(built(network(), FrameKernels(), device)(x), relay.build(network())(x), rtol=1e-5)


def test_a_device_is_registered_once():
    relay.register_device("once", lambda _: Frame(), replace=True)
    with pytest.raises(RelayError) as caught:
        relay.register_device("once", lambda _: Frame())
    assert caught.value.rule == "device-exists"
