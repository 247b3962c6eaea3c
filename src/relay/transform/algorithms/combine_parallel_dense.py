"""Make dense layers on one input one dense layer, or one batch of products: CombineParallelDense.

    before: add(nn.dense(%x, W1), B1), add(nn.dense(%x, W2), B2)

    to_batch=False: %0 = add(nn.dense(%x, concatenate(W1, W2)), concatenate(B1, B2))
                    strided_slice(%0, begin=[0], end=[units], axes=[1]), …
    to_batch=True:  %0 = add(nn.batch_matmul(expand_dims(%x, axis=0), stack(W1, W2)), stack(B1, B2))
                    squeeze(strided_slice(%0, begin=[0], end=[1], axes=[0]), axis=[0]), …

At least `min_num_branches` layers (`nn.dense`, or `nn.matmul` by a constant matrix) with constant weights of one inner
extent; to a batch only layers on matrices, with as many units each. Floating point: ROUNDING (a product of other
extents may sum in another order).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from relay.ir.expr import Call, Constant, Expr
from relay.ops.framework.record import OperatorRecord
from relay.ops.manipulation.shape import expand_dims
from relay.ops.nn.matmul import DENSE, MATMUL, batch_matmul
from relay.transform.algorithms.parallel_branches import (
    Branch,
    combining,
    weighted_branches,
    widened,
)
from relay.transform.framework.passes import Pass, pass_factory

_MATRIX = 2  # axes
_BRANCHES = weighted_branches(DENSE, MATMUL)


@pass_factory
def CombineParallelDense(min_num_branches: int = 3, to_batch: bool = True) -> Pass:
    """Make dense layers on one input one dense layer.

    For inputs that at least `min_num_branches` layers read: to a batch of products, or to one wide layer.

    Raises `RelayError` (rule `branch-count`) when that is less than 2.
    """
    describe, widen = (_batched_branch, _batched) if to_batch else (_BRANCHES, widened)
    return combining(describe, widen, min_num_branches)


def _batched_branch(expr: Call, record: OperatorRecord) -> Branch | None:
    """A dense layer on a matrix: one of a batch."""
    branch = _BRANCHES(expr, record)
    if branch is None or record is not DENSE or branch.result_axis != _MATRIX - 1:
        return None
    return replace(branch, kind=(branch.kind, branch.width), result_axis=None)


def _batched(data: Expr, branches: Sequence[Branch]) -> Expr:
    attributes: Any = branches[0].call.attrs
    weights = np.stack([branch.weight for branch in branches])
    return batch_matmul(expand_dims(data, axis=0), Constant(weights), attributes.out_dtype)
