"""How groups of operators become loops over blocks and threads.

A formula has an element for each thread. A reduction along one axis is a tree: over the lanes of a subgroup, which take
each other's parts from registers, and where it is long over the subgroups of a block, in shared memory. A product of
matrices goes by tiles: a block stages parts of both in shared memory, and each thread sums up one result.
"""

from __future__ import annotations

from functools import partial, reduce

from relay.arith.expr import free_symbols
from relay.base.diagnostics import RelayError
from relay.lower.kernels.group import Group
from relay.te.operation import Compute, Reduction, scalar_indices
from relay.te.schedule.builder import ScheduleBuilder
from relay.te.schedule.step import Step
from relay.te.state import Stage
from relay.tir.hierarchy import Hierarchy

TILE = 4
"""A block has TILE × TILE threads of a product, and goes on by TILE elements of its sums."""
LANES = 8
"""Of a subgroup. From so many elements on a reduction is a tree."""


def schedule(group: Group, machine: Hierarchy, threads: int) -> tuple[Step, ...]:
    """The steps for a group. Raises `RelayError` for what the machine has no schedule for."""
    s = ScheduleBuilder(group.outputs, machine)
    if not all(isinstance(stage.operation, Compute) for stage in s.state.stages):
        raise RelayError(rule="toy-gpu", message="it has no loops of its own for scans and sorts")
    for stage in reversed(s.state.stages):
        if _reduction(stage) is None and not s.state.is_output(stage):
            s.compute_inline(stage.name)
    for stage in s.state.stages:
        if _is_product(stage):
            _by_tiles(s, stage.name)
        elif _has_tree(stage):
            _tree(s, stage.name, threads)
        else:
            _element_for_each_thread(s, stage.name, threads)
    return s.steps


def _reduction(stage: Stage) -> Reduction | None:
    body = stage.operation.body if isinstance(stage.operation, Compute) else None
    return body if isinstance(body, Reduction) else None


def _axes(stage: Stage) -> list[str]:
    reduced = {root.symbol for root in stage.roots if root.is_reduction}
    return [loop.name for loop in stage.loops if loop.symbol not in reduced]


def _reduced(stage: Stage) -> list[str]:
    kept = set(_axes(stage))
    return [loop.name for loop in stage.loops if loop.name not in kept]


def _is_product(stage: Stage) -> bool:
    """Whether a stage is a sum along one axis of products of a matrix that its columns do not touch, and of one that
    its rows do not touch, with extents that tiles divide."""
    reduction, operation = _reduction(stage), stage.operation
    if reduction is None or not isinstance(operation, Compute) or len(operation.axes) != 2 or len(operation.reads) != 2:
        return False
    extents = [axis.extent for axis in (*operation.axes, *reduction.axes)]
    if len(extents) != 3 or not all(isinstance(each, int) and each % TILE == 0 and each for each in extents):
        return False
    row, column = operation.axes
    touched = [frozenset().union(*map(free_symbols, scalar_indices(load))) for load in operation.reads]
    return any(row in one and column not in one and column in other and row not in other
               for one, other in (touched, touched[::-1]))  # fmt: skip


def _has_tree(stage: Stage) -> bool:
    reduction = _reduction(stage)
    return reduction is not None and len(reduction.reducers) == 1 and _terms(stage) >= LANES


def _terms(stage: Stage) -> int:
    """How many elements are reduced to one along one axis; 0 where that is not known, or not so."""
    reduction = _reduction(stage)
    extents = () if reduction is None else tuple(axis.extent for axis in reduction.axes)
    return extents[0] if len(extents) == 1 and isinstance(extents[0], int) else 0


def _by_tiles(s: ScheduleBuilder, stage: str) -> None:
    operation = s.state.stage(stage).operation
    assert isinstance(operation, Compute)
    read = list(dict.fromkeys(load.buffer.name for load in operation.reads))
    rows, columns = _axes(s.state.stage(stage))
    (depth,) = _reduced(s.state.stage(stage))
    sums = s.cache_write(stage, "register")
    block_rows, block_columns, thread_rows, thread_columns = s.tile(stage, rows, columns, TILE, TILE)
    s.bind(stage, block_rows, "blockIdx.y")
    s.bind(stage, block_columns, "blockIdx.x")
    s.bind(stage, thread_rows, "threadIdx.y")
    s.bind(stage, thread_columns, "threadIdx.x")
    s.compute_at(sums, stage, thread_columns)
    outer, inner = s.split(sums, depth, factor=TILE)
    inside = _axes(s.state.stage(sums))
    s.reorder(sums, outer, inner, *(loop for loop in inside if loop not in (outer, inner)))
    for tensor in read:
        s.compute_at(s.cache_read(tensor, "shared", (sums,)), sums, outer)


def _tree(s: ScheduleBuilder, stage: str, threads: int) -> None:
    (reduced,) = _reduced(s.state.stage(stage))
    subgroups = threads // LANES
    s.bind(stage, _fused(s, stage), "blockIdx.x")
    outer, lane = s.split(stage, reduced, factor=LANES)
    s.bind(stage, lane, "threadIdx.x")
    if _terms(s.state.stage(stage)) >= subgroups * LANES:
        _, subgroup = s.split(stage, outer, factor=subgroups)
        s.bind(stage, subgroup, "subgroup")


def _element_for_each_thread(s: ScheduleBuilder, stage: str, threads: int) -> None:
    blocks, inner = s.split(stage, _fused(s, stage), factor=threads)
    s.bind(stage, blocks, "blockIdx.x")
    s.bind(stage, inner, "threadIdx.x")


def _fused(s: ScheduleBuilder, stage: str) -> str:
    """All loops over results as one. Raises `RelayError` where there are none."""
    loops = _axes(s.state.stage(stage))
    if not loops:
        raise RelayError(rule="toy-gpu", message="it leaves scalars to the host")
    return reduce(partial(s.fuse, stage), loops)
