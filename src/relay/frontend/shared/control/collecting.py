"""What the steps of a loop give out, gathered into one tensor.   entries[..] → [count, ..]"""

from __future__ import annotations

from collections.abc import Callable

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.frontend.shared.control.lists import blank, cons, nil, stacked
from relay.frontend.shared.control.loops import written_at
from relay.frontend.shared.structures import LIST
from relay.ir.expr import Expr, Var
from relay.ir.types import ANY, TensorType, Type, TypeCall
from relay.ops.creation.create import zeros
from relay.ops.framework.build import with_known_type


@frozen(eq=False)
class Collector:
    """`var` is what the loop takes along, `first` at the beginning, and `after(entry, place)` a step; `whole` makes the
    tensor of the last."""

    var: Var
    first: Expr
    after: Callable[[Expr, Expr], Expr]
    whole: Callable[[Expr], Expr]


def collector(entry: TensorType, extent: IntExpr, count: Expr | None, *, backwards: bool = False) -> Collector:
    """Entries are written to their places in a tensor of `extent` or, where that is `?`, `count` entries. Where the
    number of steps (None) or the extents of an entry are known only behind the loop, they are a list until then.
    `backwards`: the last entry comes first."""
    if ANY in entry.shape or (extent is ANY and count is None):
        return _listed(entry, backwards=backwards)
    if extent is ANY and count is not None:
        first: Expr = blank(count, zeros(entry.shape, entry.dtype))
    else:
        first = zeros((extent, *entry.shape), entry.dtype)
    var = _taken_along(TensorType((extent, *entry.shape), entry.dtype))
    return Collector(var, first, lambda each, place: written_at(var, each, place), lambda last: last)


def _listed(entry: TensorType, *, backwards: bool) -> Collector:
    """A list has its last element first."""
    var = _taken_along(TypeCall(LIST, (entry,)))
    return Collector(
        var, nil(entry), lambda each, _: cons(each, var, entry),
        lambda last: stacked(last, entry, backwards=not backwards),
    )  # fmt: skip


def _taken_along(type_: Type) -> Var:
    return with_known_type(Var("collected", type_))
