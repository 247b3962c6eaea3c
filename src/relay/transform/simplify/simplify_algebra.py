"""Rules of arithmetic for SimplifyExpr: neutral elements, inverses, idempotence, constants brought together.

Zeros have signs: `x + 0.0` turns -0.0 into 0.0, so only `x - 0.0` and `x + -0.0` are `x` for every float. Integers
wrap, and dividing them by zero gives zero, so `x / x` is not 1 for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from ml_dtypes import finfo
from numpy.typing import NDArray

from relay.base.dtypes import dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.dataflow import Domain, Match, Rule, is_constant, is_op, rule, wildcard
from relay.dataflow.patterns import Pattern, as_pattern
from relay.ir.expr import Call, Constant, Expr
from relay.ir.types import TensorType
from relay.ops.creation.create import full
from relay.ops.elementwise.activation import ClipAttributes, clip
from relay.ops.elementwise.elementwise_binary import ADD, MULTIPLY, multiply
from relay.ops.framework.build import call
from relay.ops.framework.record import OperatorRecord

_ROUNDING = FloatingPointClass.ROUNDING
_FAST_MATH = FloatingPointClass.FAST_MATH

_x, _c, _d = wildcard(), is_constant(), is_constant()


def _op(name: str, *args: Pattern | float) -> Pattern:
    """A call of an operator; a number is a constant."""
    return is_op(name)(*map(as_pattern, args))


def _filled(part: Pattern, number: float) -> Callable[[Match], Expr | None]:
    """A tensor of one number in the place of what `part` matched, if its extents are known."""

    def made(match: Match) -> Expr | None:
        type_ = match.expr(part).checked_type
        if not isinstance(type_, TensorType) or not all(isinstance(extent, int) for extent in type_.shape):
            return None
        return full(Constant(np.asarray(number).astype(type_.dtype.numpy)), type_.shape)

    return made


NEUTRAL: tuple[Rule, ...] = (
    rule("add-zero", _x + 0, _x, domain=Domain.INTEGERS),
    rule("add-negative-zero", _x + -0.0, _x, domain=Domain.FLOATS),
    rule("add-positive-zero", _x + 0.0, _x, domain=Domain.FLOATS, floating_point=_FAST_MATH),
    rule("subtract-zero", _x - 0, _x, domain=Domain.NUMBERS),
    rule("multiply-one", _x * 1, _x, domain=Domain.NUMBERS),
    rule("divide-one", _x / 1, _x, domain=Domain.NUMBERS),
    rule("floor-divide-one", _op("floor_divide", _x, 1), _x, domain=Domain.INTEGERS),
    rule("trunc-divide-one", _op("trunc_divide", _x, 1), _x, domain=Domain.INTEGERS),
    rule("power-one", _op("power", _x, 1), _x, domain=Domain.NUMBERS),
    rule("or-zero", _op("bitwise_or", _x, 0), _x, domain=Domain.INTEGERS),
    rule("xor-zero", _op("bitwise_xor", _x, 0), _x, domain=Domain.INTEGERS),
    rule("shift-left-zero", _op("left_shift", _x, 0), _x, domain=Domain.INTEGERS),
    rule("shift-right-zero", _op("right_shift", _x, 0), _x, domain=Domain.INTEGERS),
    rule("copy", _op("copy", _x), _x, domain=Domain.ANYTHING),
    rule("stop-gradient", _op("stop_gradient", _x), _x, domain=Domain.ANYTHING),
)

CANCELLING: tuple[Rule, ...] = (
    rule("subtract-itself", _x - _x, _filled(_x, 0), domain=Domain.INTEGERS),
    rule("subtract-itself-float", _x - _x, _filled(_x, 0), domain=Domain.FLOATS, floating_point=_FAST_MATH),
    rule("multiply-zero", _x * 0, _filled(_x, 0), domain=Domain.INTEGERS),
    rule("multiply-zero-float", _x * 0.0, _filled(_x, 0), domain=Domain.FLOATS, floating_point=_FAST_MATH),
    rule("divide-itself-float", _x / _x, _filled(_x, 1), domain=Domain.FLOATS, floating_point=_FAST_MATH),
    rule("xor-itself", _op("bitwise_xor", _x, _x), _filled(_x, 0), domain=Domain.INTEGERS),
    rule("and-itself", _op("bitwise_and", _x, _x), _x, domain=Domain.INTEGERS | Domain.BOOLS),
    rule("or-itself", _op("bitwise_or", _x, _x), _x, domain=Domain.INTEGERS | Domain.BOOLS),
    rule("logical-and-itself", _op("logical_and", _x, _x), _x, domain=Domain.BOOLS),
    rule("logical-or-itself", _op("logical_or", _x, _x), _x, domain=Domain.BOOLS),
    rule("maximum-itself", _op("maximum", _x, _x), _x, domain=Domain.NUMBERS),
    rule("minimum-itself", _op("minimum", _x, _x), _x, domain=Domain.NUMBERS),
    rule("where-both-same", _op("where", wildcard(), _x, _x), _x, domain=Domain.ANYTHING),
    rule("negative-twice", _op("negative", _op("negative", _x)), _x, domain=Domain.NUMBERS),
    rule("not-twice", _op("logical_not", _op("logical_not", _x)), _x, domain=Domain.BOOLS),
    rule("bitwise-not-twice", _op("bitwise_not", _op("bitwise_not", _x)), _x, domain=Domain.INTEGERS),
    rule("absolute-of-negative", _op("abs", _op("negative", _x)), _op("abs", _x), domain=Domain.FLOATS),
)


def _idempotent(name: str) -> Rule:
    once = is_op(name)(_x)
    return rule(f"{name.removeprefix('nn.')}-twice", is_op(name)(once), once, domain=Domain.NUMBERS)


def _merged_clip(match: Match) -> Expr | None:
    outer, inner = match.expr(_CLIP_OF_CLIP), match.expr(_CLIP)
    if not isinstance(outer, Call) or not isinstance(inner, Call):
        return None
    last, first = outer.attrs, inner.attrs
    if not isinstance(last, ClipAttributes) or not isinstance(first, ClipAttributes):
        return None
    if first.a_min > first.a_max or last.a_min > last.a_max:
        return None
    low, high = (min(max(bound, last.a_min), last.a_max) for bound in (first.a_min, first.a_max))
    return clip(match.expr(_x), low, high)


_CLIP = is_op("clip")(_x)
_CLIP_OF_CLIP = is_op("clip")(_CLIP)

IDEMPOTENT: tuple[Rule, ...] = (
    *map(_idempotent, ("abs", "ceil", "floor", "nn.relu", "round", "sign", "trunc")),
    rule("clip-of-clip", _CLIP_OF_CLIP, _merged_clip, domain=Domain.NUMBERS),
)


def _value(part: Pattern, match: Match) -> NDArray[Any]:
    constant = match.expr(part)
    if not isinstance(constant, Constant):
        raise TypeError("a constant pattern matches constants")
    return constant.data


def _joined(record: OperatorRecord) -> Callable[[Match], Expr | None]:
    """`(x op c) op d` as `x op (c op d)`, when `c op d` is not larger than both and an ordinary number."""

    def made(match: Match) -> Expr | None:
        left, right = _value(_c, match), _value(_d, match)
        with np.errstate(all="ignore"):
            both = np.asarray(record.meaning(record.attributes(), left, right))
        if both.size > max(left.size, right.size) or not _is_ordinary(both):
            return None
        return call(record, (match.expr(_x), Constant(both)), record.attributes())

    return made


def _is_ordinary(values: NDArray[Any]) -> bool:
    """Whether floats are finite, and neither zero nor denormal."""
    if not dtype_of(values.dtype).is_float:
        return True
    wide = np.abs(values.astype(np.float64))
    return bool((np.isfinite(wide) & (wide >= float(finfo(values.dtype).smallest_normal))).all())


def _by_reciprocal(powers_of_two: bool) -> Callable[[Match], Expr | None]:
    """`x / c` as `x * (1 / c)`: where all divisors are powers of two, or where not all are."""

    def made(match: Match) -> Expr | None:
        divisor = _value(_c, match)
        wide = divisor.astype(np.float64)
        with np.errstate(all="ignore"):
            inverse = (1.0 / wide).astype(divisor.dtype)
        are_powers = bool((np.abs(np.frexp(wide)[0]) == 0.5).all())
        if are_powers is not powers_of_two or not _is_ordinary(divisor) or not _is_ordinary(inverse):
            return None
        return multiply(match.expr(_x), Constant(inverse))

    return made


_SUM, _PRODUCT = (_x + _c) + _d, (_x * _c) * _d

CONSTANTS: tuple[Rule, ...] = (
    rule("add-constants", _SUM, _joined(ADD), domain=Domain.INTEGERS),
    rule("add-constants-float", _SUM, _joined(ADD), domain=Domain.FLOATS, floating_point=_ROUNDING),
    rule("multiply-constants", _PRODUCT, _joined(MULTIPLY), domain=Domain.INTEGERS),
    rule("multiply-constants-float", _PRODUCT, _joined(MULTIPLY), domain=Domain.FLOATS, floating_point=_ROUNDING),
    rule("divide-by-power-of-two", _x / _c, _by_reciprocal(True), domain=Domain.FLOATS),
    rule("divide-by-constant", _x / _c, _by_reciprocal(False), domain=Domain.FLOATS, floating_point=_ROUNDING),
)

FUNCTIONS: tuple[Rule, ...] = (
    rule("square", _op("power", _x, 2), _x * _x, domain=Domain.FLOATS, floating_point=_ROUNDING),
    rule("square-root", _op("power", _x, 0.5), _op("sqrt", _x), domain=Domain.FLOATS, floating_point=_FAST_MATH),
    rule("reciprocal-square-root", 1 / _op("sqrt", _x), _op("rsqrt", _x), domain=Domain.FLOATS,
         floating_point=_ROUNDING),
)  # fmt: skip

ALGEBRA: tuple[Rule, ...] = (*NEUTRAL, *CANCELLING, *IDEMPOTENT, *CONSTANTS, *FUNCTIONS)
