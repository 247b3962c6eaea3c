"""Optimizers that limit gradients first, and then are another optimizer."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from relay import op
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.expr import Expr, const
from relay.ir.known_types import known_tensor_type
from relay.training.optimizers import Optimizer, Tree

_NORM_GUARD = 1e-6  # PyTorch's: keeps the share finite


@frozen
class _Clipped:
    """An optimizer of gradients that are limited first."""

    optimizer: Optimizer
    limit: float

    def __post_init__(self) -> None:
        if not self.limit > 0:
            raise RelayError(
                rule="bad-optimizer", message="gradients are limited to a size", expected="above 0",
                found=str(self.limit),
            )  # fmt: skip

    def init(self, params: Tree) -> Tree:
        return self.optimizer.init(params)


@frozen
class ClipByGlobalNorm(_Clipped):
    """Gradients of all parameters, taken for one vector, scaled down to a length of `limit`:
    `torch.nn.utils.clip_grad_norm_` (Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural
    networks", 2013, algorithm 1)."""

    def update(self, params: Tree, gradients: Tree, state: Tree, count: Expr) -> tuple[Tree, Tree]:
        share = op.minimum(self.limit / (global_norm(gradients.values()) + _NORM_GUARD), const(1.0, DType.FLOAT64))
        clipped = {name: each * op.cast(share, known_tensor_type(each).dtype) for name, each in gradients.items()}
        return self.optimizer.update(params, clipped, state, count)


@frozen
class ClipByValue(_Clipped):
    """Each element of the gradients moved into [-limit, limit]: `torch.nn.utils.clip_grad_value_`."""

    def update(self, params: Tree, gradients: Tree, state: Tree, count: Expr) -> tuple[Tree, Tree]:
        clipped = {name: op.clip(each, -self.limit, self.limit) for name, each in gradients.items()}
        return self.optimizer.update(params, clipped, state, count)


def global_norm(tensors: Iterable[Expr]) -> Expr:
    """The length of all tensors taken for one vector, a float64 scalar."""
    squares = [op.cast(op.sum(each * each), DType.FLOAT64) for each in tensors]
    return op.sqrt(reduce(op.add, squares))
