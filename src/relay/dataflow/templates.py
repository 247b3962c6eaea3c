"""Patterns read the other way round: the expression that a right side stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from relay.base.diagnostics import CompilerBug, RelayError
from relay.dataflow.matching import Match
from relay.dataflow.patterns import (
    AttrPattern,
    CallPattern,
    LiteralPattern,
    OpPattern,
    Pattern,
    TupleGetItemPattern,
    TuplePattern,
)
from relay.infer.eager import eager_type
from relay.ir.expr import Constant, Expr, Tuple, TupleGetItem
from relay.ir.types import TensorType
from relay.ops.framework.build import call
from relay.ops.registry import operators


def instantiated(template: Pattern, match: Match, model: Expr) -> Expr:
    """The expression of a template: parts of the left side are what they matched, numbers are scalars of the element
    type of `model`, calls have the attributes that the template asks for, else those by default."""
    if template in match:
        return match.expr(template)
    match template:
        case LiteralPattern(value):
            return _scalar(value, model)
        case CallPattern(OpPattern(name), args) if args is not None:
            return _call(name, [instantiated(arg, match, model) for arg in args], {})
        case AttrPattern(CallPattern(OpPattern(name), args), attrs) if args is not None:
            return _call(name, [instantiated(arg, match, model) for arg in args], attrs)
        case TuplePattern(fields) if fields is not None:
            return Tuple(tuple(instantiated(each, match, model) for each in fields))
        case TupleGetItemPattern(value, index) if index is not None:
            return TupleGetItem(instantiated(value, match, model), index)
        case _:
            raise CompilerBug("rewriting rules", f"a right side has a {type(template).__name__} of its own")


def _call(name: str, arguments: Sequence[Expr], attributes: Mapping[str, Any]) -> Expr:
    record = operators().get(name)
    if record is None:
        raise RelayError(
            rule="unknown-operator",
            message="the right side of a rule names an operator that is not registered",
            found=name,
            remedy="register it: relay.register_operator(record)",
        )
    return call(record, arguments, record.attributes(**attributes))


def _scalar(value: float, model: Expr) -> Constant:
    if not isinstance(model.checked_type, TensorType):
        raise CompilerBug("rewriting rules", "a right side has a number where the left side is no tensor")
    constant = Constant(np.asarray(value).astype(model.checked_type.dtype.numpy))
    eager_type(constant)
    return constant
