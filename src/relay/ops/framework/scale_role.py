"""What an operator does to a scale, `x * s` with one entry of s a channel: what the passes about channels ask.

A role is data. FoldScaleAxis moves constant scales into weights, the CombineParallel passes put weights side by side,
and CanonicalizeOps adds biases as it adds anything else; they know these forms and nothing of single operators.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, Union

from relay.base.frozen import frozen


@frozen
class Scales:
    """lhs * rhs: it is what scales."""


@frozen
class Adds:
    """lhs ± rhs, broadcast: what scales the result scales both."""


@frozen
class AddsBias:
    """data[.., C, ..] + bias[C], along the axis that the attribute `axis` names."""

    axis: str = "axis"


@frozen
class PassesScale:
    """op(x * s) is op(x) * s, of positive s or of any, for the first input. Of windows over an image (operators that
    state their layout) that holds for scales along channels alone."""

    only_positive: bool


@frozen
class Channels:
    """Where channels stand: axes of the result and of the data, and the axes of the weight whose entries make one
    (`weight_result`) and read one (`weight_data`). With groups, each reads only the channels of its own."""

    result: int
    data: int
    weight_result: int
    weight_data: int
    groups: int = 1


@frozen
class WeightedSum:
    """Sums of products of data and weight, inputs 0 and 1.

    `channels(attributes, rank of the data)` says which axes are channels, or None for a weight that is packed. `told`
    names attributes that may state, or leave None, what the shape of the weight tells: the first of them how many
    channels the result has.
    """

    channels: Callable[[Any, int], Channels | None]
    told: tuple[str, ...] = ()


@frozen
class NoScale:
    """No scale goes through the operator; `reason` says why."""

    reason: str


ScaleRole: TypeAlias = Union[Scales, Adds, AddsBias, PassesScale, WeightedSum, NoScale]

NOT_LINEAR = NoScale("a multiple of its input does not give that multiple of its result")
MOVES_ELEMENTS = NoScale("a scale would have to move with its elements")
SCALES_NOTHING = NoScale("its elements are not those of an input")
NO_SCALE_YET = NoScale("nobody has written how a scale goes through it")
PACKED_WEIGHT = NoScale("its weight is packed")
ROUNDS = NoScale("it may round what a scale would make of its input")
