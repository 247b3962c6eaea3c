"""Make convolutions of one image one convolution with more output channels: CombineParallelConv2D.

    before: nn.relu(nn.conv2d(%x, W1)), nn.relu(nn.conv2d(%x, W2))
    after:  %0 = nn.relu(nn.conv2d(%x, concatenate(W1, W2) along O))
            strided_slice(%0, begin=[0], end=[O1], axes=[1]), strided_slice(%0, begin=[O1], end=[O1 + O2], axes=[1])

At least `min_num_branches` convolutions by constants that agree in everything but the number of output channels;
convolutions in groups and packed kernels stay. Floating point: ROUNDING (a kernel of other extents may sum in another
order).
"""

from __future__ import annotations

from relay.base.floating_point import FloatingPointClass
from relay.ir.expr import Call, Function
from relay.ir.module import IRModule
from relay.ops.framework.record import OperatorRecord
from relay.ops.nn.conv import CONV2D
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
def CombineParallelConv2D(min_num_branches: int = 3) -> Pass:
    """Make convolutions of one image one convolution with more output channels.

    For inputs that at least `min_num_branches` convolutions read.

    Raises `RelayError` (rule `branch-count`) when that is less than 2.
    """
    check_branch_count(min_num_branches)

    @function_pass(level=4, floating_point=FloatingPointClass.ROUNDING)
    def run(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
        return combine_branches(function, _branch, widened, min_num_branches)

    return run


def _branch(expr: Call, record: OperatorRecord) -> Branch | None:
    return weighted_branch(expr, record) if record is CONV2D else None
