"""Make batches of products of one input one batch of wider products: CombineParallelBatchMatmul.

    before: nn.batch_matmul(%x, Y1, transpose_b=True), nn.batch_matmul(%x, Y2, transpose_b=True)
            (%x[batch, m, k], constants Y[batch, n, k])
    after:  %0 = nn.batch_matmul(%x, concatenate(Y1, Y2, axis=1), transpose_b=True)
            strided_slice(%0, begin=[0], end=[n1], axes=[2]), strided_slice(%0, begin=[n1], end=[n1 + n2], axes=[2])

At least `min_num_branches` products by constants that agree in everything but n. Floating point: ROUNDING (a product of
other extents may sum in another order).
"""

from __future__ import annotations

from relay.base.floating_point import FloatingPointClass
from relay.ir.expr import Call, Function
from relay.ir.module import IRModule
from relay.ops.framework.record import OperatorRecord
from relay.ops.nn.matmul import BATCH_MATMUL
from relay.transform.algorithms.parallel_branches import (
    Branch,
    check_branch_count,
    combine_branches,
    weighted_branch,
    widened,
)
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import Pass, function_pass, pass_factory


@pass_factory
def CombineParallelBatchMatmul(min_num_branches: int = 3) -> Pass:
    """Make batches of products of one input one batch of wider products.

    For inputs that at least `min_num_branches` batches of products read.

    Raises `RelayError` (rule `branch-count`) when that is less than 2.
    """
    check_branch_count(min_num_branches)

    @function_pass(level=4, floating_point=FloatingPointClass.ROUNDING)
    def run(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
        return combine_branches(function, _branch, widened, min_num_branches)

    return run


def _branch(expr: Call, record: OperatorRecord) -> Branch | None:
    return weighted_branch(expr, record) if record is BATCH_MATMUL else None
