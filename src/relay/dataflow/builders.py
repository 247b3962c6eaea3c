"""Patterns as users write them: is_op("nn.conv2d")(wildcard(), is_constant()), …."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.names.near_names import near_names
from relay.dataflow.patterns import (
    AttrPattern,
    ConstantPattern,
    DataTypePattern,
    DominatorPattern,
    ExprPattern,
    FunctionPattern,
    IfPattern,
    LetPattern,
    LiteralPattern,
    OpPattern,
    Pattern,
    ShapePattern,
    TupleGetItemPattern,
    TuplePattern,
    TypePattern,
    VarPattern,
    Wildcard,
    as_pattern,
)
from relay.ir.expr import Expr
from relay.ir.operator import Operator
from relay.ir.types import Dimension, Type
from relay.ops.registry import operators


def is_op(operator: str | Operator) -> OpPattern:
    """An operator: by its name, or one of your own as itself. Call it to match its calls.

    Raises `RelayError` (rule `unknown-operator`).

    >>> x = wildcard()
    >>> relu_of_relu = is_op("nn.relu")(is_op("nn.relu")(x))
    """
    if isinstance(operator, Operator):
        return OpPattern(operator.name)
    known = operators()
    if operator not in known:
        raise RelayError(
            rule="unknown-operator",
            message="a pattern names an operator that is not there",
            found=operator,
            remedy=f"{near_names(operator, known)} One of your own is registered, or given as itself.".strip(),
        )
    return OpPattern(operator)


def wildcard() -> Wildcard:
    """Everything."""
    return Wildcard()


def is_expr(expr: Expr) -> ExprPattern:
    """What is structurally equal to `expr`."""
    return ExprPattern(expr)


def is_var(name: str = "") -> VarPattern:
    """A variable, with this name if one is given."""
    return VarPattern(name)


def is_constant() -> ConstantPattern:
    """A constant."""
    return ConstantPattern()


def is_literal(value: float) -> LiteralPattern:
    """A constant of any shape and element type whose elements all are `value`; 0.0 is not -0.0."""
    return LiteralPattern(value)


def is_tuple(fields: Sequence[Pattern] | None = None) -> TuplePattern:
    """A tuple of these fields; any tuple if None."""
    return TuplePattern(None if fields is None else tuple(as_pattern(field) for field in fields))


def is_tuple_get_item(tuple_value: Pattern, index: int | None = None) -> TupleGetItemPattern:
    """A field of a tuple; any field if `index` is None."""
    return TupleGetItemPattern(tuple_value, index)


def is_if(cond: Pattern, true_branch: Pattern, false_branch: Pattern) -> IfPattern:
    """`if (cond) { true_branch } else { false_branch }`"""
    return IfPattern(cond, true_branch, false_branch)


def is_let(var: Pattern, value: Pattern, body: Pattern) -> LetPattern:
    """`let var = value; body`"""
    return LetPattern(var, value, body)


def is_function(params: Sequence[Pattern] | None, body: Pattern) -> FunctionPattern:
    """A function of these parameters (any, if None) and this body."""
    return FunctionPattern(None if params is None else tuple(params), body)


def has_type(type_: Type, pattern: Pattern | None = None) -> TypePattern:
    """What `pattern` matches (everything, when not given), of this type."""
    return (pattern or Wildcard()).has_type(type_)


def has_dtype(dtype: str | DType, pattern: Pattern | None = None) -> DataTypePattern:
    """What `pattern` matches (everything, when not given), a tensor of these elements."""
    return (pattern or Wildcard()).has_dtype(dtype)


def has_shape(shape: Sequence[Dimension], pattern: Pattern | None = None) -> ShapePattern:
    """What `pattern` matches (everything, when not given), a tensor of this shape."""
    return (pattern or Wildcard()).has_shape(shape)


def has_attr(attrs: Mapping[str, object], pattern: Pattern | None = None) -> AttrPattern:
    """What `pattern` matches (everything, when not given), with these attributes."""
    return (pattern or Wildcard()).has_attr(attrs)


def dominates(parent: Pattern, path: Pattern, child: Pattern) -> DominatorPattern:
    """`child`, all of whose inputs come from what `parent` matches, through nodes that `path` matches."""
    return DominatorPattern(parent, path, child)
