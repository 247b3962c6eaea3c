"""How builder functions make calls: arguments become expressions, the user's line is noted, the call is typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from types import FunctionType
from typing import Any, TypeAlias, TypeGuard, TypeVar, Union, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relay.arith.expr import IntExpr, Node, Symbol
from relay.base.arguments import TEXT, WHOLE_NUMBER, Kind, expect, refuse
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType, dtype_of
from relay.base.frozen import frozen
from relay.base.span import caller_span
from relay.infer.eager import eager_type, type_eagerly
from relay.ir.attributes import Attributes, NoAttributes
from relay.ir.expr import AnyExpr, Call, Constant, Expr, ExprBase, Tuple, TupleGetItem, Var, const
from relay.ir.types import ANY, TensorType, Type
from relay.ops.framework.attribute_types import check_attributes
from relay.ops.framework.record import OperatorRecord

Argument: TypeAlias = Union[Expr, "TupleWrapper", ArrayLike, Sequence["Argument"]]
"""What a builder function takes for an expression: one, a number or array (a constant), or a list (a tuple)."""

_MARK = "__makes_calls_of_operators__"


def symbol(name: str) -> Symbol:
    """The dimension called `name`. One name is one symbol, always: that is how two variables share an extent.

    A function quantifies the symbols of its parameters, so reusing a name in another function means nothing.

    >>> symbol("n") is symbol("n")
    True
    """
    expect(name, TEXT, "the name of a symbol")
    return _symbol(name)


@cache
def _symbol(name: str) -> Symbol:
    return Symbol(name)


def dimension(value: object) -> IntExpr:
    """An extent as users write it: a number, an expression, or the name of a symbol. `"?"` is unknown.

    Raises `RelayError` (rule `bad-extent`).
    """
    match value:
        case str():
            return ANY if value == "?" else symbol(value)
        case Node():
            return value
        case int() | np.integer() if not isinstance(value, bool) and value >= 0:
            return int(value)
        case _:
            raise RelayError(
                rule="bad-extent", message="an extent of a shape is a whole number or a symbol", found=repr(value),
                expected="0 or more, a symbolic integer, or the name of a symbol", span=caller_span(),
            )  # fmt: skip


def dimensions(shape: Sequence[str | int | IntExpr] | str | int | IntExpr) -> tuple[IntExpr, ...]:
    """The extents of a shape as users write it; a lone extent is a shape of one axis."""
    return tuple(dimension(extent) for extent in shape) if isinstance(shape, (tuple, list)) else (dimension(shape),)


def tensor_type(shape: Sequence[str | int | IntExpr] | str | int, dtype: str | DType = "float32") -> TensorType:
    """A tensor type whose shape may name symbols by strings: `relay.TensorType` is the strict form."""
    return TensorType(dimensions(shape), dtype_of(dtype))


def var(
    name_hint: str,
    type_annotation: Type | str | None = None,
    shape: Sequence[str | int | IntExpr] | None = None,
    dtype: str | DType = "float32",
) -> Var:
    """A variable, typed by `type_annotation`, or as a tensor of `shape` and `dtype`; untyped when neither is given.

    A string in `shape` is a symbolic extent: `relay.var("x", shape=("n", 784))`, and every `"n"` is the same extent.
    As in Relay, a dtype name given as annotation makes a scalar.

    Raises `RelayError`: `unknown-dtype`, `bad-extent`, `two-annotations`.

    >>> var("x", shape=("n", 784)).type_annotation
    TensorType(shape=(n, 784), dtype=<DType.FLOAT32: 'float32'>)
    """
    if type_annotation is not None and shape is not None:
        raise RelayError(rule="two-annotations", message=f"%{name_hint} is given a type and a shape",
                         remedy="give one of them", span=caller_span())  # fmt: skip
    if shape is not None:
        type_annotation = tensor_type(shape, dtype)
    elif isinstance(type_annotation, str):
        type_annotation = TensorType((), dtype_of(type_annotation))
    return with_known_type(Var(name_hint, type_annotation, span=caller_span()))


@frozen
class TupleWrapper:
    """An expression worth a tuple of known size, which Python can unpack and index."""

    tuple_value: Expr
    size: int

    def astuple(self) -> Expr:
        return self.tuple_value

    def __getitem__(self, index: int) -> TupleGetItem:
        expect(index, WHOLE_NUMBER, "the index of a field")
        if not -self.size <= index < self.size:
            raise IndexError(f"field {index} of a tuple of {self.size}")
        return with_known_type(TupleGetItem(self.tuple_value, index % self.size, span=caller_span()))

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[TupleGetItem]:
        return (self[index] for index in range(self.size))


def as_expr(value: Argument, dtype: DType | None = None) -> Expr:
    """The expression that an argument stands for; `dtype` is that of a number given.

    Raises `RelayError` (rule `not-an-expression`).
    """
    if isinstance(value, ExprBase):
        return with_known_type(value)  # pyright: ignore[reportReturnType]
    if isinstance(value, TupleWrapper):
        return with_known_type(value.tuple_value)
    if isinstance(value, (list, tuple)) and any(isinstance(item, (ExprBase, TupleWrapper)) for item in value):
        return with_known_type(Tuple(tuple(as_expr(item) for item in value), span=caller_span()))
    array = _as_array(value)
    if array is None or array.dtype.kind in "OSUMm":
        raise RelayError(
            rule="not-an-expression", message="an argument is neither an expression nor a number, array or list",
            expected="an expression, or what NumPy makes an array of numbers from", found=type(value).__name__,
            span=caller_span(),
        )  # fmt: skip
    return with_known_type(const(value, dtype))


def as_tuple(data: Argument) -> Expr:
    """The expression that an argument stands for; a list is a tuple, whatever its items are."""
    return as_expr(tuple(as_expr(item) for item in data) if isinstance(data, (list, tuple)) else data)


def _as_array(value: object) -> NDArray[np.generic] | None:
    try:
        return np.asarray(value)
    except (TypeError, ValueError):  # a ragged list
        return None


def with_known_type(expr: AnyExpr) -> AnyExpr:
    """`expr` with its type recorded where that needs no inference: variables, constants, tuples and their fields."""
    eager_type(cast(Expr, expr))
    return expr


def call(record: OperatorRecord, arguments: Sequence[Argument], attributes: Attributes | None = None) -> Call:
    """The call of an operator, typed at once when its arguments are.

    Raises `RelayError` (rule `bad-attribute`, and those of the operator's relation), at the user's line.
    """
    args = tuple(as_expr(argument) for argument in arguments)
    if attributes is not None:
        check_attributes(record.name, attributes)
    return type_eagerly(Call(record.op, args, attributes or NoAttributes(), span=caller_span()))


Builder = TypeVar("Builder", bound=Callable[..., object])


def builder(function: Builder) -> Builder:
    """Mark a function that makes calls of operators, or a class whose instances do. Programs in Python notation may
    call it, as they do relay's own functions.

    >>> @builder
    ... def square(data):
    ...     return multiply(data, data)
    >>> is_builder(square), is_builder(sorted)
    (True, False)
    """
    setattr(function, _MARK, True)
    return function


def is_builder(function: object) -> bool:
    """Whether a function makes calls of operators: relay's own do, and those marked. Compiled programs take arrays."""
    is_own = isinstance(function, FunctionType | type) and function.__module__.startswith("relay.")
    return is_own or getattr(function, _MARK, False)


def tuple_call(
    record: OperatorRecord, arguments: Sequence[Argument], attributes: Attributes, size: int
) -> TupleWrapper:
    """The call of an operator whose result is a tuple of `size` fields."""
    return TupleWrapper(call(record, arguments, attributes), size)


def known_dtype(value: Argument) -> DType | None:
    """The element type of an argument, if it is a tensor whose type is known already."""
    type_ = with_known_type(value).checked_type if isinstance(value, ExprBase) else None
    return type_.dtype if isinstance(type_, TensorType) else None


Shape: TypeAlias = Union[Sequence[Union[str, int, IntExpr]], str, int, IntExpr]
"""A shape as users write it; a lone extent is a shape of one axis."""


def is_dynamic(shape: object) -> TypeGuard[Expr]:
    """Whether a shape, or a count, is an expression whose value only the run knows."""
    return isinstance(shape, ExprBase) and not isinstance(shape, Constant)


def static_shape(shape: Shape | Expr) -> Shape:
    """A shape that is known here: the numbers of a constant, or what was given."""
    if isinstance(shape, Constant):
        return tuple(int(extent) for extent in shape.data.reshape(-1))
    return cast("Shape", shape)


def static_extent(extent: IntExpr | Expr) -> IntExpr:
    """An extent or a count that is known here: the number of a constant, or what was given."""
    if isinstance(extent, Constant):
        return int(extent.data.reshape(()))
    return cast("IntExpr", extent)


def known_rank(value: Argument) -> int | None:
    """The rank of an argument, if it is a tensor whose type is known already."""
    type_ = as_expr(value).checked_type
    return len(type_.shape) if isinstance(type_, TensorType) else None


def optional_dtype(dtype: str | DType | None) -> DType | None:
    """A dtype argument; None and, as Relay has it, the empty string mean that none is given."""
    return None if dtype is None or (isinstance(dtype, str) and dtype == "") else dtype_of(dtype)  # pyright: ignore[reportUnnecessaryIsInstance]


def items(values: Any) -> Any:
    """What users give for a list, as a tuple; None, and what is no list, stays for the check of attributes.

    >>> items([1, 2]), items(range(2)), items(None), items("ab")
    ((1, 2), (0, 1), None, 'ab')
    """
    if isinstance(values, np.ndarray):
        values = cast("Any", values).tolist()
    return tuple(values) if isinstance(values, Iterable) and not isinstance(values, str) else values


def item_or_items(values: Any) -> Any:
    """The same, where a lone number is a list of one."""
    return (int(values),) if isinstance(values, (int, np.integer)) else items(values)


def as_float(value: Any) -> Any:
    """What users give for a number, as a float; what is none stays for the check of attributes."""
    known = value.known_value() if isinstance(value, Constant) else value
    return float(known) if isinstance(known, (int, float, np.number)) and not isinstance(known, bool) else known


def whole_numbers(values: object, what: str) -> NDArray[np.int64]:
    """A list of places or steps. Raises `RelayError` (rule `wrong-argument`)."""
    try:
        return np.asarray(values, np.int64)
    except (TypeError, ValueError, OverflowError):
        refuse(values, _PLACES, what)


_PLACES = Kind((tuple, list), "a list of whole numbers of 64 bits")
