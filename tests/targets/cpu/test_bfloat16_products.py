"""Products of bfloat16 with constant weights: as near to the exact sums as float32 sums are, rounded once.

Every machine that the host can play runs them: with vdpbf16ps, with tiles, and with neither.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import relay
from relay.base.dtypes import DType
from relay.base.target import Target
from relay.driver.compilation import Compilation
from relay.driver.targets import targets_for
from relay.targets.cpu.host import resolve, supports
from relay.tir.buffer import Buffer
from relay.tir.expr import Broadcast, Call, Load, Ramp
from relay.tir.interpretation.interpreter import interpret
from relay.tir.stmt import PrimFunc, Sequence, Store
from tests.targets.cpu.conftest import AVX2, BASELINE, Run
from tests.targets.cpu.played import AVX512, run_played

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
PLAYED = {"bf16": "+avx512bf16", "tiles": "+amx-tile,+amx-bf16,+amx-int8,+avx512bf16"}
MACHINES = {"native": "llvm", "avx2": AVX2, "baseline": BASELINE}
SHAPES = (
    (1, 1, 1), (7, 3, 15), (15, 4, 17), (17, 5, 31), (1, 6, 67), (5, 7, 130), (2, 61, 1), (33, 17, 31), (67, 129, 40),
)  # fmt: skip


def needs_avx512() -> None:
    if not supports(resolve(Target.parse(f"llvm -mattr={AVX512}"))):
        pytest.skip("the host cannot play this")


@pytest.fixture(params=[*MACHINES, *PLAYED])
def machine(request: pytest.FixtureRequest) -> str:
    if request.param in PLAYED:
        needs_avx512()
    elif not supports(resolve(Target.parse(MACHINES[request.param]))):
        pytest.skip("the host cannot run this")
    return request.param


def results(
    machine: str, bodies: list[relay.Expr], arguments: dict[str, np.ndarray], num_threads: int = 1
) -> list[np.ndarray]:
    """The values of some expressions, compiled as one program."""
    if machine in PLAYED:
        return run_played(bodies, PLAYED[machine], arguments, num_threads)
    body = relay.Tuple(tuple(bodies))
    parameters = relay.analysis.free_vars(body)
    compiled = relay.build(relay.Function(parameters, body), f"{MACHINES[machine]} -num-threads={num_threads}")
    return [np.asarray(value) for value in compiled(*(arguments[each.name_hint] for each in parameters))]


def narrow(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(BFLOAT16)


def check(found: np.ndarray, exact: np.ndarray, magnitude: np.ndarray) -> None:
    """`magnitude` is the sum of the absolute values of what is summed up."""
    ulp = 2.0**-8 if found.dtype == BFLOAT16 else 0.0
    difference = np.abs(found.astype(np.float64) - exact)
    assert np.all(difference <= ulp * np.abs(exact) + 1e-5 * magnitude)


def check_product(found: np.ndarray, x: np.ndarray, w: np.ndarray) -> None:
    x, w = x.astype(np.float64), w.astype(np.float64)
    check(found, x @ w, np.abs(x) @ np.abs(w))


@pytest.mark.parametrize("out_dtype", ["bfloat16", "float32"])
def test_dense(machine: str, out_dtype: str) -> None:
    bodies, arguments = [], {}
    for number, (m, k, n) in enumerate(SHAPES):
        variable = relay.var(f"x{number}", shape=(m, k), dtype="bfloat16")
        arguments[f"x{number}"] = narrow(m, k)
        bodies.append(relay.nn.dense(variable, relay.const(narrow(n, k, seed=1)), out_dtype=out_dtype))
    for found, (m, k, n) in zip(results(machine, bodies, arguments), SHAPES, strict=True):
        assert found.dtype == np.dtype(BFLOAT16 if out_dtype == "bfloat16" else np.float32)
        check_product(found, narrow(m, k), narrow(n, k, seed=1).T)


def test_other_matrices(machine: str) -> None:
    x, y = narrow(2, 5, 11), narrow(11, 19, seed=1)
    variable = relay.var("x", shape=x.shape, dtype="bfloat16")
    flat = relay.var("row", shape=(11,), dtype="bfloat16")
    bodies = [
        relay.nn.matmul(variable, relay.const(y)),
        relay.nn.matmul(variable, relay.const(y.T.copy()), transpose_b=True),
        relay.nn.batch_matmul(variable, relay.const(y[None]), transpose_b=False),
        relay.nn.batch_matmul(variable, relay.const(np.stack([y.T, -y.T]))),
        relay.nn.dense(flat, relay.const(y.T.copy())),
    ]
    found = results(machine, bodies, {"x": x, "row": x[0, 0]})
    for each in found[:3]:
        check_product(each, x, y)
    check_product(found[3], x, np.stack([y, -y]))
    check_product(found[4], x[0, 0], y)


CONVOLUTIONS = (  # channels, outputs, kernel, strides, padding, dilation, groups
    (3, 5, (7, 7), (2, 2), (3, 3), (1, 1), 1),
    (8, 33, (1, 1), (1, 1), (0, 0), (1, 1), 1),
    (5, 16, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    (34, 17, (3, 3), (2, 1), (1, 0, 2, 1), (1, 1), 1),
    (4, 31, (3, 2), (1, 1), (1, 2), (2, 2), 1),
    (1, 1, (1, 1), (2, 2), (0, 0), (1, 1), 1),
    (6, 12, (3, 3), (1, 1), (1, 1), (1, 1), 2),
    (8, 8, (3, 3), (1, 1), (1, 1), (1, 1), 8),
)


def exact_convolutions(magnitude: bool) -> list[np.ndarray]:
    bodies, arguments = [], []
    for channels, outputs, kernel, strides, padding, dilation, groups in CONVOLUTIONS:
        x, w = narrow(2, channels, 9, 13), narrow(outputs, channels // groups, *kernel, seed=1)
        arrays = [np.abs(each.astype(np.float64)) if magnitude else each.astype(np.float64) for each in (x, w)]
        variable = relay.var(f"x{len(bodies)}", shape=x.shape, dtype="float64")
        arguments.append(arrays[0])
        attributes: Any = {"strides": strides, "padding": padding, "dilation": dilation, "groups": groups}
        bodies.append(relay.nn.conv2d(variable, relay.const(arrays[1]), **attributes))
    body = relay.Tuple(tuple(bodies))
    compiled = relay.build(relay.Function(relay.analysis.free_vars(body), body))
    return [np.asarray(value) for value in compiled(*arguments)]


def test_convolutions(machine: str) -> None:
    bodies, arguments = [], {}
    for channels, outputs, kernel, strides, padding, dilation, groups in CONVOLUTIONS:
        x, w = narrow(2, channels, 9, 13), narrow(outputs, channels // groups, *kernel, seed=1)
        attributes: Any = {"strides": strides, "padding": padding, "dilation": dilation, "groups": groups}
        planar = relay.var(f"p{len(bodies)}", shape=x.shape, dtype="bfloat16")
        last = relay.var(f"l{len(bodies)}", shape=(2, 9, 13, channels), dtype="bfloat16")
        arguments |= {planar.name_hint: x, last.name_hint: np.ascontiguousarray(x.transpose(0, 2, 3, 1))}
        bodies.append(relay.nn.conv2d(planar, relay.const(w), **attributes))
        hwio = relay.const(np.ascontiguousarray(w.transpose(2, 3, 1, 0)))
        bodies.append(relay.nn.conv2d(last, hwio, data_layout="NHWC", kernel_layout="HWIO", **attributes))
    found = results(machine, bodies, arguments)
    wanted = zip(exact_convolutions(False), exact_convolutions(True), strict=True)
    for number, (exact, magnitude) in enumerate(wanted):
        check(found[2 * number], exact, magnitude)
        check(found[2 * number + 1].transpose(0, 3, 1, 2), exact, magnitude)


def test_epilogues_and_chains(machine: str) -> None:
    """Bias, a second input and an activation go with the product; the next layer reads what is rounded."""
    x, r = narrow(1, 6, 7, 5), narrow(1, 18, 7, 5, seed=4)
    w, v, b = narrow(18, 6, 3, 3, seed=1), narrow(9, 18, 1, 1, seed=2), narrow(18, 1, 1, seed=3)
    data, residual = (relay.var(name, shape=each.shape, dtype="bfloat16") for name, each in (("x", x), ("r", r)))
    first = relay.nn.relu(relay.nn.conv2d(data, relay.const(w), padding=(1, 1)) + relay.const(b) + residual)
    second = relay.nn.conv2d(first, relay.const(v), out_dtype="float32")
    found = results(machine, [first, second], {"x": x, "r": r})
    wide = relay.nn.conv2d(relay.const(x.astype(np.float32)), relay.const(w.astype(np.float32)), padding=(1, 1))
    sums = np.asarray(relay.build(relay.Function((), wide))())
    expected = np.maximum(sums + b.astype(np.float32) + r.astype(np.float32), 0)
    np.testing.assert_allclose(found[0].astype(np.float32), expected, rtol=0.02, atol=0.06)
    rows, weight = v.reshape(9, 18).astype(np.float64), found[0].reshape(18, 35).astype(np.float64)
    rounded = 1.0 if machine in PLAYED else 400.0  # others need not round what the second layer reads
    check(found[1][0].reshape(9, 35), rows @ weight, rounded * np.abs(rows) @ np.abs(weight))


def test_special_numbers(machine: str) -> None:
    """NaN and infinity come through; a sum is rounded to the nearest, ties to even."""
    x = np.zeros((20, 4), BFLOAT16)
    x[0, 0], x[1, 1], x[2, :2] = np.nan, np.inf, (np.inf, -np.inf)
    x[3, :2], x[4, :2], x[5, :2] = (1, 2.0**-8), (1, 3 * 2.0**-8), (1, 2.0**-8 * 1.0078125)
    w = np.ones((3, 4), BFLOAT16)
    variable = relay.var("x", shape=x.shape, dtype="bfloat16")
    (found,) = results(machine, [relay.nn.dense(variable, relay.const(w))], {"x": x})
    wide = found.astype(np.float32)
    assert np.isnan(wide[0]).all()
    assert np.isposinf(wide[1]).all()
    assert np.isnan(wide[2]).all()
    np.testing.assert_array_equal(wide[3:6, 0], [1.0, 1.015625, 1.0078125])
    np.testing.assert_array_equal(wide[6:], 0)


def test_symbolic_rows(machine: str) -> None:
    variable = relay.var("x", shape=("n", 10), dtype="bfloat16")
    product = relay.nn.dense(variable, relay.const(narrow(37, 10, seed=1)))
    for rows in (1, 11, 16, 31, 32, 37, 63):
        for num_threads in (1, 2):
            (found,) = results(machine, [product], {"x": narrow(rows, 10)}, num_threads)
            check_product(found, narrow(rows, 10), narrow(37, 10, seed=1).T)


# --- the intrinsics of the loop language ------------------------------------------------------------------------------


def dots(lanes: int) -> PrimFunc:
    """c[j] += dot2(word(a), w[j]), and the words of every second number of a."""
    a, w = Buffer("a", (2 * lanes,), DType.BFLOAT16), Buffer("w", (lanes,), DType.INT32)
    c, d = Buffer("c", (lanes,), DType.FLOAT32), Buffer("d", (lanes,), DType.FLOAT32)
    at = (Ramp(0, 1, lanes),) if lanes > 1 else (0,)
    one = Call("word", tuple(Load(a, (place,)) for place in range(2)), DType.INT32)
    data = one if lanes == 1 else Broadcast(one, lanes)
    apart = [(Ramp(place, 2, lanes),) if lanes > 1 else (place,) for place in range(2)]
    many = Call("word", tuple(Load(a, each) for each in apart), DType.INT32, lanes)
    body = Sequence(
        (
            Store(c, at, Load(c, at) + Call("dot2", (data, Load(w, at)), DType.FLOAT32, lanes)),
            Store(d, at, Call("dot2", (many, Load(w, at)), DType.FLOAT32, lanes)),
        )
    )
    return PrimFunc("dots", (a, w, c, d), 2, (), body)


@pytest.mark.parametrize("lanes", [1, 3, 4, 8, 16])
@pytest.mark.parametrize("name", MACHINES)
def test_targets_mean_what_the_interpreter_means(run: Run, name: str, lanes: int) -> None:
    target = resolve(Target.parse(MACHINES[name]))
    if not supports(target):
        pytest.skip("the host cannot run this")
    a, w = narrow(2 * lanes), narrow(2 * lanes, seed=1)
    start = np.linspace(1, 2, lanes, dtype=np.float32)
    native, meant = (start.copy(), np.zeros(lanes, np.float32)), (start.copy(), np.zeros(lanes, np.float32))
    run(dots(lanes), target, a, w.view(np.int32), *native)
    interpret(dots(lanes), [a, w.view(np.int32), *meant])
    exact = w.astype(np.float64).reshape(lanes, 2)
    np.testing.assert_allclose(meant[0], start + exact @ a[:2].astype(np.float64), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(meant[1], (exact * a.astype(np.float64).reshape(lanes, 2)).sum(1), rtol=1e-5, atol=1e-6)
    for found, expected in zip(native, meant, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


# --- what is emitted --------------------------------------------------------------------------------------------------


def heavy_kernel(features: str, body: relay.Expr) -> str:
    """The assembly of the kernel that has the product."""
    target = resolve(Target.parse(f"llvm -mtriple=x86_64-unknown-linux-gnu -num-threads=1 -mattr={AVX512},{features}"))
    targets = targets_for(target)
    function = relay.Function(relay.analysis.free_vars(body), body)
    compilation = Compilation(relay.IRModule.from_expr(function), targets, 2)
    (kernel,) = [each for each in compilation.kernels if "words" in each.text]
    return kernel.assembly()


def test_the_instruction() -> None:
    """Whole tiles of it, nothing spilled, nothing widened."""
    variable = relay.var("x", shape=(24, 64), dtype="bfloat16")
    product = relay.nn.dense(variable, relay.const(narrow(256, 64)), out_dtype="float32")
    assembly = heavy_kernel("+avx512bf16", product)
    assert assembly.count("\tvdpbf16ps\t") >= 16
    assert "Spill" not in assembly
    assert "vpslld" not in assembly


def test_many_rows_are_widened_once() -> None:
    """Without an instruction: products of many rows are those of float32, of a few rows read bfloat16 weights."""
    for rows, dtype in ((8, "bfloat16"), (9, "float32")):
        variable = relay.var("x", shape=(rows, 64), dtype="bfloat16")
        product = relay.nn.dense(variable, relay.const(narrow(256, 64)))
        target = resolve(Target.parse(f"llvm -mtriple=x86_64-unknown-linux-gnu -num-threads=1 -mattr={AVX512}"))
        compiled = Compilation(relay.IRModule.from_expr(relay.Function((variable,), product)), targets_for(target), 2)
        texts = [kernel.text for kernel in compiled.kernels if "contrib_dense_pack" in kernel.text]
        assert f"64, 64), {dtype}]" in texts[0]


# --- tiles ------------------------------------------------------------------------------------------------------------

TILES = PLAYED["tiles"]


def test_several_threads_have_tiles_of_their_own() -> None:
    needs_avx512()
    x, w, v = narrow(70, 96), narrow(1000, 96, seed=1), narrow(64, 32, 3, 3, seed=2)
    image = narrow(1, 32, 30, 30, seed=3)
    data, picture = relay.var("x", shape=x.shape, dtype="bfloat16"), relay.var("i", shape=image.shape, dtype="bfloat16")
    bodies = [relay.nn.dense(data, relay.const(w)), relay.nn.conv2d(picture, relay.const(v), padding=(1, 1))]
    alone = run_played(bodies, TILES, {"x": x, "i": image})
    for _ in range(3):
        for found, expected in zip(run_played(bodies, TILES, {"x": x, "i": image}, 2), alone, strict=True):
            np.testing.assert_array_equal(found, expected)
    check_product(alone[0], x, w.T)


def test_tiles_are_configured_outside_of_loops() -> None:
    """Four sums, two tiles of data and two of weights; nothing of it goes by the stack but the sums at the end."""
    variable = relay.var("x", shape=(64, 128), dtype="bfloat16")
    product = relay.nn.relu(relay.nn.dense(variable, relay.const(narrow(96, 128)), out_dtype="float32"))
    lines = heavy_kernel(TILES, product).splitlines()
    first_loop = next(number for number, line in enumerate(lines) if line.startswith(".LBB"))
    assert [number < first_loop for number, line in enumerate(lines) if "ldtilecfg" in line] == [True]
    counts = {name: sum(f"\t{name}\t" in f"{line}\t" for line in lines) for name in (
        "tilezero", "tileloadd", "tdpbf16ps", "tilestored", "tilerelease")}  # fmt: skip
    assert counts == {"tilezero": 4, "tileloadd": 4, "tdpbf16ps": 4, "tilestored": 4, "tilerelease": 1}
    assert not any("Spill" in line for line in lines)


def test_rows_that_are_left_need_no_shape_of_their_own() -> None:
    """37 rows are a block of 19 and one of 18, whose second tile begins one row further up."""
    variable = relay.var("x", shape=(37, 128), dtype="bfloat16")
    assembly = heavy_kernel(TILES, relay.nn.dense(variable, relay.const(narrow(96, 128))))
    assert assembly.count("\tldtilecfg\t") == 1
    assert ".Ltiles.10.9.16.16.16" in assembly


def test_less_than_a_tile_has_a_shape_of_its_own() -> None:
    """It is set, and that of all others again."""
    variable = relay.var("x", shape=("n", 128), dtype="bfloat16")
    assembly = heavy_kernel(TILES, relay.nn.dense(variable, relay.const(narrow(96, 128))))
    assert assembly.count("\tldtilecfg\t") >= 3


@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize(
    "shape", [(1, 34, 3, 67), (2, 3, 4, 33), (1, 5, 18, 16), (1, 64, 7, 7), (2, 6, 5, 9), (1, 70, 29, 1)], ids=str
)
def test_maps_of_many_widths_by_tiles(shape: tuple[int, ...], window: int) -> None:
    needs_avx512()
    padding = (window // 2, window // 2)
    x, w = narrow(*shape), narrow(35, shape[1], window, window, seed=1)
    plain = relay.var("x", shape=shape, dtype="bfloat16")
    free = relay.var("y", shape=(shape[0], shape[1], "h", "w"), dtype="bfloat16")
    bodies = [relay.nn.conv2d(each, relay.const(w), padding=padding) for each in (plain, free)]
    found = run_played(bodies, TILES, {"x": x, "y": x})
    wide = [relay.const(each.astype(np.float64)) for each in (x, w)]
    magnitudes = [relay.const(np.abs(each.astype(np.float64))) for each in (x, w)]
    exact, magnitude = (
        np.asarray(relay.build(relay.Function((), relay.nn.conv2d(*pair, padding=padding)))())
        for pair in (wide, magnitudes)
    )
    for each in found:
        check(each, exact, magnitude)
