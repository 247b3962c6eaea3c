"""How an axis of an image is sampled: where the elements of a result lie in the data, and what each takes of it.

A result element at `x` along an axis samples the data at a rational coordinate, which is kept as a fraction of whole
numbers, so that rounding never picks a neighbour by a float's last bit. Coordinate modes (of ONNX) with `size` data
elements and `count` result elements:

    asymmetric           x · size / count
    half_pixel           (x + 1/2) · size / count - 1/2
    pytorch_half_pixel   the same, but 0 when count is 1
    align_corners        x · (size - 1) / (count - 1)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from relay.arith.expr import maximum
from relay.base.frozen import frozen
from relay.ops.framework.interpolation import cubic_weights

METHODS = ("nearest_neighbor", "linear", "cubic")
COORDINATES = ("asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners")
ROUNDINGS = ("", "floor", "ceil", "round", "round_prefer_floor", "round_prefer_ceil")


@frozen
class Sampling:
    """How one axis is sampled: a fraction of whole numbers for each result element."""

    size: Any
    count: Any
    coordinates: str
    method: str
    rounding: str = ""
    alpha: float = -0.5
    exclude: bool = False

    def coordinate(self, x: Any) -> tuple[Any, Any]:
        """`(numerator, denominator)` of the place in the data that element `x` samples."""
        match self.coordinates:
            case "asymmetric":
                return x * self.size, self.count
            case "align_corners":
                return x * (self.size - 1), _at_least_one(self.count - 1)
            case "pytorch_half_pixel" if isinstance(self.count, int) and self.count == 1:
                return x * 0, 1
            case _:
                return (2 * x + 1) * self.size - self.count, 2 * self.count

    def nearest(self, x: Any) -> Any:
        """The place of the one element that `x` takes."""
        numerator, denominator = self.coordinate(x)
        match self.rounding or ("round" if self.coordinates == "align_corners" else "floor"):
            case "floor":
                return numerator // denominator
            case "ceil":
                return (numerator + denominator - 1) // denominator
            case "round_prefer_floor":
                return (2 * numerator + denominator - 1) // (2 * denominator)
            case _:
                return (2 * numerator + denominator) // (2 * denominator)

    def floor(self, x: Any) -> tuple[Any, Any, Any]:
        """`(the place below, numerator, denominator)` of the distance from there."""
        numerator, denominator = self.coordinate(x)
        below = numerator // denominator
        return below, numerator - below * denominator, denominator


def _at_least_one(value: Any) -> Any:
    return max(value, 1) if isinstance(value, int) else maximum(value, 1)


Taps: TypeAlias = tuple[tuple[Any, Any], ...]
"""`(place, weight)` of the elements that a result element mixes along an axis; a weight of None is 1."""


def taps_of(
    sampling: Sampling, x: Any, clip: Callable[[Any], Any], number: Callable[[Any], Any],
    inside: Callable[[Any, Any], Any],
) -> Taps:  # fmt: skip
    """What element `x` mixes. `clip` moves a place inside, `number` makes one of a whole number, and `inside` is a
    weight where its place lies in the data, else 0."""
    if sampling.method == "nearest_neighbor":
        return ((clip(sampling.nearest(x)), None),)
    below, numerator, denominator = sampling.floor(x)
    distance = number(numerator) / number(denominator)
    one = number(1)
    if sampling.method == "linear":
        return ((clip(below), one - distance), (clip(below + 1), distance))
    weights = cubic_weights(distance, sampling.alpha, one)
    if sampling.exclude:
        weights = tuple(inside(below + k - 1, weight) for k, weight in enumerate(weights))
        total = weights[0] + weights[1] + weights[2] + weights[3]
        weights = tuple(weight / total for weight in weights)
    return tuple((clip(below + k - 1), weight) for k, weight in enumerate(weights))
