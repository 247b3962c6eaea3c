"""Lists and optionals of a model as data types of the prelude: their expressions, and types that join."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from relay.arith.prove import Proof
from relay.base.names.loading import when_called
from relay.frontend.shared.node import Unsupported
from relay.frontend.shared.value import Item, Structure, Value
from relay.infer.infer_type import infer_type_expr
from relay.ir.expr import Call, Constructor, Expr, Var
from relay.ir.module import IRModule
from relay.ir.types import ANY, GlobalTypeVar, IncompleteType, TensorType, Type, TypeCall
from relay.ops.framework.dimensions import decide_equal

if TYPE_CHECKING:
    from relay.text.prelude import prelude_types
else:  # most models have no lists
    prelude_types = when_called("relay.text.prelude", "prelude_types")

LIST, OPTION = GlobalTypeVar("List"), GlobalTypeVar("Option")
UNKNOWN = IncompleteType()
"""The elements of an empty list that nothing was said about."""


@cache
def data_types() -> IRModule:
    """A module of the data types alone."""
    return IRModule({}, {data.header: data for data in prelude_types() if data.header in (LIST, OPTION)})


def constructor(name: str) -> Constructor:
    return next(each for each in data_types().constructors() if each.name_hint == name)


def list_of(items: Sequence[Item], element: Type | None = None) -> Structure | None:
    """A list of these; `element` is what each is at least. None where one type does not hold them all."""
    whole: Type | None = UNKNOWN if element is None else element
    for item in items:
        whole = None if whole is None else joined_type(whole, item.type)
    return None if whole is None else Structure("", TypeCall(LIST, (whole,)), parts=tuple(items))


def optional_of(item: Item | None, element: Type = UNKNOWN) -> Structure:
    """`Some` of an item, or `None`, of what would be an `element`."""
    parts = () if item is None else (item,)
    return Structure("", TypeCall(OPTION, (element if item is None else item.type,)), parts=parts)


def expr_of(item: Item, type_: Type | None = None) -> Expr:
    """The expression of an item where a value of `type_` is wanted, which holds what its own type does.

    Raises `Unsupported` for an empty list of which nothing says what it would hold.
    """
    if isinstance(item, Value):
        return item.expr
    if item.expr is not None:
        return item.expr
    wanted = item.type if type_ is None else type_
    assert isinstance(wanted, TypeCall)
    assert item.parts is not None
    if not is_known(wanted):
        raise Unsupported("an empty list or optional of which nothing says what it would hold")
    (element,) = wanted.args
    parts = [expr_of(part, element) for part in item.parts]
    return typed(_some(parts, element) if wanted.func == OPTION else _chain(parts, element))


def _some(parts: Sequence[Expr], element: Type) -> Expr:
    return Call(constructor("Some" if parts else "None"), tuple(parts), type_args=(element,))


def _chain(parts: Sequence[Expr], element: Type) -> Expr:
    whole: Expr = Call(constructor("Nil"), (), type_args=(element,))
    for part in reversed(parts):
        whole = Call(constructor("Cons"), (part, whole), type_args=(element,))
    return whole


def typed(expr: Expr) -> Expr:
    """An expression of lists and optionals, with the types of its nodes."""
    return infer_type_expr(expr, data_types())


def declared(var: Var) -> Type:
    """What a variable was declared to be. (Its type has a name for each `?` that it was declared with.)"""
    assert var.type_annotation is not None
    return var.type_annotation


def is_known(type_: Type) -> bool:
    """Whether a type says all of what it holds."""
    if isinstance(type_, TypeCall):
        return all(is_known(part) for part in type_.args)
    return not isinstance(type_, IncompleteType)


def joined_type(left: Type, right: Type) -> Type | None:
    """The narrowest type that holds the values of both; extents that differ are `?`. None where there is none.

    >>> from relay.ops.framework.build import tensor_type
    >>> print(joined_type(tensor_type((2, 3)), tensor_type((2, 4))))
    Tensor[(2, ?), float32]
    >>> joined_type(tensor_type((2,)), tensor_type(())) is None
    True
    """
    match left, right:
        case IncompleteType(), _:
            return right
        case _, IncompleteType():
            return left
        case TensorType(), TensorType() if left.dtype is right.dtype and len(left.shape) == len(right.shape):
            pairs = zip(left.shape, right.shape, strict=True)
            return TensorType(
                tuple(mine if decide_equal(mine, other) is Proof.YES else ANY for mine, other in pairs), left.dtype
            )
        case TypeCall(), TypeCall() if left.func == right.func:
            joined = [joined_type(mine, other) for mine, other in zip(left.args, right.args, strict=True)]
            parts = tuple(each for each in joined if each is not None)
            return TypeCall(left.func, parts) if len(parts) == len(joined) else None
        case _:
            return None


def item_of(expr: Expr, name: str = "") -> Item | None:
    """An expression by its type; None where this is no type of a value of a model."""
    match expr.checked_type:
        case TensorType() as type_:
            return Value(name, expr, type_)
        case TypeCall() as type_:
            return Structure(name, type_, expr)
        case _:
            return None
