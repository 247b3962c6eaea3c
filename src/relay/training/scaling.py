"""Losses made larger, so that gradients in float16 do not vanish."""

from __future__ import annotations

from relay import op
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.expr import Expr, const


@frozen
class LossScale:
    """A factor of the loss, taken out of the gradients again. Where these are not finite the update is left out, and
    the factor shrinks by `backoff`; after `interval` updates in a row it grows by `growth`: `torch.amp.GradScaler`
    (Micikevicius et al., "Mixed Precision Training", 2018, section 3.2)."""

    first: float = 2.0**16
    growth: float = 2.0
    backoff: float = 0.5
    interval: int = 2000

    def __post_init__(self) -> None:
        if not (self.first > 0 and self.growth > 1 and 0 < self.backoff < 1 and self.interval > 0):
            raise RelayError(
                rule="bad-loss-scale", message="a loss scale grows and shrinks",
                expected="first > 0, growth > 1, backoff between 0 and 1, interval > 0", found=str(self),
            )  # fmt: skip

    def after(self, made: Expr, scale: Expr, good: Expr) -> tuple[Expr, Expr]:
        """The next scale, and how many updates in a row were made at it, when an update was `made` or left out."""
        one, none = const(1, DType.INT64), const(0, DType.INT64)
        grows = op.equal(good + one, const(self.interval, DType.INT64))
        larger = op.where(grows, scale * self.growth, scale)
        counted = op.where(grows, none, good + one)
        return op.where(made, larger, scale * self.backoff), op.where(made, counted, none)
