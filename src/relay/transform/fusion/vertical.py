"""Joining groups along the data flow: a node with its immediate post-dominator, the first node through which all its
uses go, when everything between the two allows it. Such a group has one result, and nothing is computed twice."""

from __future__ import annotations

from collections.abc import Callable

from relay.base.dtypes import DType
from relay.ops.elementwise.convert import CastAttributes
from relay.ops.framework.record import FusionKind
from relay.transform.framework.context import FusionLimits
from relay.transform.fusion.evaluations import (
    FREE_OPERATIONS,
    gathers,
    operations,
    regroups_what_is_turned,
    repeated,
)
from relay.transform.fusion.fronts import (
    MOST_OPERATIONS_OF_A_FRONT,
    copies_its_data,
    is_depthwise,
    joins_channels,
    makes_rows,
    takes_rows,
)
from relay.transform.fusion.graph import Group, Node, in_order, shape_of, within
from relay.transform.fusion.layouts import (
    brings_channels_back,
    brings_channels_forward,
    convolves_tiles,
    convolves_wide_channels,
    is_attention,
    joins_heads,
    reads_as,
    stores_in_tiles,
)
from relay.transform.fusion.rows import is_arithmetic, is_reduction, is_row_operator, share_rows

_LONGEST_JOINING_OF_HEADS = 4


def heavy_with_elementwise(node: Node, limits: FusionLimits) -> None:
    """Elementwise work on the results of a heavy operator, before they are stored; but not what only makes them wider
    for the group of another one, which is less to store and to read if that group does it."""
    if node.group.kind is FusionKind.OUT_ELEMWISE_FUSABLE:
        _finish(node, limits, lambda each: each.kind <= FusionKind.BROADCAST and not _widens_for_others(each))


def _widens_for_others(node: Node) -> bool:
    """Whether a node is a cast to more bits, whose one user is with a heavy operator already."""
    before, after = (getattr(each.checked_type, "dtype", None) for each in (node.operands[0], node.call))
    if not isinstance(node.call.attrs, CastAttributes) or not isinstance(before, DType) or not isinstance(after, DType):
        return False
    users = [] if node.escapes else node.users
    return before.bits < after.bits and [user.group.kind for user in users] == [FusionKind.OUT_ELEMWISE_FUSABLE]


def depthwise_with_pointwise(node: Node, limits: FusionLimits) -> None:
    """A depthwise convolution with the 1×1 convolution that reads it: rows of its result stay in cache in between."""
    sink = node.post_dominator
    if sink is None or node.group.result is not node or node.users != [sink]:
        return
    heavy = [member for member in node.group.members if member.kind is FusionKind.OUT_ELEMWISE_FUSABLE]
    alone = len(heavy) == 1 and is_depthwise(heavy[0])
    if alone and joins_channels(sink) and sink.operands[0] is node.call:
        _merge([node.group, sink.group], sink.group.result, limits)


def layout_behind_convolution(node: Node, limits: FusionLimits) -> None:
    """A change of layout of what a convolution gives, done where it is stored; unless more is read to make that, which
    would be read across."""
    if node.group.result is not node or not stores_in_tiles(node.group.members) or node.escapes:
        return
    if len(node.users) == 1 and brings_channels_forward(node.users[0]):
        _merge([node.group, node.users[0].group], node.users[0], limits)


def reduction_with_arithmetic(node: Node, limits: FusionLimits) -> None:
    """Arithmetic on the results of a reduction, before they are stored."""
    if node.group.kind is FusionKind.COMM_REDUCE:
        _finish(node, limits, is_arithmetic)


def _finish(node: Node, limits: FusionLimits, passes: Callable[[Node], bool]) -> None:
    sink = node.post_dominator
    if sink is not None and passes(sink) and shape_of(node) == shape_of(sink):
        _join(node, sink, passes, limits)


def injective_with_reduction(node: Node, limits: FusionLimits) -> None:
    """What moves and computes single elements, in front of anything up to a reduction; unless it would be computed
    again and again, or gathered, or what is transposed would get other rows."""
    sink = node.post_dominator
    if node.group.kind <= FusionKind.INJECTIVE and sink is not None and sink.kind <= FusionKind.COMM_REDUCE:
        _join(node, sink, lambda between: between.kind <= FusionKind.INJECTIVE, limits, _is_computed_once)


def _is_computed_once(members: list[Node], result: Node) -> bool:
    if not any(each.formula.across or each.formula.elsewhere for each in members):
        return not _is_heavy_fed(members)
    if _is_heavy_fed(members) or gathers(members) or regroups_what_is_turned(members):
        return False
    return repeated(members, result) <= FREE_OPERATIONS


def rows_in_cache(node: Node, limits: FusionLimits) -> None:
    """Reductions, what they read and what is made of them, where all are about the same rows."""
    sink = node.post_dominator
    if sink is None or not (node.group.kind <= FusionKind.COMM_REDUCE or is_row_operator(node)):
        return
    if _is_on_rows(sink):
        _join(node, sink, _is_on_rows, limits, share_rows)


def _is_on_rows(node: Node) -> bool:
    return node.kind <= FusionKind.BROADCAST or is_reduction(node)


def injective_with_padding(node: Node, limits: FusionLimits) -> None:
    """What makes the data of a convolution, done while these are copied into their padding."""
    sink = node.post_dominator
    if sink is None or node.group.kind > FusionKind.INJECTIVE or not copies_its_data(sink):
        return
    if operations(node.group.members) <= MOST_OPERATIONS_OF_A_FRONT:
        _join_with_data(node, sink, limits)


def layout_before_convolution(node: Node, limits: FusionLimits) -> None:
    """A change of layout of the data of a convolution, done for the part of them that is read next."""
    sink = node.post_dominator
    if sink is None or not brings_channels_back(node):
        return
    heavy = [member for member in sink.group.members if member.kind is FusionKind.OUT_ELEMWISE_FUSABLE]
    if convolves_tiles(sink) or (convolves_wide_channels(sink) and heavy == [sink]):
        _join_with_data(node, sink, limits)


def arithmetic_with_product(node: Node, limits: FusionLimits) -> None:
    """What makes the rows of a matrix product with few columns, done for a tile of rows at a time."""
    sink = node.post_dominator
    if sink is not None and takes_rows(sink) and all(map(makes_rows, node.group.members)):
        _join_with_data(node, sink, limits)


def _join_with_data(node: Node, sink: Node, limits: FusionLimits) -> None:
    """The maker of the data of a heavy operator with it, where that alone reads them, and only as its data."""
    data, *others = sink.operands
    if node.users == [sink] and data is node.call and all(other is not node.call for other in others):
        _join(node, sink, lambda _: False, limits, lambda members, _: _has_one_front(members, sink))


def layout_before_attention(node: Node, limits: FusionLimits) -> None:
    """Reshapes and transpositions of what attention reads."""
    sink = node.post_dominator
    if node.group.kind > FusionKind.INJECTIVE or sink is None or not is_attention(sink):
        return
    if all(user is sink for user in node.users):
        _join(node, sink, lambda _: False, limits, lambda members, _: reads_as(members, sink))


def layout_behind_attention(node: Node, limits: FusionLimits) -> None:
    """Reshapes and transpositions of the result of attention, as far as they join its heads."""
    if not is_attention(node):
        return
    chain: list[Node] = []
    last = node
    while len(last.users) == 1 and not last.escapes and len(chain) < _LONGEST_JOINING_OF_HEADS:
        last = last.users[0]
        chain.append(last)
        if joins_heads(node, chain):
            _merge([node.group, *(each.group for each in chain)], last, limits)
            return


def _merge(groups: list[Group], result: Node, limits: FusionLimits) -> None:
    members = in_order(groups)
    if result.group.result is result and within(limits, groups):
        merged = Group(members, [result], max(group.kind for group in groups), result.position)
        for member in members:
            member.group = merged


def _has_one_front(members: list[Node], heavy: Node) -> bool:
    """Whether what stands in front of a heavy operator goes nowhere else in the group."""
    front = {member.call for member in members if member.position < heavy.position}
    behind = [member for member in members if member.position > heavy.position]
    return not any(operand in front for member in behind for operand in member.operands)


def _join(
    node: Node,
    sink: Node,
    passes: Callable[[Node], bool],
    limits: FusionLimits,
    allows: Callable[[list[Node], Node], bool] = lambda members, _: not _is_heavy_fed(members),
) -> None:
    """Make one group of those of a node, of its post-dominator, and of what is between, if all of that `passes` and
    the whole is allowed."""
    if sink.group is node.group or node.group.result is not node:
        return
    path = _between(node, sink, passes, limits.max_operators)
    if path is None:
        return
    groups = tuple(dict.fromkeys((node.group, sink.group, *(each.group for each in path))))
    result = sink.group.result
    if sum(group.heavy for group in groups) > 1 or not within(limits, groups):
        return
    members = in_order(groups)
    if not allows(members, result):
        return
    merged = Group(members, [result], max(group.kind for group in groups), result.position)
    for member in members:
        member.group = merged


def _is_heavy_fed(members: list[Node]) -> bool:
    """Whether work in front of a heavy operator would be redone inside its loops."""
    heavy = [member for member in members if member.kind is FusionKind.OUT_ELEMWISE_FUSABLE]
    inside = {member.call for member in members}
    return any(operand in inside for member in heavy for operand in member.operands)


def _between(node: Node, sink: Node, passes: Callable[[Node], bool], limit: int) -> list[Node] | None:
    """The nodes strictly between a node and its post-dominator; None when one does not pass, or when they are more
    than a group may hold. So the walk is short, however far the post-dominator is: all ways lead through it, so the
    longest one tells how many there are at least."""
    if node.steps - sink.steps - 1 > limit:
        return None
    met = {sink}
    found: list[Node] = []
    stack = list(node.users)
    while stack:
        each = stack.pop()
        if each not in met:
            if not passes(each) or len(found) >= limit:
                return None
            met.add(each)
            found.append(each)
            stack += each.users
    return found
