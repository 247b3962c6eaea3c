"""A smaller program that still shows a difference: statements left out, choices and expressions replaced by parts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.frontend.python.generated.functions import HEADER, PythonProgram

_MOST_TRIALS = 400


def shrunk(program: PythonProgram, differs: Callable[[PythonProgram], bool]) -> PythonProgram:
    """The smallest program met that `differs`, one change after another."""
    trials = 0
    while trials < _MOST_TRIALS:
        for smaller in _smaller(program):
            trials += 1
            if differs(smaller):
                program = smaller
                break
            if trials >= _MOST_TRIALS:
                break
        else:
            break
    return program


def _smaller(program: PythonProgram) -> Iterator[PythonProgram]:
    """Programs with one part less, large parts first."""
    count = sum(1 for _ in _changes(ast.parse(program.text)))
    for position in range(count):
        tree = ast.parse(program.text)
        for at, change in enumerate(_changes(tree)):
            if at == position:
                change()
                break
        text = ast.unparse(tree.body[-1])
        if len(text) < len(ast.unparse(ast.parse(program.text).body[-1])):
            yield replace(program, text=f"{HEADER}{text}\n")


def _changes(tree: ast.Module) -> Iterator[Callable[[], None]]:
    """What may be done to a tree, each as an action."""
    function = tree.body[-1]
    assert isinstance(function, ast.FunctionDef)
    *statements, result = function.body
    yield from (_without(function.body, at) for at in range(len(statements)))
    yield from (_unfolded(function.body, at) for at in range(len(statements)))
    nodes = [node for each in (*statements, result) for node in ast.walk(each)]
    for node in nodes:
        for name in ("body", "orelse"):
            statements = getattr(node, name, None)
            if isinstance(statements, list):
                yield from (_without(statements, at) for at in range(len(statements)))
                yield from (_unfolded(statements, at) for at in range(len(statements)))
    for node in nodes:
        for name, child in ast.iter_fields(node):
            if isinstance(child, ast.expr):
                yield from (
                    _put(node, name, part) for part in ast.iter_child_nodes(child) if isinstance(part, ast.expr)
                )


def _without(statements: list[ast.stmt], at: int) -> Callable[[], None]:
    def change() -> None:
        statements[at : at + 1] = [ast.Pass()] if len(statements) == 1 else []

    return change


def _unfolded(statements: list[ast.stmt], at: int) -> Callable[[], None]:
    def change() -> None:
        statements[at : at + 1] = getattr(statements[at], "body", [statements[at]])

    return change


def _put(node: ast.AST, name: str, part: ast.expr) -> Callable[[], None]:
    return lambda: setattr(node, name, part)
