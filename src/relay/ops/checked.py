"""A statement about values that the run checks: checked.

It is how programs fail on purpose: a front end whose language raises for what an operator would give some value for
(an index beyond the end, a division of integers by zero) checks the operands first.
"""

from __future__ import annotations

import numpy as np

from relay import te
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops.build import Argument, call
from relay.ops.elementwise import BOOLS
from relay.ops.layout_rule import OwnLayout
from relay.ops.record import FusionKind, PrecisionRule, define
from relay.ops.relating import RelationRun
from relay.ops.rounding import Array


@frozen
class CheckedAttributes(Attributes):
    """`message`: what it means that the statement does not hold."""

    message: str


def _rule(run: RelationRun, _: CheckedAttributes) -> Type:
    """data[..] × holds[] → [..]"""
    run.tensor(1, 0)
    run.dtype_in(1, *BOOLS)
    return run.tensor(0)


def _meaning(attributes: CheckedAttributes, data: Array, holds: Array) -> Array:
    if not np.all(holds):
        raise RelayError(rule="check-failed", message=attributes.message)
    return data


def _same(_: CheckedAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    return te.compute(result.shape, lambda *i: inputs[0][i], name="copy")


CHECKED = define(
    "checked",
    "The first input, where the second holds; else the run fails.",
    inputs={"data": "[..]", "holds": "bool[]: the statement"},
    attributes=CheckedAttributes,
    type_rule=_rule,
    meaning=_meaning,
    compute=_same,  # where it holds; procedures branch on the statement before (lower/checked.py)
    fusion=FusionKind.OPAQUE,  # what fails is no part of a kernel
    layout=OwnLayout("what fails is checked where it stands"),
    support_level=10,
    effect=Effect.MAY_FAIL,
    precision=PrecisionRule.FOLLOW,
)

CHECKS = (CHECKED,)


def checked(data: Argument, holds: Argument, message: str) -> Call:
    """data[..], if the bool scalar `holds` is true; else the run ends with a `RelayError` (rule `check-failed`) that
    says `message`.

    >>> from relay.ops.build import var
    >>> from relay.ops.comparison import less
    >>> i = var("i", "int32")
    >>> print(checked(i, less(i, 3), "the index is out of range").attrs)
    CheckedAttributes(message='the index is out of range')
    """
    return call(CHECKED, (data, holds), CheckedAttributes(message))
