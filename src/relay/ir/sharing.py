"""In which scope, and in which order, each node of a program is evaluated.

A program is a DAG. A node is evaluated once per evaluation of the innermost scope (function body, branch, clause) that
contains all its uses; so a node used by both branches of an If runs before the If, and one used inside a closure and
outside it runs before the closure is made. Printer, interpreter, A-normal form and dead-code elimination all ask here.
"""

from __future__ import annotations

from dataclasses import field

from relay.base.diagnostics import CompilerBug
from relay.base.frozen import mutable
from relay.ir.expr import Expr, Function, If, Let, Match
from relay.ir.traversal import LEAVES, children


@mutable
class Scope:
    """A region that is evaluated as a whole: the root, or child number `position` of `owner`.

    `order` lists the nodes evaluated in the scope, in evaluation order, leaves left out; a Let stands where its
    variable is bound: after its value, before what its body needs. The scope is worth `value_node(result)`.
    """

    owner: Expr | None
    position: int
    parent: Scope | None
    result: Expr
    depth: int = 0
    order: list[Expr] = field(default_factory=list)


def value_node(expr: Expr) -> Expr:
    """The node whose value `expr` has: the end of a chain of lets, or itself."""
    while isinstance(expr, Let):
        expr = expr.body
    return expr


def let_chain(expr: Expr) -> tuple[list[Let], Expr]:
    """The lets that `expr` begins with, outermost first, and its `value_node`."""
    lets: list[Let] = []
    while isinstance(expr, Let):
        lets.append(expr)
        expr = expr.body
    return lets, expr


class Scopes:
    """The scopes of one expression; built by `scopes`."""

    __slots__ = ("_inner", "_of", "_uses", "root")

    def __init__(self, root: Scope) -> None:
        self.root = root
        self._of: dict[Expr, Scope] = {}
        self._inner: dict[Expr, tuple[Scope, ...]] = {}
        self._uses: dict[Expr, int] = {}

    def of(self, node: Expr) -> Scope:
        """The scope that evaluates `node`. A leaf has none of its own and raises `CompilerBug`."""
        scope = self._of.get(node)
        if scope is None:
            raise CompilerBug("sharing", f"a {type(node).__name__} has no scope here")
        return scope

    def inner(self, owner: Expr) -> tuple[Scope, ...]:
        """The scopes that `owner` opens: body, branches or clauses, in order; none for other nodes."""
        return self._inner.get(owner, ())

    def outermost_first(self) -> list[Scope]:
        """Every scope after the one around it."""
        order = [self.root]
        for scope in order:
            order += (inner for node in scope.order for inner in self.inner(node))
        return order

    def uses(self, node: Expr) -> int:
        """How many places of the expression use `node` (the root counts as one)."""
        return self._uses.get(node, 0)


def scopes(expr: Expr, *, text_blocks: bool = False) -> Scopes:
    """Where each node of `expr` is evaluated. A Function given is not entered specially: its body is a scope in it.

    With `text_blocks` a Let that is not the tail of a scope opens one too, since the text encloses it in braces, and
    what uses its variable must stand inside them. Such a Let stands in the order of both: of the block where it binds,
    of the scope around it where its value is there.

    >>> from relay.ir.expr import If, Tuple, Var
    >>> shared = Tuple(())
    >>> choice = If(Var("c"), Tuple((shared,)), Tuple((shared, shared)))
    >>> found = scopes(choice)
    >>> found.of(shared) is found.root, [type(node).__name__ for node in found.root.order], found.uses(shared)
    (True, ['Tuple', 'If'], 3)
    """
    events = _evaluation_order(expr)
    found = Scopes(Scope(None, 0, None, expr))
    _assign(expr, found, text_blocks)
    of, inner = found._of, found._inner  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    for node, left in events:
        if not isinstance(node, Let) or (node not in inner and not left):
            of[node].order.append(node)
        elif node in inner:
            (of[node] if left else inner[node][0]).order.append(node)
    return found


def _evaluation_order(expr: Expr) -> list[tuple[Expr, bool]]:
    """All nodes but leaves, each after what it needs; a Let between its value and its body, and again, with True,
    after its body."""
    order: list[tuple[Expr, bool]] = []
    met: set[Expr] = set()
    stack: list[tuple[Expr, bool | None]] = [(expr, None)]  # None: its parts are still to be looked at
    while stack:
        node, left = stack.pop()
        if left is not None:
            order.append((node, left))
        elif node not in met and not isinstance(node, LEAVES):
            met.add(node)
            if isinstance(node, Let):
                stack += (node, True), (node.body, None), (node, False), (node.value, None)
            else:
                stack.append((node, False))
                stack += [(child, None) for child in reversed(children(node))]
    return order


def _assign(expr: Expr, found: Scopes, text_blocks: bool) -> None:
    """Users before what they use: a node's scope is the innermost one around the scopes of its uses."""
    of, inner, uses = found._of, found._inner, found._uses  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    of[expr] = found.root
    uses[expr] = 1
    tails = {expr}
    for node in _users_first(expr):
        scope = of[node]
        parts = children(node)
        match node:
            case Function():
                targets = [_open(node, 0, parts[0], scope)]
                inner[node] = tuple(targets)
            case If() | Match():
                opened = [_open(node, i, part, scope) for i, part in enumerate(parts) if i]
                targets = [scope, *opened]
                inner[node] = tuple(opened)
            case Let() if text_blocks and not (node in tails and uses[node] == 1):
                block = _open(node, 0, node, scope)
                inner[node] = (block,)
                targets = [block, block]
                tails.add(node.body)
            case Let():
                targets = [scope, scope]
                tails.add(node.body)
            case _:
                targets = [scope] * len(parts)
        if isinstance(node, (Function, If, Match)):
            tails.update(s.result for s in inner[node])
        for part, target in zip(parts, targets, strict=True):
            if isinstance(part, LEAVES):
                continue
            uses[part] = uses.get(part, 0) + 1
            before = of.get(part)
            of[part] = target if before is None else _innermost_around(before, target)


def _users_first(expr: Expr) -> list[Expr]:
    """All nodes but leaves, each before what it uses."""
    order: list[Expr] = []
    met: set[Expr] = set()
    stack: list[tuple[Expr, bool]] = [(expr, False)]
    while stack:
        node, finished = stack.pop()
        if finished:
            order.append(node)
        elif node not in met and not isinstance(node, LEAVES):
            met.add(node)
            stack.append((node, True))
            stack += [(child, False) for child in children(node)]
    order.reverse()
    return order


def _open(owner: Expr, position: int, result: Expr, parent: Scope) -> Scope:
    return Scope(owner, position, parent, result, parent.depth + 1)


def _innermost_around(left: Scope, right: Scope) -> Scope:
    while left is not right:
        if left.depth >= right.depth:
            left = _parent(left)
        else:
            right = _parent(right)
    return left


def _parent(scope: Scope) -> Scope:
    if scope.parent is None:
        raise CompilerBug("sharing", "two scopes have no common root")
    return scope.parent
