"""How far results are apart, and whether that is as far as a class of rewrites may change them.

Rewrites that may round otherwise are held to what rounding does to this program on these inputs: the program is run
again with all that its operators take and give moved by a few units in the last place, at random (Monte Carlo
arithmetic: D. Stott Parker, "Monte Carlo Arithmetic: exploiting randomness in floating-point arithmetic", UCLA, 1997).
How far results move then is how far they may be off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from relay.base.dtypes import DType, dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.driver.verification.observed import Seen
from relay.interpret.machine import CallOperator, by_meaning
from relay.interpret.values import Value
from relay.ir.attributes import Attributes
from relay.ir.operator import Operator

MOVED_ULP, MOVED_NARROW_ULP = 16.0, 2.0
"""How far numbers are moved: sums in another order, and functions that are exact to a few units; numbers of less than
32 bits are computed in wider ones and rounded once. What is off by no more, of the largest number of a tensor, is near
enough to need no other run."""
FILTERS = 32.0
"""So many times as far where convolutions are minimal filters, which add up larger numbers than they give."""
MOVED_RUNS = 3


@frozen
class Distance:
    """How far a result is off. `absolute`: the largest difference of two elements; `relative`: as part of the largest
    magnitude of the tensor that was meant; `ulp`: in units in the last place of that. `place` and `what` tell where,
    and what stands there. `is_near`: by no more than any rounding may."""

    absolute: float = 0.0
    relative: float = 0.0
    ulp: float = 0.0
    place: str = ""
    what: str = ""
    is_near: bool = True


APART = Distance(np.inf, np.inf, np.inf, is_near=False)
Again = Callable[[CallOperator], Sequence[tuple[Sequence[Seen], Sequence[Seen]]]]
"""What programs give by operators that are called so, each with what it gives by their meaning."""


@frozen
class Verdict:
    """`distance` is that of the worst part, `allowed` how far that may be off, absolutely. `is_undecided`: there is a
    difference, and rounding alone changes the part by as much as there is of it."""

    is_right: bool
    distance: Distance
    allowed: float
    is_undecided: bool = False


def judged(found: Sequence[Seen], meant: Sequence[Seen], may: FloatingPointClass, again: Again) -> Verdict:
    """Whether a result is what is meant, as far as a class of rewrites may change it. `again` runs what is meant, and
    more where that rounds coarser."""
    if may is FloatingPointClass.EXACT:
        worst = max(_differences(found, meant), key=lambda each: each.absolute, default=Distance())
        return Verdict(worst.absolute == 0, worst, 0.0)
    apart = distances(found, meant, may)
    worst = max(apart, key=lambda each: each.relative, default=Distance())
    if all(each.is_near for each in apart):
        return Verdict(True, worst, worst.absolute)
    times = FILTERS if may is FloatingPointClass.NONFINITE_MAY_SPREAD else 1.0
    allowed = [0.0] * len(apart)
    relative = [0.0] * len(apart)
    for seed in range(MOVED_RUNS):
        for run, unmoved in again(Moved(np.random.default_rng(seed), times)):
            moved = distances(run, unmoved, may)
            if len(run) != len(unmoved) or len(moved) != len(
                apart
            ):  # another number of parts, there or in what is found
                moved = [APART if len(run) != len(unmoved) else Distance()] * len(apart)
            allowed = [max(most, each.absolute) for most, each in zip(allowed, moved, strict=True)]
            relative = [max(most, each.relative) for most, each in zip(relative, moved, strict=True)]
    excess = [
        (each.absolute > most and not each.is_near, each.relative, at)
        for at, (each, most) in enumerate(zip(apart, allowed, strict=True))
    ]
    is_wrong, _, at = max(excess)
    return Verdict(not is_wrong, apart[at], allowed[at], not is_wrong and relative[at] >= 1)


def distances(found: Sequence[Seen], meant: Sequence[Seen], may: FloatingPointClass) -> list[Distance]:
    """How far each part is off. Parts that are not of one kind, dtype and shape are infinitely far."""
    if len(found) != len(meant):
        return [_apart("the result", f"{len(found)} parts", f"{len(meant)}")]
    spreads = may >= FloatingPointClass.NONFINITE_MAY_SPREAD and not all(map(_is_finite, meant))
    return [_distance(each, other, spreads) for each, other in zip(found, meant, strict=True)]


def _differences(found: Sequence[Seen], meant: Sequence[Seen]) -> list[Distance]:
    """The distances of parts that are not the same bit for bit; NaN are the same."""
    if len(found) != len(meant):
        return [_apart("the result", f"{len(found)} parts", f"{len(meant)}")]
    differences: list[Distance] = []
    for each, other in zip(found, meant, strict=True):
        if not _is_same(each, other):
            distance = _distance(each, other, spreads=False)
            differences.append(distance if distance.absolute else _apart(each.path, "0.0", "-0.0, or the other way"))
    return differences


def _is_same(found: Seen, meant: Seen) -> bool:
    left, right = found.leaf, meant.leaf
    if isinstance(left, str) or isinstance(right, str):
        return isinstance(left, str) and isinstance(right, str) and left == right
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    if left.tobytes() == right.tobytes():
        return True
    return bool(np.array_equal(left, right, equal_nan=_is_float(right)) and np.all(_signs(left) == _signs(right)))


def _is_float(array: NDArray[Any]) -> bool:
    return dtype_of(array.dtype).is_float


def _signs(array: NDArray[Any]) -> NDArray[np.bool_]:
    wide = array.astype(np.float64)
    return np.signbit(np.where(np.isnan(wide), 0.0, wide))


def _is_finite(seen: Seen) -> bool:
    return isinstance(seen.leaf, str) or not _is_float(seen.leaf) or bool(np.isfinite(seen.leaf).all())


def _apart(place: str, found: str, meant: str) -> Distance:
    return replace(APART, place=place, what=f"{found} in place of {meant}")


def _distance(found: Seen, meant: Seen, spreads: bool) -> Distance:
    left, right = found.leaf, meant.leaf
    if isinstance(left, str) or isinstance(right, str):
        return Distance() if _is_same(found, meant) else _apart(meant.path, _kind(left), _kind(right))
    if left.shape != right.shape or left.dtype != right.dtype:
        return _apart(meant.path, _kind(left), _kind(right))
    if left.size == 0 or left.tobytes() == right.tobytes():
        return Distance()
    is_float = _is_float(right)
    off = np.asarray(_apart_by(left, right, spreads) if is_float else _apart_by_integers(left, right))
    worst = np.unravel_index(int(np.argmax(off)), off.shape)
    absolute = float(off[worst])
    if absolute == 0:
        return Distance()
    sizes = np.abs(right.astype(np.float64))
    largest = float(sizes[np.isfinite(sizes)].max(initial=0.0))
    relative = absolute / largest if largest else np.inf
    ulp = relative / float(ml_dtypes.finfo(right.dtype).eps) if is_float else np.inf
    index = ", ".join(map(str, worst))
    what = f"{left[worst]!s} in place of {right[worst]!s}"
    is_near = is_float and ulp <= moved_ulp(dtype_of(right.dtype))
    return Distance(absolute, relative, ulp, f"{meant.path}[{index}]" if index else meant.path, what, is_near)


def _apart_by(found: NDArray[Any], meant: NDArray[Any], spreads: bool) -> NDArray[Any]:
    """Differences of floats: none between equal infinities and between NaN, infinite where one alone is finite, unless
    these may spread."""
    left, right = found.astype(np.float64), meant.astype(np.float64)
    is_finite = np.isfinite(left) & np.isfinite(right)
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(left - right)
    is_same = (left == right) | (np.isnan(left) & np.isnan(right))
    return np.where(is_finite, off, np.where(is_same | spreads, 0.0, np.inf))


def _apart_by_integers(found: NDArray[Any], meant: NDArray[Any]) -> NDArray[Any]:
    """Differences of integers and of truth values, which are 0 and 1; those of uint64 may be larger than any int64."""
    left, right = (each if each.dtype == np.uint64 else each.astype(np.int64) for each in (found, meant))
    return np.abs(left.astype(object) - right.astype(object)).astype(np.float64)


def _kind(leaf: NDArray[Any] | str) -> str:
    return leaf if isinstance(leaf, str) else f"Tensor[{leaf.shape}, {dtype_of(leaf.dtype)}]"


def moved_ulp(dtype: DType) -> float:
    """By how many units in the last place numbers are moved."""
    return MOVED_ULP if dtype.bits >= 32 else MOVED_NARROW_ULP


@frozen(eq=False)
class Moved:
    """Calls operators by their meaning, with the floats that they take and give moved up or down at random, by `times`
    as much as `moved_ulp` says, or by as little as half of that."""

    generator: np.random.Generator
    times: float = 1.0

    def __call__(self, operator: Operator, attributes: Attributes, arguments: tuple[Value, ...]) -> Value:
        given = tuple([self._moved(each) for each in arguments])
        return self._moved(by_meaning(operator, attributes, given))

    def _moved(self, value: Value) -> Value:
        if isinstance(value, tuple):
            return tuple([self._moved(each) for each in value])
        if not isinstance(value, np.ndarray) or not _is_float(value) or dtype_of(value.dtype).is_scale:
            return value
        unit = self.times * moved_ulp(dtype_of(value.dtype)) * float(ml_dtypes.finfo(value.dtype).eps)
        signs = self.generator.choice((-1.0, 1.0), value.shape)
        factors = 1 + unit * signs * self.generator.uniform(0.5, 1, value.shape)  # a few elements are moved for certain
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(value.astype(np.float64) * factors).astype(value.dtype)
