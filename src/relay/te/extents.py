"""How long loops are: those that were split and fused, by the axes that they come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from relay.arith.expr import IntExpr, Symbol, ceil_divide, multiply
from relay.base.diagnostics import CompilerBug
from relay.te.state import FuseRelation, Relation, SplitRelation


def loop_extents(relations: Iterable[Relation], roots: Mapping[Symbol, IntExpr]) -> dict[Symbol, IntExpr]:
    """The extents of all symbols that `relations` lead to from those of `roots`, these included.

    A loop that is split by more than its extent has one iteration of all of it.

    >>> i, outer, inner = Symbol("i"), Symbol("i.outer"), Symbol("i.inner")
    >>> loop_extents([SplitRelation(i, outer, inner, factor=16, parts=None)], {i: 40})[outer]
    3
    """
    extents = dict(roots)
    for relation in relations:
        match relation:
            case SplitRelation(parent, outer, inner, factor, parts):
                extents[outer], extents[inner] = _split(extents[parent], factor, parts)
            case FuseRelation(outer, inner, fused):
                extents[fused] = multiply(extents[outer], extents[inner])
            case _:
                assert_never(relation)
    return extents


def _split(extent: IntExpr, factor: int | None, parts: int | None) -> tuple[IntExpr, IntExpr]:
    given = factor if factor is not None else parts
    if given is None:
        raise CompilerBug("te.extents", "a split has neither factor nor parts")
    size = max(1, min(given, extent)) if isinstance(extent, int) else given
    rest = ceil_divide(extent, size)
    return (rest, size) if factor is not None else (size, rest)
