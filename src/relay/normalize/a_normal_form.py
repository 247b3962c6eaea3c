"""Name every intermediate value: A-normal form.

    before: if (%c) { add(multiply(%x, %y), %x) } else { %x }
    after:  let %v0 = if (%c) { let %v0 = multiply(%x, %y); let %v1 = add(%v0, %x); %v1 } else { %x }; %v0

Each scope (function body, branch, clause) becomes a chain of bindings that ends in an atom. A shared node is bound
once, in the innermost scope around its uses, in evaluation order (`ir.sharing`); what was bound already keeps its
name. Constants, variables, operators and functions stay where they stand, with their bodies in A-normal form too;
primitive functions are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from relay.base.frozen import mutable
from relay.ir.expr import Constant, Constructor, Expr, Function, GlobalVar, If, Let, Match, Op, Var
from relay.ir.rewriting import rebuild_typed, typed_as, with_body, with_lets
from relay.ir.sharing import Scope, Scopes, let_chain, scopes, value_node
from relay.ir.traversal import LEAVES, children


def to_a_normal_form(function: Function) -> Function:
    """The function with every scope in A-normal form; the same function if it is."""
    return function if _is_normal(function) else name_values(function, lambda _: lambda node: not is_atom(node))


def _is_normal(function: Function) -> bool:
    """Whether nothing is left to name, as far as a look at each binding tells: those of functions inside are not."""
    seen: set[Expr] = set()
    waiting = [function.body]
    while waiting:
        lets, result = let_chain(waiting.pop())
        if not _is_name(result):
            return False
        for value in (let.value for let in lets):
            parts = children(value)
            if isinstance(value, If | Match):
                waiting += parts[1:]
                parts = parts[:1]
            if isinstance(value, Function | Let) or value in seen or not all(map(_is_name, parts)):
                return False
            if parts:
                seen.add(value)
    return True


def _is_name(expr: Expr) -> bool:
    return isinstance(expr, LEAVES)


def name_values(function: Function, needs_name: Callable[[Scopes], Callable[[Expr], bool]]) -> Function:
    """The function with a binding, in its scope and in evaluation order, for nodes that `needs_name(scopes)` wants."""
    found = scopes(function.body)
    forms = _Forms(found, needs_name(found))
    all_scopes = _outermost_first(found)
    for scope in all_scopes:
        forms.name(scope)
    for scope in reversed(all_scopes):
        forms.bind(scope)
    return with_body(function, forms.bodies[found.root])


def is_atom(expr: Expr) -> bool:
    """Whether an expression needs no name."""
    return isinstance(expr, (Var, GlobalVar, Constant, Op, Constructor, Function))


def _outermost_first(found: Scopes) -> list[Scope]:
    """Every scope after the one around it; primitive functions are not entered."""
    order = [found.root]
    for scope in order:
        for node in scope.order:
            if not (isinstance(node, Function) and node.attrs.get("Primitive")):
                order.extend(found.inner(node))
    return order


@mutable
class _Forms:
    """The name of each node, and the chain of each scope once it is made (inner scopes first)."""

    scopes: Scopes
    needs_name: Callable[[Expr], bool]
    names: dict[Expr, Var] = field(default_factory=dict)
    let_bound: set[Expr] = field(default_factory=set)  # nodes whose name the let behind them gives
    bodies: dict[Scope, Expr] = field(default_factory=dict)
    inline: dict[Expr, Expr] = field(default_factory=dict)  # what stands where it is used: functions, unnamed values

    def name(self, scope: Scope) -> None:
        """Give a name to every node of a scope that needs one: that of the let which binds it, or a new one."""
        bound = 0
        for node, follower in zip(scope.order, [*scope.order[1:], None], strict=False):
            if isinstance(node, Let):
                bound += 1
            elif self.needs_name(node):
                if isinstance(follower, Let) and follower.value is node:
                    self.names[node] = follower.var
                    self.let_bound.add(node)
                else:
                    self.names[node] = typed_as(Var(f"v{bound}", node.checked_type, span=node.span), node)
                    bound += 1

    def bind(self, scope: Scope) -> None:
        """The chain of a scope whose inner scopes have theirs."""
        bindings: list[tuple[Var, Expr]] = []
        for node in scope.order:
            if isinstance(node, Let):
                own = node.value in self.let_bound and self.names[node.value] is node.var
                bindings.append((node.var, self.rebuilt(node.value) if own else self.atom(node.value)))
            elif isinstance(node, Function):
                self.inline[node] = self.function(node)
            elif node not in self.names:
                self.inline[node] = self.rebuilt(node)
            elif node not in self.let_bound:
                bindings.append((self.names[node], self.rebuilt(node)))
        self.bodies[scope] = with_lets(bindings, typed_as(self.atom(scope.result), scope.result))

    def function(self, node: Function) -> Function:
        if node.attrs.get("Primitive"):
            return node
        return with_body(node, self.bodies[self.scopes.inner(node)[0]])

    def atom(self, expr: Expr) -> Expr:
        """What stands for an expression whose value is there already."""
        expr = value_node(expr)
        return self.names.get(expr) or self.inline.get(expr) or expr

    def rebuilt(self, node: Expr) -> Expr:
        """The node with atoms for its parts, and chains for its inner scopes."""
        parts = children(node)
        inner = self.scopes.inner(node)
        direct = len(parts) - len(inner)
        new = [self.atom(part) for part in parts[:direct]] + [self.bodies[scope] for scope in inner]
        return rebuild_typed(node, new)
