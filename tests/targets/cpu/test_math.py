"""Transcendental functions: largest error in units of the last place, and the special values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from relay.arith.expr import Symbol
from relay.base.dtypes import DType
from relay.tir.buffer import Buffer
from relay.tir.expr import Binary, BinaryOp, Load, Ramp, Unary, UnaryOp
from relay.tir.stmt import For, PrimFunc, Store

COUNT = 1 << 14
SPECIAL = [
    0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-45, -1e-45, 1e-38, -1e-38, 3.4e38, -3.4e38, 88.72, 88.73, -87.3,
    -103.9, -104.0, -110.0, 0.5, -0.5, 1e-4, 9.0, -9.1, 3.92, 2.0**22, 1e10,
]  # fmt: skip
ULP_32 = {
    "exp": 2, "log": 2, "sin": 2, "cos": 2, "tanh": 2, "sigmoid": 3, "erf": 2, "tan": 4, "asin": 4, "acos": 4,
    "atan": 4, "sinh": 1, "cosh": 1, "asinh": 1, "acosh": 1, "atanh": 1, "log2": 1, "log10": 1,
}  # fmt: skip
ULP_64 = {"exp": 2, "log": 2, "tanh": 4, "sigmoid": 4, "erf": 4, "sin": 1, "log2": 2, "atanh": 4}


def sigmoid(x: np.ndarray) -> np.ndarray:
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


def erf(x: np.ndarray) -> np.ndarray:
    return np.array([math.erf(v) for v in x.astype(np.float64)], np.float64).astype(np.longdouble)


REFERENCE = {
    "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos, "tan": np.tan, "tanh": np.tanh, "sigmoid": sigmoid,
    "erf": erf, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "log2": np.log2, "log10": np.log10,
}  # fmt: skip


def samples(dtype: str) -> np.ndarray:
    """Special values, every magnitude, and the range where things happen."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 1 << 32, COUNT, dtype=np.uint64).astype(np.uint32).view(np.float32)
    parts = [np.array(SPECIAL), bits[: COUNT // 4], rng.uniform(-10, 10, COUNT // 4), rng.uniform(-1, 1, COUNT // 8)]
    rest = rng.uniform(-110, 110, COUNT)
    with np.errstate(all="ignore"):  # a NaN with an odd payload
        return np.concatenate([part.astype(dtype) for part in (*parts, rest)])[:COUNT].copy()


def units_in_the_last_place(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """|found - expected| / spacing at expected; infinite where one is special and the other is not the same."""
    with np.errstate(all="ignore"):
        rounded = expected.astype(found.dtype)
        same = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
        error = np.abs(found.astype(np.longdouble) - expected) / np.spacing(np.abs(rounded)).astype(np.longdouble)
        return np.where(same, 0, np.where(np.isfinite(error), error, np.inf)).astype(np.float64)


def elementwise(op: UnaryOp, dtype: str, lanes: int) -> PrimFunc:
    x, y = (Buffer(name, (COUNT,), DType(dtype)) for name in "xy")
    i = Symbol("i")
    at = Ramp(i * lanes, 1, lanes) if lanes > 1 else i
    return PrimFunc("f", (x, y), 1, (), For(i, COUNT // lanes, Store(y, (at,), Unary(op, Load(x, (at,))))))


@pytest.mark.parametrize("name", sorted(ULP_32))
@pytest.mark.parametrize("lanes", [1, 8, 16, 64])
def test_float32(run, any_target, name, lanes):
    x = samples("float32")
    y = np.zeros_like(x)
    run(elementwise(UnaryOp(name), "float32", lanes), any_target, x, y)
    with np.errstate(all="ignore"):
        error = units_in_the_last_place(y, REFERENCE[name](x.astype(np.longdouble)))
    worst = int(error.argmax())
    assert error[worst] <= ULP_32[name], f"{name}({x[worst]}) gave {y[worst]}"


@pytest.mark.parametrize("name", sorted(ULP_64))
@pytest.mark.parametrize("lanes", [1, 8, 32])
def test_float64(run, native, name, lanes):
    x = samples("float64")
    y = np.zeros_like(x)
    run(elementwise(UnaryOp(name), "float64", lanes), native, x, y)
    with np.errstate(all="ignore"):
        error = units_in_the_last_place(y, REFERENCE[name](x.astype(np.longdouble)))
    worst = int(error.argmax())
    assert error[worst] <= ULP_64[name], f"{name}({x[worst]}) gave {y[worst]}"


@pytest.mark.parametrize(("dtype", "lanes"), [("float32", 1), ("float32", 16), ("float64", 8)])
def test_power(run, native, dtype, lanes):
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 1e30, -1e-30, 2.5])
    x, y = (a.ravel() for a in np.meshgrid(special, special))
    rng = np.random.default_rng(1)
    x = np.concatenate([x, rng.uniform(0, 50, 768)]).astype(dtype)
    y = np.concatenate([y, rng.uniform(-20, 20, 768)]).astype(dtype)
    z = np.zeros_like(x)
    n = len(x)
    a, b, c = (Buffer(name, (n,), DType(dtype)) for name in "abc")
    i = Symbol("i")
    at = Ramp(i * lanes, 1, lanes) if lanes > 1 else i
    body = Store(c, (at,), Binary(BinaryOp.POWER, Load(a, (at,)), Load(b, (at,))))
    run(PrimFunc("f", (a, b, c), 1, (), For(i, n // lanes, body)), native, x, y, z)
    with np.errstate(all="ignore"):
        error = units_in_the_last_place(z, np.power(x.astype(np.longdouble), y.astype(np.longdouble)))
    worst = int(error.argmax())
    assert error[worst] <= 2, f"power({x[worst]}, {y[worst]}) gave {z[worst]}"


def test_tanh_and_sigmoid_stay_in_their_range(run, native):
    x = samples("float32")
    y = np.zeros_like(x)
    for name in ("tanh", "erf", "sigmoid"):
        run(elementwise(UnaryOp(name), "float32", 16), native, x, y)
        assert np.nanmax(np.abs(y)) <= 1
