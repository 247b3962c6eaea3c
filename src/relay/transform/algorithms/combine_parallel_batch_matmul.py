"""Make batches of products of one input one batch of wider products: CombineParallelBatchMatmul.

    before: nn.batch_matmul(%x, Y1, transpose_b=True), nn.batch_matmul(%x, Y2, transpose_b=True)
            (%x[batch, m, k], constants Y[batch, n, k])
    after:  %0 = nn.batch_matmul(%x, concatenate(Y1, Y2, axis=1), transpose_b=True)
            strided_slice(%0, begin=[0], end=[n1], axes=[2]), strided_slice(%0, begin=[n1], end=[n1 + n2], axes=[2])

At least `min_num_branches` products by constants that agree in everything but n. Floating point: ROUNDING (a product of
other extents may sum in another order).
"""

from __future__ import annotations

from relay.ops.nn.matmul import BATCH_MATMUL
from relay.transform.algorithms.parallel_branches import (
    combining,
    weighted_branches,
    widened,
)
from relay.transform.framework.passes import Pass, pass_factory


@pass_factory
def CombineParallelBatchMatmul(min_num_branches: int = 3) -> Pass:
    """Make batches of products of one input one batch of wider products.

    For inputs that at least `min_num_branches` batches of products read.

    Raises `RelayError` (rule `branch-count`) when that is less than 2.
    """
    return combining(weighted_branches(BATCH_MATMUL), widened, min_num_branches)
