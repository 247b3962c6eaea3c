"""Well-formedness: each variable is bound once, and used only where its binding holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from relay.base.frozen import frozen
from relay.base.span import Span
from relay.ir.expr import Call, Expr, Function, GlobalVar, If, Let, Match, Op, Var, pattern_vars
from relay.ir.module import IRModule
from relay.ir.sharing import Scope, Scopes, scopes
from relay.ir.traversal import children, post_order
from relay.ir.types import TypeVar
from relay.ir.variables import vars_bound_at


@frozen
class IllFormed:
    """One reason why a program is not well-formed: a rule in kebab case, a sentence, and the place when known."""

    rule: str
    message: str
    span: Span | None = None

    def __str__(self) -> str:
        return f"{self.message} (at {self.span})" if self.span else self.message


def well_formed(program: IRModule | Expr) -> tuple[IllFormed, ...]:
    """Why `program` is not well-formed; empty when it is. Free variables of a bare expression are allowed.

    >>> x = Var("x")
    >>> [str(reason) for reason in well_formed(Function((x, x), x))]
    ['%x is bound 2 times']
    """
    if not isinstance(program, IRModule):
        return (*_binding(program), *_scoping(program, closed=False))
    reasons: list[IllFormed] = []
    bound: dict[Var, str] = {}
    for name, function in program.functions.items():
        reasons += _binding(function)
        reasons += _scoping(function, closed=True)
        reasons += _globals(function, program)
        for node in post_order(function):
            for var in vars_bound_at(node):
                elsewhere = bound.setdefault(var, name.name_hint)
                if elsewhere != name.name_hint:
                    where = f"@{elsewhere} and in @{name.name_hint}"
                    message = f"%{var.name_hint} is bound in {where}"
                    reasons.append(IllFormed("bound-twice", message, var.span or node.span))
    return tuple(reasons)


def _binding(expr: Expr) -> Iterator[IllFormed]:
    counts: dict[Var | TypeVar, int] = {}
    places: dict[Var | TypeVar, Span | None] = {}
    for node in post_order(expr):
        bound: tuple[Var | TypeVar, ...] = vars_bound_at(node)
        if isinstance(node, Function):
            bound += node.type_params
        for var in bound:
            counts[var] = counts.get(var, 0) + 1
            places[var] = node.span
        if isinstance(node, Call) and node.attrs is not None and not isinstance(node.op, Op):
            yield IllFormed("attributes-without-operator", "a call of something else has attributes", node.span)
    for var, count in counts.items():
        if count > 1:
            name = f"%{var.name_hint}" if isinstance(var, Var) else f"type parameter {var.name}"
            yield IllFormed("bound-twice", f"{name} is bound {count} times", places[var])


def _globals(function: Function, module: IRModule) -> Iterator[IllFormed]:
    for node in post_order(function):
        if isinstance(node, GlobalVar) and node not in module:
            yield IllFormed("unknown-global", f"the module has no function @{node.name_hint}", node.span)


def _scoping(expr: Expr, closed: bool) -> Iterator[IllFormed]:
    """Asks of each use of a variable whether the scope that evaluates it lies inside the one that binds it."""
    found = scopes(expr, text_blocks=True)
    nodes = post_order(expr)
    binders = _binders(nodes, found)
    places = {(scope, node): index for scope in _all_scopes(found, nodes) for index, node in enumerate(scope.order)}
    reported: set[Var] = set()
    for node in nodes:
        for part, scope in _parts(node, found):
            if not isinstance(part, Var) or part in reported:
                continue
            binder = binders.get(part)
            if binder is None and not closed:
                continue
            if binder is None or not _reaches(node, scope, binder, places):
                reported.add(part)
                why = "is not bound" if binder is None else "is used outside the scope that binds it"
                yield IllFormed("out-of-scope", f"%{part.name_hint} {why}", part.span or node.span)


@frozen(eq=False)
class _Binder:
    """Where a variable holds: in `scope`, and for a let only after it (or inside its value, a function)."""

    scope: Scope
    let: Let | None


def _binders(nodes: list[Expr], found: Scopes) -> dict[Var, _Binder]:
    binders: dict[Var, _Binder] = {}
    for node in nodes:
        match node:
            case Function(params):
                binders.update((param, _Binder(found.inner(node)[0], None)) for param in params)
            case Match(_, clauses):
                for clause, scope in zip(clauses, found.inner(node), strict=True):
                    binders.update((var, _Binder(scope, None)) for var in pattern_vars(clause.lhs))
            case Let(var):
                block = found.inner(node)
                binders[var] = _Binder(block[0] if block else found.of(node), node)
            case _:
                pass
    return binders


def _all_scopes(found: Scopes, nodes: list[Expr]) -> Iterator[Scope]:
    yield found.root
    for node in nodes:
        yield from found.inner(node)


def _parts(node: Expr, found: Scopes) -> Iterator[tuple[Expr, Scope]]:
    """The children of a node, each with the scope that evaluates it for this node."""
    parts = children(node)
    if not parts:
        return
    inner = found.inner(node)
    match node:
        case Function() | If() | Match():
            outside = len(parts) - len(inner)
            yield from zip(parts, (*[found.of(node)] * outside, *inner), strict=True)
        case Let() if inner:
            yield from ((part, inner[0]) for part in parts)
        case _:
            scope = found.of(node)
            yield from ((part, scope) for part in parts)


def _reaches(user: Expr, scope: Scope, binder: _Binder, places: Mapping[tuple[Scope, Expr], int]) -> bool:
    """Whether the binding holds where `user`, evaluating in `scope`, names the variable."""
    at: Expr = user
    while scope is not binder.scope:
        if scope.parent is None or scope.owner is None:
            return False
        at, scope = scope.owner, scope.parent
    let = binder.let
    if let is None:
        return True
    if at is let:
        return let.value is not let.var
    if at is let.value and isinstance(at, Function):
        return True
    return places[scope, at] > places[scope, let]
