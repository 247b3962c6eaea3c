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
from dataclasses import dataclass, field
from typing import TypeAlias

from relay.base.graph import post_order as graph_post_order
from relay.ir.expr import Expr, Function, Let, TupleGetItem
from relay.ir.module import IRModule
from relay.ir.sharing import scopes
from relay.ir.traversal import LEAVES
from relay.transform.context import PassContext
from relay.transform.framework import function_pass
from relay.transform.regions import (
    COMPILER,
    make_region,
    outer_nodes,
    outer_parts,
    region_function,
    with_outer_parts,
)
from relay.transform.rewriting import with_body

_Home: TypeAlias = tuple[str, int, int]
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
    inputs = {id(node): _inputs(node) for node in nodes}
    level = _levels(nodes, inputs, home)
    groups = _groups(nodes, inputs, home, level)
    return _rebuilt(body, nodes, groups) if groups else body


def _homes(body: Expr, nodes: list[Expr]) -> dict[int, _Home]:
    """Where each region is, and each field that is taken of one."""
    found = scopes(body)
    place: dict[int, tuple[int, int]] = {}
    for scope in {id(found.of(node)): found.of(node) for node in nodes}.values():
        lets = 0
        for node in scope.order:
            lets += isinstance(node, Let)
            place[id(node)] = (id(scope), lets)
    home: dict[int, _Home] = {}
    for node in nodes:
        region = region_function(node)
        if region is not None and _fits(node, region):
            home[id(node)] = (str(region.attrs[COMPILER]), *place[id(node)])
        elif isinstance(node, TupleGetItem) and id(node.tuple_value) in home:
            home[id(node)] = (home[id(node.tuple_value)][0], *place[id(node)])
    return home


def _fits(call: Expr, region: Function) -> bool:
    """Whether the arguments have the very types of the parameters, so that they may stand for them."""
    types = [each.checked_type for each in outer_parts(call)[1:]]
    return None not in types and types == [each.checked_type for each in region.params]


def _inputs(node: Expr) -> list[Expr]:
    """The nodes that a node is computed from; the function of a region is none."""
    parts = outer_parts(node)[1:] if region_function(node) is not None else outer_parts(node)
    return [part for part in parts if not isinstance(part, LEAVES)]


def _step(left: Expr, right: Expr, home: Mapping[int, _Home]) -> int:
    """By how much an edge raises the level."""
    return int(home.get(id(left)) != home.get(id(right)))


def _levels(nodes: list[Expr], inputs: Mapping[int, list[Expr]], home: Mapping[int, _Home]) -> dict[int, int]:
    level: dict[int, int] = {}
    users: dict[int, list[Expr]] = {}
    for node in nodes:
        level[id(node)] = max((level[id(part)] + _step(part, node, home) for part in inputs[id(node)]), default=0)
        for part in inputs[id(node)]:
            users.setdefault(id(part), []).append(node)
    for node in reversed(nodes):
        of_node = users.get(id(node), [])
        highest = min((level[id(user)] - _step(node, user, home) for user in of_node), default=level[id(node)])
        near = any(level[id(user)] == highest and not _step(node, user, home) for user in of_node)
        if near or id(node) not in home:
            level[id(node)] = highest
    return level


@dataclass(slots=True, eq=False)
class _Group:
    members: list[Expr] = field(default_factory=list)


def _groups(
    nodes: list[Expr], inputs: Mapping[int, list[Expr]], home: Mapping[int, _Home], level: Mapping[int, int]
) -> dict[int, _Group]:
    """The regions that become one, by the identity of each member; fields taken of them are members too."""
    parent = {id(node): id(node) for node in nodes if id(node) in home}

    def root(key: int) -> int:
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for node in nodes:
        for part in inputs[id(node)] if id(node) in home else ():
            if not _step(part, node, home) and level[id(part)] == level[id(node)]:
                parent[root(id(part))] = root(id(node))
    found: dict[int, _Group] = {}
    for node in nodes:
        if id(node) in home:
            found.setdefault(root(id(node)), _Group()).members.append(node)
    wanted = [each for each in found.values() if sum(region_function(m) is not None for m in each.members) > 1]
    return {id(member): group for group in wanted for member in group.members}


def _rebuilt(body: Expr, nodes: list[Expr], groups: Mapping[int, _Group]) -> Expr:
    """The body, where each group is one region, made when the first of its outputs is needed."""
    outputs: dict[int, list[Expr]] = {}  # by the identity of a group
    outside = [body, *(part for node in nodes for part in outer_parts(node) if groups.get(id(node)) is None)]
    for node in nodes:
        if id(node) in groups:
            group = groups[id(node)]
            outside += [part for part in outer_parts(node) if groups.get(id(part)) not in (None, group)]
    used = {id(each) for each in outside}
    for group in {id(each): each for each in groups.values()}.values():
        outputs[id(group)] = [each for each in group.members if id(each) in used]

    def needed(node: Expr) -> tuple[Expr, ...]:
        group = groups.get(id(node))
        if group is None:
            return outer_parts(node)
        last = group.members[-1]
        if node is not last:
            return (last,)
        reads = [
            part for member in group.members for part in outer_parts(member)[region_function(member) is not None :]
        ]
        return tuple(part for part in reads if groups.get(id(part)) is not group)

    new: dict[int, Expr] = {}
    for node in graph_post_order((body,), needed):
        group = groups.get(id(node))
        if group is None:
            new[id(node)] = with_outer_parts(node, new)
        elif node is group.members[-1]:
            compiler = str(_compiler(group))
            new.update(make_region(compiler, group.members, outputs[id(group)], new))
    return new[id(body)]


def _compiler(group: _Group) -> object:
    return next(f.attrs[COMPILER] for f in map(region_function, group.members) if f is not None)
