"""The expressions and patterns of the language: fifteen forms, all on this screen.

    expr    ::= Var | GlobalVar | Constant | Tuple | TupleGetItem | Function | Call | Let | If
              | RefCreate | RefRead | RefWrite | Match | Constructor | Op
    pattern ::= PatternWildcard | PatternVar | PatternConstructor | PatternTuple

A program is a DAG: a node that stands in two places is evaluated once. Nodes are frozen and compared by identity
(generated equality is exponential on shared graphs); `structural_equal` compares structure. Every node has a `span`
and a `checked_type`, a cache that inference alone fills, through `record_type`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, Union, cast
from typing import TypeVar as PythonTypeVar

import numpy as np

from relay.base.arguments import MAPPING, TEXT, WHOLE_NUMBER, Kind, described, expect, expect_each, refuse
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType, dtype_of
from relay.base.frozen import frozen
from relay.base.span import Span, caller_span
from relay.ir.attributes import Attributes, AttributeValue
from relay.ir.operator import Operator
from relay.ir.sugar import ExprSugar
from relay.ir.types import TYPE, GlobalTypeVar, TensorType, Type, TypeVar

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

    def __post_init__(self) -> None:
        if not isinstance(self.name_hint, TEXT.types):
            refuse(self.name_hint, TEXT, "the name of a Var")
        if not (self.type_annotation is None or isinstance(self.type_annotation, TYPE.types)):
            refuse(self.type_annotation, TYPE, "the type of a Var")


@frozen(eq=False, repr=False)
class GlobalVar(ExprBase):
    """A function of the module, by name."""

    name_hint: str

    def __post_init__(self) -> None:
        expect(self.name_hint, TEXT, "the name of a GlobalVar")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GlobalVar) and other.name_hint == self.name_hint

    def __hash__(self) -> int:
        return hash(self.name_hint)


@frozen(eq=False, repr=False)
class Constant(ExprBase):
    """A tensor known now, so its type is known too. The array is made read-only and is not copied."""

    data: NDArray[np.generic]

    def __post_init__(self) -> None:
        try:
            array = np.asarray(self.data)
        except (TypeError, ValueError):
            array = _as_array(self.data)
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
        for each in self.fields:
            if not isinstance(each, EXPRESSION.types):
                refuse(each, EXPRESSION, "a field of a Tuple")


@frozen(eq=False, repr=False)
class TupleGetItem(ExprBase):
    """`tuple_value.index`"""

    tuple_value: Expr
    index: int

    def __post_init__(self) -> None:
        expect(self.tuple_value, EXPRESSION, "the tuple of a TupleGetItem")
        expect(self.index, WHOLE_NUMBER, "the index of a TupleGetItem")


@frozen(eq=False, repr=False)
class Function(ExprBase):
    """`fn [type_params](params) -> ret_type { body }`: a closure, or the body of a global."""

    params: tuple[Var, ...]
    body: Expr
    ret_type: Type | None = None
    type_params: tuple[TypeVar, ...] = ()
    attrs: Mapping[str, AttributeValue] = field(default_factory=dict)
    walked: tuple[Expr, ...] | None = field(default=None, kw_only=True, init=False)
    """The nodes of the body: a cache that `relay.ir.traversal.body_nodes` fills."""

    def __post_init__(self) -> None:
        _freeze(self, "params")
        expect_each(self.params, VARIABLE, "a parameter of a Function")
        expect(self.body, EXPRESSION, "the body of a Function")
        if self.ret_type is not None:
            expect(self.ret_type, TYPE, "the result type of a Function")
        if self.type_params is None:  # pyright: ignore[reportUnnecessaryComparison] # as programs of Relay give it
            object.__setattr__(self, "type_params", ())
        _freeze(self, "type_params")
        expect_each(self.type_params, _TYPE_VARIABLE, "a type parameter of a Function")
        expect({} if self.attrs is None else self.attrs, MAPPING, "the attributes of a Function")  # pyright: ignore[reportUnnecessaryComparison]
        object.__setattr__(self, "attrs", MappingProxyType(dict(self.attrs or {})))

    def with_attr(self, name: str, value: AttributeValue) -> Function:
        """The function with one more attribute (`Primitive`, `Compiler`, ...), its type kept."""
        return self.with_attrs({**self.attrs, name: value})

    def without_attr(self, name: str) -> Function:
        """The function without an attribute; the function itself if it has none of that name."""
        if name not in self.attrs:
            return self
        return self.with_attrs({key: value for key, value in self.attrs.items() if key != name})

    def with_attrs(self, attrs: Mapping[str, AttributeValue]) -> Function:
        """The function with these attributes alone, its type kept."""
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
        if not isinstance(self.op, EXPRESSION.types):
            refuse(self.op, EXPRESSION, "what a Call calls")
        for each in self.args:
            if not isinstance(each, EXPRESSION.types):
                refuse(each, EXPRESSION, "an argument of a Call")
        if not (self.attrs is None or isinstance(self.attrs, _ATTRIBUTES.types)):
            refuse(self.attrs, _ATTRIBUTES, "what a Call has for attributes")
        if self.type_args != ():
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

    def __post_init__(self) -> None:
        if not isinstance(self.var, VARIABLE.types):
            refuse(self.var, VARIABLE, "what a Let binds")
        for each in (self.value, self.body):
            if not isinstance(each, EXPRESSION.types):
                refuse(each, EXPRESSION, "the value or the body of a Let")


@frozen(eq=False, repr=False)
class If(ExprBase):
    """`cond` is a bool scalar; only the branch taken is evaluated."""

    cond: Expr
    true_branch: Expr
    false_branch: Expr

    def __post_init__(self) -> None:
        expect_each((self.cond, self.true_branch, self.false_branch), EXPRESSION, "the condition or a branch of an If")


@frozen(eq=False, repr=False)
class RefCreate(ExprBase):
    value: Expr

    def __post_init__(self) -> None:
        expect(self.value, EXPRESSION, "the value of a RefCreate")


@frozen(eq=False, repr=False)
class RefRead(ExprBase):
    ref: Expr

    def __post_init__(self) -> None:
        expect(self.ref, EXPRESSION, "the ref of a RefRead")


@frozen(eq=False, repr=False)
class RefWrite(ExprBase):
    """Stores `value`; is worth the empty tuple."""

    ref: Expr
    value: Expr

    def __post_init__(self) -> None:
        expect_each((self.ref, self.value), EXPRESSION, "the ref or the value of a RefWrite")


@frozen(eq=False, repr=False)
class Match(ExprBase):
    """The first clause whose pattern fits. `complete` asks inference to prove that one always does."""

    data: Expr
    clauses: tuple[Clause, ...]
    complete: bool = True

    def __post_init__(self) -> None:
        _freeze(self, "clauses")
        expect(self.data, EXPRESSION, "what a Match looks at")
        expect_each(self.clauses, _CLAUSE, "a clause of a Match")


@frozen(eq=False, repr=False)
class Constructor(ExprBase):
    """One way to make a value of the data type `belong_to`; `tag` is its position there. Equal by both names."""

    name_hint: str
    inputs: tuple[Type, ...]
    belong_to: GlobalTypeVar
    tag: int = 0

    def __post_init__(self) -> None:
        _freeze(self, "inputs")
        expect(self.name_hint, TEXT, "the name of a Constructor")
        expect_each(self.inputs, TYPE, "an input of a Constructor")

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Constructor)
            and (other.belong_to, other.name_hint, other.inputs) == (self.belong_to, self.name_hint, self.inputs)
        )  # fmt: skip

    def __hash__(self) -> int:
        return hash(self.name_hint)


@frozen(eq=False, repr=False)
class Op(ExprBase):
    """An operator, as a value that can be called. Those of one operator are equal."""

    operator: Operator

    def __post_init__(self) -> None:
        expect(self.operator, _OPERATOR, "the operator of an Op")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Op) and other.operator is self.operator

    def __hash__(self) -> int:
        return hash(self.operator)

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

    def __post_init__(self) -> None:
        expect(self.var, VARIABLE, "what a PatternVar binds")


@frozen(eq=False)
class PatternConstructor:
    constructor: Constructor
    patterns: tuple[Pattern, ...] = ()

    def __post_init__(self) -> None:
        _freeze(self, "patterns")
        expect(self.constructor, _CONSTRUCTOR, "the constructor of a PatternConstructor")
        expect_each(self.patterns, _PATTERN, "a part of a PatternConstructor")


@frozen(eq=False)
class PatternTuple:
    patterns: tuple[Pattern, ...]

    def __post_init__(self) -> None:
        _freeze(self, "patterns")
        expect_each(self.patterns, _PATTERN, "a part of a PatternTuple")


Pattern: TypeAlias = Union[PatternWildcard, PatternVar, PatternConstructor, PatternTuple]


@frozen(eq=False)
class Clause:
    """`lhs => rhs`"""

    lhs: Pattern
    rhs: Expr

    def __post_init__(self) -> None:
        expect(self.lhs, _PATTERN, "the pattern of a Clause")
        expect(self.rhs, EXPRESSION, "the value of a Clause")


def _as_expression(value: object) -> str:
    """How to write what stands where an expression is expected."""
    if hasattr(value, "astuple"):
        return "take its tuple: .astuple()"
    if isinstance(value, (bool, int, float, np.ndarray, np.generic)):
        return "make it a constant: relay.const(…)"
    return "make it a tuple: relay.Tuple([…])" if isinstance(value, (list, tuple)) else ""


EXPRESSION = Kind((ExprBase,), "an expression", _as_expression)
VARIABLE = Kind((Var,), "a Var", lambda _: 'make it one: relay.var("x", shape=…)')
_ATTRIBUTES = Kind((Attributes,), "the attributes of an operator", lambda _: "call the operator: relay.exp(x)")
_OPERATOR = Kind((Operator,), "an operator", lambda _: 'take it from relay.ops.table: OPERATORS["exp"]')
_TYPE_VARIABLE = Kind((TypeVar,), "a TypeVar")
_CLAUSE = Kind((Clause,), "a Clause")
_CONSTRUCTOR = Kind((Constructor,), "a Constructor")
_PATTERN = Kind((PatternWildcard, PatternVar, PatternConstructor, PatternTuple), "a pattern")


AnyExpr = PythonTypeVar("AnyExpr", bound=ExprBase)


def record_type(expr: AnyExpr, type_: Type) -> AnyExpr:
    """Fill the type cache of a node: for inference alone, and only with a type that has no holes."""
    object.__setattr__(expr, "checked_type", type_)
    return expr


def record_walk(function: Function, nodes: Iterable[Expr]) -> tuple[Expr, ...]:
    """Fill the cache of the nodes of a function's body: for `body_nodes` alone."""
    object.__setattr__(function, "walked", tuple(nodes))
    return function.walked or ()


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

    Raises `RelayError`: `not-a-constant` for what is no number and no array of numbers, `unknown-dtype`.

    >>> const(1.5).dtype
    <DType.FLOAT32: 'float32'>
    """
    array = _as_array(value)
    if dtype is None and not isinstance(value, (np.ndarray, np.generic)):
        dtype = {"f": DType.FLOAT32, "i": DType.INT32, "b": DType.BOOL}.get(array.dtype.kind)
        if array.dtype.kind == "i" and array.size and not -(2**31) <= array.min() <= array.max() < 2**31:
            raise RelayError(
                rule="not-a-constant", message="a constant is an int32 unless its type is given", span=caller_span(),
                expected="from -2147483648 to 2147483647", found=str(array.max()), remedy='give it: dtype="int64"',
            )  # fmt: skip
    return Constant(array if dtype is None else array.astype(dtype_of(dtype).numpy))


def _as_array(value: object) -> NDArray[np.generic]:
    """The array of numbers that NumPy makes of a value."""
    try:
        array = np.asarray(value)
        reason = "a whole number of more than 64 bits" if array.dtype == object and isinstance(value, int) else ""
    except (TypeError, ValueError):
        array, reason = None, "lists that differ in length"
    if array is None or array.dtype.kind in "OSUMm":
        raise RelayError(
            rule="not-a-constant", message="a constant is a number, or an array of numbers", span=caller_span(),
            expected="what NumPy makes an array of numbers from", found=reason or described(value),
            remedy="use it as it is: it is an expression already" if isinstance(value, ExprBase) else "",
        )  # fmt: skip
    return array


def _freeze(node: object, name: str) -> None:
    value: object = getattr(node, name)
    if not isinstance(value, tuple):
        if not isinstance(value, Iterable) or isinstance(value, ExprBase):
            refuse(value, _LIST, f"`{name}` of a {type(node).__name__}")
        object.__setattr__(node, name, tuple(value))


_LIST = Kind((list, tuple), "a list", lambda value: "write a list of it: […]" if isinstance(value, ExprBase) else "")
