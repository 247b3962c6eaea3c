"""Sequences of several lengths, side by side in one tensor: reverse_sequence, sequence_mask."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.base.dtypes import dtype_of
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops.dyn.extents import LONG
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, call
from relay.ops.framework.elementwise import INTEGERS
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.places import wide_index
from relay.ops.framework.record import FusionKind, OperatorRecord, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, to_dtype
from relay.ops.framework.scale_role import MOVES_ELEMENTS, NO_SCALE_YET
from relay.tir.expr import Value


@frozen
class ReverseSequenceAttributes(Attributes):
    seq_axis: int = 1
    batch_axis: int = 0


@frozen
class SequenceMaskAttributes(Attributes):
    """`axis`: along which sequences run, 0 or 1; the other of these counts them."""

    mask_value: float = 0.0
    axis: int = 0


def _lengths(run: RelationRun, data: TensorType, batch_axis: int) -> None:
    """Input 1 has a length for each sequence."""
    (count,) = run.tensor(1, 1).shape
    run.dtype_in(1, *INTEGERS)
    run.equal(data.shape[batch_axis], count, f"the number of entries in `{run.names[1]}`", (0, 1))


def _reverse_rule(run: RelationRun, attributes: ReverseSequenceAttributes) -> Type:
    """data[.., b, .., e, ..] × seq_lengths[b] → data"""
    data = run.tensor(0)
    along = run.axis(attributes.seq_axis, len(data.shape), "seq_axis")
    batch = run.axis(attributes.batch_axis, len(data.shape), "batch_axis")
    if along == batch:
        run.conflict("wrong-attribute", "`seq_axis` and `batch_axis` must be two axes", "two axes", str(along))
    _lengths(run, data, batch)
    return data


def _reverse_meaning(attributes: ReverseSequenceAttributes, data: Array, lengths: Array) -> Array:
    along, batch = attributes.seq_axis % data.ndim, attributes.batch_axis % data.ndim
    here = np.arange(data.shape[along]).reshape(_at_axis(data.ndim, along))
    count = np.minimum(lengths.astype(np.int64), data.shape[along]).reshape(_at_axis(data.ndim, batch))
    places = np.where(here < count, count - 1 - here, here)
    return np.take_along_axis(data, np.broadcast_to(places, data.shape), along)


def _at_axis(rank: int, axis: int) -> Sequence[int]:
    return [-1 if each == axis else 1 for each in range(rank)]


def _reverse_compute(
    attributes: ReverseSequenceAttributes, inputs: tuple[te.Tensor, te.Tensor], result: TensorType
) -> te.Tensor:
    data, lengths = inputs
    along, batch = attributes.seq_axis % len(data.shape), attributes.batch_axis % len(data.shape)

    def element(*i: IntExpr) -> Value:
        here = te.index_value(i[along], LONG)
        count = te.minimum(wide_index(lengths, (i[batch],)), te.index_value(data.shape[along], LONG))
        place = te.select(te.less(here, count), count - 1 - here, here)
        return data[(*i[:along], place, *i[along + 1 :])]

    return te.compute(result.shape, element, name="reverse_sequence")


def _mask_rule(run: RelationRun, attributes: SequenceMaskAttributes) -> Type:
    """data[e, b, ..] (axis 0) or data[b, e, ..] (axis 1) × valid_length[b] → data"""
    data = run.tensor(0)
    if len(data.shape) < 2 or attributes.axis not in (0, 1):
        run.conflict("wrong-attribute", "`axis` must be 0 or 1, and `data` have these axes",
                     "0 or 1, and 2 axes or more", f"{attributes.axis}, and {data}", (0,))  # fmt: skip
    _lengths(run, data, 1 - attributes.axis)
    return data


def _mask_meaning(attributes: SequenceMaskAttributes, data: Array, lengths: Array) -> Array:
    axis = attributes.axis
    here = np.arange(data.shape[axis]).reshape(_at_axis(data.ndim, axis))
    is_valid = here < lengths.astype(np.int64).reshape(_at_axis(data.ndim, 1 - axis))
    return np.where(is_valid, data, to_dtype(np.asarray(attributes.mask_value), dtype_of(data.dtype)))


def _mask_compute(
    attributes: SequenceMaskAttributes, inputs: tuple[te.Tensor, te.Tensor], result: TensorType
) -> te.Tensor:
    data, lengths = inputs
    mask = te.const(to_dtype(np.asarray(attributes.mask_value), data.dtype).item(), data.dtype)

    def element(*i: IntExpr) -> Value:
        here = te.index_value(i[attributes.axis], LONG)
        return te.select(te.less(here, wide_index(lengths, (i[1 - attributes.axis],))), data[i], mask)

    return te.compute(result.shape, element, name="sequence_mask")


REVERSE_SEQUENCE = define(
    "reverse_sequence",
    "The first elements of each sequence backwards, as many as its length; the others as they are.",
    inputs={"data": "[.., b, .., e, ..]", "seq_lengths": "[b], integers"},
    attributes=ReverseSequenceAttributes,
    type_rule=_reverse_rule,
    meaning=_reverse_meaning,
    compute=_reverse_compute,
    fusion=FusionKind.INJECTIVE,
    layout=OwnLayout("it names two axes"),
    effect=Effect.PURE,
    gradient=gradient_above("indexing", "of_reverse_sequence"),
    batch=NO_BATCH_RULE_YET,
    scale=MOVES_ELEMENTS,
    support_level=3,
)
SEQUENCE_MASK = define(
    "sequence_mask",
    "One number in place of the elements behind the end of each sequence.",
    inputs={"data": "[e, b, ..] or [b, e, ..]", "valid_length": "[b], integers"},
    attributes=SequenceMaskAttributes,
    type_rule=_mask_rule,
    meaning=_mask_meaning,
    compute=_mask_compute,
    fusion=FusionKind.INJECTIVE,
    layout=OwnLayout("its sequences run along one of the first two axes"),
    effect=Effect.PURE,
    gradient=gradient_above("indexing", "of_sequence_mask"),
    batch=NO_BATCH_RULE_YET,
    scale=NO_SCALE_YET,
    support_level=10,
)

SEQUENCES: tuple[OperatorRecord, ...] = (REVERSE_SEQUENCE, SEQUENCE_MASK)


def reverse_sequence(data: Argument, seq_lengths: Argument, seq_axis: int = 1, batch_axis: int = 0) -> Call:
    """`data` with the first seq_lengths[i] elements along `seq_axis` backwards, for each place i of `batch_axis`.
    Lengths below 1 leave a sequence as it is, and those above its extent reverse all of it.

    Raises `RelayError`: `extents-differ`, `wrong-rank`, `wrong-dtype`, `wrong-attribute`, `axis-out-of-range`.
    """
    return call(REVERSE_SEQUENCE, (data, seq_lengths), ReverseSequenceAttributes(seq_axis, batch_axis))


def sequence_mask(data: Argument, valid_length: Argument, mask_value: float = 0.0, axis: int = 0) -> Call:
    """`data`, sequences along `axis` (0 or 1) that the other of these axes counts, with `mask_value` from place
    valid_length[i] of sequence i on.

    Raises `RelayError`: `extents-differ`, `wrong-rank`, `wrong-dtype`, `wrong-attribute`.
    """
    return call(SEQUENCE_MASK, (data, valid_length), SequenceMaskAttributes(mask_value, axis))
