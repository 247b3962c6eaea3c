"""Reductions some of whose results have fewer axes than the others."""

from __future__ import annotations

from itertools import takewhile

from relay.arith.expr import free_symbols
from relay.te.lowering.placement import Placement
from relay.te.operation import Compute
from relay.te.schedule.step import refused
from relay.te.state import Stage


def by_rank(stage: Stage) -> tuple[list[int], list[int]]:
    """The components with fewer axes, and those with all."""
    operation = stage.operation
    ranks = operation.ranks if isinstance(operation, Compute) else ()
    fewer = [component for component, rank in enumerate(ranks) if rank == min(ranks)]
    return fewer, [component for component in range(len(ranks)) if component not in fewer]


def inner_depth(placed: Placement) -> int:
    """The depth of the first loop over axes that only some components have; all loops from there on must be such.

    Raises `RelayError` (`schedule-refused`).
    """
    stage = placed.stage
    axes = stage.operation.axes if isinstance(stage.operation, Compute) else ()
    rank = stage.operation.shared_rank if isinstance(stage.operation, Compute) else 0
    shared, own = (
        {symbol for axis in part for symbol in free_symbols(placed.axis_values[axis])}
        for part in (axes[:rank], axes[rank:])
    )
    inside = [not loop.is_reduction and loop.symbol in own - shared for loop in stage.loops]
    depth = len(inside) - sum(takewhile(bool, reversed(inside)))
    if any(inside[:depth]) or own & shared & {loop.symbol for loop in stage.loops} or stage.intrinsic is not None:
        raise refused(
            f"loops of `{stage.name}` over axes that only some of its results have must be its innermost, and plain",
            expected="loops over " + ", ".join(axis.name for axis in axes[rank:]) + " inside all others",
            found="loops " + ", ".join(loop.name for loop in stage.loops),
            remedy="reorder them to the innermost places",
        )
    return depth
