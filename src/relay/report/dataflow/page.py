"""A program's drawings on a page that needs nothing else, and what writes drawings to files."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from relay.base.arguments import PATH, Kind, takes
from relay.base.diagnostics import RelayError
from relay.base.files import write_atomically
from relay.base.shown.markup import element, escaped
from relay.base.version import VERSION
from relay.ir.expr import EXPRESSION, Expr
from relay.ir.module import IRModule
from relay.report.dataflow.diagram import FunctionDiagram
from relay.report.dataflow.drawing import draw_functions, shortened
from relay.report.dataflow.reading import read_diagrams


def _as_program(value: object) -> str:
    """What to draw instead of what is none."""
    if isinstance(value, str | os.PathLike):
        return "read the model first: relay.frontend.from_onnx(…), relay.parse(…)"
    if hasattr(value, "to_relay"):
        return "give its program: .to_relay()"
    return "give the module alone" if isinstance(value, tuple) else ""


PROGRAM = Kind((IRModule, *EXPRESSION.types), "a module or an expression", _as_program)
_LONGEST_SIGNATURE = 160
_OPEN_NODES = 2000
"""Functions are unfolded, from the first on, until the page shows so many nodes."""


@takes(program=PROGRAM, path=PATH)
def draw(program: IRModule | Expr, path: str | os.PathLike[str]) -> None:
    """Draw the data flow of a program to a file: `model.svg`, or `model.html`, where functions fold, drag moves and
    Ctrl with the wheel zooms.

    Each function is a drawing. Nodes are values, with their types; a fused function is one node with its operators,
    constants are lines of what takes them, branches and closures are boxes in the node that has them.
    `relay.draw(relay.optimize(module), …)` shows what is compiled.

    Raises `RelayError`: `wrong-argument`; `unknown-drawing` for another suffix; `cannot-write`.

    >>> import relay, tempfile
    >>> x = relay.var("x", shape=(2, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     draw(relay.Function([x], relay.exp(x)), f"{folder}/exp.svg")
    ...     Path(f"{folder}/exp.svg").read_text().count("<rect")
    3
    """
    write_drawing(program, Path(path), Path(path).stem)


def write_drawing(program: IRModule | Expr, path: Path, name: str) -> None:
    """What `draw` does, with a name for the page."""
    match path.suffix.lower():
        case ".svg":
            text = svg_text(program)
        case ".html" | ".htm":
            text = html_text(program, name)
        case suffix:
            raise RelayError(
                rule="unknown-drawing",
                message=f"{path} names no kind of drawing",
                expected=".svg or .html",
                found=suffix or "no suffix",
                remedy=f"call it {path.with_suffix('.svg').name}, or {path.with_suffix('.html').name}",
            )
    write_atomically(path, [text.encode()])


def svg_text(program: IRModule | Expr) -> str:
    """The drawings of all functions as one SVG."""
    return draw_functions(read_diagrams(program)) + "\n"


def html_text(program: IRModule | Expr, name: str = "program") -> str:
    """The page: a folding section for each function, and no network needed."""
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    head += element("title", escaped(f"relay: {name}")) + f"<style>{_file('page.css')}</style>"
    script = f"<script>{_file('page.js')}</script>"
    heading = element("header", element("h1", escaped(name)), element("p", escaped(f"relay {VERSION}. {_HELP}")))
    body = heading + "".join(_sections(read_diagrams(program)))
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{body}{script}</body></html>\n'


_HELP = "Click a signature to fold it. Drag to move; Ctrl with the wheel, or + and −, zoom; edges tell types."


def folded(diagram: FunctionDiagram, is_open: bool) -> str:
    """A function as an element that folds."""
    count = diagram.node_count
    nodes = element("small", f"{count:,} node{'s' if count != 1 else ''}")
    signature = element("code", escaped(shortened(diagram.signature, _LONGEST_SIGNATURE)), title=diagram.signature)
    summary = element("summary", signature, " ", nodes)
    canvas = element("div", draw_functions([diagram], signatures=False), class_="canvas")
    return element("details", summary, canvas, **({"open": ""} if is_open else {}))


def _sections(diagrams: tuple[FunctionDiagram, ...]) -> list[str]:
    shown = 0
    sections: list[str] = []
    for diagram in diagrams:
        sections.append(folded(diagram, is_open=shown < _OPEN_NODES))
        shown += diagram.node_count
    return sections


@cache
def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8").strip()
