"""Nested functions that assign variables of the function around them, written as functions that are given these
variables and give them back.

    before: def add(x):              after: def add(x, *, total):
                nonlocal total                  total += x
                total += x                      return total
            add(3)                          total = add(3, total=total)

Python keeps such a variable in a cell that both functions have. Who gives it to the call and takes it back sees the
same, as long as all calls are known, and each stands alone in a statement of the function around. A function that is a
value, that calls itself, or is called inside an expression or in another nested function keeps its `nonlocal`, which is
outside the subset.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any

from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen
from relay.frontend.python.syntax.assigned import may_fall_through

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@frozen(eq=False)
class _Assigning:
    """A nested function, the variables around it that it assigns, and whether it gives a value besides."""

    definition: ast.FunctionDef
    states: tuple[str, ...]
    gives: bool
    ignored: str

    @property
    def name(self) -> str:
        return self.definition.name


def with_states_passed(function: ast.FunctionDef) -> ast.FunctionDef:
    """A function in which nested ones take and give the variables that they assign; itself where none does.

    >>> tree = ast.parse('''
    ... def f(n):
    ...     total = 0
    ...     def add(x):
    ...         nonlocal total
    ...         total += x
    ...     add(n)
    ...     return total
    ... ''').body[0]
    >>> print(ast.unparse(with_states_passed(tree)))
    def f(n):
        total = 0
    <BLANKLINE>
        def add(x, *, total):
            total += x
            return total
        total = add(n, total=total)
        return total
    """
    if not any(isinstance(node, ast.Nonlocal) for node in ast.walk(function)):
        return function
    return _passed(copy.deepcopy(function))


def _passed(function: ast.FunctionDef) -> ast.FunctionDef:
    function.body = [_Inner().visit(each) for each in function.body]
    for definition in [each for each in function.body if isinstance(each, ast.FunctionDef)]:
        assigning = _assigning(function, definition)
        if assigning is not None:
            _Calls(assigning).generic_visit(function)
            _pass_states(assigning)
    return ast.fix_missing_locations(function)


class _Inner(ast.NodeTransformer):
    """Functions inside first: what they assign further out may be a variable of this one by then."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:  # as `ast` calls it
        return _passed(node)


def _assigning(function: ast.FunctionDef, definition: ast.FunctionDef) -> _Assigning | None:
    """A nested function whose variables can be passed; None for one that assigns none, and where not all calls are
    known."""
    declared = [each for each in definition.body if isinstance(each, ast.Nonlocal)]
    states = tuple(dict.fromkeys(name for each in declared for name in each.names))
    if not states or definition.decorator_list or len(declared) != _count_of_nonlocals(definition):
        return None
    if not _own_names(function).issuperset(states):
        return None  # they are of a function further out
    returns = [each for each in _own_nodes(definition.body) if isinstance(each, ast.Return)]
    gives = any(each.value is not None for each in returns)
    if gives and (may_fall_through(definition.body) or any(each.value is None for each in returns)):
        return None
    names = {each.id for each in ast.walk(function) if isinstance(each, ast.Name)}
    ignored = f"{definition.name}_gives"
    while ignored in names:
        ignored += "_"
    found = _Assigning(definition, states, gives, ignored)
    mentions = sum(isinstance(each, ast.Name) and each.id == found.name for each in ast.walk(function))
    definitions = sum(isinstance(each, ast.FunctionDef) and each.name == found.name for each in ast.walk(function))
    known = sum(_is_known(each, found) for each in _own_nodes(function.body))
    return found if mentions == known and definitions == 1 else None


def _own_names(function: ast.FunctionDef) -> set[str]:
    """The variables of a function, and those that it assigns further out."""
    nodes = _own_nodes(function.body)
    arguments = function.args
    params = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    return {
        *(each.arg for each in params if each is not None),
        *(each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)),
        *(name for each in nodes if isinstance(each, ast.Nonlocal) for name in each.names),
    }


def _count_of_nonlocals(definition: ast.FunctionDef) -> int:
    return sum(isinstance(each, ast.Nonlocal) for each in ast.walk(definition))


def _own_nodes(statements: Sequence[ast.AST]) -> list[ast.AST]:
    """All nodes of statements but those of functions inside."""
    found: list[ast.AST] = []
    waiting = list(statements)
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))
    return found


def _is_known(statement: ast.AST, of: _Assigning) -> bool:
    """Whether a statement is a call of the function, alone."""
    match statement:
        case ast.Expr(value=call):
            return _calls(call, of)
        case ast.Assign(targets=[target], value=call):
            return of.gives and _calls(call, of) and not _speaks_of(target, of.states)
        case ast.AugAssign(target=ast.Name(id=name), value=call):
            return of.gives and _calls(call, of) and name not in of.states
        case ast.Return(value=call):
            return of.gives and _calls(call, of)
        case _:
            return False


def _calls(call: ast.AST | None, of: _Assigning) -> bool:
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == of.name


def _speaks_of(target: ast.AST, names: Sequence[str]) -> bool:
    return any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(target))


def _pass_states(of: _Assigning) -> None:
    """The function itself: its variables are parameters, and are given back wherever it ends."""
    definition = of.definition
    for name in of.states:
        definition.args.kwonlyargs.append(ast.copy_location(ast.arg(name), definition))
        definition.args.kw_defaults.append(None)
    definition.returns = None
    body = [each for each in definition.body if not isinstance(each, ast.Nonlocal)]
    ends = _Ends(of)
    definition.body = [ends.visit(each) for each in body]
    if may_fall_through(body):
        definition.body.append(ast.copy_location(ast.Return(_states(of)), definition.body[-1] if body else definition))


class _Ends(ast.NodeTransformer):
    """What a function returns, with the variables behind it. Functions inside return for themselves."""

    def __init__(self, of: _Assigning) -> None:
        self.of = of

    def visit_Return(self, node: ast.Return) -> ast.Return:  # as `ast` calls it
        states = _states(self.of)
        value = states if node.value is None else ast.Tuple([node.value, states], ast.Load())
        return ast.copy_location(ast.Return(ast.copy_location(value, node)), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:  # as `ast` calls it
        return node


def _states(of: _Assigning, context: type[ast.expr_context] = ast.Load) -> ast.expr:
    names = [ast.Name(each, context()) for each in of.states]
    return names[0] if len(names) == 1 else ast.Tuple(list(names), context())


class _Calls(ast.NodeTransformer):
    """Statements that are calls, with the variables given and taken back. A value that they give has a name first where
    the statement does more than to name it."""

    def __init__(self, of: _Assigning) -> None:
        self.of = of

    def visit(self, node: ast.AST) -> Any:
        if not isinstance(node, ast.stmt) or not _is_known(node, self.of):
            return self.generic_visit(node)
        gives, ignored = self.of.gives, self.of.ignored
        match node:
            case ast.Assign(targets=[target], value=ast.Call() as call):
                made = [self._call(call, target)]
            case ast.AugAssign(target=target, op=op, value=ast.Call() as call):
                value = ast.Name(ignored, ast.Load())
                made = [self._call(call, ast.Name(ignored, ast.Store())), ast.AugAssign(target, op, value)]
            case ast.Return(value=ast.Call() as call):
                value = ast.Name(ignored, ast.Load())
                made = [self._call(call, ast.Name(ignored, ast.Store())), ast.Return(value)]
            case ast.Expr(value=ast.Call() as call):
                made = [self._call(call, ast.Name(ignored, ast.Store()) if gives else None)]
            case _:
                raise CompilerBug("frontend.python", "a statement that is no call gives and takes no variables")
        return [ast.copy_location(each, node) for each in made]

    def _call(self, call: ast.Call, target: ast.expr | None) -> ast.stmt:
        states = _states(self.of, ast.Store)
        keywords = [*call.keywords, *(ast.keyword(name, ast.Name(name, ast.Load())) for name in self.of.states)]
        given = ast.copy_location(ast.Call(call.func, call.args, keywords), call)
        return ast.Assign([states if target is None else ast.Tuple([target, states], ast.Store())], given)
