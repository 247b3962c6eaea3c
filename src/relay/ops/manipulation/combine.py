"""Several tensors made one, and one made several: concatenate, stack, split."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import Comparison, IntExpr, maximum, minimum
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr
from relay.ir.operator import Effect
from relay.ir.types import ANY, Dimension, TensorType, TupleType, Type
from relay.ops.framework.batch_rule import ALONG_AXIS, ALONG_NEW_AXIS
from relay.ops.framework.build import Argument, TupleWrapper, as_tuple, call, items
from relay.ops.framework.dimensions import derived, quotient
from relay.ops.framework.layout_rule import AxisAttribute, OwnLayout
from relay.ops.framework.record import FusionKind, OperatorRecord, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.framework.scale_role import MOVES_ELEMENTS
from relay.ops.manipulation.shape import squeeze
from relay.tir.expr import Value


@frozen
class ConcatenateAttributes(Attributes):
    axis: int = 0


@frozen
class StackAttributes(Attributes):
    axis: int = 0


@frozen
class SplitAttributes(Attributes):
    """`indices_or_sections`: how many equal parts, or where the second and later parts begin."""

    indices_or_sections: int | tuple[IntExpr, ...]
    axis: int = 0


def _same_tensors(run: RelationRun, except_axis: int | None) -> tuple[TensorType, ...]:
    """The tensors of the input, which agree in dtype and in all extents but that of `except_axis`."""
    tensors = run.tensors(0)
    first = tensors[0]
    for position, tensor in enumerate(tensors[1:], start=1):
        if tensor.dtype is not first.dtype:
            run.conflict("dtypes-differ", f"field {position} of `data` must be {first.dtype}, as field 0 is",
                         first.dtype, tensor.dtype, (0,), "cast one of them")  # fmt: skip
        if len(tensor.shape) != len(first.shape):
            run.conflict("wrong-rank", f"field {position} of `data` must have as many axes as field 0", str(first),
                         str(tensor), (0,))  # fmt: skip
        for axis, (wanted, found) in enumerate(zip(first.shape, tensor.shape, strict=True)):
            if axis != except_axis:
                run.equal(wanted, found, f"axis {axis} of field {position} of `data`", (0,))
    return tensors


def _concatenate_rule(run: RelationRun, attributes: ConcatenateAttributes) -> Type:
    """([.., a, ..], [.., b, ..], …) → [.., a + b + …, ..]"""
    rank = len(run.tensors(0)[0].shape)
    axis = run.axis(attributes.axis, rank)
    tensors = _same_tensors(run, axis)
    first = tensors[0]
    total = derived(lambda *extents: sum(extents), *(tensor.shape[axis] for tensor in tensors))
    return TensorType((*first.shape[:axis], total, *first.shape[axis + 1 :]), first.dtype)


def _concatenate_compute(
    attributes: ConcatenateAttributes, inputs: tuple[tuple[te.Tensor, ...]], result: TensorType
) -> te.Tensor:
    (tensors,) = inputs
    axis = attributes.axis % len(result.shape)

    def element(*i: IntExpr) -> Value:
        starts: list[IntExpr] = [0]
        for tensor in tensors[:-1]:
            starts.append(starts[-1] + tensor.shape[axis])
        value: Value = tensors[-1][(*i[:axis], i[axis] - starts[-1], *i[axis + 1 :])]
        for position in reversed(range(len(tensors) - 1)):
            read = tensors[position][(*i[:axis], i[axis] - starts[position], *i[axis + 1 :])]
            value = te.select(te.less(i[axis], starts[position + 1]), read, value)
        return value

    return te.compute(result.shape, element, name="concatenate")


def _stack_rule(run: RelationRun, attributes: StackAttributes) -> Type:
    """k tensors [..] → [.., k, ..]"""
    tensors = _same_tensors(run, None)
    first = tensors[0]
    axis = run.axis(attributes.axis, len(first.shape) + 1)
    return TensorType((*first.shape[:axis], len(tensors), *first.shape[axis:]), first.dtype)


def _stack_compute(attributes: StackAttributes, inputs: tuple[tuple[te.Tensor, ...]], result: TensorType) -> te.Tensor:
    (tensors,) = inputs
    axis = attributes.axis % len(result.shape)

    def element(*i: IntExpr) -> Value:
        rest = (*i[:axis], *i[axis + 1 :])
        value: Value = tensors[-1][rest]
        for position in reversed(range(len(tensors) - 1)):
            value = te.select(te.less(i[axis], position + 1), tensors[position][rest], value)
        return value

    return te.compute(result.shape, element, name="stack")


def split_ranges(attributes: SplitAttributes, extent: Dimension) -> tuple[tuple[Dimension, Dimension], ...]:
    """`(start, size)` of each part along an axis of `extent`; places outside it are moved to its ends."""
    sections = attributes.indices_or_sections
    if isinstance(sections, int):
        size = derived(lambda e: _exact(e, sections), extent)
        return tuple((derived(lambda s, p=part: s * p, size), size) for part in range(sections))
    places: list[Dimension] = [0, *(_clipped(place, extent) for place in sections), extent]
    return tuple(
        (start, derived(lambda s, e: maximum(e - s, 0) if not (isinstance(s, int) and s == 0) else e, start, end))
        for start, end in pairwise(places)
    )


def _exact(extent: Dimension, parts: int) -> Dimension:
    exact = quotient(extent, parts)
    return extent // parts if exact is None else exact


def _clipped(place: IntExpr, extent: Dimension) -> Dimension:
    return ANY if extent is ANY else minimum(place, extent)


def _split_rule(run: RelationRun, attributes: SplitAttributes) -> Type:
    """data[.., e, ..] → ([.., a, ..], [.., b, ..], …)"""
    data = run.tensor(0)
    axis = run.axis(attributes.axis, len(data.shape))
    extent = data.shape[axis]
    sections = attributes.indices_or_sections
    if isinstance(sections, int):
        if sections < 1:
            run.conflict("wrong-attribute", "`indices_or_sections` must be at least 1", "1 or more", str(sections))
        if extent is not ANY and quotient(extent, sections) is None:
            run.require(Comparison(extent % sections, "==", 0), "parts-unequal",
                        f"{sections} equal parts must divide the extent {extent} of axis {axis}", (0,),
                        "give the indices at which parts begin")  # fmt: skip
    elif any(isinstance(a, int) and isinstance(b, int) and (a > b or a < 0)
             for a, b in zip((0, *sections), sections, strict=False)):  # fmt: skip
        run.conflict("wrong-attribute", "`indices_or_sections` must not decrease", "0 <= a <= b <= …", str(sections))
    return TupleType(tuple(
        TensorType((*data.shape[:axis], size, *data.shape[axis + 1 :]), data.dtype)
        for _, size in split_ranges(attributes, extent)
    ))  # fmt: skip


def _split_meaning(attributes: SplitAttributes, data: Array) -> tuple[Array, ...]:
    axis = attributes.axis % data.ndim
    ranges = split_ranges(attributes, data.shape[axis])
    return tuple(np.take(data, np.arange(start, start + size), axis=axis) for start, size in ranges)  # pyright: ignore


def _split_compute(attributes: SplitAttributes, inputs: tuple[te.Tensor], _: TupleType) -> tuple[te.Tensor, ...]:
    """One stage a part: `split0`, `split1`, …"""
    (data,) = inputs
    axis = attributes.axis % len(data.shape)
    parts: list[te.Tensor] = []
    for position, (start, size) in enumerate(split_ranges(attributes, data.shape[axis])):

        def element(*i: IntExpr, start: Dimension = start) -> Value:
            return data[(*i[:axis], i[axis] + start, *i[axis + 1 :])]

        shape = (*data.shape[:axis], size, *data.shape[axis + 1 :])
        parts.append(te.compute(shape, element, name=f"split{position}"))
    return tuple(parts)


def _stack_gradient(call: Call, given: Expr) -> tuple[Expr]:
    """The parts of the output gradient, without the new axis."""
    assert isinstance(call.attrs, StackAttributes)
    type_ = call.args[0].checked_type
    assert isinstance(type_, TupleType)
    axis = call.attrs.axis
    return (as_tuple([squeeze(part, axis) for part in split(given, len(type_.fields), axis)]),)


def _split_gradient(call: Call, given: Expr) -> tuple[Expr]:
    """The output gradients one after another."""
    assert isinstance(call.attrs, SplitAttributes)
    return (concatenate(given, call.attrs.axis),)


def _record(name: str, description: str, attributes: type[Attributes], **fields: Any) -> OperatorRecord:
    return define(
        name,
        description,
        attributes=attributes,
        effect=Effect.PURE,
        scale=MOVES_ELEMENTS,
        fusion=FusionKind.INJECTIVE,
        **fields,
    )


CONCATENATE = _record(
    "concatenate", "Tensors one after another along an axis.", ConcatenateAttributes,
    inputs={"data": "a tuple of tensors [..] that agree in all other axes"}, type_rule=_concatenate_rule,
    meaning=lambda attributes, data: np.concatenate(data, axis=attributes.axis), compute=_concatenate_compute,
    layout=AxisAttribute("axis"), batch=ALONG_AXIS, support_level=1,
    gradient=gradient_above("dynamic", "of_concatenate"),
)  # fmt: skip
STACK = _record(
    "stack", "Tensors of one shape along a new axis.", StackAttributes,
    inputs={"data": "a tuple of tensors [..] of one shape"}, type_rule=_stack_rule,
    meaning=lambda attributes, data: np.stack(data, axis=attributes.axis), compute=_stack_compute,
    layout=OwnLayout("its result has an axis more than the layout names"), batch=ALONG_NEW_AXIS,
    support_level=3, gradient=_stack_gradient,
)  # fmt: skip
SPLIT = _record(
    "split", "Parts of a tensor along an axis.", SplitAttributes, inputs={"data": "[..]"}, type_rule=_split_rule,
    meaning=_split_meaning, compute=_split_compute, layout=AxisAttribute("axis"), batch=ALONG_AXIS,
    support_level=3, gradient=_split_gradient,
)  # fmt: skip

COMBINATIONS: tuple[OperatorRecord, ...] = (CONCATENATE, STACK, SPLIT)


def concatenate(data: Argument, axis: int) -> Call:
    """(data[.., a, ..], data[.., b, ..], …) → [.., a + b + …, ..]; `data` is a list or a tuple expression.

    Raises `RelayError`: `extents-differ`, `dtypes-differ`, `wrong-rank`, `axis-out-of-range`, `not-a-tuple`.

    >>> from relay.ops.framework.build import var
    >>> print(concatenate([var("x", shape=("n", 4)), var("y", shape=("m", 4))], axis=0).checked_type)
    Tensor[(n + m, 4), float32]
    """
    return call(CONCATENATE, (as_tuple(data),), ConcatenateAttributes(axis))


def stack(data: Argument, axis: int) -> Call:
    """k tensors [..] → [.., k, ..], the new axis at place `axis`. Errors as those of `concatenate`."""
    return call(STACK, (as_tuple(data),), StackAttributes(axis))


def split(data: Argument, indices_or_sections: int | Sequence[IntExpr], axis: int = 0) -> TupleWrapper:
    """data[.., e, ..] → a tuple of parts along `axis`: that many equal ones, or beginning at these indices.

    Raises `RelayError`: `parts-unequal`, `axis-out-of-range`, `wrong-attribute`.

    >>> from relay.ops.framework.build import var
    >>> first, second = split(var("x", shape=(4, "n")), [1])
    >>> print(first.checked_type, second.checked_type)
    Tensor[(1, n), float32] Tensor[(3, n), float32]
    """
    sections = items(indices_or_sections)
    parts = call(SPLIT, (data,), SplitAttributes(sections, axis))
    return TupleWrapper(parts, max(sections, 0) if isinstance(sections, int) else len(sections) + 1)
