"""Products of bytes with constant weights: exact to the bit, whatever instructions there are for them.

Every machine that the host can play runs them; machines that it lacks only compile them.
"""

from __future__ import annotations

from collections.abc import Callable

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
from tests.targets.cpu.played import run_played

AVX512 = "+avx,+avx2,+fma,+f16c,+avx512f,+avx512vl,+avx512dq,+avx512bw"
MACHINES = {
    "vnni": f"llvm -mattr={AVX512},+avx512vnni",
    "avx512": f"llvm -mattr={AVX512}",
    "avx512f": "llvm -mattr=+avx,+avx2,+fma,+avx512f",
    "avxvnni": "llvm -mattr=+avx,+avx2,+fma,+avxvnni",
    "vnni256": f"llvm -mattr={AVX512},+avx512vnni -vector-width=256",
    "avx2": AVX2,
    "baseline": BASELINE,
}
NARROW = ("int8", "uint8")
SHAPES = (
    (1, 1, 1), (3, 2, 7), (7, 3, 15), (15, 4, 17), (17, 5, 31), (1, 6, 67), (5, 7, 130), (2, 61, 1), (13, 9, 33),
    (33, 65, 31), (67, 129, 40),
)  # fmt: skip


TILES = "tiles"
"""Played by the host: see `played.py`."""


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    return _playable(request.param)


@pytest.fixture(params=["vnni", "avx2", "baseline", TILES])
def usual_machine(request: pytest.FixtureRequest) -> str:
    if request.param == TILES:
        _playable("vnni")
        return TILES
    return _playable(request.param)


def _playable(name: str) -> str:
    text = MACHINES[name]
    if not supports(resolve(Target.parse(text))):
        pytest.skip("the host cannot run this")
    return f"{text} -num-threads=1" if "num-threads" not in text else text


def bytes_of(dtype: str, *shape: int, seed: int = 0) -> np.ndarray:
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max + 1, shape).astype(dtype)


def results(machine: str, bodies: list[relay.Expr], arguments: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The values of some expressions, compiled as one program."""
    if machine == TILES:
        return run_played(bodies, "+amx-tile,+amx-int8", arguments)
    body = relay.Tuple(bodies)
    parameters = relay.analysis.free_vars(body)
    compiled = relay.build(relay.Function(parameters, body), machine)
    return [np.asarray(value) for value in compiled(*(arguments[each.name_hint] for each in parameters))]


def exact_product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.matmul(x.astype(np.int32), y.astype(np.int32))


@pytest.mark.parametrize("dtype", NARROW)
def test_dense(machine: str, dtype: str) -> None:
    check_dense(machine, dtype)


@pytest.mark.parametrize("dtype", NARROW)
def test_dense_by_tiles(dtype: str) -> None:
    _playable("vnni")
    check_dense(TILES, dtype)


def check_dense(machine: str, dtype: str) -> None:
    bodies, arguments, wanted = [], {}, []
    for number, (m, k, n) in enumerate(SHAPES):
        x, w = bytes_of(dtype, m, k), bytes_of("int8", n, k, seed=1)
        variable = relay.var(f"x{number}", shape=(m, k), dtype=dtype)
        bodies.append(relay.nn.dense(variable, relay.const(w), out_dtype="int32"))
        arguments[f"x{number}"] = x
        wanted.append(exact_product(x, w.T))
    for found, expected in zip(results(machine, bodies, arguments), wanted, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_extreme_sums(usual_machine: str) -> None:
    """The largest products there are; sums of 140,000 of them wrap around."""
    bodies, arguments, wanted = [], {}, []
    for dtype, value, depth in (("int8", -128, 140_000), ("uint8", 255, 70_001), ("int8", 127, 9), ("uint8", 255, 64)):
        x = np.full((2, depth), value, dtype)
        w = np.stack([np.full(depth, each, np.int8) for each in (-128, 127, -1)])
        variable = relay.var(f"x{len(bodies)}", shape=x.shape, dtype=dtype)
        arguments[variable.name_hint] = x
        bodies.append(relay.nn.dense(variable, relay.const(w), out_dtype="int32"))
        exact = value * np.array([-128, 127, -1], np.int64) * depth
        wanted.append(np.broadcast_to(exact.astype(np.int32), (2, 3)))
    assert int(wanted[0][0, 0]) == 128 * 128 * 140_000 - 2**32  # it did wrap
    for found, expected in zip(results(usual_machine, bodies, arguments), wanted, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", NARROW)
def test_other_matrices(usual_machine: str, dtype: str) -> None:
    x, y = bytes_of(dtype, 2, 5, 11), bytes_of("int8", 11, 19, seed=1)
    variable = relay.var("x", shape=x.shape, dtype=dtype)
    flat = relay.var("row", shape=(11,), dtype=dtype)
    bodies = [
        relay.nn.matmul(variable, relay.const(y), out_dtype="int32"),
        relay.nn.matmul(variable, relay.const(y.T.copy()), out_dtype="int32", transpose_b=True),
        relay.nn.batch_matmul(variable, relay.const(y[None]), out_dtype="int32", transpose_b=False),
        relay.nn.batch_matmul(variable, relay.const(np.stack([y.T, y.T + 1])), out_dtype="int32"),
        relay.nn.dense(flat, relay.const(y.T.copy()), out_dtype="int32"),
    ]
    found = results(usual_machine, bodies, {"x": x, "row": x[0, 0]})
    wanted = exact_product(x, y)
    for each in found[:3]:
        np.testing.assert_array_equal(each, wanted)
    np.testing.assert_array_equal(found[3], np.stack([wanted[0], exact_product(x[1], y + 1)]))
    np.testing.assert_array_equal(found[4], wanted[0, 0])


CONVOLUTIONS = (  # channels, outputs, kernel, strides, padding, dilation
    (3, 5, (7, 7), (2, 2), (3, 3), (1, 1)),
    (8, 33, (1, 1), (1, 1), (0, 0), (1, 1)),
    (5, 16, (3, 3), (1, 1), (1, 1), (1, 1)),
    (16, 17, (3, 3), (2, 1), (1, 0, 2, 1), (1, 1)),
    (4, 31, (3, 2), (1, 1), (1, 2), (2, 2)),
    (1, 1, (1, 1), (2, 2), (0, 0), (1, 1)),
)


@pytest.mark.parametrize("dtype", NARROW)
def test_convolutions(usual_machine: str, dtype: str) -> None:
    bodies, arguments, wanted = [], {}, []
    for channels, outputs, kernel, strides, padding, dilation in CONVOLUTIONS:
        x, w = bytes_of(dtype, 2, channels, 9, 13), bytes_of("int8", outputs, channels, *kernel, seed=1)
        attributes = {"strides": strides, "padding": padding, "dilation": dilation, "out_dtype": "int32"}
        reference = relay.nn.conv2d(relay.const(x.astype(np.int32)), relay.const(w.astype(np.int32)), **attributes)
        exact = np.asarray(relay.build(relay.Function([], reference))())
        planar = relay.var(f"p{len(bodies)}", shape=x.shape, dtype=dtype)
        last = relay.var(f"l{len(bodies)}", shape=(2, 9, 13, channels), dtype=dtype)
        arguments |= {planar.name_hint: x, last.name_hint: np.ascontiguousarray(x.transpose(0, 2, 3, 1))}
        bodies.append(relay.nn.conv2d(planar, relay.const(w), **attributes))
        hwio = relay.const(np.ascontiguousarray(w.transpose(2, 3, 1, 0)))
        bodies.append(relay.nn.conv2d(last, hwio, data_layout="NHWC", kernel_layout="HWIO", **attributes))
        wanted += [exact, exact.transpose(0, 2, 3, 1)]
    for found, expected in zip(results(usual_machine, bodies, arguments), wanted, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", NARROW)
def test_quantized_layers(usual_machine: str, dtype: str) -> None:
    """Bias, scale, rounding, clipping and the conversion to bytes go with the product; the next layer reads bytes."""
    x, w, v = bytes_of(dtype, 1, 6, 7, 5), bytes_of("int8", 18, 6, 3, 3, seed=1), bytes_of("int8", 9, 18, 1, 1, seed=2)
    bias = np.random.default_rng(3).integers(-3000, 3000, (18, 1, 1)).astype(np.int32)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max

    def requantized(sums: relay.Expr) -> relay.Expr:
        scaled = relay.round(relay.cast(sums, "float32") * relay.const(np.float32(0.0078125)))
        return relay.cast(relay.clip(scaled, float(low), float(high)), dtype)

    variable = relay.var("x", shape=x.shape, dtype=dtype)
    first = relay.nn.conv2d(variable, relay.const(w), padding=(1, 1), out_dtype="int32") + relay.const(bias)
    second = relay.nn.conv2d(requantized(first), relay.const(v), out_dtype="int32")
    (found,) = results(usual_machine, [requantized(second)], {"x": x})
    sums = exact_convolution(x, w, 1) + bias
    middle = requantize(sums, low, high)
    np.testing.assert_array_equal(found, requantize(exact_convolution(middle, v, 0), low, high).astype(dtype))


def exact_convolution(x: np.ndarray, w: np.ndarray, padding: int) -> np.ndarray:
    around = np.pad(x.astype(np.int64), ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    windows = np.lib.stride_tricks.sliding_window_view(around, w.shape[2:], axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, w.astype(np.int64))


def requantize(sums: np.ndarray, low: int, high: int) -> np.ndarray:
    scaled = sums / 128  # a power of two: exact in both types
    return np.clip(np.sign(scaled) * np.floor(np.abs(scaled) + 0.5), low, high)


def test_symbolic_rows() -> None:
    x, w = bytes_of("int8", 11, 10), bytes_of("int8", 37, 10, seed=1)
    variable = relay.var("x", shape=("n", 10), dtype="int8")
    product = relay.nn.dense(variable, relay.const(w), out_dtype="int32")
    (found,) = results("llvm -num-threads=1", [product], {"x": x})
    np.testing.assert_array_equal(found, exact_product(x, w.T))


# --- the intrinsics of the loop language ------------------------------------------------------------------------------


def dots(lanes: int) -> PrimFunc:
    """c[j] += dot4(word(a), w[j]), and the words of every fourth byte of a."""
    a, w = Buffer("a", (4 * lanes,), DType.UINT8), Buffer("w", (lanes,), DType.INT32)
    c, d = Buffer("c", (lanes,), DType.INT32), Buffer("d", (lanes,), DType.INT32)
    at = (Ramp(0, 1, lanes),) if lanes > 1 else (0,)
    one = Call("word", tuple(Load(a, (place,)) for place in range(4)), DType.INT32)
    data = one if lanes == 1 else Broadcast(one, lanes)
    apart = [(Ramp(place, 4, lanes),) if lanes > 1 else (place,) for place in range(4)]
    many = Call("word", tuple(Load(a, each) for each in apart), DType.INT32, lanes)
    body = Sequence(
        (
            Store(c, at, Load(c, at) + Call("dot4", (data, Load(w, at)), DType.INT32, lanes)),
            Store(d, at, Call("dot4", (many, Load(w, at)), DType.INT32, lanes)),
        )
    )
    return PrimFunc("dots", (a, w, c, d), 2, (), body)


@pytest.mark.parametrize("lanes", [1, 3, 4, 8, 16])
def test_targets_mean_what_the_interpreter_means(run: Run, machine: str, lanes: int) -> None:
    a, w = bytes_of("uint8", 4 * lanes), bytes_of("int8", 4 * lanes, seed=1).view(np.int32)
    a[:4], w[0] = 255, -2139062144  # four times -128
    start = np.full(lanes, 2**31 - 7, np.int32)
    function = dots(lanes)
    native, meant = (start.copy(), np.zeros(lanes, np.int32)), (start.copy(), np.zeros(lanes, np.int32))
    run(function, resolve(Target.parse(machine)), a, w, *native)
    interpret(function, [a, w, *meant])
    signed = w.view(np.int8).reshape(lanes, 4).astype(np.int64)
    np.testing.assert_array_equal(meant[0], (start + signed @ a[:4].astype(np.int64)).astype(np.int32))
    np.testing.assert_array_equal(meant[1], (signed * a.reshape(lanes, 4)).sum(1))
    for found, expected in zip(native, meant, strict=True):
        np.testing.assert_array_equal(found, expected)


# --- what is emitted --------------------------------------------------------------------------------------------------

INSTRUCTIONS = {"vnni": "vpdpbusd", "avxvnni": "vpdpbusd", "vnni256": "vpdpbusd", "avx512": "vpmaddwd",
                "avx2": "vpmaddwd", "baseline": "pmaddwd"}  # fmt: skip


def heavy_kernel(machine: str, make: Callable[[relay.Var], relay.Expr], *shape: int) -> str:
    variable = relay.var("x", shape=shape, dtype="int8")
    targets = targets_for(resolve(Target.parse(machine)))
    function = relay.Function([variable], make(variable))
    compilation = Compilation(relay.IRModule.from_expr(function), targets, 2)
    (kernel,) = [each for each in compilation.kernels if "words" in each.text]
    return kernel.assembly()


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_instructions(name: str) -> None:
    """Whole tiles by the machine's instruction, nothing spilled, and nothing that saturates."""
    weight = relay.const(np.ones((256, 64), np.int8))
    machine = f"{MACHINES[name]} -mtriple=x86_64-unknown-linux-gnu"
    assembly = heavy_kernel(machine, lambda x: relay.nn.dense(x, weight, out_dtype="int32"), 24, 64)
    instruction = INSTRUCTIONS[name]
    assert len([line for line in assembly.splitlines() if f"\t{instruction}\t" in line]) >= 16
    assert "pmaddubsw" not in assembly
    if instruction == "vpdpbusd":
        assert "Spill" not in assembly
        assert "vpmull" not in assembly


def test_a_first_layer_pads_its_channels() -> None:
    """Three channels are one word: a pixel is one load."""
    weight = relay.const(np.ones((32, 3, 3, 3), np.int8))
    machine = f"{MACHINES['vnni']} -mtriple=x86_64-unknown-linux-gnu"
    assembly = heavy_kernel(
        machine, lambda x: relay.nn.conv2d(x, weight, padding=(1, 1), out_dtype="int32"), 1, 3, 16, 16
    )
    assert "vpdpbusd" in assembly
    assert "movzbl" not in assembly
