"""Patterns over the data flow of programs: the fifteen forms, and how they are put together.

    pattern ::= Wildcard | ExprPattern | VarPattern | ConstantPattern | LiteralPattern | OpPattern | CallPattern
              | TuplePattern | TupleGetItemPattern | FunctionPattern | LetPattern | IfPattern
              | AltPattern | AttrPattern | TypePattern | ShapePattern | DataTypePattern | DominatorPattern

A pattern is itself: used in two places, it must match the same expression in both. Frozen, compared by identity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, Union, cast

from relay.base.dtypes import DType, dtype_of
from relay.base.frozen import frozen
from relay.ir.expr import Expr
from relay.ir.types import Dimension, Type

if TYPE_CHECKING:
    from relay.ir.attributes import AttributeValue


class Machinery(Protocol):
    """What patterns do, which lives in files that import this one."""

    def match(self, pattern: Pattern, expr: Expr) -> bool: ...

    def partition(
        self,
        pattern: Pattern,
        expr: Expr,
        attrs: Mapping[str, AttributeValue] | None,
        check: Callable[[Expr], bool] | None,
    ) -> Expr: ...


class PatternBase:
    """What every form can do."""

    __slots__ = ()
    machinery: ClassVar[Machinery | None] = None

    def __call__(self, *args: Pattern | Sequence[Pattern]) -> CallPattern:
        """A call of what this pattern matches, with these arguments. A list of patterns is a tuple argument."""
        return CallPattern(_pattern(self), tuple(as_pattern(arg) for arg in args))

    def __or__(self, other: Pattern) -> AltPattern:
        """This, or else `other`."""
        return AltPattern(_pattern(self), as_pattern(other))

    def __add__(self, other: Pattern | float) -> CallPattern:
        return _binary("add", self, other)

    def __radd__(self, other: float) -> CallPattern:
        return _binary("add", other, self)

    def __sub__(self, other: Pattern | float) -> CallPattern:
        return _binary("subtract", self, other)

    def __rsub__(self, other: float) -> CallPattern:
        return _binary("subtract", other, self)

    def __mul__(self, other: Pattern | float) -> CallPattern:
        return _binary("multiply", self, other)

    def __rmul__(self, other: float) -> CallPattern:
        return _binary("multiply", other, self)

    def __truediv__(self, other: Pattern | float) -> CallPattern:
        return _binary("divide", self, other)

    def __rtruediv__(self, other: float) -> CallPattern:
        return _binary("divide", other, self)

    def optional(self, around: Callable[[Pattern], Pattern]) -> AltPattern:
        """This, or what `around` makes of it: `conv.optional(lambda x: is_op("nn.relu")(x))`."""
        return AltPattern(_pattern(self), around(_pattern(self)))

    def has_attr(self, attrs: Mapping[str, object]) -> AttrPattern:
        """This, with these attributes; of an operator, `TOpPattern` is its fusion kind."""
        return AttrPattern(_pattern(self), dict(attrs))

    def has_type(self, type_: Type) -> TypePattern:
        """This, of this type."""
        return TypePattern(_pattern(self), type_)

    def has_dtype(self, dtype: str | DType) -> DataTypePattern:
        """This, a tensor of these elements. Raises `RelayError` (rule `unknown-dtype`)."""
        return DataTypePattern(_pattern(self), dtype_of(dtype))

    def has_shape(self, shape: Sequence[Dimension]) -> ShapePattern:
        """This, a tensor of this shape."""
        return ShapePattern(_pattern(self), tuple(shape))

    def dominates(self, parent: Pattern, path: Pattern | None = None) -> DominatorPattern:
        """This, computed from what `parent` matches through nodes that `path` matches (any, when not given)."""
        return DominatorPattern(parent, path or Wildcard(), _pattern(self))

    def match(self, expr: Expr) -> bool:
        """Whether this pattern matches an expression, which must be typed where the pattern asks for types."""
        return self._machinery().match(_pattern(self), expr)

    def partition(
        self,
        expr: Expr,
        attrs: Mapping[str, AttributeValue] | None = None,
        check: Callable[[Expr], bool] | None = None,
    ) -> Expr:
        """`expr` with each match put into a function of its own; see `relay.dataflow.partition`."""
        return self._machinery().partition(_pattern(self), expr, attrs, check)

    def _machinery(self) -> Machinery:
        if PatternBase.machinery is None:
            raise TypeError("patterns match once relay.dataflow is imported")
        return PatternBase.machinery


def _pattern(base: PatternBase) -> Pattern:
    return cast("Pattern", base)


def as_pattern(value: Pattern | Sequence[Pattern] | float) -> Pattern:
    """A pattern as users write it: a list is a tuple, a number is a constant that is that number everywhere."""
    if isinstance(value, PatternBase):
        return value
    if isinstance(value, (int, float)):
        return LiteralPattern(value)
    return TuplePattern(tuple(as_pattern(item) for item in value))


def _binary(name: str, left: PatternBase | float, right: PatternBase | float) -> CallPattern:
    return CallPattern(OpPattern(name), (as_pattern(cast(Any, left)), as_pattern(cast(Any, right))))


@frozen(eq=False)
class Wildcard(PatternBase):
    """Everything."""


@frozen(eq=False)
class ExprPattern(PatternBase):
    """What is structurally equal to this expression."""

    expr: Expr


@frozen(eq=False)
class VarPattern(PatternBase):
    """A variable, with this name if one is given."""

    name: str = ""


@frozen(eq=False)
class ConstantPattern(PatternBase):
    """A constant."""


@frozen(eq=False)
class LiteralPattern(PatternBase):
    """A constant of any shape whose elements all are this number (0.0 is not -0.0)."""

    value: float


@frozen(eq=False)
class OpPattern(PatternBase):
    """The operator of this name."""

    name: str


@frozen(eq=False)
class CallPattern(PatternBase):
    """A call; with any arguments if `args` is None. Operators that commute match with their arguments swapped too."""

    op: Pattern
    args: tuple[Pattern, ...] | None


@frozen(eq=False)
class TuplePattern(PatternBase):
    """A tuple of these fields; any tuple if None."""

    fields: tuple[Pattern, ...] | None


@frozen(eq=False)
class TupleGetItemPattern(PatternBase):
    """A field of a tuple; any field if `index` is None."""

    tuple_value: Pattern
    index: int | None = None


@frozen(eq=False)
class FunctionPattern(PatternBase):
    """A function of these parameters (any, if None) and this body."""

    params: tuple[Pattern, ...] | None
    body: Pattern


@frozen(eq=False)
class LetPattern(PatternBase):
    """`let var = value; body`"""

    var: Pattern
    value: Pattern
    body: Pattern


@frozen(eq=False)
class IfPattern(PatternBase):
    """`if (cond) { true_branch } else { false_branch }`"""

    cond: Pattern
    true_branch: Pattern
    false_branch: Pattern


@frozen(eq=False)
class AltPattern(PatternBase):
    """The first of two that lets the whole match."""

    left: Pattern
    right: Pattern


@frozen(eq=False)
class AttrPattern(PatternBase):
    """A call, operator or function with these attributes."""

    pattern: Pattern
    attrs: Mapping[str, object]


@frozen(eq=False)
class TypePattern(PatternBase):
    """An expression of this type."""

    pattern: Pattern
    type: Type


@frozen(eq=False)
class ShapePattern(PatternBase):
    """A tensor of this shape."""

    pattern: Pattern
    shape: tuple[Dimension, ...]


@frozen(eq=False)
class DataTypePattern(PatternBase):
    """A tensor of these elements."""

    pattern: Pattern
    dtype: DType


@frozen(eq=False)
class DominatorPattern(PatternBase):
    """`child`, all of whose inputs come from the one expression that `parent` matches, through nodes that `path`
    matches."""

    parent: Pattern
    path: Pattern
    child: Pattern


Pattern: TypeAlias = Union[
    Wildcard, ExprPattern, VarPattern, ConstantPattern, LiteralPattern, OpPattern, CallPattern, TuplePattern,
    TupleGetItemPattern, FunctionPattern, LetPattern, IfPattern, AltPattern, AttrPattern, TypePattern, ShapePattern,
    DataTypePattern, DominatorPattern,
]  # fmt: skip
