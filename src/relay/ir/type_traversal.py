"""Types rebuilt with other variables or dimensions, and the symbols in them. Types are small: this recurses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set

from relay.arith.expr import IntExpr, Symbol, free_symbols
from relay.ir.types import (
    ANY,
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeVar,
    type_children,
    type_parts,
)


def map_type(
    type_: Type,
    variable: Callable[[TypeVar | IncompleteType], Type] | None = None,
    dimension: Callable[[IntExpr], IntExpr] | None = None,
) -> Type:
    """`type_` with its variables and dimensions replaced; the same object when nothing changes.

    >>> from relay.base.dtypes import DType
    >>> print(map_type(TensorType((2, 3), DType.INT8), dimension=lambda dim: dim * 2))
    Tensor[(4, 6), int8]
    """
    match type_:
        case TensorType(shape, dtype):
            if dimension is None:
                return type_
            new_shape = tuple(map(dimension, shape))
            return type_ if new_shape == shape else TensorType(new_shape, dtype)
        case TypeVar() | IncompleteType():
            return type_ if variable is None else variable(type_)
        case GlobalTypeVar():
            return type_
        case _:
            old = type_children(type_)
            new = tuple(map_type(part, variable, dimension) for part in old)
            return type_ if all(a is b for a, b in zip(old, new, strict=True)) else _with_children(type_, new)


def instantiated(type_: Type, types: Mapping[TypeVar, Type]) -> Type:
    """A type in which type variables stand for `types`.

    >>> a, b = TypeVar("a"), TypeVar("b")
    >>> print(instantiated(TupleType((a, b)), {a: TupleType(())}))
    ((), b)
    """
    if not types:
        return type_
    return map_type(type_, variable=lambda each: types.get(each, each) if isinstance(each, TypeVar) else each)


def _with_children(type_: Type, new: tuple[Type, ...]) -> Type:
    match type_:
        case TupleType():
            return type_.with_fields(new)
        case FuncType(_, _, type_params):
            return FuncType(new[:-1], new[-1], type_params)
        case RefType():
            return RefType(new[0])
        case TypeCall(func):
            return TypeCall(func, new)
        case TensorType() | TypeVar() | GlobalTypeVar() | IncompleteType():
            return type_


def type_leaves(type_: Type) -> Sequence[Type]:
    """The tensor types and variables in a type, left to right."""
    found: list[Type] = []
    stack = [type_]
    while stack:
        node = stack.pop()
        parts = type_children(node)
        if parts:
            stack.extend(reversed(parts))
        else:
            found.append(node)
    return found


def tuple_leaves(type_: Type) -> Iterator[tuple[tuple[int, ...], Type]]:
    """What nested tuples hold in the end, left to right, each behind the fields that lead to it; of any other type
    itself.

    >>> a, b = TypeVar("a"), TypeVar("b")
    >>> [(path, each.name) for path, each in tuple_leaves(TupleType((a, TupleType((b, a)))))]
    [((0,), 'a'), ((1, 0), 'b'), ((1, 1), 'a')]
    """
    waiting: list[tuple[tuple[int, ...], Type]] = [((), type_)]
    while waiting:
        path, each = waiting.pop()
        if isinstance(each, TupleType):
            waiting += reversed([((*path, index), part) for index, part in enumerate(each.fields)])
        else:
            yield path, each


def tensor_types(type_: Type) -> Sequence[TensorType]:
    """The tensor types in a type, left to right."""
    if isinstance(type_, TensorType):
        return (type_,)
    return [leaf for leaf in type_leaves(type_) if isinstance(leaf, TensorType)]


def free_type_leaves(type_: Type) -> tuple[TypeVar | IncompleteType, ...]:
    """The type variables that no function type inside `type_` quantifies, and the types still to be found; each once,
    in order of first appearance.

    >>> a, b = TypeVar("a"), TypeVar("b")
    >>> [leaf.name for leaf in free_type_leaves(FuncType((a, b), a, (b,)))]
    ['a']
    """
    found: dict[TypeVar | IncompleteType, None] = {}
    bound: set[TypeVar] = set()
    for part in type_parts(type_):
        if isinstance(part, FuncType):
            bound.update(part.type_params)
        if isinstance(part, (TypeVar, IncompleteType)):
            found[part] = None
    return tuple(leaf for leaf in found if leaf not in bound)


def has_extents_of(type_: Type, symbols: Set[Symbol]) -> bool:
    """Whether all extents in a type are numbers, or made of these symbols."""
    for tensor in tensor_types(type_):
        for dim in tensor.shape:
            if not isinstance(dim, int) and not (free_symbols(dim) and free_symbols(dim) <= symbols):
                return False
    return True


def is_closed(type_: Type | None) -> bool:
    """Whether a type is known, and means the same everywhere: it has no variables, and no extents but numbers."""
    if type_ is None:
        return False
    for leaf in (type_,) if isinstance(type_, TensorType) else type_leaves(type_):
        if isinstance(leaf, TypeVar | IncompleteType):
            return False
        if isinstance(leaf, TensorType) and not all(isinstance(extent, int) for extent in leaf.shape):
            return False
    return True


def type_calls(type_: Type) -> Iterator[TypeCall]:
    """The data types that are applied somewhere in a type, outermost first."""
    for part in type_parts(type_):
        if isinstance(part, GlobalTypeVar):
            yield TypeCall(part, ())
        if isinstance(part, TypeCall):
            yield part


def type_symbols(type_: Type) -> tuple[Symbol, ...]:
    """Every dimension symbol in a type, alone or in an expression, each once, in order of first appearance."""
    found: dict[Symbol, None] = {}
    for tensor in tensor_types(type_):
        for dim in tensor.shape:
            if isinstance(dim, Symbol):
                found[dim] = None
            elif not isinstance(dim, int):
                found.update((symbol, None) for symbol in sorted(free_symbols(dim), key=lambda s: s.name))
    return tuple(found)


def type_holes(type_: Type) -> tuple[IncompleteType, ...]:
    """The types still to be found in a type."""
    if isinstance(type_, TensorType):
        return ()
    return tuple(leaf for leaf in type_leaves(type_) if isinstance(leaf, IncompleteType))


def has_unknown_dimension(type_: Type) -> bool:
    """Whether `?` stands in a type."""
    return any(ANY in tensor.shape for tensor in tensor_types(type_))
