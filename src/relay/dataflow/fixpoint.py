"""Rewriting from the leaves up until nothing fits any more: the engine of callbacks and of rules.

Every node is seen once, after its parts; what replaces it is seen again, with the nodes that are new in it. Nodes that
stand for others keep their types, so what inference must look at afterwards is only what is new.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from relay.base.frozen import frozen
from relay.base.graph import post_order as graph_post_order
from relay.infer.eager import eager_type, type_eagerly
from relay.ir.expr import Call, Constructor, Expr, Function, GlobalVar, Op, record_type, record_type_args
from relay.ir.traversal import children, rebuild

Step: TypeAlias = Callable[[Expr, Expr], "Replacement | None"]
"""`step(before, after)`: a node as it was and with its parts rewritten; gives what stands for it, or None."""

MAX_REPLACEMENTS_IN_A_ROW = 100
_OPAQUE = ("Primitive", "Compiler", "Composite", "PartitionedFromPattern")


@frozen
class Replacement:
    """`name`: of the rule or callback that made it. `is_final`: it is not looked at again."""

    expr: Expr
    name: str
    is_final: bool = False


class Endless(Exception):
    """One place was rewritten again and again: by these, in this order."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        super().__init__(", ".join(names))


def is_opaque(expr: Expr) -> bool:
    """Whether an expression is a function that belongs to a kernel or to another compiler already."""
    return isinstance(expr, Function) and any(name in expr.attrs for name in _OPAQUE)


def parts_of(expr: Expr) -> tuple[Expr, ...]:
    """The parts that rewriting looks into."""
    return () if is_opaque(expr) else children(expr)


def rewrite_to_fixpoint(root: Expr, step: Step) -> Expr:
    """`root` with `step` applied everywhere until it gives None. The same object when it never gave anything. Costs
    O(nodes), new ones included.

    Raises `Endless` when one place is replaced more than 100 times in a row, or by something that holds it.
    """
    return _Rewriting(step).rewritten(root)


@dataclass(slots=True, eq=False)
class _Rewriting:
    step: Step
    done: dict[int, Expr] = field(default_factory=dict)
    waits_for: dict[int, Expr] = field(default_factory=dict)
    history: dict[int, tuple[str, ...]] = field(default_factory=dict)  # what made a node, and what made that
    kept: list[Expr] = field(default_factory=list)  # alive, so that identities stay unique

    def rewritten(self, root: Expr) -> Expr:
        stack = [root]
        while stack:
            node = stack[-1]
            if id(node) in self.done:
                stack.pop()
                continue
            replacement = self.waits_for.get(id(node))
            if replacement is not None:
                if id(replacement) not in self.done:  # the node is a part of what stands for it
                    raise Endless(self.history[id(replacement)])
                self.done[id(node)] = self.done[id(replacement)]
                stack.pop()
                continue
            open_parts = [part for part in parts_of(node) if id(part) not in self.done]
            if open_parts:
                stack += reversed(open_parts)
                continue
            following = self._visit(node)
            if following is not None:
                stack.append(following)
        return self.done[id(root)]

    def _visit(self, node: Expr) -> Expr | None:
        """Rewrite a node whose parts are done; gives what must be rewritten before it is done, if anything."""
        rebuilt = with_parts(node, [self.done[id(part)] for part in parts_of(node)])
        found = self.step(node, rebuilt)
        self.kept += (node, rebuilt)
        if found is None or found.expr is rebuilt:
            self.done[id(node)] = self.done[id(rebuilt)] = rebuilt
            return None
        self.kept.append(found.expr)
        if found.is_final or id(found.expr) in self.done:
            self.done[id(node)] = self.done.setdefault(id(found.expr), found.expr)
            return None
        self._note(node, found)
        self.waits_for[id(node)] = found.expr
        return found.expr

    def _note(self, node: Expr, found: Replacement) -> None:
        """Remember who made the new nodes. Those of the old ones that it uses are done."""
        history = (*self.history.get(id(node), ()), found.name)
        if len(history) > MAX_REPLACEMENTS_IN_A_ROW:
            raise Endless(history[-8:])
        stack = [found.expr]
        while stack:
            new = stack.pop()
            if id(new) not in self.done and id(new) not in self.history:
                self.history[id(new)] = history
                self.kept.append(new)
                stack += parts_of(new)


def with_parts(node: Expr, parts: list[Expr]) -> Expr:
    """`node` with other parts; it keeps its type when they all have one."""
    if is_opaque(node):
        return node
    rebuilt = rebuild(node, parts)
    if rebuilt is not node and node.checked_type is not None and all(has_type(part) for part in parts):
        record_type(rebuilt, node.checked_type)
        if isinstance(rebuilt, Call) and isinstance(node, Call) and rebuilt.op is node.op:
            record_type_args(rebuilt, node.type_args)
    return rebuilt


def has_type(expr: Expr) -> bool:
    """Whether an expression is typed, or is a name whose type is known elsewhere."""
    return expr.checked_type is not None or isinstance(expr, (Op, GlobalVar, Constructor))


def typed(expr: Expr) -> Expr:
    """`expr`, with the types of those of its nodes that can be told without inference. Types that are there stay: they
    may hold symbols of extents that other nodes name."""
    if expr.checked_type is not None:
        return expr
    for node in graph_post_order((expr,), _untyped_parts):
        if isinstance(node, Call):
            type_eagerly(node)
        else:
            eager_type(node)
    return expr


def _untyped_parts(expr: Expr) -> tuple[Expr, ...]:
    return tuple(part for part in parts_of(expr) if part.checked_type is None)
