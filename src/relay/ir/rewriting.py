"""Rewriting programs, written once and without recursion: depth is limited by memory alone.

    rebuild_typed          a node with other parts; what inference knows of it is kept
    rewrite                bottom-up; a step may change types
    rewrite_nodes          bottom-up; what stands for a node has its type
    rewrite_with_uses      the same, for steps that ask how often a node is used
    rewrite_to_fixpoint    bottom-up, again where something was replaced, until nothing is
    renamed_functions      global functions under other names

Maps of nodes have the nodes as keys: these hash by identity, and names of functions and constructors by what they
name, so that two places that name one function are one key. New names come from `relay.base.names.fresh_names`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from relay.base.frozen import frozen, mutable
from relay.ir.expr import (
    AnyExpr,
    Call,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    Let,
    Op,
    Var,
    record_type,
    record_type_args,
)
from relay.ir.traversal import body_nodes, children, post_order, rebuild

# ------------------------------------------------------------------------------------------------- nodes with types


def has_type(expr: Expr) -> bool:
    """Whether an expression is typed, or is a name whose type is known elsewhere."""
    return expr.checked_type is not None or isinstance(expr, (Op, GlobalVar, Constructor))


def typed_as(expr: AnyExpr, model: Expr) -> AnyExpr:
    """`expr`, which stands for `model`, with the type of `model` unless it has one. The type arguments of a call belong
    to what it calls, so they are kept if `expr` calls the same.

    >>> from relay.ir.expr import Tuple, const
    >>> print(typed_as(Tuple(()), const(1)).checked_type)
    int32
    """
    if expr.checked_type is None and model.checked_type is not None:
        record_type(expr, model.checked_type)
        if isinstance(expr, Call) and isinstance(model, Call) and expr.op == model.op:
            record_type_args(expr, model.type_args)
    return expr


def rebuild_typed(expr: Expr, parts: Sequence[Expr]) -> Expr:
    """`expr` with other children of the same types; `expr` itself if they are the same. What inference knows of it
    still holds, type arguments included, unless a child is yet to be typed.

    >>> from relay.ir.expr import Tuple, const
    >>> pair = typed_as(Tuple((const(1), const(2))), const(0))
    >>> print(rebuild_typed(pair, (const(3), const(4))).checked_type)
    int32
    >>> rebuild_typed(pair, (const(3), Tuple(()))).checked_type is None
    True
    """
    made = rebuild(expr, parts)
    if made is not expr and expr.checked_type is not None and all(map(has_type, parts)):
        record_type(made, expr.checked_type)
        if isinstance(made, Call) and isinstance(expr, Call):
            record_type_args(made, expr.type_args)
    return made


def rebuild_from(expr: Expr, new: Mapping[Expr, Expr], parts_of: Callable[[Expr], tuple[Expr, ...]] = children) -> Expr:
    """`expr` with `new[part]`, which has its type, for each part. `parts_of` an expression are its children, or none
    where it is not looked into."""
    parts = parts_of(expr)
    return rebuild_typed(expr, [new[part] for part in parts]) if parts else expr


def with_body(function: Function, body: Expr) -> Function:
    """The function with another body of the same type; the same function if the body is the same."""
    made = rebuild_typed(function, (body,))
    assert isinstance(made, Function)
    return made


def with_lets(bindings: Sequence[tuple[Var, Expr]], body: Expr) -> Expr:
    """`body` behind the bindings, the first outermost, with its type.

    >>> from relay.ir.expr import const
    >>> x, y = Var("x"), Var("y")
    >>> outer = with_lets([(x, const(1)), (y, x)], y)
    >>> outer.var is x and outer.body.var is y
    True
    """
    for var, value in reversed(bindings):
        body = typed_as(Let(var, value, body, span=value.span), body)
    return body


# -------------------------------------------------------------------------------------------------------- bottom-up


def rewrite(expr: Expr, step: Callable[[Expr], Expr]) -> Expr:
    """`expr` with `step` applied to every node, from the leaves up, each node of the DAG once, so sharing is kept.

    `step` sees a node whose children are rewritten already; to leave a node alone it returns it. Nodes around what
    changed are untyped, since their types may have changed too. Costs O(nodes).

    >>> from relay.ir.expr import Tuple, Var
    >>> x, y = Var("x"), Var("y")
    >>> rewrite(Tuple((x, x)), lambda e: y if e is x else e).fields == (y, y)
    True
    """
    return _bottom_up(post_order(expr), rebuild, lambda _, rebuilt: step(rebuilt))


def rewrite_nodes(function: Function, step: Callable[[Expr, Expr], Expr]) -> Function:
    """`function` with `step(node, rebuilt)` for each node of its body, from the leaves up: `rebuilt` has parts that are
    rewritten already, `node` is as it was. What `step` gives stands for `node` and has its type. Costs O(nodes).

    >>> from relay.ir.expr import Tuple, Var, const
    >>> x = typed_as(Var("x"), const(1))
    >>> doubled = rewrite_nodes(Function((x,), x), lambda _, new: const(2) if new is x else new)
    >>> doubled.body.data.item()
    2
    """

    def typed_step(node: Expr, rebuilt: Expr) -> Expr:
        new = step(node, rebuilt)
        return new if new is node else typed_as(new, node)

    return with_body(function, _bottom_up(body_nodes(function), rebuild_typed, typed_step))


def _bottom_up(
    nodes: Sequence[Expr], rebuilt: Callable[[Expr, Sequence[Expr]], Expr], step: Callable[[Expr, Expr], Expr]
) -> Expr:
    """What stands for the last of the nodes, each of which comes after its children, when `step(node, node rebuilt of
    what stands for its children)` stands for each."""
    done: dict[Expr, Expr] = {}
    for node in nodes:
        parts = children(node)
        new = tuple([done[part] for part in parts])
        done[node] = step(node, node if new == parts else rebuilt(node, new))
    return done[nodes[-1]]


def renamed_functions(
    functions: Mapping[GlobalVar, Function], names: Mapping[GlobalVar, GlobalVar]
) -> dict[GlobalVar, Function]:
    """Functions under other names, by which they call each other; those that call none of these are as they were.

    >>> from relay.ir.expr import Var
    >>> f, g, x = GlobalVar("f"), GlobalVar("g"), Var("x")
    >>> made = renamed_functions({f: Function((x,), Call(f, (x,)))}, {f: g})
    >>> list(made) == [g], made[g].body.op == g
    (True, True)
    """

    def step(node: Expr) -> Expr:
        return names.get(node, node) if isinstance(node, GlobalVar) else node

    made: dict[GlobalVar, Function] = {}
    for name, each in functions.items():
        body = rewrite(each.body, step)
        changed = Function(each.params, body, each.ret_type, each.type_params, each.attrs, span=each.span)
        made[names.get(name, name)] = each if body is each.body else changed
    return made


# ------------------------------------------------------------------------------------------------------------- uses


@frozen
class Uses:
    """How many places use each node, of those that a rewriting makes too."""

    counts: dict[Expr, int]

    def of(self, expr: Expr) -> int:
        """The number of uses; 1 for what a rewriting step has just made."""
        return self.counts.get(expr, 1)

    def replaced(self, node: Expr, new: Expr) -> None:
        """`new` stands in the places of `node`."""
        self.counts[new] = max(self.counts.get(node, 0), self.counts.get(new, 0))


def uses_in(root: Expr) -> Uses:
    """How often each node under `root` is used; `root` itself is not, there.

    >>> from relay.ir.expr import Tuple, Var
    >>> x = Var("x")
    >>> uses_in(Tuple((x, Tuple((x,))))).of(x)
    2
    """
    return _uses(post_order(root))


def _uses(nodes: Iterable[Expr]) -> Uses:
    counts: dict[Expr, int] = {}
    for node in nodes:
        for part in children(node):
            counts[part] = counts.get(part, 0) + 1
    return Uses(counts)


def rewrite_with_uses(function: Function, step: Callable[[Expr, Uses], Expr]) -> Function:
    """`function` with `step(rebuilt, uses)` for each node of its body, as `rewrite_nodes` does it: `uses` tells of
    rewritten nodes too how often they are used."""
    uses = _uses(body_nodes(function))

    def counted(node: Expr, rebuilt: Expr) -> Expr:
        new = step(rebuilt, uses)
        uses.replaced(node, new)
        return new

    return rewrite_nodes(function, counted)


# --------------------------------------------------------------------------------------------------------- fixpoint

MAX_REPLACEMENTS_IN_A_ROW = 100


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


FixpointStep: TypeAlias = Callable[[Expr, Expr], Replacement | None]
"""`step(before, after)`: a node as it was and with its parts rewritten; gives what stands for it, or None."""


def rewrite_to_fixpoint(root: Expr, step: FixpointStep, parts: Callable[[Expr], tuple[Expr, ...]] = children) -> Expr:
    """`root` with `step` applied everywhere until it gives None: every node is seen once, after its parts; what
    replaces it is seen again, with the nodes that are new in it. The same object when `step` never gave anything.
    `parts` of a node are those that are looked into: its children, or none. Costs O(nodes), new ones included.

    Raises `Endless` when one place is replaced more than 100 times in a row, or by something that holds it.

    >>> from relay.ir.expr import Tuple, TupleGetItem, const
    >>> def first(_, node):
    ...     if isinstance(node, TupleGetItem) and isinstance(node.tuple_value, Tuple):
    ...         return Replacement(node.tuple_value.fields[node.index], "first")
    >>> one = const(1)
    >>> rewrite_to_fixpoint(TupleGetItem(Tuple((TupleGetItem(Tuple((one,)), 0),)), 0), first) is one
    True
    """
    return _Rewriting(step, parts).rewritten(root)


@mutable
class _Rewriting:
    step: FixpointStep
    parts: Callable[[Expr], tuple[Expr, ...]]
    done: dict[Expr, Expr] = field(default_factory=dict)
    waits_for: dict[Expr, Expr] = field(default_factory=dict)
    history: dict[Expr, tuple[str, ...]] = field(default_factory=dict)  # what made a node, and what made that

    def rewritten(self, root: Expr) -> Expr:
        stack = [root]
        while stack:
            node = stack[-1]
            if node in self.done:
                stack.pop()
                continue
            replacement = self.waits_for.get(node)
            if replacement is not None:
                if replacement not in self.done:  # the node is a part of what stands for it
                    raise Endless(self.history[replacement])
                self.done[node] = self.done[replacement]
                stack.pop()
                continue
            open_parts = [part for part in self.parts(node) if part not in self.done]
            if open_parts:
                stack += reversed(open_parts)
                continue
            following = self._visit(node)
            if following is not None:
                stack.append(following)
        return self.done[root]

    def _visit(self, node: Expr) -> Expr | None:
        """Rewrite a node whose parts are done; gives what must be rewritten before it is done, if anything."""
        rebuilt = rebuild_from(node, self.done, self.parts)
        found = self.step(node, rebuilt)
        if found is None or found.expr is rebuilt:
            self.done[node] = self.done[rebuilt] = rebuilt
            return None
        if found.is_final or found.expr in self.done:
            self.done[node] = self.done.setdefault(found.expr, found.expr)
            return None
        self._note(node, found)
        self.waits_for[node] = found.expr
        return found.expr

    def _note(self, node: Expr, found: Replacement) -> None:
        """Remember who made the new nodes. Those of the old ones that it uses are done."""
        history = (*self.history.get(node, ()), found.name)
        if len(history) > MAX_REPLACEMENTS_IN_A_ROW:
            raise Endless(history[-8:])
        stack = [found.expr]
        while stack:
            new = stack.pop()
            if new not in self.done and new not in self.history:
                self.history[new] = history
                stack += self.parts(new)
