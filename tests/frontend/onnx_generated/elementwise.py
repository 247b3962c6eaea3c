"""Nodes that go element by element."""

from __future__ import annotations

import numpy as np
import onnx

from tests.frontend.onnx_generated.draft import BOOL, FLOAT, INTEGER, Draft, Unfit

FLOATS = (
    "Abs", "Neg", "Exp", "Sigmoid", "Tanh", "Sin", "Cos", "Atan", "Sinh", "Cosh", "Asinh", "Floor", "Ceil",
    "Round", "Sign", "Relu", "Softplus", "Softsign", "HardSwish", "Mish", "Identity", "IsNaN", "IsInf",
)  # fmt: skip
POSITIVE = ("Sqrt", "Log", "Reciprocal")
WITHIN_ONE = ("Asin", "Acos", "Atanh")
WITH_NUMBERS = {
    "LeakyRelu": ("alpha",), "Elu": ("alpha",), "Celu": ("alpha",), "ThresholdedRelu": ("alpha",),
    "Selu": ("alpha", "gamma"), "HardSigmoid": ("alpha", "beta"), "Shrink": ("bias", "lambd"), "Swish": ("alpha",),
}  # fmt: skip
ARITHMETIC = ("Add", "Sub", "Mul", "Max", "Min")
COMPARISONS = ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")
CAST_TO = ("float32", "float64", "int64", "int32", "int8", "uint8", "bool", "float16")


def floats(draft: Draft) -> None:
    operator = draft.one_of(*FLOATS)
    # the reference evaluator multiplies by 1/6 of float32, whatever it is of
    draft.node(operator, draft.pick(dtype="float32") if operator == "HardSwish" else draft.pick())


def positive(draft: Draft) -> None:
    """Now and then of what is not, which gives infinities and NaN."""
    x = draft.pick()
    if not draft.chance(0.1):
        (x,) = draft.node("Abs", x)
        (x,) = draft.node("Add", x, draft.given(np.asarray(0.5, draft.values[x].dtype)))
    draft.node(draft.one_of(*POSITIVE), x)


def within_one(draft: Draft) -> None:
    (x,) = draft.node("Tanh", draft.pick())
    (x,) = draft.node("Mul", x, draft.given(np.asarray(0.9, draft.values[x].dtype)))
    draft.node(draft.one_of(*WITHIN_ONE), x)


def with_numbers(draft: Draft) -> None:
    operator = draft.one_of(*WITH_NUMBERS)
    numbers = {name: draft.whole(1, 6) / 4 for name in WITH_NUMBERS[operator] if draft.chance(0.7)}
    draft.node(operator, draft.pick(), **numbers)


def normal(draft: Draft) -> None:
    x = draft.pick(dtype="float32")  # the reference evaluator's error function gives float32, whatever it is of
    if draft.chance(0.3):
        draft.node("Erf", x)
        return
    draft.node("Gelu", x, approximate=draft.one_of("none", "tanh", None))


def slopes(draft: Draft) -> None:
    x = draft.pick(least_rank=1)
    value = draft.values[x]
    draft.node("PRelu", x, draft.operand(draft.array(draft.broadcastable(value.shape), value.dtype.name)))


def integers(draft: Draft) -> None:
    draft.node(draft.one_of("Abs", "Neg", "Sign", "BitwiseNot", "Identity"), draft.pick(INTEGER))


def logic(draft: Draft) -> None:
    x = draft.pick(BOOL)
    if draft.chance(0.3):
        draft.node("Not", x)
    else:
        draft.node(draft.one_of("And", "Or", "Xor", "Equal"), *_pair(draft, x))


def _other(draft: Draft, x: str) -> str:
    """A value that broadcasts with another one: of those there are, or a new one."""
    value = draft.values[x]
    if draft.chance(0.5):
        other = draft.pick(value.dtype.kind, dtype=value.dtype.name)
        try:
            np.broadcast_shapes(value.shape, draft.values[other].shape)
        except ValueError:
            pass
        else:
            return other
    return draft.operand(draft.array(draft.broadcastable(value.shape), value.dtype.name))


def _pair(draft: Draft, x: str) -> tuple[str, str]:
    other = _other(draft, x)
    return (x, other) if draft.chance(0.5) else (other, x)


def arithmetic(draft: Draft) -> None:
    draft.node(draft.one_of(*ARITHMETIC), *_pair(draft, draft.pick(FLOAT + INTEGER)))


def comparison(draft: Draft) -> None:
    draft.node(draft.one_of(*COMPARISONS), *_pair(draft, draft.pick(FLOAT + INTEGER)))


def several(draft: Draft) -> None:
    x = draft.pick()
    draft.node(draft.one_of("Sum", "Mean", "Max", "Min"), x, *[_other(draft, x) for _ in range(draft.whole(0, 2))])


def division(draft: Draft) -> None:
    """Of integers by what is not 0, which is not defined."""
    x, divisor = _pair(draft, draft.pick(FLOAT + INTEGER))
    value = draft.values[divisor]
    if value.dtype.kind in INTEGER and not value.all():
        raise Unfit
    if draft.chance(0.6):
        draft.node("Div", x, divisor)
    else:
        draft.node("Mod", x, divisor, fmod=1 if value.dtype.kind == "f" or draft.chance(0.3) else None)


def power(draft: Draft) -> None:
    x = draft.pick()
    exponent = draft.one_of(2.0, 3.0, 0.5, 1.0, 0.0, -1.0, 1.5)
    draft.node("Pow", x, draft.given(np.asarray(exponent, draft.values[x].dtype)))


def bits(draft: Draft) -> None:
    x = draft.pick(INTEGER)
    if draft.values[x].dtype.kind == "u" and draft.chance(0.5):
        by = draft.array(draft.broadcastable(draft.values[x].shape), draft.values[x].dtype.name) % 4
        draft.node(
            "BitShift", x, draft.operand(by.astype(draft.values[x].dtype)), direction=draft.one_of("LEFT", "RIGHT")
        )
    else:
        draft.node(draft.one_of("BitwiseAnd", "BitwiseOr", "BitwiseXor"), *_pair(draft, x))


def choice(draft: Draft) -> None:
    x = draft.pick(FLOAT + INTEGER)
    y = _other(draft, x)
    shape = np.broadcast_shapes(draft.values[x].shape, draft.values[y].shape)
    condition = draft.operand(draft.array(draft.broadcastable(shape), "bool"))
    draft.node("Where", condition, x, y)


def clip(draft: Draft) -> None:
    x = draft.pick(FLOAT + INTEGER) if draft.opset >= 12 else draft.pick()
    low, high = sorted(draft.wholes(-3, 3, 2))
    dtype = draft.values[x].dtype
    if dtype.kind == "u":
        low, high = abs(low), abs(low) + 2
    if draft.opset < 11:
        draft.node("Clip", x, min=float(low) if draft.chance(0.7) else None, max=float(high))
        return
    bounds = [draft.operand(np.asarray(each, dtype)) if draft.chance(0.8) else "" for each in (low, high)]
    draft.node("Clip", x, *bounds)


def cast(draft: Draft) -> None:
    """To what holds the values: others are not defined."""
    x = draft.pick(FLOAT + INTEGER + BOOL)
    value, to = draft.values[x], np.dtype(draft.one_of(*CAST_TO))
    if to.kind in INTEGER:
        limits = np.iinfo(to)
        if not (np.isfinite(value).all() and np.all((value >= limits.min) & (value <= limits.max))):
            raise Unfit
    draft.node("Cast", x, to=onnx.helper.np_dtype_to_tensor_dtype(to))


ELEMENTWISE = (
    floats, floats, floats, positive, within_one, with_numbers, normal, slopes, integers, logic, arithmetic, comparison,
    several, division, power, bits, choice, clip, cast,
)  # fmt: skip
