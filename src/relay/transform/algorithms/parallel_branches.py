"""Sibling operators on one input, made one wide operator: what the CombineParallel passes share.

    before: op(%x, W1), op(%x, W2), op(%x, W3)              W1, W2 and W3 are constants
    after:  %0 = op(%x, W1 ‖ W2 ‖ W3), and a slice of %0 for each

Elementwise operators behind the siblings become one too as long as all siblings have the same one, its other input a
constant. Only siblings of one scope are combined, so nothing runs that did not run before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Constant, Expr, Function, Op
from relay.ir.module import IRModule
from relay.ir.operator import Effect
from relay.ir.rewriting import rebuild_from, typed_as, with_body
from relay.ir.sharing import Scope, Scopes, scopes
from relay.ir.traversal import body_nodes, children
from relay.ir.types import TensorType
from relay.ops.framework.build import call
from relay.ops.framework.layout_rule import AxisAttribute, Broadcasting, Elementwise
from relay.ops.framework.record import FusionKind, OperatorRecord
from relay.ops.framework.scale_role import WeightedSum
from relay.ops.manipulation.shape import squeeze
from relay.ops.manipulation.slice import strided_slice
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import Pass, function_pass

Array: TypeAlias = NDArray[Any]


@frozen(eq=False)
class Branch:
    """A call that may become part of a wider one.

    `kind` is equal for calls on one input that may be combined. `result_axis` is the axis of the result along which
    `width` elements are this branch's, as many as its weight has along `weight_axis`; None when the results of all
    branches are stacked along a new first axis. `counted`: the attribute that may state how many they are.
    """

    call: Call
    record: OperatorRecord
    data: Expr
    weight: Array
    weight_axis: int
    kind: Hashable
    result_axis: int | None
    counted: tuple[str, ...]

    @property
    def width(self) -> int:
        return self.weight.shape[self.weight_axis]


Describe: TypeAlias = Callable[[Call, OperatorRecord], "Branch | None"]
"""A call as a branch, or None for what is not to be combined."""
Widen: TypeAlias = Callable[[Expr, Sequence[Branch]], Expr]
"""`widen(data, branches)`: the one operator that computes all branches."""


@frozen(eq=False)
class _Follower:
    """An elementwise operator behind every branch; the branches' own value is argument `position`."""

    record: OperatorRecord
    call: Call
    position: int
    others: tuple[Constant, ...]


@frozen(eq=False)
class _Combination:
    branches: tuple[Branch, ...]
    followers: tuple[_Follower, ...]
    tails: tuple[Call, ...]  # what the slices replace


def weighted_branches(*records: OperatorRecord) -> Describe:
    """Sums of products by constant weights, by one of these operators: those that agree in everything but the number of
    channels that they make may stand side by side."""
    return lambda expr, record: _weighted_branch(expr, record) if record in records else None


def _weighted_branch(expr: Call, record: OperatorRecord) -> Branch | None:
    match record.scale, expr:
        case WeightedSum(channels_of, told), Call(args=(data, Constant(data=weight)), attrs=Attributes() as attributes):
            channels = channels_of(attributes, len(_shape(data)))
            if channels is None or channels.groups != 1:
                return None
            made = channels.weight_result
            rest = (*weight.shape[:made], *weight.shape[made + 1 :])
            kind = (record.name, replace(attributes, **dict.fromkeys(told)), rest, weight.dtype)
            return Branch(expr, record, data, weight, made, kind, channels.result, told[:1])
        case _:
            return None


def widened(data: Expr, branches: Sequence[Branch]) -> Expr:
    """The sum of products by the weights of all branches, side by side."""
    first = branches[0]
    weight = np.concatenate([branch.weight for branch in branches], axis=first.weight_axis)
    attributes: Any = first.call.attrs
    counts = {name: weight.shape[first.weight_axis] for name in first.counted if getattr(attributes, name) is not None}
    return call(first.record, (data, Constant(weight)), replace(attributes, **counts))


def combining(describe: Describe, widen: Widen, min_num_branches: int) -> Pass:
    """The pass that makes sibling calls one, wherever at least `min_num_branches` of one kind read one value.

    Raises `RelayError` (rule `branch-count`) for less than two branches.
    """
    if min_num_branches < 2:
        raise RelayError(
            rule="branch-count", message="one branch alone cannot be combined",
            expected="min_num_branches of 2 or more", found=str(min_num_branches),
        )  # fmt: skip

    @function_pass(level=4, floating_point=FloatingPointClass.ROUNDING)
    def run(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
        return _combined(function, describe, widen, min_num_branches)

    return run


def _combined(function: Function, describe: Describe, widen: Widen, min_num_branches: int) -> Function:
    if function.attrs.get("Primitive"):
        return function
    order = body_nodes(function)
    siblings: dict[Hashable, list[Branch]] = {}
    for expr in order:
        branch = _described(expr, describe)
        if branch is not None:
            siblings.setdefault((branch.data, branch.kind), []).append(branch)
    wide = [group for group in siblings.values() if len(group) >= min_num_branches]
    if not wide:
        return function
    found = scopes(function.body)
    users = {child: expr for expr in order for child in children(expr)}
    combinations = [
        _with_followers(group, found, users)
        for same_input in wide
        for group in _by_scope(same_input, found)
        if len(group) >= min_num_branches
    ]
    return _rebuilt(function, order, combinations, widen) if combinations else function


def _described(expr: Expr, describe: Describe) -> Branch | None:
    match expr:
        case Call(op=Op(operator=OperatorRecord() as record)):
            return describe(expr, record)
        case _:
            return None


def _by_scope(branches: list[Branch], found: Scopes) -> list[list[Branch]]:
    groups: dict[Scope, list[Branch]] = {}
    for branch in branches:
        groups.setdefault(found.of(branch.call), []).append(branch)
    return list(groups.values())


def _with_followers(branches: list[Branch], found: Scopes, users: dict[Expr, Expr]) -> _Combination:
    tails = [branch.call for branch in branches]
    followers: list[_Follower] = []
    while all(found.uses(tail) == 1 for tail in tails):
        behind = [users.get(tail) for tail in tails]
        calls = [user for user in behind if isinstance(user, Call)]
        follower = _common(branches, tails, calls) if len(calls) == len(tails) else None
        if follower is None:
            break
        followers.append(follower)
        tails = calls
    return _Combination(tuple(branches), tuple(followers), tuple(tails))


def _common(branches: list[Branch], tails: list[Call], users: list[Call]) -> _Follower | None:
    """The one operator that does what `users` do to `tails`, or None where they differ or need more than constants."""
    first = users[0]
    if not isinstance(first.op, Op) or not isinstance(first.op.operator, OperatorRecord):
        return None
    record = first.op.operator
    if record.effect is not Effect.PURE or record.fusion > FusionKind.BROADCAST:
        return None
    position = next(at for at, argument in enumerate(first.args) if argument is tails[0])
    for user, tail in zip(users, tails, strict=True):
        same = isinstance(user.op, Op) and user.op.operator is record and user.attrs == first.attrs
        if not same or user.args[position] is not tail or _shape(user) != _shape(tail):
            return None
    others = [[arg for at, arg in enumerate(user.args) if at != position] for user in users]
    match record.layout:
        case Elementwise() if not others[0]:
            return _Follower(record, first, position, ())
        case Broadcasting() if len(others[0]) == 1:
            joined = _joined(branches, [row[0] for row in others], len(_shape(first)))
        case AxisAttribute(attribute=attribute, drops_axes=False) if len(others[0]) == 1 and position == 0:
            axis = getattr(first.attrs, attribute) % len(_shape(first))
            joined = _joined_vectors([row[0] for row in others]) if axis == branches[0].result_axis else None
        case _:
            return None
    return None if joined is None else _Follower(record, first, position, (Constant(joined),))


def _shape(expr: Expr) -> tuple[Any, ...]:
    return expr.checked_type.shape if isinstance(expr.checked_type, TensorType) else ()


def _arrays(operands: Sequence[Expr]) -> list[Array] | None:
    arrays = [operand.data for operand in operands if isinstance(operand, Constant)]
    return arrays if len(arrays) == len(operands) else None


def _joined_vectors(operands: Sequence[Expr]) -> Array | None:
    arrays = _arrays(operands)
    return None if arrays is None else np.concatenate(arrays)


def _joined(branches: list[Branch], operands: Sequence[Expr], rank: int) -> Array | None:
    """The constants that are broadcast against the branches' results, as one that is broadcast against all of them."""
    arrays = _arrays(operands)
    if arrays is None:
        return None
    aligned = [array.reshape((1,) * (rank - array.ndim) + array.shape) for array in arrays]
    axis = branches[0].result_axis
    same = all(a.shape == aligned[0].shape and a.tobytes() == aligned[0].tobytes() for a in aligned)
    if same and (axis is None or aligned[0].shape[axis] == 1):
        return arrays[0]
    if axis is None:
        return np.stack(aligned) if len({array.shape for array in aligned}) == 1 else None
    full = [
        np.broadcast_to(a, (*a.shape[:axis], branch.width, *a.shape[axis + 1 :]))
        for a, branch in zip(aligned, branches, strict=True)
    ]
    if len({(*a.shape[:axis], *a.shape[axis + 1 :]) for a in full}) != 1:
        return None
    return np.concatenate(full, axis=axis)


def _rebuilt(function: Function, order: Sequence[Expr], combinations: list[_Combination], widen: Widen) -> Function:
    of_tail: dict[Expr, _Combination] = {tail: each for each in combinations for tail in each.tails}
    new: dict[Expr, Expr] = {}
    parts: dict[Expr, Expr] = {}
    for expr in order:
        combination = of_tail.get(expr)
        if combination is None:
            new[expr] = rebuild_from(expr, new)
            continue
        if expr not in parts:
            data = new[combination.branches[0].data]
            for tail, part in zip(combination.tails, _parts(combination, data, widen), strict=True):
                parts[tail] = typed_as(part, tail)
        new[expr] = parts[expr]
    return with_body(function, new[function.body])


def _parts(combination: _Combination, data: Expr, widen: Widen) -> list[Expr]:
    """What each branch was worth, out of the one wide operator."""
    whole = widen(data, combination.branches)
    for follower in combination.followers:
        arguments: list[Expr] = list(follower.others)
        arguments.insert(follower.position, whole)
        whole = call(follower.record, arguments, follower.call.attrs)
    axis = combination.branches[0].result_axis
    if axis is None:
        count = len(combination.branches)
        return [squeeze(strided_slice(whole, (at,), (at + 1,), axes=(0,)), axis=(0,)) for at in range(count)]
    places = accumulate((branch.width for branch in combination.branches), initial=0)
    return [strided_slice(whole, (start,), (end,), axes=(axis,)) for start, end in pairwise(places)]
