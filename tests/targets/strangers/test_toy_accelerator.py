"""Whole models on the toy accelerator of `examples/targets/`, which is outside of the package."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterator
from types import ModuleType

import numpy as np
import pytest

import relay
from relay import te
from relay.base.diagnostics import RelayError
from relay.driver.build import compile_stages
from relay.runtime.devices.device import StartedLaunch
from relay.tir.passes.insert_awaits import insert_awaits
from relay.tir.text.parser import parse_primfunc
from relay.tir.text.printer import print_primfunc
from relay.tir.verification.verifier import verify
from tests.targets.strangers.programs import cnn, dense, kept, lstm, mlp, normal


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[object]:
    """The simulator, registered as its package would be by entry points."""
    monkeypatch.syspath_prepend(str(request.config.rootpath / "examples" / "targets" / "toy_accelerator"))
    toy_accelerator = importlib.import_module("toy_accelerator")
    opened = toy_accelerator.open_device(0)
    relay.register_target(toy_accelerator.KIND)
    relay.register_device("toy_accelerator", lambda _: opened, replace=True)
    yield opened
    relay.unregister_target("toy_accelerator")


@pytest.fixture
def instructions(device: object) -> ModuleType:
    return importlib.import_module("toy_accelerator.instructions")


def refusals(program: object) -> list[str]:
    return [reason for each in compile_stages(program, "toy_accelerator").called_kernels for reason in each.refusals]


ALL_ELSE = "toy_accelerator: it multiplies two matrices, and leaves all else to the host"


@pytest.mark.parametrize(
    ("program", "inputs", "products"),
    [
        (mlp(units=16), (normal(8, 16, seed=11),), 8 + 8),
        (cnn(batch=8, units=8), (normal(8, 3, 8, 8, seed=12),), 8),
        (lstm(batch=8, size=8), (np.int32(3), normal(8, 8, seed=13), normal(32, 16, seed=14)), 3 * 8),
    ],
    ids=["mlp", "cnn", "lstm"],
)
def test_products_run_there_and_the_rest_on_the_host(device, program, inputs, products):
    built = relay.build(program, target="toy_accelerator")
    np.testing.assert_allclose(built(*inputs), relay.build(program)(*inputs), rtol=1e-4, atol=1e-6)
    assert device.executed["Gemm"] == products, "of 8 x 8 x 8"
    assert set(refusals(program)) == {ALL_ELSE}


KEPT = kept(size=8)


@pytest.mark.parametrize("program", KEPT.values(), ids=KEPT)
def test_what_holds_tensors_holds_them_on_the_device(device, program):
    """However many there are, the two inputs go there, and the result comes back."""
    built, host = relay.build(program, target="toy_accelerator"), relay.build(program)
    x, w = normal(8, 8, seed=51), 0.3 * normal(8, 8, seed=52)
    built(np.int32(1), x, w)  # brings the constants
    for count in (3, 9):
        copied = Counter(device.copied)
        result = built(np.int32(count), x, w)
        copied = Counter(device.copied) - copied
        assert (copied["upload"], copied["download"]) == (2, 1)
        np.testing.assert_allclose(result, host(np.int32(count), x, w), rtol=1e-4, atol=1e-6)


def test_a_layer_is_one_program(device, instructions):
    x = relay.var("x", shape=(8, 8))
    stages = compile_stages(relay.Function([x], relay.nn.relu(dense(x, 8, 8, 1))), "toy_accelerator")
    (region,) = stages.program.device_regions
    (call,) = region.region.calls
    (kernel,) = [each for each in stages.kernels if each.target.device_kind == "toy_accelerator"]
    assert call.kernel == kernel.info.name
    program = instructions.decode(kernel.target.module(kernel.lowered()).data)
    assert [type(each).__name__ for each in program.instructions] == [
        "Fill", "Fetch", "Signal", "Fetch", "Signal", "Await", "Gemm", "Load", "Alu", "Fill", "Alu", "Store",
    ]  # fmt: skip
    assert program.elements == (64, 64, 8, 64)


def product(rows: int, columns: int, depth: int) -> relay.Function:
    x, w = relay.var("x", shape=(rows, depth)), relay.var("w", shape=(columns, depth))
    return relay.Function([x, w], relay.nn.dense(x, w))


def without(*kinds: type[te.Step]) -> Callable[..., tuple[te.Step, ...]]:
    """The accelerator's schedules but for some steps."""
    schedules = importlib.import_module("toy_accelerator.schedules")
    schedule = schedules.schedule
    return lambda group, machine: tuple(step for step in schedule(group, machine) if not isinstance(step, kinds))


def test_copies_overlap_with_products(device, monkeypatch):
    """With double buffering the queue fetches the next tiles while the core multiplies these: nearly twice as fast."""
    inputs = normal(8, 64, seed=21), normal(16, 64, seed=22)
    results: list[np.ndarray] = []
    cycles: list[int] = []
    for left_out in ((), (te.DoubleBuffer,), (te.DoubleBuffer, te.IssueTo)):
        monkeypatch.setattr("toy_accelerator.kernels.schedule", without(*left_out))
        device.cycles = 0
        results.append(relay.build(product(8, 16, 64), target="toy_accelerator")(*inputs))
        cycles.append(device.cycles)
    ahead, awaited_at_once, by_the_core = cycles
    assert ahead < 0.65 * by_the_core
    assert awaited_at_once == by_the_core + 16, "of each of the products, the queue begins a cycle later"
    for result in results:
        np.testing.assert_array_equal(result, results[0])
    np.testing.assert_allclose(results[0], inputs[0] @ inputs[1].T, rtol=1e-4, atol=1e-5)


MODULES = ("kernels", "schedules", "writing", "instructions")


def test_products_begin_when_the_first_of_many_tiles_is_there(device):
    """The tiles of one factor are fetched for all products of a sum, one by one, as the queue takes them: each product
    awaits its own."""
    kernels, schedules, writing, instructions = map(
        importlib.import_module, (f"toy_accelerator.{each}" for each in MODULES)
    )
    a, b = te.placeholder((3, 8, 8), "float32", "a"), te.placeholder((3, 8, 8), "float32", "b")
    t, k = te.reduce_axis(3, "t"), te.reduce_axis(8, "k")
    c = te.compute((8, 8), lambda i, j: te.sum(a[t, i, k] * b[t, j, k], axis=(t, k)), name="c")
    numbers = normal(3, 8, 8, seed=31), normal(3, 8, 8, seed=32), np.zeros((8, 8), np.float32)
    cycles: list[int] = []
    awaits: list[list[int]] = []
    for in_turns in (False, True):
        s = te.ScheduleBuilder(c, kernels.MACHINE)
        sums = s.cache_write("c", schedules.ACCUMULATOR)
        rows, columns, _, _ = s.tile("c", "i", "j", 8, 8)
        s.compute_at(sums, "c", columns)
        s.reorder(sums, "t", "i", "j", "k")
        panel = s.cache_read("a", schedules.INPUTS, (sums,))
        s.compute_at(panel, "c", rows)
        if in_turns:
            s.issue_to(panel, schedules.QUEUE, s.loops(panel)[0])
        s.compute_at(s.cache_read("b", schedules.INPUTS, (sums,)), sums, "t")
        s.tensorize(sums, "i", schedules.GEMM)
        func = te.lower(c, [a, b], s.steps, "panel", kernels.ToyAcceleratorKernels.intrinsics, kernels.MACHINE)
        assert verify(func) == ()
        program = instructions.decode(instructions.encode(writing.written(func, {})))
        awaits.append([each.count for each in program.instructions if type(each).__name__ == "Await"])
        device.cycles = 0
        memory = tuple(memoryview(each.reshape(-1).view(np.uint8)) for each in numbers)
        device.run(program, StartedLaunch("panel", (1, 1, 1), (1, 1, 1), 0, memory, ()))
        cycles.append(device.cycles)
        np.testing.assert_allclose(numbers[2], np.einsum("tik,tjk->ij", *numbers[:2]), rtol=1e-4, atol=1e-5)
    assert awaits == [[], [1, 1, 1]]
    assert cycles[0] - cycles[1] > 64, "the copies of two of three tiles are done while the core loads and multiplies"


PANEL = """primfunc panel(a: float32[n, 8, 8], b: float32[n, 8, 8]) -> (c: float32[8, 8]) symbols (n) {
  alloc sums: float32[8, 8] accumulator {
    serial i0 in 8 { serial j0 in 8 { sums[i0, j0] = float32(0.0); } }
    alloc tiles: float32[3, 8, 8] inputs {
      serial r in EXTENT { COPY { serial i1 in 8 { serial j1 in 8 { tiles[r, i1, j1] = a[r, i1, j1]; } } } }
      serial t in EXTENT {
        alloc other: float32[1, 8, 8] inputs {
          serial i2 in 8 { serial j2 in 8 { other[0, i2, j2] = b[t, i2, j2]; } }
          evaluate call("toy.gemm", float32, sums[0, 0], tiles[t, 0, 0], other[0, 0, 0]);
        }
      }
    }
    serial i3 in 8 { serial j3 in 8 { c[i3, j3] = sums[i3, j3]; } }
  }
}"""


@pytest.mark.parametrize("tiles", [1, 2, 3])
def test_products_begin_when_the_first_tile_is_there_however_many_a_call_has(device, tiles):
    """Awaits of a number that only a call knows let as much overlap as those of a constant."""
    kernels, writing = (importlib.import_module(f"toy_accelerator.{each}") for each in ("kernels", "writing"))
    numbers = normal(tiles, 8, 8, seed=41), normal(tiles, 8, 8, seed=42), np.zeros((8, 8), np.float32)
    cycles: list[int] = []
    for copy, extent in (("serial once in 1", "min(n, 3)"), ("issue fetch", "min(n, 3)"), ("issue fetch", str(tiles))):
        text = PANEL.replace("COPY", copy).replace("EXTENT", extent)
        func = insert_awaits(parse_primfunc(text, hierarchy=kernels.MACHINE))
        if extent == "min(n, 3)":
            assert verify(func) == ()
        program = writing.written(func, dict.fromkeys(func.symbols, tiles))
        device.cycles = 0
        memory = tuple(memoryview(each.reshape(-1).view(np.uint8)) for each in numbers)
        device.run(program, StartedLaunch("panel", (1, 1, 1), (1, 1, 1), 0, memory, ()))
        cycles.append(device.cycles)
        np.testing.assert_allclose(numbers[2], np.einsum("tik,tjk->ij", *numbers[:2]), rtol=1e-4, atol=1e-5)
    by_the_core, of_symbol, of_constant = cycles
    assert of_symbol == of_constant
    assert by_the_core - of_symbol == 32 * (tiles - 1) - tiles, "but for the first, copies are done beside products"


def test_tiles_are_fetched_one_product_ahead(device, instructions):
    stages = compile_stages(product(8, 8, 24), "toy_accelerator")
    (kernel,) = [each for each in stages.kernels if each.target.device_kind == "toy_accelerator"]
    program = instructions.decode(kernel.target.module(kernel.lowered()).data)
    words = [
        f"{type(each).__name__} {each.count}" if isinstance(each, instructions.Await) else type(each).__name__
        for each in program.instructions
    ]
    pair = ["Fetch", "Signal", "Fetch", "Signal"]
    assert words == ["Fill", *pair, *(*pair, "Await 2", "Gemm") * 2, "Await 2", "Gemm", "Store"]
    used = [(each.left, each.right) for each in program.instructions if isinstance(each, instructions.Gemm)]
    assert used == [(0, 2), (1, 3), (0, 2)]


@pytest.mark.parametrize(
    "after",
    [
        lambda y, x, b: relay.multiply(y, y),
        lambda y, x, b: relay.subtract(x, y),
        lambda y, x, b: relay.maximum(relay.add(y, b), relay.const(0.5)),
        lambda y, x, b: relay.reshape(relay.nn.relu(y), (4, 32)),
    ],
    ids=["square", "residual", "column", "reshape"],
)
def test_formulas_of_a_product_run_there_with_it(device, after):
    x, w, b = relay.var("x", shape=(16, 8)), relay.var("w", shape=(8, 8)), relay.var("b", shape=(16, 1))
    program = relay.Function([x, w, b], after(relay.nn.dense(x, w), x, b))
    inputs = normal(16, 8, seed=17), normal(8, 8, seed=18), normal(16, 1, seed=19)
    assert refusals(program) == []
    results = relay.build(program, target="toy_accelerator")(*inputs), relay.build(program)(*inputs)
    for one, other in zip(*(each if isinstance(each, tuple) else (each,) for each in results), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def test_several_results_of_a_product_are_the_hosts(device):
    x, w = relay.var("x", shape=(16, 8)), relay.var("w", shape=(8, 8))
    product = relay.nn.dense(x, w)
    program = relay.Function([x, w], relay.Tuple([product, relay.nn.relu(product), x]))
    assert refusals(program) == ["toy_accelerator: it multiplies two matrices, and leaves all else to the host"]
    inputs = normal(16, 8, seed=17), normal(8, 8, seed=18)
    results = relay.build(program, target="toy_accelerator")(*inputs), relay.build(program)(*inputs)
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("shape", "units", "after", "reason"),
    [
        ((8, 16), 12, None, "its tiles are 8 × 8, and 12 is no multiple of 8"),
        ((8, 12), 16, None, "its tiles are 8 × 8, and 12 is no multiple of 8"),
        (("n", 16), 16, None, "its programs have no loops, and only calls tell the extent n"),
        ((8, 16), 16, relay.exp, "its ALU has no exp"),
        ((512, 512), 512, None, "its programs have at most 4096 instructions"),
    ],
    ids=["columns", "depth", "symbolic", "formula", "long"],
)
def test_what_it_does_not_do_it_refuses_with_a_reason(device, shape, units, after, reason):
    x = relay.var("x", shape=shape)
    layer = relay.nn.dense(x, relay.var("w", shape=(units, shape[1])))
    program = relay.Function(relay.analysis.free_vars(layer), layer if after is None else after(layer))
    assert refusals(program) == [f"toy_accelerator: {reason}"]


def test_a_factor_that_is_no_block_as_it_lies(device):
    """Its `gemm` takes tiles of the second factor by columns; `matmul` has them by rows."""
    x, w = relay.var("x", shape=(8, 16)), relay.var("w", shape=(16, 8))
    program = relay.Function([x, w], relay.nn.matmul(x, w))
    (reason,) = refusals(program)
    assert reason == "toy_accelerator: an instruction works on blocks, and what is read of `p1.inputs` is none"
    inputs = normal(8, 16, seed=17), normal(16, 8, seed=18)
    result = relay.build(program, target="toy_accelerator")(*inputs)
    np.testing.assert_allclose(result, inputs[0] @ inputs[1], rtol=1e-4, atol=1e-5)


PLANTED = {
    "sums that nobody clears": (
        ".accumulator[i0.init, i1.init] = float32(0.0);",
        ".accumulator[0, 0] = float32(0.0);",
        "uninitialized-read",
    ),
    "a row that is not fetched": ("serial i0 in 8", "serial i0 in 7", "uninitialized-read"),
    "a product that ends outside": (
        "p0.inputs[k.outer % 2, 0, 0]",
        "p0.inputs[k.outer % 2, 1, 0]",
        "index-out-of-range",
    ),
    "a copy of the last product": ("p0.inputs[(k.outer + 1) % 2, ", "p0.inputs[k.outer % 2, ", "queue-race"),
}


@pytest.mark.parametrize(("right", "wrong", "rule"), PLANTED.values(), ids=PLANTED)
def test_what_its_products_touch_is_verified(device, right, wrong, rule):
    kernels = compile_stages(product(8, 8, 24), "toy_accelerator").kernels
    (kernel,) = [each for each in kernels if each.target.device_kind == "toy_accelerator"]
    text = print_primfunc(kernel.loops())
    assert right in text
    machine = kernel.target.hierarchy
    assert verify(parse_primfunc(text, hierarchy=machine)) == ()
    (found,) = {each.rule for each in verify(parse_primfunc(text.replace(right, wrong), hierarchy=machine))}
    assert found == rule


def test_numbers_that_are_no_float32(device):
    x, w = relay.var("x", shape=(8, 8), dtype="int32"), relay.var("w", shape=(8, 8), dtype="int32")
    (reason,) = refusals(relay.Function([x, w], relay.nn.dense(x, w)))
    assert reason == "toy_accelerator: it multiplies float32, and no int32"


def test_a_saved_model_needs_the_device_and_no_compiler(device, tmp_path):
    relay.build(mlp(units=16), target="toy_accelerator").save(tmp_path / "mlp.rlx")
    loaded = relay.load(tmp_path / "mlp.rlx")
    assert [(each.kind, each.formats) for each in loaded.manifest.devices] == [
        ("toy_accelerator", ("toy-accelerator-1",))
    ]
    x = normal(8, 16, seed=16)
    np.testing.assert_allclose(loaded(x), relay.build(mlp(units=16))(x), rtol=1e-4, atol=1e-6)


def test_instructions_are_read_as_they_were_written(instructions):
    i = instructions
    place = i.Place(1, 3, 8, 1)
    program = i.TileProgram(
        (64, 80),
        (i.Load(0, place), i.Load(1, place), i.Fill(4, -1.5), i.Gemm(4, 0, 1), i.Alu(i.AluOp.MAXIMUM, 5, 4, 4),
         i.Fetch(2, place), i.Signal(), i.Await(1), i.Store(5, i.Place(0, 0, 0, 1))),
    )  # fmt: skip
    assert i.decode(i.encode(program)) == program


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda i, data: b"", "ends within its head"),
        (lambda i, data: data[:-1], "not all of it"),
        (lambda i, data: b"GPU!" + data[4:], "no program of a toy accelerator"),
        (lambda i, data: data[:12] + b"\x09" + data[13:], "9 is not a valid Code"),
        (lambda i, data: i.encode(i.TileProgram((64,), (i.Store(4, i.Place(0, 1, 8, 1)),))), "leaves its buffer"),
        (lambda i, data: i.encode(i.TileProgram((64,), (i.Load(0, i.Place(1, 0, 8, 1)),))), "leaves its buffer"),
        (lambda i, data: i.encode(i.TileProgram((), (i.Gemm(4, 0, 5),))), "not in its memory"),
        (lambda i, data: i.encode(i.TileProgram((), (i.Fill(12, 0.0),))), "not in its memory"),
        (lambda i, data: i.encode(i.TileProgram((64,), (i.Fetch(4, i.Place(0, 0, 8, 1)),))), "not in its memory"),
        (lambda i, data: i.encode(i.TileProgram((), (i.Signal(), i.Await(2)))), "awaits 2 signals, and 1 are given"),
        (lambda i, data: i.encode(i.TileProgram((64,), (i.Fetch(0, i.Place(0, 0, 8, 1)),))), "ends before its queue"),
    ],
    ids=["empty", "cut", "magic", "code", "behind", "buffer", "factor", "tile", "fetch", "await", "end"],
)
def test_the_device_loads_no_broken_program(device, instructions, change, message):
    data = instructions.encode(instructions.TileProgram((64,), (instructions.Load(0, instructions.Place(0, 0, 8, 1)),)))
    with pytest.raises(ValueError, match=message):
        device.load_module("toy-accelerator-1", change(instructions, data))


def test_it_has_no_flags(device):
    with pytest.raises(RelayError) as caught:
        relay.build(mlp(), target="toy_accelerator -fast")
    assert (caught.value.rule, caught.value.found) == ("toy-accelerator-flag", "-fast")
