"""Facts of statements that their syntax tells: which names they assign, whether they leave early."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

CHANGING_METHODS = ("append", "pop")


def assigned_names(statements: Sequence[ast.stmt], *, definitely: bool = False) -> list[str]:
    """The names that statements assign, on every way through them if `definitely`, in order."""
    found: dict[str, None] = {}
    for statement in statements:
        found.update(dict.fromkeys(_assigned(statement, definitely)))
    return list(found)


def _assigned(statement: ast.stmt, definitely: bool) -> Iterable[str]:
    match statement:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from target_names(target)
            yield from _changed(value)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            yield from target_names(target)
        case ast.Expr(value=value):
            yield from _changed(value)
        case ast.FunctionDef(name=name):
            yield name
        case ast.If(body=body, orelse=orelse):
            yield from _of_sides([body, orelse], definitely)
        case ast.Match(cases=cases):
            yield from _of_sides([case.body for case in cases], definitely)
            if not definitely:
                for case in cases:
                    yield from (n.name for n in ast.walk(case.pattern) if isinstance(n, ast.MatchAs) and n.name)
        case ast.While(body=body, orelse=orelse) if not definitely:
            yield from assigned_names([*body, *orelse])
        case ast.For(target=target, body=body, orelse=orelse) if not definitely:
            yield from target_names(target)
            yield from assigned_names([*body, *orelse])
        case _:
            return


def _of_sides(sides: Sequence[Sequence[ast.stmt]], definitely: bool) -> Iterable[str]:
    each = [assigned_names(side, definitely=definitely) for side in sides if not definitely or may_fall_through(side)]
    if not definitely:
        return [name for names in each for name in names]
    return [name for name in each[0] if all(name in names for names in each)] if each else []


def target_names(target: ast.expr) -> list[str]:
    """The names that a target assigns."""
    names = [node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return [*names, *(name for _, name in _changed_parts(target))]


def _changed_parts(target: ast.AST) -> list[tuple[ast.expr, str]]:
    """The assignments to parts of variables, `name[index] = …`, inside."""
    parts = (node for node in ast.walk(target) if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store))
    return [(part, part.value.id) for part in parts if isinstance(part.value, ast.Name)]


def _changed(value: ast.expr) -> Iterable[str]:
    """The list that `xs.append(x)` or `xs.pop()` changes."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in CHANGING_METHODS:
            yield name
        case _:
            return


def leaves_by(statements: Iterable[ast.stmt], *forms: type[ast.stmt]) -> bool:
    """Whether one of these ways out of statements stands among them: `return`, or the `break` or `continue` of a loop
    around them.

    >>> body = ast.parse("while x: break").body
    >>> leaves_by(body, ast.Return, ast.Break), leaves_by(body[0].body, ast.Return, ast.Break)
    (False, True)
    """
    for statement in statements:
        if isinstance(statement, forms):
            return True
        if isinstance(statement, ast.For | ast.While) and leaves_by(statement.orelse, *forms):
            return True
        inner = tuple(set(forms) & {ast.Return}) if isinstance(statement, ast.For | ast.While) else forms
        if inner and any(leaves_by(part, *inner) for part in _parts(statement)):
            return True
    return False


def _parts(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The runs of statements inside a compound one."""
    match statement:
        case ast.If(body=body, orelse=orelse):
            return [body, orelse]
        case ast.Match(cases=cases):
            return [case.body for case in cases]
        case ast.While(body=body) | ast.For(body=body):
            return [body]
        case _:
            return []


def breaking_names(statements: Sequence[ast.stmt]) -> list[list[str]]:
    """For each `break` of the loop around the statements, the names that are assigned in front of it for certain."""
    found: list[list[str]] = []
    for position, statement in enumerate(statements):
        before = assigned_names(statements[:position], definitely=True)
        if isinstance(statement, ast.Break):
            found.append(before)
        elif not isinstance(statement, ast.For | ast.While):
            found += [[*before, *each] for part in _parts(statement) for each in breaking_names(part)]
    return found


def leaves_early(statements: Iterable[ast.stmt]) -> bool:
    """Whether statements may end before their end."""
    return leaves_by(statements, ast.Return, ast.Break, ast.Continue)


def may_fall_through(statements: Sequence[ast.stmt]) -> bool:
    """Whether what follows these statements may be reached."""
    for statement in statements:
        match statement:
            case ast.Return() | ast.Break() | ast.Continue():
                return False
            case ast.If(body=body, orelse=orelse):
                if not may_fall_through(body) and not may_fall_through(orelse):
                    return False
            case ast.Match(cases=cases):
                if not any(may_fall_through(case.body) for case in cases):
                    return False
            case _:
                pass
    return True


def is_read_outside(tree: ast.AST, loop: ast.AST, name: str) -> bool:
    """Whether a name is read anywhere in a definition but in one of its loops."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            return True
        stack += [each for each in ast.iter_child_nodes(node) if each is not loop]
    return False


def local_names(function: ast.FunctionDef | ast.Lambda) -> list[str]:
    """The names that are a function's own, besides its parameters: Python takes none of them from around it."""
    if isinstance(function, ast.Lambda):
        return []
    changed = {name for _, name in changed_lists(function)}
    assigned = [name for name in assigned_names(function.body) if name not in changed]
    stores = {n.id for part in function.body for n in ast.walk(part) if isinstance(n, ast.Name) and _is_store(n)}
    return [*assigned, *(name for name in changed if name in stores)]


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def changed_lists(function: ast.FunctionDef | ast.Lambda) -> list[tuple[ast.expr, str]]:
    """The calls and assignments in a function that change a list or an array, with the variable that they do it by."""
    calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
    return [*((call, name) for call in calls for name in _changed(call)), *_changed_parts(function)]
