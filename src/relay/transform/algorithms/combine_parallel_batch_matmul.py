"""Make batches of products of one input one batch of wider products: CombineParallelBatchMatmul.

    before: nn.batch_matmul(%x, Y1, transpose_b=True), nn.batch_matmul(%x, Y2, transpose_b=True)
            (%x[batch, m, k], constants Y[batch, n, k])
    after:  %0 = nn.batch_matmul(%x, concatenate(Y1, Y2, axis=1), transpose_b=True)
            strided_slice(%0, begin=[0], end=[n1], axes=[2]), strided_slice(%0, begin=[n1], end=[n1 + n2], axes=[2])

At least `min_num_branches` products by constants that agree in everything but n. Floating point: ROUNDING (a product of
other extents may sum in another order).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relay.base.floating_point import FloatingPointClass
from relay.ir.expr import Call, Constant, Expr, Function
from relay.ir.module import IRModule
from relay.ops.build import call
from relay.ops.matmul import BATCH_MATMUL, BatchMatmulAttributes
from relay.ops.record import OperatorRecord
from relay.transform.algorithms.parallel_branches import Branch, check_branch_count, combine_branches
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
        return combine_branches(function, _branch, _widened, min_num_branches)

    return run


def _columns_axis(attributes: BatchMatmulAttributes) -> int:
    return 1 if attributes.transpose_b else 2


def _branch(expr: Call, record: OperatorRecord) -> Branch | None:
    match expr:
        case Call(args=(data, Constant(data=weight)), attrs=BatchMatmulAttributes() as attributes) if (
            record is BATCH_MATMUL
        ):
            columns = _columns_axis(attributes)
            kind = (attributes, weight.shape[0], weight.shape[3 - columns], weight.dtype)
            return Branch(expr, record, data, weight, kind, weight.shape[columns], 2)
        case _:
            return None


def _widened(data: Expr, branches: Sequence[Branch]) -> Expr:
    attributes: Any = branches[0].call.attrs
    weights = np.concatenate([branch.weight for branch in branches], axis=_columns_axis(attributes))
    return call(BATCH_MATMUL, (data, Constant(weights)), attributes)
