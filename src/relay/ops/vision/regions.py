"""Regions of images, cut into bins, and where samples of these lie: for NumPy, for tensor expressions, for gradients.

Along an axis a region begins at `low`, its bins measure `size`, and each has `count` samples, evenly spread:

    low + bin · size + (sample + 1/2) · size / count

A sample is taken between the two elements around it. Up to `REACH` beyond the outer elements it is the outer element,
farther away it is nothing.
"""

from __future__ import annotations

from typing import Any

from relay.base.frozen import frozen
from relay.ops.vision.taps import Numbers, Sampling

BETWEEN = Sampling("linear", "border", align_corners=True)
REACH = 1
CORNERS = ((2, 4), (1, 3))
"""Along y and x: the entries of a region at which it begins and ends; the first is its instance."""


@frozen
class Bins:
    """A region along an axis: numbers, or expressions of them. `count` is a plain one where it is the same for all."""

    low: Any
    size: Any
    count: Any

    def place(self, bin_: Any, sample: Any, numbers: Numbers) -> Any:
        return self.low + bin_ * self.size + (sample + 0.5) * self.size / self._divisor(numbers)

    def samples(self, bin_: Any, extent: Any, reach: int, numbers: Numbers) -> tuple[Any, Any]:
        """The first of the samples of a bin that may lie in the image, and the one behind the last: of a region that is
        much larger than the image there are many more."""
        if isinstance(self.count, int):
            return extent * 0, extent * 0 + self.count
        count, begin = at_least(self.count, 0, numbers), self.low + bin_ * self.size
        step = self.size / self._divisor(numbers)
        step = numbers.select(numbers.less(extent * 0, step), step, extent * 0 + 1)
        first = numbers.floor((extent * 0 - reach - begin) / step) - 1
        end = numbers.floor((extent - 1 + reach - begin) / step) + 2
        first = numbers.minimum(at_least(first, 0, numbers), count)
        return first, numbers.maximum(numbers.minimum(end, count), first)

    def _divisor(self, numbers: Numbers) -> Any:
        return self.count if isinstance(self.count, int) else at_least(self.count, 1, numbers)


def at_least(value: Any, least: int, numbers: Numbers) -> Any:
    return numbers.maximum(value, value * 0 + least)


def is_inside(place: Any, extent: Any, reach: int, numbers: Numbers) -> Any:
    """Whether a sample is something."""
    moved = numbers.minimum(numbers.maximum(place, extent * 0 - reach), extent - 1 + reach)
    return numbers.equal(place, moved)
