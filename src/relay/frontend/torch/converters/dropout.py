"""Elements dropped at random in training.   x[..] → [..]"""

from __future__ import annotations

from relay.base.dtypes import DType
from relay.frontend.shared.node import Result
from relay.frontend.torch.node import Converter, TorchNode, converters
from relay.ir.expr import Expr, const
from relay.ops.creation.create import zeros
from relay.ops.creation.random import uniform
from relay.ops.elementwise.comparison import greater_equal, less, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import multiply


def dropped(node: TorchNode, x: Expr, share: float) -> tuple[Expr, Expr]:
    """x, of which a share is 0 and the rest is scaled to make up for it, and which elements are kept (Srivastava et al.
    2014)."""
    type_ = node.type_of(x)
    if share >= 1:
        return zeros(type_.shape, type_.dtype), zeros(type_.shape, DType.BOOL)
    kept = greater_equal(_fractions(node, x), const(share, DType.FLOAT32))
    scaled = multiply(x, const(1 / (1 - share), type_.dtype))
    return where(kept, scaled, const(0, type_.dtype)), kept


def _fractions(node: TorchNode, x: Expr) -> Expr:
    """A number from 0 to below 1 for each element."""
    return node.drawn(lambda key: uniform(key, node.type_of(x).shape, DType.FLOAT32))


def _dropout(node: TorchNode) -> Result:
    share = node.float("p")
    return dropped(node, node.expr(), share)[0] if node.flag("train") and share else node.value(0)


def _with_mask(node: TorchNode) -> Result:
    return dropped(node, node.expr(), node.float("p"))


def _bernoulli(node: TorchNode) -> Result:
    """1 with the probability p, else 0."""
    return cast(less(_fractions(node, node.expr()), const(node.float("p"), DType.FLOAT32)), node.dtype)


DROPOUT: tuple[Converter, ...] = (
    *converters("dropout", _dropout, "p", "train"),
    *converters("native_dropout", _with_mask, "p", "train"),
    *converters("bernoulli", _bernoulli, "p", overloads=("p",)),
)
