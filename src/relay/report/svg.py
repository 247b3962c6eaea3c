"""Drawing: what pictures are made of."""

from __future__ import annotations

from relay.base.shown.markup import element, escaped


def title(text: str) -> str:
    """What a browser shows when the pointer rests on the element around it."""
    return element("title", escaped(text))


def label(x: float, y: float, text: str, anchor: str = "start", **attributes: object) -> str:
    """A line of text at a point."""
    return element("text", escaped(text), x=x, y=y, text_anchor=anchor, **attributes)


def drawing(width: int, height: int, *children: str, **attributes: object) -> str:
    """A drawing that grows and shrinks with the page."""
    return element(
        "svg", *children, viewBox=f"0 0 {width} {height}", xmlns="http://www.w3.org/2000/svg", role="img", **attributes
    )
