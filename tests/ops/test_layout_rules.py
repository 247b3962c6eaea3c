"""A layout rule is a promise: the operator in another layout, with its attributes changed as the rule says, computes
the same numbers in that layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from relay.ops.framework.layout_rule import (
    AxisAttribute,
    Broadcasting,
    Elementwise,
    KernelResult,
    LayoutAttribute,
    OwnLayout,
    PerAxisAttributes,
)
from relay.ops.table import OPERATORS
from tests.ops.case import Case, Tolerance
from tests.ops.test_operators import CASES, assert_close, flat, meaning_of

ORDER = (0, 2, 3, 1)  # NCHW to NHWC


def rank_of(value: Any) -> int:
    return rank_of(value[0]) if isinstance(value, tuple) else value.ndim


def is_nchw(case: Case) -> bool:
    """Whether a case is about data of four axes that an attribute, if there is one, says is NCHW."""
    rule = OPERATORS[case.operator].layout
    if isinstance(rule, LayoutAttribute | KernelResult):
        return getattr(case.attributes, rule.attribute) == "NCHW"
    return bool(case.inputs) and max(map(rank_of, case.inputs)) == 4


MOVABLE = [case for case in CASES if is_nchw(case) and not isinstance(OPERATORS[case.operator].layout, OwnLayout)]


def moved(value: Any) -> Any:
    """NCHW to NHWC, lower ranks expanded first as broadcasting does."""
    if isinstance(value, tuple):
        return tuple(map(moved, value))
    return value.reshape((1,) * (4 - value.ndim) + value.shape).transpose(ORDER)


def with_rule(case: Case) -> tuple[Any, tuple[Any, ...]]:
    """The attributes and the inputs in the other layout."""
    rule = OPERATORS[case.operator].layout
    attributes = case.attributes
    match rule:
        case Elementwise() | Broadcasting():
            return attributes, tuple(map(moved, case.inputs))
        case LayoutAttribute(attribute, inputs, _):
            changed = replace(attributes, **{attribute: "NHWC"})
            if getattr(attributes, "out_layout", ""):
                changed = replace(changed, out_layout="NHWC")
        case KernelResult(attribute, _):
            inputs, changed = range(len(case.inputs)), replace(attributes, **{attribute: "NHWC"})
        case AxisAttribute(attribute, inputs, _):
            changed = replace(attributes, **{attribute: renamed(getattr(attributes, attribute))})
        case PerAxisAttributes(names, inputs):
            changed = replace(
                attributes, **{name: tuple(getattr(attributes, name)[axis] for axis in ORDER) for name in names}
            )
        case _:
            raise AssertionError(rule)
    return changed, tuple(moved(v) if at in inputs else v for at, v in enumerate(case.inputs))


def renamed(axes: Any) -> Any:
    if axes is None:
        return None
    return ORDER.index(axes % 4) if isinstance(axes, int) else tuple(ORDER.index(axis % 4) for axis in axes)


def expected(case: Case, wanted: np.ndarray) -> np.ndarray:
    rule = OPERATORS[case.operator].layout
    dropped = isinstance(rule, AxisAttribute) and rule.drops_axes and not getattr(case.attributes, "keepdims", False)
    if not dropped:
        return wanted.transpose(ORDER) if wanted.ndim == 4 else wanted
    return wanted.transpose(_kept_order(getattr(case.attributes, "axis", None)))


def _kept_order(axes: Sequence[int] | None) -> tuple[int, ...]:
    """The order in which the axes that a reduction keeps come in the other layout."""
    gone = set(range(4)) if axes is None else {axis % 4 for axis in axes}
    kept = [axis for axis in range(4) if axis not in gone]
    return tuple(kept.index(axis) for axis in ORDER if axis not in gone)


@pytest.mark.parametrize("case", MOVABLE, ids=lambda case: case.name)
def test_operator_in_another_layout_computes_the_same(case: Case) -> None:
    attributes, inputs = with_rule(case)
    found = flat(OPERATORS[case.operator].meaning(attributes, *inputs))
    for result, wanted in zip(found, flat(meaning_of(case)), strict=True):
        out_layout_given = bool(getattr(case.attributes, "out_layout", ""))
        stays = out_layout_given or isinstance(OPERATORS[case.operator].layout, KernelResult)
        target = wanted if stays else expected(case, wanted)
        assert_close(result, target, Tolerance(1e-5, "sums in another order"))


def test_every_form_of_rule_is_tried() -> None:
    tried = {type(OPERATORS[case.operator].layout) for case in MOVABLE}
    assert tried == {AxisAttribute, LayoutAttribute, KernelResult, PerAxisAttributes, Elementwise, Broadcasting}
