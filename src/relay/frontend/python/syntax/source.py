"""The source of a Python function or class: its syntax tree, and where each node stands."""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.span import Source, Span


@frozen(eq=False)
class PythonSource:
    """A definition read from a file: `tree` counts lines and columns from its own start."""

    source: Source
    first_line: int
    indent: int
    tree: ast.FunctionDef | ast.ClassDef

    def span(self, node: ast.AST) -> Span:
        """The first line of a node, in the user's file."""
        line: int = getattr(node, "lineno", 1)
        column: int = getattr(node, "col_offset", 0)
        last: int | None = getattr(node, "end_lineno", None)
        end: int | None = getattr(node, "end_col_offset", None)
        width = end - column if last == line and end is not None else 1
        return Span(self.source, self.first_line + line - 1, self.indent + column + 1, max(1, width))


def read_source(definition: Callable[..., Any] | type) -> PythonSource:
    """The source of a function or class. Raises `RelayError` (rule `no-source`) when Python does not know it, as for
    what is typed at the prompt."""
    try:
        name, lines, first = source_lines(definition)
    except (OSError, TypeError) as error:
        raise RelayError(
            rule="no-source",
            message=f"the source of `{definition.__name__}` cannot be read",
            found=str(error),
            remedy="put it in a file: relay reads the text of a function, it does not run it",
        ) from error
    text = "".join(lines)
    indent = len(lines[0]) - len(lines[0].lstrip())
    try:
        tree = ast.parse(textwrap.dedent(text)).body[0]
    except (SyntaxError, IndexError):
        tree = None
    if not isinstance(tree, ast.FunctionDef | ast.ClassDef):
        raise RelayError(
            rule="no-source",
            message="only a `def` or a `class` can be read",
            span=Span(Source(name), first),
            remedy="write the function with `def`",
        )
    return PythonSource(Source(name), first, indent, tree)


def source_lines(definition: Callable[..., Any] | type) -> tuple[str, list[str], int]:
    """The file of a function or class, its lines, and the number of the first. Raises OSError and TypeError."""
    if isinstance(definition, type):
        lines, first = inspect.getsourcelines(definition)
        return inspect.getsourcefile(definition) or "<python>", lines, first
    code = definition.__code__
    found = linecache.getlines(code.co_filename, getattr(definition, "__globals__", None))
    if len(found) < code.co_firstlineno:
        raise OSError("the file has no such line")
    return code.co_filename, inspect.getblock(found[code.co_firstlineno - 1 :]), code.co_firstlineno


def names_around(depth: int) -> Mapping[str, Any]:
    """The local names where a decorator stands, `depth` calls up: annotations may speak of them, and Python keeps only
    those that the body of a function uses.

    >>> def here():
    ...     size = 3
    ...     return names_around(1)
    >>> here()
    {'size': 3}
    """
    frame = sys._getframe(depth)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    return {} if frame.f_code.co_name == "<module>" else dict(frame.f_locals)


def refusal(span: Span | None, found: str, remedy: str) -> RelayError:
    """The refusal of Python that is outside the subset."""
    return RelayError(rule="python-subset", message=f"{found} cannot become a Relay program", span=span, remedy=remedy)
