"""How an operator follows a change of data layout (NCHW ↔ NHWC, or packed): what the layout pass asks.

A rule is data. The pass that changes layouts knows these forms and nothing of single operators.
"""

from __future__ import annotations

from typing import TypeAlias, Union

from relay.base.frozen import frozen


@frozen
class Elementwise:
    """Works in any layout: all inputs take one layout, packed ones included, and the result has it."""


@frozen
class Broadcasting:
    """Works in any layout once inputs of smaller rank are expanded to the full rank and permuted like the others."""


@frozen
class AxisAttribute:
    """Works in any permuted layout: the attribute `attribute` names the axis (or axes) of `inputs` and is renamed.

    `all_when_none`: the attribute's None means every axis. `drops_axes`: the axes named vanish from the result
    unless `keepdims` says otherwise. Other inputs are one-dimensional along that axis and do not change.
    """

    attribute: str
    inputs: tuple[int, ...] = (0,)
    drops_axes: bool = False


@frozen
class PerAxisAttributes:
    """Works in any permuted layout: each of `attributes` has one entry an axis and is permuted with the data."""

    attributes: tuple[str, ...]
    inputs: tuple[int, ...] = (0,)


@frozen
class LayoutAttribute:
    """States its layout in the attribute `attribute`, for `inputs` and the result; changing it changes the operator.

    `kernel`: the attribute that states the layout of input 1, or the empty string when there is no kernel.
    """

    attribute: str
    inputs: tuple[int, ...] = (0,)
    kernel: str = ""


@frozen
class KernelResult:
    """States the layout of its inputs, all alike, in the attribute `attribute`, and that of its result, which is a
    kernel of convolutions, in the attribute `kernel`."""

    attribute: str
    kernel: str


@frozen
class OwnLayout:
    """Depends on the order of its axes; a layout ends here. `reason` says why."""

    reason: str


LayoutRule: TypeAlias = Union[
    Elementwise, Broadcasting, AxisAttribute, PerAxisAttributes, LayoutAttribute, KernelResult, OwnLayout
]
