"""What a program has the run check: statements about values (checked) and about extents (checked_extent).

It is how programs fail on purpose: a front end whose language raises for what an operator would give some value for
(an index beyond the end, a division of integers by zero) checks the operands first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import Comparison
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops.framework.batch_rule import MAY_FAIL, NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, call
from relay.ops.framework.elementwise import BOOLS
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.record import FusionKind, PrecisionRule, StatementFault, define, same_gradient
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.framework.scale_role import NO_SCALE_YET


@frozen
class CheckedAttributes(Attributes):
    """`message`: what it means that the statement does not hold."""

    message: str


@frozen
class CheckedExtentAttributes(Attributes):
    """`axis` has at least `minimum` entries; `message`: what it means that it has not."""

    axis: int
    minimum: int
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


def _same(_: Any, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    return te.compute(result.shape, lambda *i: inputs[0][i], name="copy")


CHECKED = define(
    "checked",
    "The first input, where the second holds; else the run fails.",
    inputs={"data": "[..]", "holds": "bool[]: the statement"},
    attributes=CheckedAttributes,
    type_rule=_rule,
    meaning=_meaning,
    compute=_same,  # where it holds; procedures branch on the statement before (lower/kernels/checked.py)
    fusion=FusionKind.OPAQUE,  # what fails is no part of a kernel
    layout=OwnLayout("what fails is checked where it stands"),
    gradient=same_gradient,
    batch=MAY_FAIL,
    scale=NO_SCALE_YET,
    support_level=10,
    effect=Effect.MAY_FAIL,
    fault=StatementFault(lambda attributes: attributes.message),
    precision=PrecisionRule.FOLLOW,
)


def _extent_rule(run: RelationRun, attributes: CheckedExtentAttributes) -> Type:
    """data[..] → [..]"""
    data = run.tensor(0)
    axis = run.axis(attributes.axis, len(data.shape))
    run.require(Comparison(attributes.minimum, "<=", data.shape[axis]), "too-short", attributes.message, (0,))
    return data


CHECKED_EXTENT = define(
    "checked_extent",
    "The input, which has so many entries along an axis; else the run fails, as it does where extents disagree.",
    inputs={"data": "[..]"},
    attributes=CheckedExtentAttributes,
    type_rule=_extent_rule,
    meaning=lambda _, data: data,
    compute=_same,
    fusion=FusionKind.ELEMWISE,
    layout=OwnLayout("its axis counts axes in their order"),
    effect=Effect.PURE,
    gradient=same_gradient,
    batch=NO_BATCH_RULE_YET,
    scale=NO_SCALE_YET,
    support_level=10,
)

CHECKS = (CHECKED, CHECKED_EXTENT)


def checked_extent(data: Argument, axis: int, minimum: int, message: str) -> Call:
    """data[..], of which `axis` has at least `minimum` entries; else the run ends, or the types refuse it, saying
    `message`. Where extents are symbols this costs a comparison at the entry, and nothing where they are numbers.

    >>> from relay.ops.framework.build import var
    >>> print(checked_extent(var("x", shape=("n", 4)), 0, 3, "three rows are read").checked_type)
    Tensor[(n, 4), float32]
    """
    return call(CHECKED_EXTENT, (data,), CheckedExtentAttributes(axis, minimum, message))


def checked(data: Argument, holds: Argument, message: str) -> Call:
    """data[..], if the bool scalar `holds` is true; else the run ends with a `RelayError` (rule `check-failed`) that
    says `message`.

    >>> from relay.ops.framework.build import var
    >>> from relay.ops.elementwise.comparison import less
    >>> i = var("i", "int32")
    >>> print(checked(i, less(i, 3), "the index is out of range").attrs)
    CheckedAttributes(message='the index is out of range')
    """
    return call(CHECKED, (data, holds), CheckedAttributes(message))
