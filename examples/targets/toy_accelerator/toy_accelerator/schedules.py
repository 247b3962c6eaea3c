"""How a product of matrices becomes loops over tiles.

for each tile of results
  sums = 0                                   in the accumulator
  for each tile along what is summed over
    copy of the next tile of each factor     by the queue, into the input memory
    gemm of this one
  result = formula of sums                   by the ALU
"""

from __future__ import annotations

from relay.arith.expr import IntExpr
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.lower.kernels.group import Group
from relay.te.operation import Compute, Reduction
from relay.te.schedule.builder import ScheduleBuilder
from relay.te.schedule.step import Step
from relay.te.state import Stage
from relay.tir.hierarchy import Hierarchy
from toy_accelerator.instructions import TILE

ACCUMULATOR, INPUTS, GEMM, QUEUE = "accumulator", "inputs", "toy.gemm", "fetch"


def schedule(group: Group, machine: Hierarchy) -> tuple[Step, ...]:
    """The steps for a product, and formulas of its results. Raises `RelayError` for anything else."""
    s = ScheduleBuilder(group.outputs, machine)
    products = [stage for stage in s.state.stages if _is_sum(stage)]
    if len(products) != 1 or len(group.outputs) != 1:
        raise refused("it multiplies two matrices, and leaves all else to the host")
    (product,) = products
    result = s.state.stages[-1]
    for stage in reversed(s.state.stages[:-1]):
        if stage.name != product.name:
            s.compute_inline(stage.name)
    read = _factors(product, result)
    if product.name == result.name:
        sums = s.cache_write(product.name, ACCUMULATOR)
    else:
        sums = product.name
        s.set_scope(sums, ACCUMULATOR)
    rows, columns = s.loops(result.name)
    _, outer_columns, _, _ = s.tile(result.name, rows, columns, TILE, TILE)
    s.compute_at(sums, result.name, outer_columns)
    rows, columns, depth = s.loops(sums)
    outer, inner = s.split(sums, depth, factor=TILE)
    s.reorder(sums, outer, rows, columns, inner)
    for tensor in read:
        copy = s.cache_read(tensor, INPUTS, (sums,))
        s.compute_at(copy, sums, outer)
        s.issue_to(copy, QUEUE)
        s.double_buffer(copy)
    s.tensorize(sums, rows, GEMM)
    return s.steps


def _is_sum(stage: Stage) -> bool:
    return isinstance(stage.operation, Compute) and isinstance(stage.operation.body, Reduction)


def _factors(product: Stage, result: Stage) -> tuple[str, str]:
    """The names of what is multiplied."""
    operation, shown = product.operation, result.operation
    if not isinstance(operation, Compute) or not isinstance(shown, Compute):
        raise refused("it multiplies two matrices, and leaves all else to the host")
    read = tuple(dict.fromkeys(load.buffer.name for load in operation.reads))
    extents = [axis.extent for axis in (*operation.axes, *operation.reduce_axes)]
    if len(read) != 2 or (len(operation.axes), len(extents)) != (2, 3) or len(shown.axes) != 2:
        raise refused("it multiplies two matrices, and leaves all else to the host")
    for load in operation.reads:
        if load.dtype is not DType.FLOAT32:
            raise refused(f"it multiplies float32, and no {load.dtype}")
    for extent in extents:
        _check_extent(extent)
    return read[0], read[1]


def _check_extent(extent: IntExpr) -> None:
    if not isinstance(extent, int):
        raise refused(f"its programs have no loops, and only calls tell the extent {extent}")
    if extent % TILE or not extent:
        raise refused(f"its tiles are {TILE} × {TILE}, and {extent} is no multiple of {TILE}")


def refused(reason: str) -> RelayError:
    """Why the accelerator does not take a group."""
    return RelayError(rule="toy-accelerator", message=reason)
