"""The graph that fusion works on: a node for each operator call, in groups that are one kernel each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from relay.base.frozen import frozen, mutable
from relay.base.graph import post_order as graph_post_order
from relay.ir.expr import Call, Expr, Function, Let, Op, Tuple, Var
from relay.ir.sharing import Scope, scopes
from relay.ir.traversal import children
from relay.ir.types import TensorType, TupleType
from relay.ops.framework.record import FusionKind, OperatorRecord
from relay.transform.framework.context import FusionLimits
from relay.transform.fusion.formulas import Formula, Formulas


@mutable
class Node:
    """A call of an operator; edges go to the calls that use it."""

    call: Call
    record: OperatorRecord
    kind: FusionKind
    position: int  # among all expressions, parts first
    scope: Scope
    formulas: Formulas
    users: list[Node] = field(default_factory=list)
    escapes: bool = False  # used by something that is no operator call of the same scope
    post_dominator: Node | None = None
    depth: int = 0  # in the tree of post-dominators
    steps: int = 0  # on the longest way to what nothing reads
    operands: list[Expr] = field(init=False)  # what the call reads, tuples opened
    group: Group = field(init=False)
    _formula: Formula | None = None

    def __post_init__(self) -> None:
        self.operands = _operands(self.call)
        self.group = Group([self], [self], self.kind, self.position)

    @property
    def formula(self) -> Formula:
        """What the call computes for one element, found out when first asked for."""
        if self._formula is None:
            self._formula = self.formulas.of(self.call, self.record, self.operands)
        return self._formula


@mutable
class Group:
    """Calls that one kernel computes.

    `position` is where it is evaluated: behind all that it reads, and before all that reads it.
    """

    members: list[Node]
    outputs: list[Node]  # the members whose values leave the group, in order
    kind: FusionKind  # of the heaviest member
    position: int
    heavy: int = field(init=False)  # how many members are heavy operators
    calls: set[Expr] = field(init=False)
    _operands: tuple[Expr, ...] | None = None

    def __post_init__(self) -> None:
        self.heavy = sum([each.kind is FusionKind.OUT_ELEMWISE_FUSABLE for each in self.members])
        self.calls = {each.call for each in self.members}

    @property
    def result(self) -> Node:
        """The last of the outputs."""
        return self.outputs[-1]

    @property
    def operands(self) -> tuple[Expr, ...]:
        """What the group reads and does not compute, each once."""
        if self._operands is None:
            self._operands = external_operands(self.members)
        return self._operands


@frozen
class FusionGraph:
    """The operator calls of a body, in order; who uses an expression; where each is; the variables that lets bind."""

    body: Expr
    nodes: list[Node]
    users: dict[Expr, list[Expr]]
    positions: dict[Expr, int]
    let_bound: frozenset[Var]

    def position_of(self, expr: Expr) -> int:
        """Where an expression that is no operator call is evaluated; leaves are there from the start."""
        return self.positions.get(expr, -1) if not isinstance(expr, Var) else -1


def fusion_graph(body: Expr) -> FusionGraph:
    """The graph of a body and of the functions inside it, with post-dominators found."""
    order = evaluated(body)
    of_scope = scopes(body).of
    users: dict[Expr, list[Expr]] = {}
    nodes: dict[Expr, Node] = {}
    formulas = Formulas()
    for position, expr in enumerate(order):
        for child in parts_of(expr):
            users.setdefault(child, []).append(expr)
        record = _operator(expr)
        if record is not None and isinstance(expr, Call):
            nodes[expr] = Node(expr, record, _kind(record, expr), position, of_scope(expr), formulas)
    for node in nodes.values():
        for user in _looking_through_tuples(users.get(node.call, []), users):
            if user in nodes and nodes[user].scope is node.scope:
                node.users.append(nodes[user])
            else:
                node.escapes = True
    if body in nodes:
        nodes[body].escapes = True
    found = list(nodes.values())
    _find_post_dominators(found)
    positions = {expr: position for position, expr in enumerate(order)}
    let_bound = frozenset(expr.var for expr in order if isinstance(expr, Let))
    return FusionGraph(body, found, users, positions, let_bound)


def evaluated(body: Expr) -> list[Expr]:
    """The nodes of a body and of the functions inside it, parts first; primitive functions are not looked into."""
    return graph_post_order([body], parts_of)


def parts_of(expr: Expr) -> tuple[Expr, ...]:
    return () if isinstance(expr, Function) and expr.attrs.get("Primitive") else children(expr)


def _operator(expr: Expr) -> OperatorRecord | None:
    if isinstance(expr, Call) and isinstance(expr.op, Op) and isinstance(expr.op.operator, OperatorRecord):
        return expr.op.operator
    return None


def _looking_through_tuples(direct: list[Expr], users: dict[Expr, list[Expr]]) -> list[Expr]:
    """Users, where a tuple that is an argument (of `concatenate`) is replaced by the calls that take it."""
    found: list[Expr] = []
    for user in direct:
        found.extend(users.get(user, [user]) if isinstance(user, Tuple) else (user,))
    return found


def _kind(record: OperatorRecord, call: Call) -> FusionKind:
    if isinstance(call.checked_type, TupleType) or not callable(record.compute):
        return FusionKind.OPAQUE
    return record.fusion


def _operands(call: Call) -> list[Expr]:
    found: list[Expr] = []
    for argument in call.args:
        found.extend(argument.fields if isinstance(argument, Tuple) else (argument,))
    return found


def external_operands(members: Iterable[Node]) -> tuple[Expr, ...]:
    """What these calls read and do not compute, each once."""
    kept = list(members)
    inside = {member.call for member in kept}
    read = dict.fromkeys(each for member in kept for each in member.operands)
    return tuple(each for each in read if each not in inside)


def shape_of(node: Node) -> tuple[object, ...] | None:
    type_ = node.call.checked_type
    return type_.shape if isinstance(type_, TensorType) else None


def within(limits: FusionLimits, groups: Iterable[Group]) -> bool:
    """Whether several groups together, each of which counts once, are no larger than one may be."""
    distinct = tuple(dict.fromkeys(groups))
    if sum([len(group.members) for group in distinct]) > limits.max_operators:
        return False
    read = {each for group in distinct for each in group.operands}
    return len(read.difference(*[group.calls for group in distinct])) <= limits.max_inputs


def in_order(groups: Iterable[Group]) -> list[Node]:
    """The members of several groups in the order of evaluation, each once."""
    distinct = dict.fromkeys(groups)
    return sorted((member for group in distinct for member in group.members), key=lambda m: m.position)


def _find_post_dominators(nodes: list[Node]) -> None:
    for node in reversed(nodes):
        node.steps = 1 + max([user.steps for user in node.users], default=-1)
        if node.escapes or not node.users:
            continue
        meeting: Node | None = node.users[0]
        for user in node.users[1:]:
            meeting = _common(meeting, user)
        node.post_dominator = meeting
        node.depth = meeting.depth + 1 if meeting is not None else 0


def _common(left: Node | None, right: Node | None) -> Node | None:
    while left is not right:
        if left is None or right is None:
            return None
        if left.position < right.position:
            left = left.post_dominator
        else:
            right = right.post_dominator
    return left
