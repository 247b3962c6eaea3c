"""Gather operators into groups that one kernel computes: FuseOps.

    before: %0 = nn.conv2d(%x, %w); %1 = add(%0, %b); nn.relu(%1)
    after:  %0 = fn (%p0, %p1, %p2, Primitive=1) { nn.relu(add(nn.conv2d(%p0, %p1), %p2)) }; %0(%x, %w, %b)

A node may join the group of its immediate post-dominator (the first node through which all its uses go) when everything
between the two allows it: elementwise work behind a convolution, injective work in front of anything up to a
reduction. A group has at most one heavy operator, and one result.

Every scope (function body, branch, clause) is fused by itself: a group never crosses `let`, branches or closures. Does
not look into functions that are primitive already.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from relay.base.graph import post_order as graph_post_order
from relay.infer.dimensions import function_type
from relay.ir.expr import Call, Constant, Expr, Function, Op, Tuple, Var, record_type
from relay.ir.module import IRModule
from relay.ir.sharing import scopes
from relay.ir.traversal import children, rebuild
from relay.ir.types import TensorType, TupleType
from relay.ops.record import FusionKind, OperatorRecord
from relay.transform.context import FusionLimits, PassContext
from relay.transform.framework import function_pass
from relay.transform.rewriting import same_type, with_body

_LARGEST_INLINED_CONSTANT_ELEMENTS = 1


@dataclass(slots=True, eq=False)
class _Node:
    """An operator call in the graph that fusion works on; edges go to the calls that use it."""

    call: Call
    kind: FusionKind
    position: int  # in post-order
    users: list[_Node] = field(default_factory=list)
    escapes: bool = False  # used by something that is no operator call
    post_dominator: _Node | None = None
    depth: int = 0  # in the tree of post-dominators
    group: _Group = field(init=False)

    def __post_init__(self) -> None:
        self.group = _Group([self], self, self.kind)


@dataclass(slots=True, eq=False)
class _Group:
    members: list[_Node]
    result: _Node  # the member whose value leaves the group
    kind: FusionKind  # of the heaviest member


@function_pass("FuseOps", level=0)
def fuse_ops(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Make every operator call of a function part of a primitive function; below level 1, each one of its own."""
    if function.attrs.get("Primitive"):
        return function
    nodes = _graph(function.body)
    _find_post_dominators(nodes)
    for phase in (_heavy_with_elementwise, _injective_with_reduction) if context.opt_level >= 1 else ():
        for node in nodes:
            phase(node, context.fusion)
    return _rebuilt(function, nodes)


def _operator(expr: Expr) -> OperatorRecord | None:
    if isinstance(expr, Call) and isinstance(expr.op, Op) and isinstance(expr.op.operator, OperatorRecord):
        return expr.op.operator
    return None


def _graph(body: Expr) -> list[_Node]:
    order = _evaluated(body)
    of_scope = scopes(body).of
    users: dict[int, list[Expr]] = {}
    nodes: dict[int, _Node] = {}
    for expr in order:
        for child in _parts(expr):
            users.setdefault(id(child), []).append(expr)
        record = _operator(expr)
        if record is not None and isinstance(expr, Call):
            nodes[id(expr)] = _Node(expr, _kind(record, expr), len(nodes))
    for node in nodes.values():
        for user in _looking_through_tuples(users.get(id(node.call), []), users):
            if id(user) in nodes and of_scope(user) is of_scope(node.call):
                node.users.append(nodes[id(user)])
            else:
                node.escapes = True
    if id(body) in nodes:
        nodes[id(body)].escapes = True
    return list(nodes.values())


def _evaluated(body: Expr) -> list[Expr]:
    """The nodes of a body and of the functions inside it, parts first; primitive functions are not looked into."""
    return graph_post_order([body], _parts)


def _parts(expr: Expr) -> tuple[Expr, ...]:
    return () if isinstance(expr, Function) and expr.attrs.get("Primitive") else children(expr)


def _looking_through_tuples(direct: list[Expr], users: dict[int, list[Expr]]) -> list[Expr]:
    """Users, where a tuple that is an argument (of `concatenate`) is replaced by the calls that take it."""
    found: list[Expr] = []
    for user in direct:
        found.extend(users.get(id(user), [user]) if isinstance(user, Tuple) else (user,))
    return found


def _kind(record: OperatorRecord, call: Call) -> FusionKind:
    if isinstance(call.checked_type, TupleType) or not callable(record.compute):
        return FusionKind.OPAQUE
    return record.fusion


def _operands(call: Expr) -> list[Expr]:
    """What an operator call reads, tuples opened."""
    found: list[Expr] = []
    for argument in call.args if isinstance(call, Call) else ():
        found.extend(argument.fields if isinstance(argument, Tuple) else (argument,))
    return found


def _find_post_dominators(nodes: list[_Node]) -> None:
    for node in reversed(nodes):
        if node.escapes or not node.users:
            continue
        meeting: _Node | None = node.users[0]
        for user in node.users[1:]:
            meeting = _common(meeting, user)
        node.post_dominator = meeting
        node.depth = meeting.depth + 1 if meeting is not None else 0


def _common(left: _Node | None, right: _Node | None) -> _Node | None:
    while left is not right:
        if left is None or right is None:
            return None
        if left.position < right.position:
            left = left.post_dominator
        else:
            right = right.post_dominator
    return left


def _heavy_with_elementwise(node: _Node, limits: FusionLimits) -> None:
    if node.group.kind is FusionKind.OUT_ELEMWISE_FUSABLE:
        _try_to_join(node, FusionKind.BROADCAST, FusionKind.BROADCAST, limits)


def _injective_with_reduction(node: _Node, limits: FusionLimits) -> None:
    if node.group.kind <= FusionKind.INJECTIVE:
        _try_to_join(node, FusionKind.INJECTIVE, FusionKind.COMM_REDUCE, limits)


def _try_to_join(node: _Node, between: FusionKind, sink_kind: FusionKind, limits: FusionLimits) -> None:
    sink = node.post_dominator
    if sink is None or sink.group is node.group or node.group.result is not node or sink.kind > sink_kind:
        return
    if node.group.kind is FusionKind.OUT_ELEMWISE_FUSABLE and not _same_shape(node, sink):
        return
    path = _between(node, sink, between, limits.max_operators)
    if path is None:
        return
    groups = {id(each.group): each.group for each in (*path, sink, node)}
    if sum(group.kind is FusionKind.OUT_ELEMWISE_FUSABLE for group in groups.values()) > 1:
        return
    if not _within(limits, groups.values()):
        return
    members = sorted((m for group in groups.values() for m in group.members), key=lambda m: m.position)
    merged = _Group(members, sink.group.result, max(group.kind for group in groups.values()))
    if _is_heavy_fed(merged):
        return
    for member in members:
        member.group = merged


def _is_heavy_fed(group: _Group) -> bool:
    """Whether work in front of a heavy operator, or of its elementwise tail, would be redone inside its loops."""
    heavy = [member for member in group.members if member.kind is FusionKind.OUT_ELEMWISE_FUSABLE]
    inside = {id(member.call) for member in group.members}
    return any(id(operand) in inside for member in heavy for operand in _operands(member.call))


def _within(limits: FusionLimits, groups: Iterable[_Group]) -> bool:
    members = [member for group in groups for member in group.members]
    inside = {id(member.call) for member in members}
    inputs = {id(operand) for member in members for operand in _operands(member.call)} - inside
    return len(members) <= limits.max_operators and len(inputs) <= limits.max_inputs


def _same_shape(node: _Node, sink: _Node) -> bool:
    mine, other = node.call.checked_type, sink.call.checked_type
    return isinstance(mine, TensorType) and isinstance(other, TensorType) and mine.shape == other.shape


def _between(node: _Node, sink: _Node, heaviest: FusionKind, limit: int) -> list[_Node] | None:
    """The nodes strictly between a node and its post-dominator; None when one is heavier than `heaviest`, or when they
    are more than a group may hold. So the walk is short, however far the post-dominator is."""
    found: dict[int, _Node] = {}
    stack = [user for user in node.users if user is not sink]
    while stack:
        each = stack.pop()
        if id(each) not in found:
            if each.kind > heaviest or len(found) >= limit:
                return None
            found[id(each)] = each
            stack.extend(user for user in each.users if user is not sink)
    return list(found.values())


def _rebuilt(function: Function, nodes: list[_Node]) -> Function:
    results = {id(node.group.result.call): node.group for node in nodes}
    inner = {id(node.call) for node in nodes} - set(results)
    new: dict[int, Expr] = {}
    for expr in _evaluated(function.body):
        if id(expr) in inner:
            continue
        group = results.get(id(expr))
        if group is not None:
            new[id(expr)] = _primitive_call(group, new)
        else:
            changed = [new.get(id(part), part) for part in _parts(expr)]
            new[id(expr)] = same_type(rebuild(expr, changed), expr) if changed else expr
    return with_body(function, new[id(function.body)])


def _primitive_call(group: _Group, new: dict[int, Expr]) -> Call:
    """The call of a function that computes a group, on what the group reads."""
    parameters: dict[int, Var] = {}
    arguments: list[Expr] = []
    local: dict[int, Expr] = {}

    def parameter(operand: Expr) -> Expr:
        if id(operand) in local:
            return local[id(operand)]
        if isinstance(operand, Constant) and operand.data.size <= _LARGEST_INLINED_CONSTANT_ELEMENTS:
            return operand
        if id(operand) not in parameters:
            var = Var(f"p{len(parameters)}", operand.checked_type)
            parameters[id(operand)] = record_type(var, operand.checked_type) if operand.checked_type else var
            arguments.append(new.get(id(operand), operand))
        return parameters[id(operand)]

    for member in group.members:
        call = member.call
        args: list[Expr] = []
        for argument in call.args:
            if isinstance(argument, Tuple):
                args.append(same_type(Tuple(tuple(parameter(part) for part in argument.fields)), argument))
            else:
                args.append(parameter(argument))
        local[id(call)] = same_type(Call(call.op, tuple(args), call.attrs, call.type_args, span=call.span), call)
    result = group.result.call
    names = "_".join(
        member.call.op.name.replace(".", "_") for member in group.members if isinstance(member.call.op, Op)
    )
    function = Function(
        tuple(parameters.values()),
        local[id(result)],
        result.checked_type,
        attrs={"Primitive": 1, "name": f"fused_{names}"[:120]},
        span=result.span,
    )
    if result.checked_type is not None:
        record_type(function, function_type(function.params, result.checked_type))
    return same_type(Call(function, tuple(arguments), span=result.span), result)
