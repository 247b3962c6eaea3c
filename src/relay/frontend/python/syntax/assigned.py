"""Facts of statements that their syntax tells: which names they assign, whether they leave early."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence

CHANGING_METHODS = (
    "append", "clear", "extend", "fill", "insert", "pop", "popitem", "remove", "reverse", "setdefault", "sort",
    "update",
)  # fmt: skip


def assigned_names(statements: Sequence[ast.stmt], *, definitely: bool = False) -> list[str]:
    """The names that statements assign, on every way through them if `definitely`, in order."""
    found: dict[str, None] = {}
    for statement in statements:
        found.update(dict.fromkeys(_assigned(statement, definitely)))
    return list(found)


def _assigned(statement: ast.stmt, definitely: bool) -> Iterable[str]:
    for expression in _own_expressions(statement):
        yield from named_in(expression, definitely=definitely)
    match statement:
        case ast.Assign(targets=targets):
            for target in targets:
                yield from target_names(target)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            yield from target_names(target)
        case ast.FunctionDef(name=name):
            yield name
        case ast.If(body=body, orelse=orelse):
            yield from _of_sides([body, orelse], definitely)
        case ast.Match(cases=cases):
            yield from _of_sides([case.body for case in cases], definitely)
            if not definitely:
                for case in cases:
                    yield from (n.name for n in ast.walk(case.pattern) if isinstance(n, ast.MatchAs) and n.name)
                    yield from (n.name for n in ast.walk(case.pattern) if isinstance(n, ast.MatchStar) and n.name)
                    yield from () if case.guard is None else named_in(case.guard)
        case ast.While(body=body, orelse=orelse) if not definitely:
            yield from assigned_names([*body, *orelse])
        case ast.For(target=target, body=body, orelse=orelse) if not definitely:
            yield from target_names(target)
            yield from assigned_names([*body, *orelse])
        case _:
            return


def _own_expressions(statement: ast.stmt) -> list[ast.expr]:
    """The expressions of a statement that are evaluated with it, none of those inside being statements."""
    if isinstance(statement, ast.FunctionDef):
        return []
    return [each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.expr)]


def named_in(expression: ast.AST, *, definitely: bool = False) -> list[str]:
    """The names that an expression gives a value: by `:=`, or by a method that changes a list; `definitely` those that
    it does whenever it is evaluated.

    >>> expression = ast.parse("(a := f(x)) > 1 and xs.pop() > (b := 2)").body[0].value
    >>> named_in(expression), named_in(expression, definitely=True)
    (['a', 'xs', 'b'], ['a'])
    """
    found: dict[str, None] = {}
    stack: list[ast.AST] = [expression]
    while stack:
        node = stack.pop()
        match node:
            case ast.NamedExpr(target=ast.Name(id=name)):
                found[name] = None
            case ast.Call() if (changed := changed_variable(node)) is not None and not definitely:
                found[changed] = None
            case ast.Lambda():
                continue
            case _:
                pass
        stack.extend(reversed(_always(node) if definitely else list(ast.iter_child_nodes(node))))
    return list(found)


def _always(node: ast.AST) -> list[ast.AST]:
    """The parts of an expression that are evaluated whenever it is."""
    match node:
        case ast.BoolOp(values=[first, *_]):
            return [first]
        case ast.IfExp(test=test):
            return [test]
        case ast.Compare(left=left, comparators=[first, *_]):
            return [left, first]
        case ast.ListComp(generators=[first, *_]) | ast.GeneratorExp(generators=[first, *_]):
            return [first.iter]
        case ast.DictComp(generators=[first, *_]):
            return [first.iter]
        case _:
            return list(ast.iter_child_nodes(node))


def changed_names(node: ast.AST) -> list[str]:
    """The variables whose list or array something inside changes in place."""
    found = [name for _, name in _changed_parts(node)]
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and (name := changed_variable(each)) is not None:
            found.append(name)
        elif isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            found.append(each.target.id)
    return found


def changed_variable(node: ast.Call) -> str | None:
    """The variable that `xs.append(x)` or `xs[-1].pop()` changes, if it is one."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in CHANGING_METHODS:
        return None
    owner = node.func.value
    while isinstance(owner, ast.Subscript):
        owner = owner.value
    return owner.id if isinstance(owner, ast.Name) else None


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
    found: list[tuple[ast.expr, str]] = []
    for part in ast.walk(target):
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
            owner: ast.expr = part
            while isinstance(owner, ast.Subscript):
                owner = owner.value
            found += [(part, owner.id)] if isinstance(owner, ast.Name) else []
    return found


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
        own = [name for each in _own_expressions(statement) for name in named_in(each, definitely=True)]
        before = [*assigned_names(statements[:position], definitely=True), *own]
        if isinstance(statement, ast.Break):
            found.append(before)
        elif not isinstance(statement, ast.For | ast.While):
            found += [[*before, *each] for part in _parts(statement) for each in breaking_names(part)]
    return found


def leaves_early(statements: Iterable[ast.stmt]) -> bool:
    """Whether statements may end before their end."""
    return leaves_by(statements, ast.Return, ast.Break, ast.Continue, ast.Raise)


def may_fall_through(statements: Sequence[ast.stmt]) -> bool:
    """Whether what follows these statements may be reached."""
    for statement in statements:
        match statement:
            case ast.Return() | ast.Break() | ast.Continue() | ast.Raise():
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


def reads(tree: ast.AST) -> Counter[str]:
    """How often each name is read in a piece of source.

    >>> reads(ast.parse("y = x * x"))
    Counter({'x': 2})
    """
    return Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))


def local_names(function: ast.FunctionDef | ast.Lambda) -> list[str]:
    """The names that are a function's own, besides its parameters: Python takes none of them from around it."""
    return [] if isinstance(function, ast.Lambda) else bound_names(function.body)


def bound_names(statements: Sequence[ast.stmt]) -> list[str]:
    """The names that statements assign, without those that they only change in place: `np.sort(x)` may look like that.

    >>> bound_names(ast.parse("xs.append(1); y = np.sort(xs); zs = []; zs.append(y)").body)
    ['y', 'zs']
    """
    changed = dict.fromkeys(name for part in statements for _, name in changed_lists(part))
    assigned = [name for name in assigned_names(statements) if name not in changed]
    stores = {n.id for part in statements for n in ast.walk(part) if isinstance(n, ast.Name) and _is_store(n)}
    return [*assigned, *(name for name in changed if name in stores)]


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def changed_lists(tree: ast.AST) -> list[tuple[ast.expr, str]]:
    """The calls and assignments inside that change a list or an array, with the variable that they do it by."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = [(call, name) for call in calls if (name := changed_variable(call)) is not None]
    return [*named, *_changed_parts(tree)]


def asks_for_none(test: ast.expr) -> bool:
    """Whether a test has `x is None` or `x is not None` of a variable in it.

    >>> asks_for_none(ast.parse("x is not None and x > 0").body[0].value)
    True
    """
    return any(
        isinstance(each, ast.Compare)
        and isinstance(each.left, ast.Name)
        and isinstance(each.ops[0], ast.Is | ast.IsNot)
        and isinstance(each.comparators[0], ast.Constant)
        and each.comparators[0].value is None
        for each in ast.walk(test)
    )


def only_adds_to(loop: ast.AST, name: str) -> bool:
    """Whether a loop reads a variable only to add, subtract or multiply element by element: `x += y`, `x = x * y`. A
    number and an array of that number make the same of it.

    >>> loop = ast.parse("for y in ys: x = x + y; z -= x")
    >>> only_adds_to(loop, "x"), only_adds_to(loop, "z")
    (False, True)
    """
    own: set[ast.AST] = set()
    for each in ast.walk(loop):
        match each:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.BinOp(left=left, op=op)) if target == name:
                own |= {left} if isinstance(op, _ELEMENTWISE) else set()
            case ast.AugAssign(target=ast.Name(id=target), op=op) if target == name:
                if not isinstance(op, _ELEMENTWISE):
                    return False
            case ast.Name(id=read, ctx=ast.Load()) if read == name and each not in own:
                return False
            case _:
                pass
    return True


_ELEMENTWISE = (ast.Add, ast.Sub, ast.Mult)


def names_there(test: ast.expr) -> list[str]:
    """The variables that are not None where a test holds.

    >>> names_there(ast.parse("x is not None and (y := f(x)) and z > 0").body[0].value)
    ['x', 'y']
    """
    match test:
        case ast.Compare(left=inside, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return names_there(inside)
        case ast.Name(id=name) | ast.NamedExpr(target=ast.Name(id=name)):
            return [name]
        case ast.BoolOp(op=ast.And(), values=values):
            return [name for each in values for name in names_there(each)]
        case _:
            return []
