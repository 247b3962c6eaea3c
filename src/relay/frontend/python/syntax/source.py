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


@frozen(eq=False)
class Definition:
    """The text of a function or class: its file, its lines as they stand there, and the number of the first. `tree`:
    None where the lines are no piece of Python by themselves, as of a lambda inside a call."""

    file: str
    lines: list[str]
    first_line: int
    tree: ast.Module | None

    @property
    def text(self) -> str:
        """The lines as if they stood outside everything."""
        return textwrap.dedent("".join(self.lines))


def read_source(definition: Callable[..., Any] | type) -> PythonSource:
    """The source of a function or class. Raises `RelayError` (rule `no-source`) when Python does not know it, as for
    what is typed at the prompt."""
    found = definition_of(definition)
    tree = found.tree.body[0] if found.tree is not None and found.tree.body else None
    if not isinstance(tree, ast.FunctionDef | ast.ClassDef):
        raise RelayError(
            rule="no-source",
            message="only a `def` or a `class` can be read",
            span=Span(Source(found.file), found.first_line),
            remedy="write the function with `def`",
        )
    return PythonSource(Source(found.file), found.first_line, _indent(found.lines[0]), tree)


def definition_of(definition: Callable[..., Any] | type) -> Definition:
    """The text of a function or class. Raises `RelayError` (rule `no-source`)."""
    try:
        return _looked_up(definition)
    except (OSError, TypeError) as error:
        raise RelayError(
            rule="no-source",
            message=f"the source of `{definition.__name__}` cannot be read",
            found=str(error),
            remedy="put it in a file: relay reads the text of a function, it does not run it",
        ) from error


def _looked_up(definition: Callable[..., Any] | type) -> Definition:
    if isinstance(definition, type):
        lines, first = inspect.getsourcelines(definition)
        return Definition(inspect.getsourcefile(definition) or "<python>", lines, first, _parsed(lines))
    code = definition.__code__
    found = linecache.getlines(code.co_filename, getattr(definition, "__globals__", None))
    if len(found) < code.co_firstlineno:
        raise OSError("the file has no such line")
    lines = found[code.co_firstlineno - 1 :]
    least = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
    lines, tree = _block(lines, least - code.co_firstlineno + 1, code.co_name == "<lambda>")
    return Definition(code.co_filename, lines, code.co_firstlineno, tree)


def _block(lines: list[str], least: int, is_lambda: bool) -> tuple[list[str], ast.Module | None]:
    """The definition that begins in the first line and has at least so many, and its tree. `inspect.getblock` says the
    same of its tokens, which Python itself makes one by one: that takes longer than all else about a known function.

    A definition ends in front of a line that is indented no further. A line of a text or of a bracket may be, too: what
    ends in front of that is no piece of Python."""
    indent = _indent(lines[0].expandtabs())
    for end in range(least, len(lines) + 1):
        following = lines[end].expandtabs() if end < len(lines) else "x"
        if not following.strip() or following.lstrip().startswith("#") or _indent(following) > indent:
            continue
        block = lines[:end]
        while len(block) > 1 and (not block[-1].strip() or block[-1].lstrip().startswith("#")):
            block.pop()
        tree = _parsed(block)
        if tree is not None or is_lambda:
            return block, tree
    return lines[:least], None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _parsed(lines: list[str]) -> ast.Module | None:
    try:
        return ast.parse(textwrap.dedent("".join(lines)))
    except SyntaxError:
        return None


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
