"""What of Python's syntax is outside the subset, found before anything is translated: one error lists it all."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from relay.base.diagnostics import Origin, RelayError
from relay.frontend.python.syntax.source import PythonSource, refusal

OUTSIDE: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.Try: ("`try`", "a program has no exceptions: give a value that says what happened, such as an Option"),
    ast.TryStar: ("`try`", "a program has no exceptions: give a value that says what happened, such as an Option"),
    ast.With: ("`with`", "open and close things in Python, around the call"),
    ast.AsyncWith: ("`async with`", "await in Python, around the call"),
    ast.AsyncFor: ("`async for`", "await in Python, around the call"),
    ast.AsyncFunctionDef: ("`async def`", "write a plain function"),
    ast.Await: ("`await`", "await in Python, around the call"),
    ast.Yield: ("`yield`", "collect the values in a list and return it"),
    ast.YieldFrom: ("`yield from`", "collect the values in a list and return it"),
    ast.ClassDef: ("a class inside a function", "declare data types outside, with @relay.datatype"),
    ast.Import: ("`import`", "import at the top of the file"),
    ast.ImportFrom: ("`import`", "import at the top of the file"),
    ast.Global: ("`global`", "return the new value, or keep it in a relay.ref"),
    ast.Nonlocal: (
        "`nonlocal`",
        "call the function only where it is defined, alone in a statement: f(x) or y = f(x); or return the new value",
    ),
    ast.Delete: ("`del` of a variable", "leave the variable: what is not used again is freed"),
    ast.Set: ("a set", "use a list"),
    ast.SetComp: ("a set comprehension", "use a list comprehension"),
}


def check_subset(source: PythonSource, body: list[ast.stmt]) -> None:
    """Raises `RelayError` (rule `python-subset`) that names everything in `body` that is outside."""
    found: list[ast.AST] = []
    stack: list[ast.AST] = list(reversed(body))
    while stack:
        node = stack.pop()
        if type(node) in OUTSIDE:
            found.append(node)
            continue
        stack.extend(reversed(list(ast.iter_child_nodes(node))))
    if not found:
        return
    what, remedy = OUTSIDE[type(found[0])]
    if len(found) == 1:
        raise refusal(source.span(found[0]), what, remedy)
    origins = [Origin(*OUTSIDE[type(node)], f"line {source.span(node).line}") for node in found]
    raise RelayError(
        rule="python-subset",
        message=f"{len(found)} parts of `{source.tree.name}` cannot become a Relay program",
        span=source.span(found[0]),
        origins=tuple(origins),
        remedy=remedy,
    )
