"""The type of a choice: what both sides have in common."""

from __future__ import annotations

from relay.arith.expr import IntExpr, free_symbols
from relay.infer.unification.unify import Mode, Unifier
from relay.ir.types import ANY, FuncType, TensorType, TupleType, Type, TypeCall


def join(unifier: Unifier, one: Type, other: Type) -> Type | str:
    """The least type that a value of either may stand as: extents that differ become `?`. A fact in words when there
    is none.

    >>> from relay.base.dtypes import DType
    >>> print(join(Unifier(), TensorType((3, 1), DType.INT8), TensorType((4, 1), DType.INT8)))
    Tensor[(?, 1), int8]
    """
    one, other = unifier.resolve(one), unifier.resolve(other)
    match one, other:
        case TensorType(), TensorType() if one.dtype == other.dtype and len(one.shape) == len(other.shape):
            shape = tuple(_join_extent(unifier, a, b) for a, b in zip(one.shape, other.shape, strict=True))
            return TensorType(shape, one.dtype)
        case TupleType(a), TupleType(b) if len(a) == len(b):
            fields = _join_all(unifier, a, b)
            form = one.form if one.form == other.form else None
            return fields if isinstance(fields, str) else TupleType(fields, form)
        case TypeCall(func, a), TypeCall(other_func, b) if func == other_func and len(a) == len(b):
            args = _join_all(unifier, a, b)
            return args if isinstance(args, str) else TypeCall(func, args)
        case FuncType(), FuncType() if one.type_params or other.type_params:
            return _less_general(unifier, one, other)
        case _:
            mismatch = unifier.relate(one, other, Mode.EXACT)
            return one if mismatch is None else mismatch.fact


def _less_general(unifier: Unifier, one: FuncType, other: FuncType) -> Type | str:
    """The one of two function types, of which one is polymorphic, that both may stand as."""
    mismatch = unifier.relate(one, other, Mode.ASSIGN)
    if mismatch is None:
        return other
    return one if unifier.relate(other, one, Mode.ASSIGN) is None else mismatch.fact


def _join_all(unifier: Unifier, one: tuple[Type, ...], other: tuple[Type, ...]) -> tuple[Type, ...] | str:
    joined: list[Type] = []
    for a, b in zip(one, other, strict=True):
        part = join(unifier, a, b)
        if isinstance(part, str):
            return part
        joined.append(part)
    return tuple(joined)


def _join_extent(unifier: Unifier, one: IntExpr, other: IntExpr) -> IntExpr:
    one, other = unifier.extent(one), unifier.extent(other)
    if one == other:
        return one
    if (free_symbols(one) | free_symbols(other)) & unifier.flexible and not unifier.relate_extents(
        one, other, Mode.EXACT
    ):
        return unifier.extent(one)
    return ANY
