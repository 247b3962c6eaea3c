"""What notebooks show of programs: their text in colours and, of modules and functions, their drawings, folded."""

from __future__ import annotations

import re
from typing import Any

from relay.base.shown.markup import element, escaped
from relay.base.shown.printed import beginning
from relay.ir.expr import Function
from relay.ir.module import IRModule
from relay.report.dataflow.page import folded
from relay.report.dataflow.reading import read_diagrams

_MOST_LINES = 300
_MOST_NODES = 500
"""Larger drawings take their time, and are for `relay.draw`."""

_WORDS = re.compile(
    r"""
      (?P<comment>/\*.*?\*/)
    | (?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<name>[%@](?:\w+|"(?:[^"\\\n]|\\.)*"))
    | (?P<type>\b(?:Tensor|bool|u?int\d+|b?float\d\w*)\b)
    | (?P<keyword>\b(?:def|let|fn|if|else|match|type|extern|free_var|ref|primfunc|symbols|attributes|in|alloc|issue|
        serial|parallel|vectorized|unrolled|virtual|thread)\b)
    | (?P<number>\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\w*)
    """,
    re.VERBOSE | re.DOTALL,
)
_STYLE = (
    ".relay pre{margin:0;line-height:1.35}.relay .comment{color:#7b8794}.relay .string{color:#a3541a}"
    ".relay .name{color:#2f6fd0}.relay .type{color:#2a8763}.relay .keyword{color:#8a3fb0;font-weight:600}"
    ".relay .number{color:#b4552d}.relay .canvas{max-height:600px;overflow:auto}.relay summary{cursor:pointer}"
)


def notebook_html(value: Any) -> str:
    """A program as HTML: its text, in colours and cut where it is long, and its drawing."""
    text = element("pre", highlighted(beginning(str(value), _MOST_LINES)))
    drawing = _drawing(value) if isinstance(value, IRModule | Function) else ""
    return element("div", element("style", _STYLE), text, drawing, class_="relay")


def highlighted(text: str) -> str:
    """Relay text, or the text of loops, in colours.

    >>> highlighted("let %x = 2f;")
    '<span class="keyword">let</span> <span class="name">%x</span> = <span class="number">2f</span>;'
    """
    parts: list[str] = []
    end = 0
    for found in _WORDS.finditer(text):
        parts.append(escaped(text[end : found.start()]))
        parts.append(element("span", escaped(found.group()), class_=found.lastgroup))
        end = found.end()
    return "".join([*parts, escaped(text[end:])])


def _drawing(program: IRModule | Function) -> str:
    diagrams = read_diagrams(program)
    count = sum(diagram.node_count for diagram in diagrams)
    if count > _MOST_NODES:
        return element("p", escaped(f'Data flow: {count:,} nodes; relay.draw(…, "model.html") draws them.'))
    summary = element("summary", f"Data flow: {count:,} nodes")
    return element("details", summary, *(folded(diagram, is_open=count < _MOST_NODES) for diagram in diagrams))
