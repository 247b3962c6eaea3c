"""How far results are apart, and what each class allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay.base.dtypes import DType
from relay.base.floating_point import FloatingPointClass
from relay.driver.verification.distance import Again, Moved, Verdict, judged
from relay.driver.verification.observed import Seen
from relay.interpret.machine import CallOperator, by_meaning
from relay.ops.table import OPERATORS

EXACT, ROUNDING, SPREADS, FAST = FloatingPointClass
EPS = float(np.finfo(np.float32).eps)


def seen(*leaves: Any) -> list[Seen]:
    return [Seen(f"part {at}", each if isinstance(each, str) else np.asarray(each)) for at, each in enumerate(leaves)]


def floats(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


def verdict(found: Any, meant: Any, may: FloatingPointClass, again: Again | None = None) -> Verdict:
    return judged(seen(found), seen(meant), may, again or (lambda _: [(seen(meant), seen(meant))]))


@pytest.mark.parametrize("may", FloatingPointClass)
def test_what_is_the_same_is_right(may: FloatingPointClass) -> None:
    for leaf in (floats(1, np.nan, np.inf, -0.0), np.array([1, -2]), np.array(True), "Cons", np.zeros((0, 3))):
        same = verdict(leaf, leaf, may)
        assert same.is_right
        assert same.distance.absolute == 0


@pytest.mark.parametrize("may", FloatingPointClass)
@pytest.mark.parametrize(("found", "meant"), [
    (floats(1, 2), floats(1, 2, 3)), (floats(1), np.array([1.0])), ("Nil", "Cons"), ("Nil", floats(1)),
    (floats(1.5), floats(1.0)), (np.array([3, 4]), np.array([3, 5])), (np.array([True]), np.array([False])),
    (floats(np.nan), floats(1)), (floats(np.inf), floats(-1)),
    (np.array([2**64 - 1], np.uint64), np.array([2**64 - 2], np.uint64)),
])  # fmt: skip
def test_what_differs_is_wrong(found: Any, meant: Any, may: FloatingPointClass) -> None:
    assert not verdict(found, meant, may).is_right


def test_another_number_of_parts_is_wrong_unless_rounding_makes_it() -> None:
    one, two = seen("Nil"), seen("Nil", "Nil")
    for may in FloatingPointClass:
        assert not judged(one, two, may, lambda _: [(two, two)]).is_right
        assert not judged(two, one, may, lambda _: [(one, one)]).is_right
    decided = judged(one, two, ROUNDING, lambda _: [(one, two)])
    assert decided.is_right
    assert decided.is_undecided


def test_the_signs_of_zeros_are_bits() -> None:
    assert not verdict(floats(0.0), floats(-0.0), EXACT).is_right
    assert verdict(floats(0.0), floats(-0.0), ROUNDING).is_right


def test_a_few_units_of_the_largest_are_rounding() -> None:
    meant = floats(1000, 0.001)
    near = meant + floats(0, 10 * 1000 * EPS)
    assert not verdict(near, meant, EXACT).is_right
    rounded = verdict(near, meant, ROUNDING)
    assert rounded.is_right
    assert rounded.distance.ulp == pytest.approx(10, rel=0.1)
    assert rounded.distance.place == "part 0[1]"
    assert not verdict(meant + floats(0, 20 * 1000 * EPS), meant, ROUNDING).is_right


def test_what_cancels_may_be_off_as_far_as_it_moves() -> None:
    """x + 1000 - 1000, for x of 0.001: half of the digits are rounding."""
    add, subtract = OPERATORS["add"], OPERATORS["subtract"]

    def run(call: CallOperator) -> list[Seen]:
        total = call(add, add.attributes(), (floats(1e-3), floats(1000)))
        return seen(call(subtract, subtract.attributes(), (total, floats(1000))))

    (meant,) = run(by_meaning)
    for off, is_right in ((1000 * EPS, True), (1.0, False)):
        found = seen(meant.leaf + np.float32(off))
        assert judged(found, [meant], ROUNDING, lambda call: [(run(call), [meant])]).is_right == is_right


def test_where_rounding_decides_all_nothing_is_decided() -> None:
    moved = verdict(floats(0.0), floats(1.0), ROUNDING, lambda _: [(seen(floats(3.0)), seen(floats(1.0)))])
    assert moved.is_right
    assert moved.is_undecided


def test_infinities_may_spread_where_there_are_some() -> None:
    meant = floats(np.inf, 1, 2)
    found = floats(np.inf, np.nan, 2)
    assert not verdict(found, meant, ROUNDING).is_right
    assert verdict(found, meant, SPREADS).is_right
    assert verdict(found, meant, FAST).is_right
    assert not verdict(floats(1, np.nan, 2), floats(1, 1, 2), SPREADS).is_right


@pytest.mark.parametrize("dtype", [each for each in DType if each.is_float and not each.is_scale])
def test_numbers_of_every_dtype_are_moved_a_little(dtype: DType) -> None:
    copy = OPERATORS["copy"]
    given = np.linspace(0.5, 1.5, 101).astype(dtype.numpy)
    moved = Moved(np.random.default_rng(0))(copy, copy.attributes(), (given,))
    assert isinstance(moved, np.ndarray)
    assert moved.dtype == given.dtype
    assert (moved != given).any()
    integers = np.arange(5)
    assert (Moved(np.random.default_rng(0))(copy, copy.attributes(), (integers,)) == integers).all()
