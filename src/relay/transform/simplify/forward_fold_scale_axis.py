"""Multiply an input channel's scale into the weights that read the channel: ForwardFoldScaleAxis.

    before: nn.conv2d(multiply(%x, S), W)              S has one entry an input channel
    after:  nn.conv2d(%x, multiply(W, S along I))

    before: nn.conv2d(nn.relu(add(multiply(%x, S), B)), W)           every entry of S is above 0
    after:  nn.conv2d(nn.relu(add(%x, divide(B, S))), multiply(W, S along I))

W, S and B are floating-point constants. Every use of the scaled value must end in a convolution or a dense layer, on
the way through biases (where no entry of S is 0), poolings, and, for positive scales, relu. Packed kernels stay.
Floating point: ROUNDING.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from relay.base.floating_point import FloatingPointClass
from relay.ir.expr import Call, Constant, Expr, Function, Op
from relay.ir.module import IRModule
from relay.ir.rewriting import rebuild_typed, with_body
from relay.ir.traversal import body_nodes, children
from relay.ops.framework.build import with_known_type
from relay.ops.framework.scale_role import Adds, AddsBias, Scales, WeightedSum
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass
from relay.transform.simplify.scale_axis import (
    Array,
    along_axis,
    channels_of,
    is_float,
    passes_scale,
    placed,
    role_of,
    shape_of,
    takes_scale,
)

_MOST_OPERATORS = 64  # between a scale and the weights


@function_pass(level=2, floating_point=FloatingPointClass.ROUNDING)
def ForwardFoldScaleAxis(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Fold constant scales in front of convolutions and dense layers into their weights."""
    return fold_forward(function)


def fold_forward(function: Function) -> Function:
    """All scales folded: one in front of another when that one is gone."""
    while (folded := _folded_once(function)) is not function:
        function = folded
    return function


def _folded_once(function: Function) -> Function:
    order = body_nodes(function)
    users: dict[Expr, list[Expr]] = {function.body: [function]}
    for expr in order:
        for child in dict.fromkeys(children(expr)):
            users.setdefault(child, []).append(expr)
    removed: dict[Expr, Expr] = {}
    constants: dict[tuple[Expr, int], Constant] = {}
    for expr in order:
        match expr, role_of(expr):
            case Call(args=(data, Constant(data=scale)) | (Constant(data=scale), data)), Scales() if is_float(
                scale
            ) and shape_of(data) == shape_of(expr):
                changes = _folded(expr, scale, users)
                if changes:
                    removed[expr] = data
                    constants.update(changes)
            case _:
                pass
    return _rebuilt(function, order, removed, constants) if removed else function


def _rebuilt(
    function: Function,
    order: Sequence[Expr],
    removed: Mapping[Expr, Expr],
    constants: Mapping[tuple[Expr, int], Constant],
) -> Function:
    new: dict[Expr, Expr] = {}
    for expr in order:
        if expr in removed:
            new[expr] = new[removed[expr]]
            continue
        parts = [constants.get((expr, at)) or new[child] for at, child in enumerate(children(expr))]
        new[expr] = rebuild_typed(expr, parts)
    return with_body(function, new[function.body])


def _folded(multiplication: Call, scale: Array, users: Mapping[Expr, list[Expr]]) -> dict[tuple[Expr, int], Constant]:
    """The constants, by call and position among its children, that make up for the missing multiplication; none where
    a use does not allow it."""
    changes: dict[tuple[Expr, int], Constant] = {}
    stack: list[Call] = [multiplication]
    met = 0
    while stack:
        value = stack.pop()
        met += 1
        for user in users.get(value, []):
            if not isinstance(user, Call) or not isinstance(user.op, Op) or met > _MOST_OPERATORS:
                return {}
            change = _change(user, value, scale)
            if change is not None:
                position, constant = change
                changes[user, position] = constant
            elif user.args[0] is not value or value in user.args[1:] or not passes_scale(user, scale):
                return {}
            if not isinstance(role_of(user), WeightedSum):
                stack.append(user)
    return changes


def _change(user: Call, value: Expr, scale: Array) -> tuple[int, Constant] | None:
    """The constant that a user of the scaled value needs instead of its own, and where it stands."""
    match user, role_of(user):
        case Call(args=(data, Constant(data=bias))), Adds() if data is value:
            return _divided(2, user, value, bias, scale)
        case Call(args=(Constant(data=bias), data)), Adds() if data is value:
            return _divided(1, user, value, bias, scale)
        case Call(args=(data, Constant(data=bias))), AddsBias(axis) if data is value:
            vector = along_axis(value, scale, getattr(user.attrs, axis))
            return None if vector is None else _divided(2, user, value, bias, vector)
        case Call(args=(data, Constant(data=weight))), WeightedSum() if data is value and takes_scale(weight, scale):
            scaled = _scaled_weight(user, weight, scale)
            return None if scaled is None else (2, with_known_type(Constant(scaled)))
        case _:
            return None


def _divided(position: int, user: Call, value: Expr, bias: Array, scale: Array) -> tuple[int, Constant] | None:
    nonzero = bool((scale != 0).all()) and bool(np.isfinite(scale.astype(np.float64)).all())
    if shape_of(user) != shape_of(value) or not nonzero:
        return None
    return position, with_known_type(Constant(np.divide(bias, scale.astype(bias.dtype))))


def _scaled_weight(user: Call, weight: Array, scale: Array) -> Array | None:
    """The weight times the scale of the channel that each of its entries reads: with groups, one of its own group."""
    channels = channels_of(user)
    vector = None if channels is None else along_axis(user.args[0], scale, channels.data)
    if channels is None or vector is None:
        return None
    made, read = channels.weight_result, channels.weight_data
    if channels.groups == 1:
        return np.multiply(weight, placed(vector, weight, read))
    by_group = vector.reshape(channels.groups, weight.shape[read])
    rows = np.repeat(by_group, weight.shape[made] // channels.groups, axis=0)
    return np.multiply(weight, placed(rows, weight, made, read))
