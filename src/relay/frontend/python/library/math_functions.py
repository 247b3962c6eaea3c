"""Functions of `math`, on numbers: what raises there ends the run."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from typing import Any

from relay import op
from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.frontend.python.block import Block
from relay.frontend.python.library import elements
from relay.frontend.python.library.arithmetic import as_operand, binary, combined, equated, require
from relay.frontend.python.library.builtin_functions import whole
from relay.frontend.python.library.numpy_functions import floating
from relay.ir.expr import Expr
from relay.ir.types import TensorType

_DOMAIN = "math domain error"


def _number(block: Block, value: Any, span: Span) -> Expr:
    """A number, as a float."""
    found = floating(as_operand(block, value, span))
    type_ = block.type_of(found)
    if not isinstance(type_, TensorType) or type_.shape:
        raise RelayError(rule="bad-operand", message="`math` takes numbers", span=span, found=str(type_),
                         remedy="use the function of NumPy")  # fmt: skip
    return block.bind("number", found, span)


def _real(function: Callable[..., Any], holds: Callable[[Expr], Expr] | None = None) -> Callable[..., Any]:
    """A function of floats; of those for which it is defined."""

    def real(block: Block, span: Span, *values: Any) -> Any:
        given = [_number(block, each, span) for each in values]
        if holds is not None:
            given[0] = require(block, given[0], holds(given[0]), _DOMAIN, span)
        return function(*given)

    return real


def _rounded(name: str) -> Callable[..., Any]:
    def rounded(block: Block, span: Span, value: Any) -> Any:
        return whole(block, span, getattr(op, name)(_number(block, value, span)))

    return rounded


def _logarithm(block: Block, span: Span, value: Any, base: Any = None) -> Expr:
    number = _number(block, value, span)
    number = require(block, number, _is_positive(number), _DOMAIN, span)
    if base is None:
        return op.log(number)
    other = _number(block, base, span)
    return op.divide(op.log(number), op.log(require(block, other, _is_positive(other), _DOMAIN, span)))


def _power(block: Block, span: Span, base: Any, exponent: Any) -> Any:
    return binary(block, ast.Pow(), _number(block, base, span), _number(block, exponent, span), span)


def _remainder(block: Block, span: Span, left: Any, right: Any) -> Expr:
    divisor = _number(block, right, span)
    divisor = require(block, divisor, equated("not_equal", divisor, 0), _DOMAIN, span)
    return op.trunc_mod(_number(block, left, span), divisor)


def _is_positive(x: Expr) -> Expr:
    return equated("greater", x, 0)


def _is_not_negative(x: Expr) -> Expr:
    return equated("greater_equal", x, 0)


def _is_ratio(x: Expr) -> Expr:
    return equated("less_equal", op.abs(x), 1)


MATH: Mapping[Any, Callable[..., Any]] = {
    **{getattr(math, name): _real(getattr(op, name)) for name in (
        "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "asinh", "exp", "erf", "isnan", "isinf", "isfinite",
    )},
    math.sqrt: _real(op.sqrt, _is_not_negative), math.log: _logarithm, math.log2: _real(op.log2, _is_positive),
    math.log10: _real(op.log10, _is_positive), math.asin: _real(op.asin, _is_ratio),
    math.acos: _real(op.acos, _is_ratio), math.fabs: _real(op.abs), math.floor: _rounded("floor"),
    math.ceil: _rounded("ceil"), math.trunc: _rounded("trunc"),
    math.pow: _power, math.fmod: _remainder, math.hypot: _real(elements.hypotenuse), math.atan2: _real(elements.angle),
    math.degrees: _real(lambda x: combined("multiply", x, 180 / math.pi)),
    math.radians: _real(lambda x: combined("multiply", x, math.pi / 180)),
    math.log1p: _real(elements.log1p, lambda x: equated("greater", x, -1)), math.expm1: _real(elements.expm1),
    math.cbrt: _real(elements.cube_root), math.exp2: _real(elements.exp2),
}  # fmt: skip
"""Each is called with the block, the place, and the arguments."""
