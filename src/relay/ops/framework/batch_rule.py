"""How an operator is run on the tensors of many instances at once: what AutoBatch asks.

A rule is data. The pass knows these forms and nothing of single operators. *Rows* `[n, *shape]` hold a tensor of
`shape` for each of n instances; what is *shared* is one tensor for all of them. An axis 0 of extent 1 is the batch's in
rows, which are `[n, *shape[1:]]` then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias, Union

from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Expr


@frozen
class ByElement:
    """Element by element. With `broadcasts`, any input may have rows, of a lower rank too; without, it is the first
    that has the shape of the result and rows, and no other."""

    broadcasts: bool = True


@frozen
class AlongAxes:
    """Along axes that attributes name, the same for whatever stands at other axes. Rows may be in the first input only.

    `axes(attributes, rank)`: those axes, counted from 0, of a tensor of `rank` axes, or None for a form that has no
    rule; `with_axes(attributes, axes)`: the attributes that name others. `more_rank`: how many axes more than those of
    the inputs they are counted among.
    """

    axes: Callable[[Any, int], tuple[int, ...] | None]
    with_axes: Callable[[Any, tuple[int, ...]], Attributes]
    more_rank: int = 0


@frozen
class KeepsOrder:
    """The same elements in the same order, under the result's shape."""


@frozen
class PermutesAxes:
    """Axes in the order that `axes` names, or backwards where it is None."""


@frozen
class RowsTimesMatrix:
    """data[.., k] × a shared matrix: every row of every instance is a row of the product. `transposes_data` names the
    attribute that, where it is true, makes columns of them.

    `of_each(attributes, data[n, r, k], matrices[n, ..]) -> [n, rows, columns]`: the products of n instances of two
    axes that have matrices of their own, or columns; None where there is no operator for them.
    """

    transposes_data: str = ""
    of_each: Callable[[Any, Expr, Expr], Expr] | None = None


@frozen
class Repeats:
    """The elements of the first input, repeated to the shape of the result, which is all that others tell."""


@frozen
class HasBatchAxis:
    """Axis 0 of every input and of the result counts what is computed apart: one of each instance, where it is 1."""


@frozen
class TakesEntries:
    """Entries of a shared table by indices that have rows, or entries of rows by shared indices, along `axis`; with
    `batch_dims`, there is no rule."""


@frozen
class NoBatchRule:
    """What calls the operator is not batched; `reason` says why."""

    reason: str


BatchRule: TypeAlias = Union[
    ByElement, AlongAxes, KeepsOrder, PermutesAxes, RowsTimesMatrix, Repeats, HasBatchAxis, TakesEntries, NoBatchRule
]


def _one_axis(attributes: Any, rank: int) -> tuple[int, ...] | None:
    return None if attributes.axis is None else (attributes.axis % rank,)


def _at_axis(attributes: Any, axes: tuple[int, ...]) -> Attributes:
    return replace(attributes, axis=axes[0])


ALONG_AXIS = AlongAxes(_one_axis, _at_axis)
"""Along the one axis that `axis` names."""
ALONG_NEW_AXIS = AlongAxes(_one_axis, _at_axis, more_rank=1)
"""The same, where the result has that axis and the inputs do not."""
NO_BATCH_RULE_YET = NoBatchRule("nobody has written one")
SHAPE_OF_ITS_OWN = NoBatchRule("its shape does not come from an instance's tensors")
LAYS_OUT = NoBatchRule("only passes that run later make calls of it")
DEPENDS_ON_VALUES = NoBatchRule("the shape of its result depends on the values of an instance")
MAY_FAIL = NoBatchRule("it may fail for one instance and not for others")
