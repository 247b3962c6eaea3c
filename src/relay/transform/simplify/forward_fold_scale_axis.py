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

from collections.abc import Mapping

import numpy as np

from relay.base.floating_point import FloatingPointClass
from relay.ir.expr import Call, Constant, Expr, Function, Op
from relay.ir.module import IRModule
from relay.ir.rewriting import rebuild_typed, with_body
from relay.ir.traversal import children, post_order
from relay.ops.build import with_known_type
from relay.ops.conv import Conv1DAttributes, Conv2DAttributes
from relay.ops.layouts import parse_layout
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass
from relay.transform.simplify.scale_axis import Array, along, is_float, passes_scale, shape_of, takes_scale

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
    order = post_order(function.body)
    users: dict[Expr, list[Expr]] = {function.body: [function]}
    for expr in order:
        for child in dict.fromkeys(children(expr)):
            users.setdefault(child, []).append(expr)
    removed: dict[Expr, Expr] = {}
    constants: dict[tuple[Expr, int], Constant] = {}
    for expr in order:
        match expr:
            case Call(op=Op(name="multiply"), args=(data, Constant(data=scale)) | (Constant(data=scale), data)) if (
                is_float(scale) and shape_of(data) == shape_of(expr)
            ):
                changes = _folded(expr, scale, users)
                if changes:
                    removed[expr] = data
                    constants.update(changes)
            case _:
                pass
    return _rebuilt(function, order, removed, constants) if removed else function


def _rebuilt(
    function: Function, order: list[Expr], removed: Mapping[Expr, Expr], constants: Mapping[tuple[Expr, int], Constant]
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
            elif not passes_scale(user, scale):
                return {}
            if change is None or user.op.name == "add":
                stack.append(user)
    return changes


def _change(user: Call, value: Expr, scale: Array) -> tuple[int, Constant] | None:
    """The constant that a user of the scaled value needs instead of its own, and where it stands."""
    shape = shape_of(value)
    match user:
        case Call(op=Op(name="add"), args=(data, Constant(data=bias))) if data is value:
            return _divided(2, user, shape, bias, scale)
        case Call(op=Op(name="add"), args=(Constant(data=bias), data)) if data is value:
            return _divided(1, user, shape, bias, scale)
        case Call(args=(data, Constant(data=weight))) if data is value and shape is not None:
            scaled = _scaled_weight(user, weight, scale, shape) if takes_scale(weight, scale) else None
            return None if scaled is None else (2, with_known_type(Constant(scaled)))
        case _:
            return None


def _divided(position: int, user: Call, shape: object, bias: Array, scale: Array) -> tuple[int, Constant] | None:
    if shape_of(user) != shape or not bool((scale != 0).all()) or not bool(np.isfinite(scale.astype(np.float64)).all()):
        return None
    return position, with_known_type(Constant(np.divide(bias, scale.astype(bias.dtype))))


def _scaled_weight(user: Call, weight: Array, scale: Array, shape: tuple[object, ...]) -> Array | None:
    match user.attrs:
        case Conv1DAttributes() | Conv2DAttributes() as attributes:
            kernel = parse_layout(attributes.kernel_layout)
            axis = parse_layout(attributes.data_layout).position("C")
            vector = along(scale, len(shape), axis, shape[axis])
            if vector is None or kernel.blocks:
                return None
            outputs, inputs = kernel.position("O"), kernel.position("I")
            by_group = vector.reshape(attributes.groups, 1, weight.shape[inputs])
            rows = np.repeat(by_group, weight.shape[outputs] // attributes.groups, axis=1)
            factors = rows.reshape(weight.shape[outputs], weight.shape[inputs])
            placed = (factors if outputs < inputs else factors.T).reshape(
                [extent if at in (outputs, inputs) else 1 for at, extent in enumerate(weight.shape)]
            )
            return np.multiply(weight, placed.astype(weight.dtype))
        case _ if isinstance(user.op, Op) and user.op.name == "nn.dense":
            vector = along(scale, len(shape), len(shape) - 1, shape[-1])
            return None if vector is None else np.multiply(weight, vector.astype(weight.dtype))
        case _:
            return None
