"""The pullback of a call of an operator: its own rule, with sums over what it broadcast."""

from __future__ import annotations

from relay.base.diagnostics import RelayError
from relay.infer.eager import eager_type
from relay.ir.expr import Call, Expr, Op, Var
from relay.ir.rewriting import rebuild_typed
from relay.ir.traversal import children, post_order
from relay.ir.types import TensorType
from relay.ops.framework.record import NotDifferentiable, NotYetDifferentiable, OperatorRecord
from relay.ops.gradients.dynamic import back_to_their_places
from relay.ops.manipulation.tile import broadcast_to_like
from relay.ops.reduction.reduce import sum as sum_over


def pulled_back(call: Call, result: Var, cotangent: Expr) -> tuple[Expr | None, ...]:
    """How much the final value changes with each argument of an operator's call, whose value is `result`, where it
    does so by `cotangent` with the result. None for arguments without a derivative.

    Raises `RelayError` (rule `no-gradient`) for an operator whose derivative nobody has written.
    """
    assert isinstance(call.op, Op)
    assert isinstance(call.op.operator, OperatorRecord)
    match call.op.operator.gradient:
        case NotYetDifferentiable(reason):
            raise RelayError(
                rule="no-gradient", message=f"`{call.op.name}` has no gradient", span=call.span, found=reason,
                expected="operators whose records have a gradient rule",
                remedy="keep it out of the way by relay.stop_gradient(…), or give the operator a rule",
            )  # fmt: skip
        case NotDifferentiable():
            return (None,) * len(call.args)
        case rule:
            entries = zip(rule(call, cotangent), call.args, strict=True)
            return tuple(
                None if entry is None else _summed(_by_name(entry, call, result), argument)
                for entry, argument in entries
            )


def _by_name(entry: Expr, call: Call, result: Var) -> Expr:
    """What a rule made, where the result of the call stands under its name."""
    nodes = post_order(entry)
    if call not in nodes:
        return entry
    new: dict[Expr, Expr] = {}
    for node in nodes:
        new[node] = result if node is call else rebuild_typed(node, [new[part] for part in children(node)])
    return new[entry]


def _summed(entry: Expr, argument: Expr) -> Expr:
    """An entry summed over axes along which its argument was repeated; where only the run knows these, element by
    element."""
    wanted, found = argument.checked_type, eager_type(entry)
    if not isinstance(wanted, TensorType) or not isinstance(found, TensorType) or found.shape == wanted.shape:
        return entry
    leading = len(found.shape) - len(wanted.shape)
    pairs = zip(wanted.shape, found.shape[leading:], strict=True)
    if any(mine != whole and not isinstance(mine, int) for mine, whole in pairs):  # a number is repeated if it is 1
        return back_to_their_places(argument, entry, lambda places: broadcast_to_like(places, entry))
    repeated = [
        leading + axis for axis, extent in enumerate(wanted.shape) if extent == 1 and found.shape[leading + axis] != 1
    ]
    if repeated:
        entry = sum_over(entry, axis=repeated, keepdims=True)
    return sum_over(entry, axis=list(range(leading))) if leading else entry
