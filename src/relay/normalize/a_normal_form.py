"""Name every intermediate value: A-normal form of straight-line programs.

    before: add(multiply(%x, %y), %x)
    after:  let %v0 = multiply(%x, %y); let %v1 = add(%v0, %x); %v1

Shared nodes are bound once, in post-order; what was bound already keeps its name. Constants, variables, operators and
functions stay where they stand.
"""

from __future__ import annotations

from relay.ir.expr import Constant, Constructor, Expr, Function, GlobalVar, Let, Op, Var, record_type
from relay.ir.traversal import children, rebuild


def to_a_normal_form(function: Function) -> Function:
    """The function with a body in A-normal form. Bodies of nested functions and branches are left as they are."""
    bindings: list[tuple[Var, Expr]] = []
    named: dict[int, Expr] = {}
    body: Expr = function.body
    while isinstance(body, Let):
        bindings.append((body.var, _flattened(body.value, bindings, named)))
        named[id(body.var)] = body.var
        body = body.body
    result = _atom(body, bindings, named)
    type_ = function.body.checked_type
    for var, value in reversed(bindings):
        result = Let(var, value, result, span=value.span)
        if type_ is not None:
            record_type(result, type_)
    rebuilt = Function(
        function.params, result, function.ret_type, function.type_params, function.attrs, span=function.span
    )
    return rebuilt if function.checked_type is None else record_type(rebuilt, function.checked_type)


def is_atom(expr: Expr) -> bool:
    """Whether an expression needs no name."""
    return isinstance(expr, (Var, GlobalVar, Constant, Op, Constructor, Function))


def _atom(expr: Expr, bindings: list[tuple[Var, Expr]], named: dict[int, Expr]) -> Expr:
    """An atom for `expr`; what it needs is bound first, without recursion."""
    stack = [expr]
    while stack:
        node = stack[-1]
        if id(node) in named or is_atom(node):
            stack.pop()
            continue
        waiting = [part for part in children(node) if id(part) not in named and not is_atom(part)]
        if waiting:
            stack.extend(reversed(waiting))
            continue
        stack.pop()
        var = Var(f"v{len(bindings)}", node.checked_type, span=node.span)
        if node.checked_type is not None:
            record_type(var, node.checked_type)
        bindings.append((var, _with_names(node, named)))
        named[id(node)] = var
    return named.get(id(expr), expr)


def _flattened(value: Expr, bindings: list[tuple[Var, Expr]], named: dict[int, Expr]) -> Expr:
    """A let-bound value whose parts are atoms; the value itself keeps the name it has."""
    if is_atom(value):
        return value
    for part in children(value):
        _atom(part, bindings, named)
    return _with_names(value, named)


def _with_names(node: Expr, named: dict[int, Expr]) -> Expr:
    parts = children(node)
    atoms = [named.get(id(part), part) for part in parts]
    if all(a is b for a, b in zip(parts, atoms, strict=True)):
        return node
    rebuilt = rebuild(node, atoms)
    return rebuilt if node.checked_type is None else record_type(rebuilt, node.checked_type)
