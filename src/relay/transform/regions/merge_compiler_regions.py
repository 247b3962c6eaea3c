"""Join the regions of one compiler that feed each other: MergeCompilerRegions.

    before: fn (%p0, Compiler="mine") { nn.relu(%p0) }(fn (%p0, %p1, Compiler="mine") { nn.dense(%p0, %p1) }(%x, %w))
    after:  fn (%p0, %p1, Compiler="mine") { nn.relu(nn.dense(%p0, %p1)) }(%x, %w)

The data flow stays acyclic: what feeds a region is never computed from its outputs. So each node has a level that no
edge lowers, and that every edge raises but those between two nodes outside and those between two regions of one
compiler; only regions of one level are joined, and a path that leaves a region never comes back to its level. Levels
are the least possible ones, then raised where that brings a region to the one it feeds. A region that others use in
several places gives a tuple.

Every scope is looked at by itself, and so is what stands between two `let`s: ToGraphNormalForm first turns names into
edges. Linear in the nodes. Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

from relay.base.disjoint_sets import DisjointSet
from relay.base.frozen import mutable
from relay.base.graph import post_order as graph_post_order
from relay.ir.expr import Expr, Function, Let, TupleGetItem
from relay.ir.module import IRModule
from relay.ir.rewriting import with_body
from relay.ir.sharing import Scope, scopes
from relay.ir.traversal import LEAVES
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass
from relay.transform.regions.regions import (
    COMPILER,
    make_region,
    outer_nodes,
    outer_parts,
    region_function,
    with_outer_parts,
)

_Home: TypeAlias = tuple[str, Scope, int]
"""A compiler, and where: the scope, and how many lets of it come before."""


@function_pass(level=0)
def MergeCompilerRegions(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Join the regions of one compiler that feed each other."""
    if function.attrs.get("Primitive"):
        return function
    body = function.body
    while True:  # what is joined may make others neighbours
        joined = _joined(body)
        if joined is body:
            return with_body(function, body)
        body = joined


def _joined(body: Expr) -> Expr:
    nodes: list[Expr] = [node for node in outer_nodes(body) if not isinstance(node, LEAVES)]
    home = _homes(body, nodes)
    inputs = {node: _inputs(node) for node in nodes}
    level = _levels(nodes, inputs, home)
    groups = _groups(nodes, inputs, home, level)
    return _rebuilt(body, nodes, groups) if groups else body


def _homes(body: Expr, nodes: list[Expr]) -> dict[Expr, _Home]:
    """Where each region is, and each field that is taken of one."""
    found = scopes(body)
    place: dict[Expr, tuple[Scope, int]] = {}
    for scope in dict.fromkeys(map(found.of, nodes)):
        lets = 0
        for node in scope.order:
            lets += isinstance(node, Let)
            place[node] = (scope, lets)
    home: dict[Expr, _Home] = {}
    for node in nodes:
        region = region_function(node)
        if region is not None and _fits(node, region):
            home[node] = (str(region.attrs[COMPILER]), *place[node])
        elif isinstance(node, TupleGetItem) and node.tuple_value in home:
            home[node] = (home[node.tuple_value][0], *place[node])
    return home


def _fits(call: Expr, region: Function) -> bool:
    """Whether the arguments have the very types of the parameters, so that they may stand for them."""
    types = [each.checked_type for each in outer_parts(call)[1:]]
    return None not in types and types == [each.checked_type for each in region.params]


def _inputs(node: Expr) -> list[Expr]:
    """The nodes that a node is computed from; the function of a region is none."""
    parts = outer_parts(node)[1:] if region_function(node) is not None else outer_parts(node)
    return [part for part in parts if not isinstance(part, LEAVES)]


def _step(left: Expr, right: Expr, home: Mapping[Expr, _Home]) -> int:
    """By how much an edge raises the level."""
    return int(home.get(left) != home.get(right))


def _levels(nodes: list[Expr], inputs: Mapping[Expr, list[Expr]], home: Mapping[Expr, _Home]) -> dict[Expr, int]:
    level: dict[Expr, int] = {}
    users: dict[Expr, list[Expr]] = {}
    for node in nodes:
        level[node] = max((level[part] + _step(part, node, home) for part in inputs[node]), default=0)
        for part in inputs[node]:
            users.setdefault(part, []).append(node)
    for node in reversed(nodes):
        of_node = users.get(node, [])
        highest = min((level[user] - _step(node, user, home) for user in of_node), default=level[node])
        near = any(level[user] == highest and not _step(node, user, home) for user in of_node)
        if near or node not in home:
            level[node] = highest
    return level


@mutable
class _Group(DisjointSet):
    members: list[Expr] = field(default_factory=list)


def _groups(
    nodes: list[Expr], inputs: Mapping[Expr, list[Expr]], home: Mapping[Expr, _Home], level: Mapping[Expr, int]
) -> dict[Expr, _Group]:
    """The regions that become one, by each member; fields taken of them are members too."""
    group = {node: _Group() for node in nodes if node in home}
    for node, of_node in group.items():
        for part in inputs[node]:
            if not _step(part, node, home) and level[part] == level[node]:
                of_node.join(group[part])
    for node, of_node in group.items():
        of_node.root().members.append(node)
    wanted = [each for each in group.values() if sum(region_function(m) is not None for m in each.members) > 1]
    return {member: group for group in wanted for member in group.members}


def _rebuilt(body: Expr, nodes: list[Expr], groups: Mapping[Expr, _Group]) -> Expr:
    """The body, where each group is one region, made when the first of its outputs is needed."""
    outside = [body, *(part for node in nodes for part in outer_parts(node) if groups.get(node) is None)]
    for node in nodes:
        if node in groups:
            group = groups[node]
            outside += [part for part in outer_parts(node) if groups.get(part) not in (None, group)]
    used = set(outside)
    outputs = {group: [each for each in group.members if each in used] for group in dict.fromkeys(groups.values())}

    def needed(node: Expr) -> tuple[Expr, ...]:
        group = groups.get(node)
        if group is None:
            return outer_parts(node)
        last = group.members[-1]
        if node is not last:
            return (last,)
        reads = [
            part for member in group.members for part in outer_parts(member)[region_function(member) is not None :]
        ]
        return tuple(part for part in reads if groups.get(part) is not group)

    new: dict[Expr, Expr] = {}
    for node in graph_post_order((body,), needed):
        group = groups.get(node)
        if group is None:
            new[node] = with_outer_parts(node, new)
        elif node is group.members[-1]:
            compiler = str(_compiler(group))
            new.update(make_region(compiler, group.members, outputs[group], new))
    return new[body]


def _compiler(group: _Group) -> object:
    return next(f.attrs[COMPILER] for f in map(region_function, group.members) if f is not None)
