"""The expressions and patterns of the language: fifteen forms, all on this screen.

    expr    ::= Var | GlobalVar | Constant | Tuple | TupleGetItem | Function | Call | Let | If
              | RefCreate | RefRead | RefWrite | Match | Constructor | Op
    pattern ::= PatternWildcard | PatternVar | PatternConstructor | PatternTuple

A program is a DAG: a node that stands in two places is evaluated once. Nodes are frozen and compared by identity
(generated equality is exponential on shared graphs); `structural_equal` compares structure. Every node has a `span`
and a `checked_type`, a cache that inference alone fills, through `record_type`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, Union, cast
from typing import TypeVar as PythonTypeVar

import numpy as np

from relay.base.dtypes import DType, dtype_of
from relay.base.frozen import frozen
from relay.base.span import Span, caller_span
from relay.ir.attributes import Attributes, AttributeValue
from relay.ir.operator import Operator
from relay.ir.sugar import ExprSugar
from relay.ir.types import GlobalTypeVar, TensorType, Type, TypeVar

if TYPE_CHECKING:
    from numpy.typing import NDArray


@frozen(eq=False, repr=False)
class ExprBase(ExprSugar):
    """What every form has: the place it came from, and its type once inferred."""

    span: Span | None = field(default=None, kw_only=True)
    checked_type: Type | None = field(default=None, kw_only=True, init=False)

    def __call__(self, *args: Expr) -> Call:
        """The call of this function with `args`.

        >>> len(GlobalVar("f")(Var("x"), Var("y")).args)
        2
        """
        return Call(cast("Expr", self), args, span=caller_span())


@frozen(eq=False, repr=False)
class Var(ExprBase):
    """A local variable; it is itself, whatever its name."""

    name_hint: str
    type_annotation: Type | None = None


@frozen(eq=False, repr=False)
class GlobalVar(ExprBase):
    """A function of the module, by name."""

    name_hint: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GlobalVar) and other.name_hint == self.name_hint

    def __hash__(self) -> int:
        return hash(("global", self.name_hint))


@frozen(eq=False, repr=False)
class Constant(ExprBase):
    """A tensor known now, so its type is known too. The array is made read-only and is not copied."""

    data: NDArray[np.generic]

    def __post_init__(self) -> None:
        array = np.asarray(self.data)
        record_type(self, TensorType(array.shape, dtype_of(array.dtype)))
        if array.flags.writeable:
            array = array.view()
            array.flags.writeable = False
        object.__setattr__(self, "data", array)

    @property
    def dtype(self) -> DType:
        return dtype_of(self.data.dtype)

    def known_value(self) -> Any:
        return self.data.tolist()


@frozen(eq=False, repr=False)
class Tuple(ExprBase):
    fields: tuple[Expr, ...]

    def __post_init__(self) -> None:
        _freeze(self, "fields")


@frozen(eq=False, repr=False)
class TupleGetItem(ExprBase):
    """`tuple_value.index`"""

    tuple_value: Expr
    index: int


@frozen(eq=False, repr=False)
class Function(ExprBase):
    """`fn [type_params](params) -> ret_type { body }`: a closure, or the body of a global."""

    params: tuple[Var, ...]
    body: Expr
    ret_type: Type | None = None
    type_params: tuple[TypeVar, ...] = ()
    attrs: Mapping[str, AttributeValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _freeze(self, "params")
        object.__setattr__(self, "type_params", tuple(self.type_params or ()))
        object.__setattr__(self, "attrs", MappingProxyType(dict(self.attrs or {})))

    def with_attr(self, name: str, value: AttributeValue) -> Function:
        """The function with one more attribute (`Primitive`, `Compiler`, ...), its type kept."""
        return self._with_attrs({**self.attrs, name: value})

    def without_attr(self, name: str) -> Function:
        """The function without an attribute; the function itself if it has none of that name."""
        if name not in self.attrs:
            return self
        return self._with_attrs({key: value for key, value in self.attrs.items() if key != name})

    def _with_attrs(self, attrs: Mapping[str, AttributeValue]) -> Function:
        new = Function(self.params, self.body, self.ret_type, self.type_params, attrs, span=self.span)
        return new if self.checked_type is None else record_type(new, self.checked_type)


class InferredTypes(tuple[Type, ...]):
    """Type arguments that inference found: a cache, as `checked_type` is. A call made from the parts of another does
    not take them over, so they cannot be wrong after a rewrite; text and structural equality leave them out."""

    __slots__ = ()


@frozen(eq=False, repr=False)
class Call(ExprBase):
    """`op(args)`. Attributes belong to operators only; `type_args` instantiate the callee's type parameters: as the
    program gives them, or as inference found them (`InferredTypes`)."""

    op: Expr
    args: tuple[Expr, ...]
    attrs: Attributes | None = None
    type_args: tuple[Type, ...] = ()

    def __post_init__(self) -> None:
        _freeze(self, "args")
        given = () if isinstance(self.type_args, InferredTypes) else tuple(self.type_args or ())
        object.__setattr__(self, "type_args", given)

    @property
    def given_type_args(self) -> tuple[Type, ...]:
        """The type arguments that belong to the program: none when inference found them."""
        return () if isinstance(self.type_args, InferredTypes) else self.type_args


@frozen(eq=False, repr=False)
class Let(ExprBase):
    """`let var = value; body`. A value that is a Function may call `var`."""

    var: Var
    value: Expr
    body: Expr


@frozen(eq=False, repr=False)
class If(ExprBase):
    """`cond` is a bool scalar; only the branch taken is evaluated."""

    cond: Expr
    true_branch: Expr
    false_branch: Expr


@frozen(eq=False, repr=False)
class RefCreate(ExprBase):
    value: Expr


@frozen(eq=False, repr=False)
class RefRead(ExprBase):
    ref: Expr


@frozen(eq=False, repr=False)
class RefWrite(ExprBase):
    """Stores `value`; is worth the empty tuple."""

    ref: Expr
    value: Expr


@frozen(eq=False, repr=False)
class Match(ExprBase):
    """The first clause whose pattern fits. `complete` asks inference to prove that one always does."""

    data: Expr
    clauses: tuple[Clause, ...]
    complete: bool = True

    def __post_init__(self) -> None:
        _freeze(self, "clauses")


@frozen(eq=False, repr=False)
class Constructor(ExprBase):
    """One way to make a value of the data type `belong_to`; `tag` is its position there. Equal by both names."""

    name_hint: str
    inputs: tuple[Type, ...]
    belong_to: GlobalTypeVar
    tag: int = 0

    def __post_init__(self) -> None:
        _freeze(self, "inputs")

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Constructor)
            and (other.belong_to, other.name_hint, other.inputs) == (self.belong_to, self.name_hint, self.inputs)
        )  # fmt: skip

    def __hash__(self) -> int:
        return hash((self.belong_to, self.name_hint))


@frozen(eq=False, repr=False)
class Op(ExprBase):
    """An operator, as a value that can be called."""

    operator: Operator

    @property
    def name(self) -> str:
        return self.operator.name


Expr: TypeAlias = Union[
    Var, GlobalVar, Constant, Tuple, TupleGetItem, Function, Call, Let, If, RefCreate, RefRead, RefWrite, Match,
    Constructor, Op,
]  # fmt: skip


@frozen
class PatternWildcard:
    """`_`: fits everything."""


@frozen(eq=False)
class PatternVar:
    """Fits everything and binds it."""

    var: Var


@frozen(eq=False)
class PatternConstructor:
    constructor: Constructor
    patterns: tuple[Pattern, ...] = ()

    def __post_init__(self) -> None:
        _freeze(self, "patterns")


@frozen(eq=False)
class PatternTuple:
    patterns: tuple[Pattern, ...]

    def __post_init__(self) -> None:
        _freeze(self, "patterns")


Pattern: TypeAlias = Union[PatternWildcard, PatternVar, PatternConstructor, PatternTuple]


@frozen(eq=False)
class Clause:
    """`lhs => rhs`"""

    lhs: Pattern
    rhs: Expr


AnyExpr = PythonTypeVar("AnyExpr", bound=ExprBase)


def record_type(expr: AnyExpr, type_: Type) -> AnyExpr:
    """Fill the type cache of a node: for inference alone, and only with a type that has no holes."""
    object.__setattr__(expr, "checked_type", type_)
    return expr


def record_type_args(call: Call, type_args: Iterable[Type]) -> None:
    """Fill in the type arguments of a call that was given none: for inference alone."""
    if not call.given_type_args:
        object.__setattr__(call, "type_args", InferredTypes(type_args))


def pattern_vars(pattern: Pattern) -> tuple[Var, ...]:
    """The variables a pattern binds, left to right."""
    found: list[Var] = []
    stack = [pattern]
    while stack:
        match stack.pop():
            case PatternVar(var):
                found.append(var)
            case PatternConstructor(_, patterns) | PatternTuple(patterns):
                stack.extend(reversed(patterns))
            case PatternWildcard():
                pass
    return tuple(found)


def const(value: object, dtype: str | DType | None = None) -> Constant:
    """A constant from a number, nested lists or an array. Python floats are float32 and ints int32 unless `dtype`
    says otherwise, as in Relay.

    >>> const(1.5).dtype
    <DType.FLOAT32: 'float32'>
    """
    if dtype is None and not isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        dtype = {"f": DType.FLOAT32, "i": DType.INT32, "b": DType.BOOL}.get(array.dtype.kind)
    array = np.asarray(value)
    return Constant(array if dtype is None else array.astype(DType(dtype).numpy))


def _freeze(node: object, name: str) -> None:
    value: Iterable[object] | Sequence[object] = getattr(node, name)
    if not isinstance(value, tuple):
        object.__setattr__(node, name, tuple(value))
