"""Diagrams as SVG: boxes with text, boxes inside of boxes for blocks, curves for what flows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from relay.base.frozen import frozen
from relay.base.shown.markup import element, escaped
from relay.report.dataflow.diagram import Block, Edge, FunctionDiagram, Node, NodeKind, innermost_first
from relay.report.dataflow.layout import Layout, Size, arranged
from relay.report.dataflow.references import with_references
from relay.report.svg import title

_TITLE_PX, _LINE_PX, _PADDING_PX = 17.0, 14.0, 7.0
_TITLE_CHARACTER_PX, _CHARACTER_PX = 7.3, 6.2
"""Widths of the characters of the style sheet's fonts."""
_BLOCK_PADDING_PX, _BLOCK_GAP_PX = 10.0, 8.0
_MARGIN_PX, _HEADING_PX = 12.0, 28.0
_LONGEST_LINE, _LONGEST_SIGNATURE = 44, 120
_MOST_LINES = 9
_TIP = "l-3.5 -6h7z"


@frozen(eq=False, repr=False)
class _Box:
    """A node, as what it shows: lines of text with their classes, blocks, and its size."""

    node: Node
    lines: tuple[tuple[str, str], ...]
    blocks: tuple[_Picture, ...]
    size: Size


@frozen(eq=False, repr=False)
class _Picture:
    """A block with all in its place; its size is with the heading, and room around."""

    heading: str
    edges: tuple[Edge, ...]
    boxes: tuple[_Box, ...]
    layout: Layout
    size: Size


def draw_functions(diagrams: Sequence[FunctionDiagram], signatures: bool = True) -> str:
    """The drawings of functions as one SVG that needs nothing else, one below the other, with signatures above them."""
    parts: list[str] = []
    width, y = 0.0, _MARGIN_PX
    for diagram in diagrams:
        if signatures:
            text = shortened(diagram.signature, _LONGEST_SIGNATURE)
            hover = title(diagram.signature)
            parts.append(element("text", hover, escaped(text), x=_MARGIN_PX, y=y + 13, class_="signature"))
            width = max(width, len(text) * _TITLE_CHARACTER_PX)
            y += _HEADING_PX
        picture = _picture(diagram.body)
        parts += _drawn(picture, _MARGIN_PX, y)
        width, y = max(width, picture.size.width), y + picture.size.height + 2 * _MARGIN_PX
    whole = Size(round(width + 2 * _MARGIN_PX), round(y))
    return element(
        "svg", element("style", _style()), *parts, xmlns="http://www.w3.org/2000/svg", class_="dataflow",
        width=whole.width, height=whole.height, viewBox=f"0 0 {whole.width} {whole.height}",
    )  # fmt: skip


@cache
def _style() -> str:
    return Path(__file__).with_name("drawing.css").read_text(encoding="utf-8").strip()


# ----------------------------------------------------------------------------------------------------------- sizes


def _picture(block: Block) -> _Picture:
    """A block with its blocks inside arranged: their sizes are those of the nodes that have them."""
    done: dict[Block, _Picture] = {}
    for each in innermost_first(block):
        shown = with_references(each)
        boxes = tuple(_box(node, tuple(done[inner] for inner in node.blocks)) for node in shown.nodes)
        layout = arranged([box.size for box in boxes], [(edge.source, edge.target) for edge in shown.edges])
        heading = shortened(each.heading, _LONGEST_LINE)
        above = _LINE_PX if heading else 0.0
        size = Size(
            max(layout.size.width, len(heading) * _CHARACTER_PX) + 2 * _BLOCK_PADDING_PX,
            layout.size.height + above + 2 * _BLOCK_PADDING_PX,
        )
        done[each] = _Picture(heading, shown.edges, boxes, layout, size)
    return done[block]


def _box(node: Node, blocks: tuple[_Picture, ...]) -> _Box:
    lines = tuple((shortened(text, _LONGEST_LINE), style) for text, style in _lines(node))
    characters = [len(text) * (_TITLE_CHARACTER_PX if style == "title" else _CHARACTER_PX) for text, style in lines]
    width = max(characters)
    height = _TITLE_PX + _LINE_PX * (len(lines) - 1)
    if blocks:
        width = max(width, sum(each.size.width for each in blocks) + _BLOCK_GAP_PX * (len(blocks) - 1))
        height += _BLOCK_GAP_PX + max(each.size.height for each in blocks)
    return _Box(node, lines, blocks, Size(round(width + 2 * _PADDING_PX, 1), height + 2 * _PADDING_PX))


def _lines(node: Node) -> Iterator[tuple[str, str]]:
    """What a node shows, with the class of each line: its title, what else is said, its type."""
    shows_name = node.is_named and node.name != node.title
    yield (f"{node.name} = {node.title}" if shows_name else node.title), "title"
    rest = len(node.lines) - _MOST_LINES
    for line in node.lines if rest <= 1 else node.lines[:_MOST_LINES]:
        yield line, "line"
    if rest > 1:
        yield f"… {rest} more", "line"
    if node.type_text and node.kind is not NodeKind.CLOSURE:
        yield node.type_text, "type"


def shortened(text: str, most: int) -> str:
    """A text on one line, its middle left out where it is long.

    >>> shortened("a long\\n text", 8)
    'a lo…ext'
    """
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-(most - most // 2 - 1) :]}"


# --------------------------------------------------------------------------------------------------------- drawing


def _drawn(picture: _Picture, left: float, top: float) -> list[str]:
    """The elements of a picture, and of those inside of it, edges below the boxes that they lead to."""
    parts: list[str] = []
    rest = [(picture, left, top)]
    while rest:
        each, x, y = rest.pop()
        if each is not picture:
            parts.append(_rect("block", x, y, each.size, 4))
        if each.heading:
            parts.append(_text(each.heading, "heading", x + _BLOCK_PADDING_PX, y + _LINE_PX + 1))
            y += _LINE_PX
        x, y = x + (each.size.width - each.layout.size.width) / 2, y + _BLOCK_PADDING_PX
        for edge in each.edges:
            parts += _edge(edge, each.layout.paths[edge.source, edge.target], x, y)
        for box, (dx, dy) in zip(each.boxes, each.layout.corners, strict=True):
            parts.append(_node(box, x + dx, y + dy))
            inner_x = x + dx + _PADDING_PX
            inner_y = y + dy + box.size.height - _PADDING_PX - max((each.size.height for each in box.blocks), default=0)
            for inner in box.blocks:
                rest.append((inner, inner_x, inner_y))
                inner_x += inner.size.width + _BLOCK_GAP_PX
    return parts


def _node(box: _Box, x: float, y: float) -> str:
    node = box.node
    round_px = 12 if node.kind in (NodeKind.PARAMETER, NodeKind.REFERENCE, NodeKind.RESULT) else 4
    parts = [title("\n".join(filter(None, (node.title, *node.lines, node.type_text))))]
    parts.append(_rect("box", x, y, box.size, round_px))
    baseline = y + _PADDING_PX + 12
    for text, style in box.lines:
        middle = x + box.size.width / 2
        parts.append(_text(text, style, middle, baseline))
        baseline += _LINE_PX if style != "title" else _TITLE_PX - 1
    return element("g", *parts, class_=node.kind)


def _edge(edge: Edge, points: Sequence[tuple[float, float]], x: float, y: float) -> Iterator[str]:
    at = [(round(x + px, 1), round(y + py, 1)) for px, py in points]
    (px, py), *rest = at
    steps = [f"M{px:g} {py:g}"]
    for number, (qx, qy) in enumerate(rest):
        if number % 2 == 0:
            steps.append(f"V{qy:g}")
        else:
            middle = round((py + qy) / 2, 1)
            steps.append(f"C{px:g} {middle:g} {qx:g} {middle:g} {qx:g} {qy:g}")
        px, py = qx, qy
    yield element("path", title(edge.text), d="".join(steps), class_="edge inside" if edge.inside else "edge")
    yield element("path", d=f"M{px:g} {py:g}{_TIP}", class_="tip")


def _rect(style: str, x: float, y: float, size: Size, round_px: int) -> str:
    return element(
        "rect", x=round(x, 1), y=round(y, 1), width=round(size.width, 1), height=round(size.height, 1), rx=round_px,
        class_=style,
    )  # fmt: skip


def _text(text: str, style: str, x: float, y: float) -> str:
    return element("text", escaped(text), x=round(x, 1), y=round(y, 1), class_=style)
