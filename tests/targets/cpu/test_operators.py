"""Every operator on every element type, scalar and vector, gives what the table of meanings says."""

from __future__ import annotations

import numpy as np
import pytest

from relay.arith.expr import Symbol
from relay.base.diagnostics import CompilerBug
from relay.base.dtypes import DType
from relay.targets.cpu.emit import emit_kernel
from relay.tir.buffer import Buffer
from relay.tir.expr import Binary, BinaryOp, Cast, Compare, CompareOp, Index, Load, Ramp, Unary, UnaryOp, Value
from relay.tir.semantics import binary_function, cast_function, compare_function, integer_limits, unary_function
from relay.tir.stmt import For, PrimFunc, Sequence, Store

COUNT = 256
TRANSCENDENTAL = {
    "exp", "log", "log2", "log10", "tanh", "sigmoid", "erf", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
    "cosh", "asinh", "acosh", "atanh", "rsqrt", "power",
}  # fmt: skip

FRACTION_BITS = {
    "float4_e2m1fn": 1, "float8_e4m3fn": 3, "float8_e4m3fnuz": 3, "float8_e5m2": 2, "float8_e5m2fnuz": 2,
    "float8_e8m0fnu": 0, "float16": 10, "bfloat16": 7, "float32": 23, "float64": 52,
}  # fmt: skip
NARROW_FLOATS = tuple(dtype for dtype in DType if dtype.is_float and dtype.bits < 32)


def numbers(dtype: DType, seed: int) -> np.ndarray:
    """Bounds, zeros, special values, and random ones."""
    rng = np.random.default_rng(seed)
    if dtype.is_bool:
        return rng.integers(0, 2, COUNT).astype(bool)
    if dtype.is_sub_byte_integer:
        low, high = integer_limits(dtype)
        return rng.integers(low, high + 1, COUNT).astype(dtype.numpy)
    if dtype.is_integer:
        info = np.iinfo(dtype.numpy)
        special = [info.min, info.max, 0, 1, info.max - 1, 7, dtype.bits, dtype.bits - 1, info.min + 1]
        small = rng.integers(max(info.min, -9), 9, COUNT // 2, dtype=np.int64)
        wild = rng.integers(info.min, info.max, COUNT, dtype=dtype.numpy)
        mixed = np.concatenate([np.array(special, dtype.numpy), small.astype(dtype.numpy), wild])[:COUNT]
        return rng.permutation(mixed)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-7, 6e-8, -3e-6, 1e-40, 240.0, 5e4]
    mixed = np.concatenate([special, rng.normal(0, 30, COUNT), rng.normal(0, 1, COUNT)])[:COUNT]
    with np.errstate(all="ignore"):
        return rng.permutation(mixed).astype(dtype.numpy)


def kernel(values: list[Value], sources: tuple[Buffer, ...], at: tuple[Index], i: Symbol, lanes: int) -> PrimFunc:
    """One output for each value."""
    outputs = tuple(Buffer(f"out{k}", (COUNT,), value.dtype) for k, value in enumerate(values))
    body = Sequence(tuple(Store(out, at, value) for out, value in zip(outputs, values, strict=True)))
    return PrimFunc("f", (*sources, *outputs), len(outputs), (), For(i, COUNT // lanes, body))


def agree(found: np.ndarray, expected: np.ndarray, what: str, loose: bool) -> None:
    expected = np.asarray(expected).astype(found.dtype)
    if not DType(found.dtype.name).is_float:
        wrong = np.flatnonzero(found != expected)
    else:
        wide_found, wide = found.astype(np.float64), expected.astype(np.float64)
        same = (wide_found == wide) | (np.isnan(wide_found) & np.isnan(wide))
        if loose:  # the bounds are the business of another test; a narrow result may round to the neighbour
            unit = 2.0 ** -FRACTION_BITS[str(found.dtype)]
            with np.errstate(all="ignore"):
                same |= np.abs(wide_found - wide) <= (4 if found.itemsize >= 4 else 1) * unit * np.abs(wide)
        wrong = np.flatnonzero(~same)
    assert not len(wrong), f"{what}: at {wrong[:5]} found {found[wrong[:5]]}, expected {expected[wrong[:5]]}"


def defined(table, op, dtype: DType) -> bool:
    try:
        table(op, dtype)
    except CompilerBug:
        return False
    return True


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", list(DType))
def test_operators(run, any_target, dtype, lanes):
    a, b = Buffer("a", (COUNT,), dtype), Buffer("b", (COUNT,), dtype)
    i = Symbol("i")
    at = (Ramp(i * lanes, 1, lanes) if lanes > 1 else i,)
    left, right = Load(a, at), Load(b, at)
    binaries = [op for op in BinaryOp if defined(binary_function, op, dtype)]
    unaries = [op for op in UnaryOp if defined(unary_function, op, dtype)]
    values: list[Value] = [Binary(op, left, right) for op in binaries]
    values += [Unary(op, left) for op in unaries]
    values += [Compare(op, left, right) for op in CompareOp]
    values += [Cast(left, other) for other in DType]
    func = kernel(values, (a, b), at, i, lanes)
    x, y = numbers(dtype, 1), numbers(dtype, 2)
    outputs = [np.zeros(COUNT, value.dtype.numpy) for value in values]
    run(func, any_target, x, y, *outputs)
    with np.errstate(all="ignore"):
        expected = [binary_function(op, dtype)(x, y) for op in binaries]
        expected += [unary_function(op, dtype)(x) for op in unaries]
        expected += [compare_function(op)(x, y) for op in CompareOp]
        expected += [cast_function(dtype, other)(x) for other in DType]
    names = [*binaries, *unaries, *CompareOp, *(f"cast to {other}" for other in DType)]
    for name, found, wanted in zip(names, outputs, expected, strict=True):
        agree(found, wanted, f"{name} of {dtype}", name in TRANSCENDENTAL)


def test_an_operator_that_a_type_lacks_is_a_bug_of_ours(native):
    a = Buffer("a", (4,), DType.FLOAT32)
    body = Store(a, (0,), Binary(BinaryOp.LEFT_SHIFT, Load(a, (0,)), Load(a, (1,))))
    with pytest.raises(CompilerBug, match="`left_shift` is not defined on floating-point numbers"):
        emit_kernel(PrimFunc("f", (a,), 1, (), body), native)


def test_conversion_of_every_narrow_float(run, any_target):
    """All bit patterns of each narrow type to float32 and back."""
    for dtype in NARROW_FLOATS:
        patterns = np.arange(1 << dtype.bits, dtype=f"uint{8 * dtype.item_bytes}").view(dtype.numpy)
        n = len(patterns)
        source, wide, back = Buffer("a", (n,), dtype), Buffer("b", (n,), DType.FLOAT32), Buffer("c", (n,), dtype)
        i = Symbol("i")
        at = (Ramp(i * 16, 1, 16),)
        body = (Store(wide, at, Cast(Load(source, at), DType.FLOAT32)), Store(back, at, Cast(Load(wide, at), dtype)))
        x, y = np.zeros(n, np.float32), np.zeros(n, dtype.numpy)
        run(PrimFunc("f", (source, wide, back), 2, (), For(i, n // 16, Sequence(body))), any_target, patterns, x, y)
        np.testing.assert_array_equal(x, patterns.astype(np.float32))
        np.testing.assert_array_equal(y.astype(np.float32), patterns.astype(np.float32))


def test_rounding_to_every_narrow_float(run, any_target):
    """Float32 numbers of all sizes, ties and overflows among them, round as `ml_dtypes` and NumPy do."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 1 << 32, 1 << 14, dtype=np.uint64).astype(np.uint32).view(np.float32)
    near = (rng.normal(0, 1, 1 << 14) * 2.0 ** rng.integers(-26, 17, 1 << 14)).astype(np.float32)
    ties = (rng.integers(-4096, 4096, 1 << 14) * 2.0 ** rng.integers(-28, 8, 1 << 14)).astype(np.float32)
    x = np.concatenate([x, near, ties])
    n = len(x)
    for dtype in NARROW_FLOATS:
        source, out = Buffer("a", (n,), DType.FLOAT32), Buffer("b", (n,), dtype)
        i = Symbol("i")
        at = (Ramp(i * 16, 1, 16),)
        y = np.zeros(n, dtype.numpy)
        run(
            PrimFunc("f", (source, out), 1, (), For(i, n // 16, Store(out, at, Cast(Load(source, at), dtype)))),
            any_target,
            x,
            y,
        )
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(y.astype(np.float32), x.astype(dtype.numpy).astype(np.float32))


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT64])
def test_conversion_of_what_integers_do_not_hold(run, any_target, dtype):
    """Around the ends of their ranges, in vectors: what lies beyond becomes the end, NaN 0."""
    ends = [side * 2.0**bits for bits in (7, 8, 15, 16, 31, 32, 63, 64) for side in (1, -1)]
    beside = [np.nextafter(dtype.numpy.type(end), dtype.numpy.type(to)) for end in ends for to in (np.inf, -np.inf)]
    x = np.array([*ends, *beside, np.nan, np.inf, -np.inf, 0.9, -0.9] + [0.0] * 11, dtype.numpy)
    integers = [each for each in DType if each.is_integer]
    source, i, n = Buffer("a", (len(x),), dtype), Symbol("i"), len(x)
    outputs = tuple(Buffer(f"out{k}", (n,), each) for k, each in enumerate(integers))
    at = (Ramp(i * 8, 1, 8),)
    body = Sequence(tuple(Store(out, at, Cast(Load(source, at), out.dtype)) for out in outputs))
    found = [np.zeros(n, each.numpy) for each in integers]
    run(PrimFunc("f", (source, *outputs), len(outputs), (), For(i, n // 8, body)), any_target, x, *found)
    for each, mine in zip(integers, found, strict=True):
        agree(mine, cast_function(dtype, each)(x), f"cast to {each} of {dtype}", False)
