"""Groups with several outputs, which have one iteration space: all are elements at the same place of one loop nest.

    a value used in a group and outside it:    %0 = exp(%x); (%0, tanh(%0))
    operators on the same input:               (exp(%x), tanh(%x))
    reductions of the same input:              (sum(%x, axis=[1]), max(%x, axis=[1]))

One group is evaluated where the other was: behind all that both read and before all that reads either, which positions
tell without looking further (Pearce and Kelly 2006 keep such an order in general; here a join that would need another
order is not made).
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.ir.expr import Constant, Expr, Let, Tuple
from relay.ops.framework.record import FusionKind
from relay.transform.framework.context import FusionLimits
from relay.transform.fusion.evaluations import turns
from relay.transform.fusion.graph import FusionGraph, Group, Node, external_operands, in_order, shape_of, within
from relay.transform.fusion.rows import is_arithmetic, is_reduction, share_rows, sweep_of


def join_outputs(graph: FusionGraph, limits: FusionLimits) -> None:
    """Join each group with those that read its outputs, then those that read the same."""
    joining = _Joining(graph, limits)
    for node in graph.nodes:
        for user in node.users:
            joining.join_with_reader(node, user)
    readers: dict[Expr, list[Node]] = {}
    for node in graph.nodes:
        if node.group.result is node:
            for operand in node.group.operands:
                if not isinstance(operand, Constant):
                    readers.setdefault(operand, []).append(node)
    for group in readers.values():
        joining.join_siblings(group)
    for node in reversed(graph.nodes):
        joining.join_with_only_readers(node)


_MOST_STREAMS = 3
"""Of tensors as large as the result that a heavy operator's group with several results reads behind it, or writes. It
goes through tiles, a line of the cache from each row; a kernel that goes through such tensors in order was faster by
15 % to half (products of 64 to 512 multiply-adds an element with the updates of momentum, 2 read and 2 written, and of
AdamW, 3 and 3), although the product is then written and read again."""


class _Joining:
    """What joins of groups with several outputs need to know of the graph."""

    def __init__(self, graph: FusionGraph, limits: FusionLimits) -> None:
        self.graph = graph
        self.limits = limits
        self.nodes: dict[Expr, Node] = {node.call: node for node in graph.nodes}
        self.uses: dict[Node, list[Expr]] = {}
        self.agree: dict[tuple[Group, Group], bool] = {}
        """Whether a group and one that reads it may be joined, wherever they are evaluated."""
        self.tried: set[tuple[Group, Group]] = set()
        """What was asked since a join last moved a group: several values of one may be read by the other."""

    def join_with_reader(self, node: Node, user: Node) -> None:
        """A group with one that reads its output elementwise."""
        group, reader = node.group, user.group
        if group is reader or node not in group.outputs:
            return
        pair = (group, reader)
        if pair in self.tried:
            return
        self.tried.add(pair)
        if pair not in self.agree:
            self.agree[pair] = self._fit(group, reader) and self._is_read_in_place(group, reader)
        if self.agree[pair]:
            self._join(group, reader)

    def _is_read_in_place(self, group: Group, reader: Group) -> bool:
        is_elementwise = reader.kind <= FusionKind.INJECTIVE and _reads_in_place(reader, group.outputs)
        return is_elementwise or share_rows(in_order((group, reader)), reader.result)

    def join_siblings(self, readers: list[Node]) -> None:
        """Groups that read one value, as many together as may be."""
        first: dict[object, Group] = {}
        for node in readers:
            group = node.group
            shape = shape_of(node) if group.kind <= FusionKind.INJECTIVE else sweep_of(group.members)
            if shape is None:
                continue
            other = first.get(shape)
            if other is not None and other is not group and self._fit(other, group):
                self._join(other, group)
            if other is None or node.group is not group or not self._has_room(other):
                first[shape] = node.group

    def join_with_only_readers(self, node: Node) -> None:
        """What computes single elements with the sweep that alone reads them."""
        group = node.group
        if group.kind > FusionKind.BROADCAST or group.result is not node or node.escapes or _is_view(group):
            return
        readers = {user.group for user in node.users}
        if len(group.outputs) != 1 or len(readers) != 1:
            return
        (reader,) = readers
        members = in_order((group, reader))
        if reader.result.scope is node.scope and within(self.limits, (group, reader)) and sweep_of(members) is not None:
            self._join(group, reader)

    def _has_room(self, group: Group) -> bool:
        return len(group.outputs) < self.limits.max_outputs and len(group.members) < self.limits.max_operators

    def _fit(self, group: Group, other: Group) -> bool:
        """Whether two groups have one iteration space, and something to compute."""
        shape = shape_of(group.result)
        if shape is None or FusionKind.OPAQUE in (group.kind, other.kind):
            return False
        if len(group.members) + len(other.members) > self.limits.max_operators or group.heavy + other.heavy > 1:
            return False
        if group.result.scope is not other.result.scope:
            return False
        if any(shape_of(output) != shape for output in (*group.outputs, *other.outputs)):
            return False
        if _is_view(group) or _is_view(other) or not within(self.limits, (group, other)):
            return False
        if max(group.kind, other.kind) <= FusionKind.INJECTIVE:
            return bool(shape) and not (turns(group.members) and turns(other.members))
        if not any(map(is_reduction, (*group.members, *other.members))):
            return bool(shape)
        members = in_order((group, other))
        return (
            share_rows(members, other.result)
            or sweep_of(members) is not None
            or (sum(map(is_reduction, members)) == 1 and all(map(is_arithmetic, other.members)))
        )

    def _join(self, group: Group, other: Group) -> None:
        """One group of both, where either can move to the other's place."""
        position = self._meeting(group, other)
        if position is None:
            return
        members = in_order((group, other))
        inside = group.calls | other.calls
        outputs = [
            member
            for member in members
            if member in (*group.outputs, *other.outputs)
            and (member.call is self.graph.body or not inside.issuperset(self._uses(member)))
        ]
        joined = Group(members, outputs, max(group.kind, other.kind), position)
        if len(outputs) > self.limits.max_outputs or _has_many_streams(joined):
            return
        for member in members:
            member.group = joined
        self.tried.clear()

    def _uses(self, node: Node) -> list[Expr]:
        """What reads a value; an argument that is a tuple stands for the calls that take it."""
        known = self.uses.get(node)
        if known is None:
            known = self.uses[node] = []
            for user in self.graph.users.get(node.call, ()):
                taken = self.graph.users.get(user, ()) if isinstance(user, Tuple) else ()
                inside = taken and all(each in self.nodes for each in taken)
                known.extend(taken if inside else (user,))
        return known

    def _meeting(self, group: Group, other: Group) -> int | None:
        """Where both can be evaluated."""
        first, last = sorted((group, other), key=lambda each: each.position)
        read_by_last = self._reads(last, first)
        if not self.graph.let_bound.isdisjoint((*read_by_last, *self._reads(first, last))):
            return None
        if all(self._place(each) < first.position for each in read_by_last):
            return first.position
        if all(self._use_place(user) > last.position for user in self._used_by(first, last)):
            return last.position
        return None

    def _reads(self, group: Group, besides: Group) -> list[Expr]:
        """What a group reads, apart from what `besides` computes or reads."""
        known = besides.calls.union(besides.operands)
        return [each for each in group.operands if each not in known]

    def _used_by(self, group: Group, besides: Group) -> list[Expr]:
        inside = group.calls | besides.calls
        return [user for output in group.outputs for user in self._uses(output) if user not in inside]

    def _place(self, expr: Expr) -> int:
        node = self.nodes.get(expr)
        return node.group.position if node is not None else self.graph.position_of(expr)

    def _use_place(self, user: Expr) -> int:
        """Where a use is evaluated; the value of a let comes before all of its body."""
        return -1 if isinstance(user, Let) else self._place(user)


def _reads_in_place(group: Group, values: Sequence[Node]) -> bool:
    """Whether a group reads values of one shape only where it has its own result: through elementwise operators of that
    shape, and not in tuples."""
    reached: set[Expr] = {value.call for value in values}
    shape = shape_of(values[0])
    for member in group.members:
        if not reached.isdisjoint(member.operands):
            if member.kind > FusionKind.BROADCAST or shape_of(member) != shape or reached.isdisjoint(member.call.args):
                return False
            reached.add(member.call)
    return True


def _has_many_streams(group: Group) -> bool:
    """Whether work behind a heavy operator is more about other tensors of its size than about its result; any of them
    is one too many where that result is written as it is, too."""
    if not group.heavy or len(group.outputs) == 1:
        return False
    heavy = [each for each in group.members if each.kind is FusionKind.OUT_ELEMWISE_FUSABLE]
    behind = external_operands(each for each in group.members if each not in heavy)
    shape = shape_of(group.result)
    read = [each for each in behind if each not in group.calls and getattr(each.checked_type, "shape", None) == shape]
    if any(each in group.outputs for each in heavy):
        return bool(read)
    return len(read) + len(group.outputs) > _MOST_STREAMS


def _is_view(group: Group) -> bool:
    """Whether nothing is computed: the result is the same memory."""
    return all(member.record.is_view for member in group.members)
