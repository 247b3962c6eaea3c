"""Batch rules (`ops/framework/batch_rule.py`) at work: what a call on one instance's tensors becomes on all their rows.

Two ways, and an operator takes the first that fits. Where axis 0 of everything is the batch's already (extent 1, and
the operator does nothing along it), its call stays as it is. Else the rows get their full shape `[n, *shape]`, a view,
and every axis that the attributes name is one further.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, assert_never

from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr, Op, Tuple, TupleGetItem
from relay.ir.known_types import known_tensor_type
from relay.ir.operator import Effect
from relay.ir.types import TensorType, TupleType
from relay.ops.creation.create import ones
from relay.ops.elementwise.elementwise_binary import multiply
from relay.ops.framework.batch_rule import (
    ALONG_AXIS,
    AlongAxes,
    ByElement,
    HasBatchAxis,
    KeepsOrder,
    NoBatchRule,
    PermutesAxes,
    Repeats,
    RowsTimesMatrix,
    TakesEntries,
)
from relay.ops.framework.record import OperatorRecord
from relay.ops.manipulation.tile import broadcast_to
from relay.transform.batching.rows import (
    Batched,
    Rows,
    Shared,
    from_full,
    has_unit_axis,
    in_full,
    leaves_of,
    repeated,
    row_shape,
    with_axes,
)


def batched_call(call: Call, args: tuple[Batched, ...]) -> Batched | str:
    """The call of an operator on batched arguments, at least one of which has rows; or the reason why there is none."""
    if not isinstance(call.op, Op) or not isinstance(call.op.operator, OperatorRecord):
        return "calls what is no operator of the compiler's table"
    record = call.op.operator
    if record.effect is not Effect.PURE:
        return f"calls {record.name}, which has effects"
    match record.batch:
        case ByElement(broadcasts):
            return _elementwise(call, args, broadcasts)
        case AlongAxes() as along:
            return _along(along, call, args)
        case KeepsOrder():
            return _same_order(call, args)
        case PermutesAxes():
            return _transpose(call, args)
        case RowsTimesMatrix() as rule:
            return _product(call, args, rule)
        case Repeats():
            return _repeated_to_result(call, args[0])
        case HasBatchAxis():
            return _batch_axis(call, args)
        case TakesEntries():
            return _take(call, args)
        case NoBatchRule(reason):
            return f"calls {record.name}, which has no batch rule: {reason}"
        case _:
            assert_never(record.batch)


def _again(call: Call, args: Sequence[Expr], attrs: Attributes | None = None) -> Call:
    return Call(call.op, tuple(args), call.attrs if attrs is None else attrs, span=call.span)


# ------------------------------------------------------------------------------------------------------- elementwise


def _elementwise(call: Call, args: tuple[Batched, ...], broadcasts: bool) -> Batched | str:
    """Element by element: rows of lower rank get axes of extent 1 behind the batch's. Operators that do not broadcast
    (`cast_like`) have the shape of their first input."""
    result = known_tensor_type(call)
    rank = len(result.shape)
    made: list[Expr] = []
    for position, arg in enumerate(args):
        if isinstance(arg, Rows) == (position > 0) and not broadcasts:
            return f"calls {_name(call)} with inputs that differ from instance to instance"
        match arg:
            case Shared(expr):
                made.append(expr)
            case Rows(expr, type_):
                own = type_.shape
                if has_unit_axis(result):  # one axis fewer: the unit axis is the batch's
                    own = own[1:] if len(own) == rank else own
                    wanted = (*(1,) * (rank - 1 - len(own)), *own)
                else:
                    wanted = (*(1,) * (rank - len(own)), *own)
                made.append(with_axes(expr, row_shape(type_), wanted))
            case tuple():
                return "gives a tuple to an elementwise operator"
    return Rows(_again(call, made), result)


# ------------------------------------------------------------------------------------------- operators along axes


def _along(rule: AlongAxes, call: Call, args: tuple[Batched, ...]) -> Batched | str:
    """Rows get all axes of their shape, and those that attributes name are one further, unless the batch's axis is
    there already and is not among them."""
    data, *others = args
    leaves = leaves_of(data)
    like = next((leaf for leaf in leaves if isinstance(leaf, Rows)), None)
    if like is None or not all(isinstance(other, Shared) for other in others):
        return f"calls {_name(call)} with inputs that differ from instance to instance"
    rows = tuple(repeated(leaf, like) for leaf in leaves)
    results = leaf_results(call)
    axes = rule.axes(call.attrs, len(like.type.shape) + rule.more_rank)
    if axes is None:
        return f"calls {_name(call)} in a form that has no batch rule"
    keeps = 0 not in axes and all(has_unit_axis(each) for each in (*(r.type for r in rows), *results))
    attrs = rule.with_axes(call.attrs, axes if keeps else tuple(axis + 1 for axis in axes))
    made = [each.expr if keeps else in_full(each) for each in rows]
    first = Tuple(tuple(made)) if isinstance(data, tuple) else made[0]
    new = _again(call, (first, *(other.expr for other in others if isinstance(other, Shared))), attrs)
    return _results(call, new, keeps)


def leaf_results(call: Call) -> tuple[TensorType, ...]:
    """The tensors that an operator gives."""
    type_ = call.checked_type
    fields_ = type_.fields if isinstance(type_, TupleType) else (type_,)
    return tuple(each for each in fields_ if isinstance(each, TensorType))


def _results(call: Call, new: Call, are_rows: bool) -> Batched:
    def one(expr: Expr, type_: TensorType) -> Rows:
        return Rows(expr, type_) if are_rows else from_full(expr, type_)

    if isinstance(call.checked_type, TupleType):
        return tuple(one(TupleGetItem(new, i), type_) for i, type_ in enumerate(leaf_results(call)))
    return one(new, known_tensor_type(call))


def _name(call: Call) -> str:
    return call.op.operator.name if isinstance(call.op, Op) else "a function"


# ------------------------------------------------------------------------------------------------ operators with own


def _same_order(call: Call, args: tuple[Batched, ...]) -> Batched | str:
    """The elements in the same order under another shape."""
    (data,) = args
    if not isinstance(data, Rows):
        return "gives a tuple to a reshape"
    result = known_tensor_type(call)
    return Rows(with_axes(data.expr, row_shape(data.type), row_shape(result)), result)


def _transpose(call: Call, args: tuple[Batched, ...]) -> Batched | str:
    (data,) = args
    if not isinstance(data, Rows):
        return "transposes a tuple"
    rank = len(data.type.shape)
    named: Any = call.attrs
    axes = tuple(reversed(range(rank))) if named.axes is None else tuple(axis % rank for axis in named.axes)
    moved = replace(named, axes=(0, *(axis + 1 for axis in axes)))
    return from_full(_again(call, (in_full(data),), moved), known_tensor_type(call))


def _product(call: Call, args: tuple[Batched, ...], rule: RowsTimesMatrix) -> Batched | str:
    """data[.., k] × weight: every row of every instance is a row of the product."""
    data, weight = args
    transposed = bool(rule.transposes_data) and getattr(call.attrs, rule.transposes_data)
    if not isinstance(data, Rows) or not isinstance(weight, Shared) or transposed:
        return _products(call, data, weight, rule)
    result = known_tensor_type(call)
    if len(data.type.shape) > 1 and has_unit_axis(data.type):
        return Rows(_again(call, (data.expr, weight.expr)), result)
    return from_full(_again(call, (in_full(data), weight.expr)), result)


def _products(call: Call, data: Batched, weight: Batched, rule: RowsTimesMatrix) -> Batched | str:
    """data[r, k] × weight, a product apart for each instance."""
    if rule.of_each is None or isinstance(data, tuple) or isinstance(weight, tuple):
        return f"calls {_name(call)} with a weight that differs from instance to instance"
    if len(data.type.shape) > 2:
        return f"calls {_name(call)} on more than two axes, with a weight that differs from instance to instance"
    like = data if isinstance(data, Rows) else weight
    assert isinstance(like, Rows)
    data, weight = repeated(data, like), repeated(weight, like)
    matrix = (1,) * (2 - len(data.type.shape)) + data.type.shape
    made = rule.of_each(call.attrs, with_axes(data.expr, row_shape(data.type), matrix), in_full(weight))
    result = known_tensor_type(call)
    axes = (1,) * (2 - len(result.shape)) + result.shape
    return Rows(with_axes(made, axes, row_shape(result)), result)


def _repeated_to_result(call: Call, data: Batched) -> Batched | str:
    """Rows of the shape of an instance's result; ones tell it, and take nothing from any number."""
    result = known_tensor_type(call)
    if result.dtype.is_bool or not all(isinstance(extent, int) for extent in result.shape):
        return f"calls {_name(call)} on booleans, or to an extent that is not known"
    match data:
        case Shared(expr):
            return Shared(broadcast_to(expr, result.shape), result)
        case Rows(expr, type_):
            axes = (1,) * (len(result.shape) - len(type_.shape)) + type_.shape
            full = with_axes(expr, row_shape(type_), axes)
            return from_full(multiply(full, ones(result.shape, result.dtype)), result)
        case tuple():
            return f"calls {_name(call)} on a tuple"


def _batch_axis(call: Call, args: tuple[Batched, ...]) -> Batched | str:
    """x[1, ..] × y[1, ..]: the unit axis is the batch's. Rows keep it even where one side is shared."""
    made: list[Expr] = []
    for arg in args:
        if isinstance(arg, tuple) or not has_unit_axis(arg.type):
            return f"calls {_name(call)} on a batch of its own for each instance"
        made.append(arg.expr)
    return Rows(_again(call, made), known_tensor_type(call))


def _take(call: Call, args: tuple[Batched, ...]) -> Batched | str:
    """Rows of a shared table by an index an instance, or shared places along an axis of rows."""
    data, indices = args
    named: Any = call.attrs
    if isinstance(data, Shared) and isinstance(indices, Rows):
        if named.axis not in (0, -len(data.type.shape)) or named.batch_dims:
            return "takes from a shared tensor along another axis than 0"
        return from_full(_again(call, (data.expr, in_full(indices))), known_tensor_type(call))
    if named.batch_dims:
        return f"calls {_name(call)} in a form that has no batch rule"
    return _along(ALONG_AXIS, call, args)
