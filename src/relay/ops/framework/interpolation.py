"""What the elements around a place count for what lies between them."""

from __future__ import annotations

from typing import Any


def cubic_weights(t: Any, alpha: float, one: Any) -> tuple[Any, ...]:
    """Keys' cubic convolution (1981, equation 15 with a = alpha): weights of the places -1, 0, 1, 2 at distance `t`."""

    def near(d: Any) -> Any:
        return ((alpha + 2) * d - (alpha + 3)) * d * d + one

    def far(d: Any) -> Any:
        return ((d * alpha - 5 * alpha) * d + 8 * alpha) * d - 4 * alpha

    return far(t + one), near(t), near(one - t), far(one - t + one)
