"""A function of symbolic extents as one of the extents that a call has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from relay.arith.expr import IntExpr, Symbol, substitute
from relay.ir.attributes import with_extents
from relay.ir.expr import Function
from relay.ir.type_traversal import map_type, type_leaves, type_symbols
from relay.ir.types import TensorType, Type
from relay.ir.variables import free_vars
from relay.transform.functions.retyping import retyped

Extents = Mapping[Symbol, IntExpr]


def extents_of_call(params: Sequence[Type], args: Sequence[Type]) -> Extents | None:
    """What the symbols in `params` are, so that these are the types `args`, exactly; None when there is no such thing.

    >>> from relay.base.dtypes import DType
    >>> n = Symbol("n")
    >>> extents_of_call([TensorType((n, 4), DType.INT8)], [TensorType((3, 4), DType.INT8)])
    {n: 3}
    """
    found: dict[Symbol, IntExpr] = {}
    for param, arg in zip(params, args, strict=True):
        for inner, outer in zip(type_leaves(param), type_leaves(arg), strict=False):
            if isinstance(inner, TensorType) and isinstance(outer, TensorType):
                pairs = zip(inner.shape, outer.shape, strict=False)
                found.update((own, extent) for own, extent in pairs if isinstance(own, Symbol) and own not in found)
    matches = all(
        type_at(param, lambda own: found.get(own, own)) == arg for param, arg in zip(params, args, strict=True)
    )
    return found if matches else None


def type_at(type_: Type, extent: Callable[[Symbol], IntExpr]) -> Type:
    """The type with `extent` of each symbol in its place."""
    return map_type(type_, dimension=lambda dim: dim if isinstance(dim, int) else substitute(dim, extent))


def function_at(function: Function, extents: Extents) -> Function:
    """A typed copy of a typed function, with these extents for its symbols and new bound variables. Extents that are
    found inside it (of `arange`) get new symbols, so that both bodies may stand in one function; those of what it takes
    from around it stay.

    A function that is given extents must have no run-time checks: without them its types at other extents are these
    types with the extents put in, and no check is lost.
    """
    given = [each.checked_type or each.type_annotation for each in (*function.params, *free_vars(function))]
    known: dict[Symbol, IntExpr] = {
        symbol: symbol for type_ in given if type_ is not None for symbol in type_symbols(type_)
    }
    known.update(extents)

    def extent(symbol: Symbol) -> IntExpr:
        if symbol not in known:
            known[symbol] = Symbol(symbol.name)
        return known[symbol]

    return retyped(
        function,
        lambda type_: type_at(type_, extent),
        lambda attributes: with_extents(attributes, lambda value: substitute(value, extent)),
    )  # fmt: skip


def copied(function: Function) -> Function:
    """A copy whose bound variables are new, and the symbols of extents that are found inside, so that both may stand in
    one program, and both bodies in one function."""
    return function_at(function, {})
