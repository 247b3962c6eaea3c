"""Batch rules: what an operator on one instance's tensors becomes on the rows of all instances.

Two ways, and an operator takes the first that fits. Where axis 0 of everything is the batch's already (extent 1, and
the operator does nothing along it), its call stays as it is. Else the rows get their full shape `[n, *shape]`, a view,
and every axis that the attributes name is one further.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any, TypeAlias

from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr, Op, Tuple, TupleGetItem
from relay.ir.known_types import known_tensor_type
from relay.ir.operator import Effect
from relay.ir.types import TensorType, TupleType
from relay.ops.record import FusionKind, OperatorRecord
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

Rule: TypeAlias = Callable[[Call, tuple[Batched, ...]], "Batched | str"]
"""What the call becomes, or why it cannot be batched (`... whose weight differs from instance to instance`)."""


def batched_call(call: Call, args: tuple[Batched, ...]) -> Batched | str:
    """The call of an operator on batched arguments, at least one of which has rows; or the reason why there is none."""
    if not isinstance(call.op, Op) or not isinstance(call.op.operator, OperatorRecord):
        return "calls what is no operator of the compiler's table"
    record = call.op.operator
    if record.effect is not Effect.PURE:
        return f"calls {record.name}, which has effects"
    rule = RULES.get(record.name)
    if rule is not None:
        return rule(call, args)
    if record.fusion <= FusionKind.BROADCAST and not _names_axes(record):
        return _elementwise(call, args, broadcasts=record.fusion is FusionKind.BROADCAST)
    return f"calls {record.name}, which has no batch rule"


def _names_axes(record: OperatorRecord) -> bool:
    names = {field.name for field in fields(record.attributes)}
    return bool(names & {"axis", "axes", "shape", "newshape"}) or record.name == "broadcast_to_like"


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


@frozen
class _Along:
    """How the attributes of an operator name axes. `of(attributes, rank)`: the axes, counted from 0, of tensors of
    `rank` axes (`more_rank` more than the inputs have), None where there is no rule; `at(attributes, axes)`: the
    attributes with others. Inputs behind the first must be shared."""

    of: Callable[[Any, int], tuple[int, ...] | None]
    at: Callable[[Any, tuple[int, ...]], Attributes]
    more_rank: int = 0

    def __call__(self, call: Call, args: tuple[Batched, ...]) -> Batched | str:
        data, *others = args
        leaves = leaves_of(data)
        like = next((leaf for leaf in leaves if isinstance(leaf, Rows)), None)
        if like is None or not all(isinstance(other, Shared) for other in others):
            return f"calls {_name(call)} with inputs that differ from instance to instance"
        rows = tuple(repeated(leaf, like) for leaf in leaves)
        results = leaf_results(call)
        axes = self.of(call.attrs, len(like.type.shape) + self.more_rank)
        if axes is None:
            return f"calls {_name(call)} in a form that has no batch rule"
        keeps = 0 not in axes and all(has_unit_axis(each) for each in (*(r.type for r in rows), *results))
        attrs = self.at(call.attrs, axes if keeps else tuple(axis + 1 for axis in axes))
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


def _one_axis(attributes: Any, rank: int) -> tuple[int, ...] | None:
    return None if attributes.axis is None else (attributes.axis % rank,)


def _at_axis(attributes: Any, axes: tuple[int, ...]) -> Attributes:
    return replace(attributes, axis=axes[0])


def _reduced(attributes: Any, rank: int) -> tuple[int, ...]:
    named = attributes.axis
    axes = tuple(range(rank)) if named is None else tuple(sorted(axis % rank for axis in named))
    return tuple(axis for axis in range(rank) if axis not in axes) if attributes.exclude and named is not None else axes


def _at_reduced(attributes: Any, axes: tuple[int, ...]) -> Attributes:
    return replace(attributes, axis=axes, exclude=False)


def _sliced(attributes: Any, rank: int) -> tuple[int, ...]:
    return tuple(range(len(attributes.begin)) if attributes.axes is None else (axis % rank for axis in attributes.axes))


def _taken(attributes: Any, rank: int) -> tuple[int, ...] | None:
    return None if attributes.batch_dims else _one_axis(attributes, rank)


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


def _product(call: Call, args: tuple[Batched, ...]) -> Batched | str:
    """data[.., k] × weight: every row of every instance is a row of the product."""
    data, weight = args
    if not isinstance(data, Rows) or not isinstance(weight, Shared):
        return f"calls {_name(call)} with a weight that differs from instance to instance"
    if getattr(call.attrs, "transpose_a", False):
        return f"calls {_name(call)} with transposed data"
    result = known_tensor_type(call)
    if len(data.type.shape) > 1 and has_unit_axis(data.type):
        return Rows(_again(call, (data.expr, weight.expr)), result)
    return from_full(_again(call, (in_full(data), weight.expr)), result)


def _batch_matmul(call: Call, args: tuple[Batched, ...]) -> Batched | str:
    """x[1, m, k] × y[1, n, k]: the unit axis is the batch's. Rows keep it even where one side is shared."""
    made: list[Expr] = []
    for arg in args:
        if isinstance(arg, tuple) or not has_unit_axis(arg.type):
            return "calls nn.batch_matmul on more than one pair of matrices an instance"
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
    return _ALONG_TAKEN(call, args)


_ALONG_ONE = _Along(_one_axis, _at_axis)
_ALONG_REDUCED = _Along(_reduced, _at_reduced)
_ALONG_TAKEN = _Along(_taken, _at_axis)

RULES: Mapping[str, Rule] = MappingProxyType(
    {
        **dict.fromkeys(
            ("sum", "mean", "max", "min", "prod", "all", "any", "variance", "argmax", "argmin"), _ALONG_REDUCED
        ),
        **dict.fromkeys(
            (
                "concatenate",
                "split",
                "nn.softmax",
                "nn.log_softmax",
                "nn.layer_norm",
                "nn.bias_add",
                "nn.prelu",
                "reverse",
            ),
            _ALONG_ONE,
        ),
        **dict.fromkeys(("reshape", "expand_dims", "squeeze", "nn.batch_flatten"), _same_order),
        **dict.fromkeys(("nn.dense", "nn.matmul", "nn.contrib_dense_pack"), _product),
        "stack": _Along(_one_axis, _at_axis, more_rank=1),
        "strided_slice": _Along(_sliced, lambda attributes, axes: replace(attributes, axes=axes)),
        "transpose": _transpose,
        "nn.batch_matmul": _batch_matmul,
        "take": _take,
    }
)
"""The operators that are not elementwise, by name. What is neither is refused."""
