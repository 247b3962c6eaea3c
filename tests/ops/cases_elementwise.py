"""Functions of one element and of two, comparisons, conversions, activations."""

from __future__ import annotations

import numpy as np
import torch

from relay.base.dtypes import DType
from relay.ops.elementwise.activation import (
    BiasAddAttributes,
    ClipAttributes,
    DropoutAttributes,
    LeakyReluAttributes,
    PReluAttributes,
)  # fmt: skip
from relay.ops.elementwise.convert import CastAttributes
from tests.ops.case import EXACT, NARROW, ROUNDED, Case, bools, floats, integers, scalar

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-38, 88.0, -104.0, 0.5, 2.5, -2.5], np.float32)

_FLOAT = {
    "exp": torch.exp, "log": torch.log, "log2": torch.log2, "log10": torch.log10, "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "erf": torch.erf, "sin": torch.sin,
    "cos": torch.cos, "tan": torch.tan, "asin": torch.asin, "acos": torch.acos, "atan": torch.atan,
    "sinh": torch.sinh, "cosh": torch.cosh, "asinh": torch.asinh, "acosh": torch.acosh, "atanh": torch.atanh,
}  # fmt: skip
_NUMBER = {"abs": torch.abs, "negative": torch.negative, "sign": torch.sgn}
_ROUND = {"floor": torch.floor, "ceil": torch.ceil, "trunc": torch.trunc, "round": None}
_TEST = {"isnan": torch.isnan, "isinf": torch.isinf, "isfinite": torch.isfinite}


def _unary() -> list[Case]:
    cases: list[Case] = []
    for name, oracle in _FLOAT.items():
        cases += [
            Case(name, (floats(3, 5, low=-1, high=4),), oracle=oracle, tolerance=ROUNDED),
            Case(name, (SPECIAL,), oracle=oracle, tolerance=ROUNDED, label="special"),
            Case(name, (floats(7, dtype="bfloat16", low=0, high=1),), tolerance=NARROW, label="bfloat16"),
        ]
    for name, oracle in _NUMBER.items():
        cases += [
            Case(name, (floats(2, 0, 3),), oracle=oracle),
            Case(name, (SPECIAL,), oracle=None if name == "sign" else oracle, label="special"),
            Case(name, (np.array([-128, -1, 0, 127], np.int8),), oracle=oracle, label="int8"),
            Case(name, (integers(5, dtype="uint8", low=0),), label="uint8"),
        ]
    for name, oracle in _ROUND.items():
        cases += [Case(name, (SPECIAL,), oracle=oracle, label="special"), Case(name, (integers(4),), label="int32")]
    for name, oracle in _TEST.items():
        cases += [Case(name, (SPECIAL,), oracle=oracle, label="special"), Case(name, (integers(4),), label="int32")]
    return [
        *cases,
        Case("logical_not", (bools(3, 3),), oracle=torch.logical_not),
        Case("bitwise_not", (integers(6),), oracle=torch.bitwise_not),
        Case("copy", (floats(2, 3),), oracle=torch.clone),
        Case("copy", (scalar(1.5),), oracle=torch.clone),
        Case("stop_gradient", (floats(2, 3),), oracle=torch.Tensor.detach),
    ]


_ARITHMETIC = {
    "add": torch.add, "subtract": torch.subtract, "multiply": torch.multiply, "divide": torch.divide,
    "minimum": torch.minimum, "maximum": torch.maximum, "mod": torch.fmod, "trunc_mod": torch.fmod,
    "floor_mod": torch.remainder, "floor_divide": None, "trunc_divide": None,
}  # fmt: skip
_COMPARE = {
    "equal": torch.eq, "not_equal": torch.ne, "less": torch.lt, "less_equal": torch.le, "greater": torch.gt,
    "greater_equal": torch.ge,
}  # fmt: skip


def _binary() -> list[Case]:
    edge_left = np.array([7, -7, 7, -7, -128, 5, 0, 127], np.int8)
    edge_right = np.array([2, 2, -2, -2, -1, 0, 0, 3], np.int8)
    wide_left = np.array([2**31 - 1, -(2**31), -(2**31), 2**30, -7], np.int32)
    wide_right = np.array([2, -1, 0, 4, 3], np.int32)
    cases: list[Case] = []
    for name, oracle in _ARITHMETIC.items():
        cases += [
            Case(name, (floats(3, 4), floats(3, 4, seed=1)), oracle=oracle),
            Case(name, (floats(2, 1, 4), floats(3, 1, seed=1)), oracle=oracle),
            Case(name, (scalar(2.0), floats(0, 3)), oracle=oracle),
            Case(name, (edge_left, edge_right), label="int8"),
            Case(name, (SPECIAL, SPECIAL[::-1].copy()), label="special"),
            Case(name, (edge_left.astype(np.uint8), edge_right.astype(np.uint8)), label="uint8"),
            Case(name, (wide_left, wide_right), label="int32"),
            Case(name, (floats(5, dtype="bfloat16"), floats(5, dtype="bfloat16", seed=1)), label="bfloat16"),
        ]
    for name, oracle in _COMPARE.items():
        cases += [
            Case(name, (floats(3, 1), floats(1, 4, seed=1)), oracle=oracle),
            Case(name, (SPECIAL, SPECIAL[::-1].copy()), oracle=oracle, label="special"),
            Case(
                name, (integers(9, low=-2, high=2), integers(9, low=-2, high=2, seed=1)), oracle=oracle, label="int32"
            ),
        ]
    for name, oracle in {"and": "and", "or": "or", "xor": "xor"}.items():
        bitwise, logical = getattr(torch, f"bitwise_{oracle}"), getattr(torch, f"logical_{oracle}")
        cases += [
            Case(f"bitwise_{name}", (integers(4, 3), integers(3, seed=1)), oracle=bitwise),
            Case(f"bitwise_{name}", (bools(9), bools(9, seed=1)), oracle=bitwise, label="bool"),
            Case(f"logical_{name}", (bools(9), bools(9, seed=1)), oracle=logical),
        ]
    shifts = np.array([0, 1, 7, 31, 32, 40, -1, 3], np.int32)
    numbers = np.array([1, -1, 5, -7, 9, -9, 3, 2**30], np.int32)
    return [
        *cases,
        Case("power", (floats(3, 4, low=0.1), floats(4, seed=1)), oracle=torch.pow, tolerance=ROUNDED),
        Case("power", (floats(6), np.array([0, 1, 2, 3, -1, 0.5], np.float32)), oracle=torch.pow, tolerance=ROUNDED,
             label="signs"),
        Case("power", (integers(5, low=-3, high=3), integers(5, low=0, high=5, seed=1)), oracle=torch.pow, label="int32"),
        Case("power", (np.array([2, -2, 1, -1, 0, -1, 3, 7], np.int32), np.array([-1, -1, -5, -3, -2, -4, 40, 0], np.int32)),
             label="negative exponents"),
        Case("power", (SPECIAL, SPECIAL[::-1].copy()), oracle=torch.pow, tolerance=ROUNDED, label="special"),
        Case("left_shift", (numbers, shifts)),
        Case("right_shift", (numbers, shifts)),
        Case("left_shift", (np.array([1, -128, 127], np.int8), np.array([7, 1, 8], np.int8)), label="int8"),
        Case("right_shift", (np.array([200, 255, 1], np.uint8), np.array([7, 8, 9], np.uint8)), label="uint8"),
        Case("right_shift", (np.array([-128, 127, -1], np.int8), np.array([7, 8, 30], np.int8)), label="int8"),
        Case("where", (bools(3, 1), floats(3, 4), floats(4, seed=1)), oracle=torch.where),
        Case("where", (integers(5, low=0, high=1), floats(5), scalar(9.0)), label="integer condition"),
    ]  # fmt: skip


def _casts() -> list[Case]:
    wild = np.array([1e10, -1e10, -2.7, 2.7, np.nan, np.inf, 255.5, -0.5], np.float32)
    return [
        *(
            Case("cast", (wild,), CastAttributes(DType(dtype)), label=dtype)
            for dtype in ("int8", "uint8", "int32", "int64", "bool", "float64", "float16", "bfloat16")
        ),
        Case("cast", (integers(9, low=-300, high=300),), CastAttributes(DType.INT8), lambda x: x.to(torch.int8)),
        Case("cast", (integers(9, low=-300, high=300),), CastAttributes(DType.FLOAT32), lambda x: x.to(torch.float32)),
        Case("reinterpret", (wild,), CastAttributes(DType.INT32), lambda x: x.view(torch.int32)),
        Case("reinterpret", (integers(9, dtype="int16"),), CastAttributes(DType.UINT16), label="int16 to uint16"),
        Case(
            "reinterpret",
            (integers(9, dtype="uint16", low=0, high=40000),),
            CastAttributes(DType.BFLOAT16),
            label="uint16 to bfloat16",
        ),
        Case("cast", (bools(5),), CastAttributes(DType.INT32), label="bool"),
        Case("cast", (floats(5, dtype="bfloat16"),), CastAttributes(DType.FLOAT32), label="bfloat16 to float32"),
        Case("cast_like", (floats(5), integers(1))),
    ]


def _images() -> list[Case]:
    """Four axes, as layouts are about."""
    x, y = floats(2, 3, 4, 5), floats(2, 3, 4, 5, seed=1)
    return [
        Case("tanh", (x,), oracle=torch.tanh, tolerance=ROUNDED),
        Case("nn.relu", (x,), oracle=torch.relu),
        Case("add", (x, y), oracle=torch.add),
        Case("multiply", (x, floats(3, 1, 1, seed=1)), oracle=torch.multiply),
        Case("maximum", (scalar(0.5), x), oracle=torch.maximum),
        Case("where", (bools(2, 1, 4, 5), x, y), oracle=torch.where),
        Case("nn.bias_add", (x, floats(3, seed=1)), BiasAddAttributes(1), lambda x, b: x + b[:, None, None]),
        Case("nn.prelu", (x, floats(3, seed=1)), PReluAttributes(-3), torch.nn.functional.prelu),
        Case("zeros_like", (x,), oracle=torch.zeros_like),
    ]


def _activations() -> list[Case]:
    functional = torch.nn.functional
    return [
        Case("nn.relu", (SPECIAL,), oracle=functional.relu),
        Case("nn.relu", (integers(3, 4),), oracle=functional.relu),
        Case("nn.relu", (floats(4, dtype="bfloat16"),), label="bfloat16"),
        Case("nn.leaky_relu", (SPECIAL,), LeakyReluAttributes(0.1), lambda x: functional.leaky_relu(x, 0.1)),
        Case("nn.prelu", (floats(2, 3, 4), floats(3, seed=1)), PReluAttributes(1), functional.prelu),
        Case("nn.prelu", (floats(2, 4, 3), floats(3, seed=1)), PReluAttributes(-1)),
        Case("clip", (SPECIAL,), ClipAttributes(-1.0, 6.0), lambda x: x.clip(-1, 6)),
        Case("clip", (integers(9, dtype="int8", low=-128, high=127),), ClipAttributes(-3.5, 1000.0), label="int8"),
        Case("nn.bias_add", (floats(2, 3, 5), floats(3, seed=1)), BiasAddAttributes(1), lambda x, b: x + b[:, None]),
        Case("nn.bias_add", (floats(2, 3), floats(3, seed=1)), BiasAddAttributes(-1), torch.add),
        Case("nn.dropout", (floats(2, 3),), DropoutAttributes(0.3), lambda x: (x, torch.ones_like(x)), EXACT),
    ]


CASES: tuple[Case, ...] = (*_unary(), *_binary(), *_casts(), *_activations(), *_images())
