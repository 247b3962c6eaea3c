"""Make convolutions of one image one convolution with more output channels: CombineParallelConv2D.

    before: nn.relu(nn.conv2d(%x, W1)), nn.relu(nn.conv2d(%x, W2))
    after:  %0 = nn.relu(nn.conv2d(%x, concatenate(W1, W2) along O))
            strided_slice(%0, begin=[0], end=[O1], axes=[1]), strided_slice(%0, begin=[O1], end=[O1 + O2], axes=[1])

At least `min_num_branches` convolutions by constants that agree in everything but the number of output channels;
convolutions in groups and packed kernels stay. Floating point: ROUNDING (a kernel of other extents may sum in another
order).
"""

from __future__ import annotations

from relay.ops.nn.conv import CONV2D
from relay.transform.algorithms.parallel_branches import (
    combining,
    weighted_branches,
    widened,
)
from relay.transform.framework.passes import Pass, pass_factory


@pass_factory
def CombineParallelConv2D(min_num_branches: int = 3) -> Pass:
    """Make convolutions of one image one convolution with more output channels.

    For inputs that at least `min_num_branches` convolutions read.

    Raises `RelayError` (rule `branch-count`) when that is less than 2.
    """
    return combining(weighted_branches(CONV2D), widened, min_num_branches)
