"""Drawing: what pictures are made of, and numbers for people."""

from __future__ import annotations

from relay.base.markup import element, escaped


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


def bytes_text(count: float) -> str:
    """A number of bytes for people.

    >>> bytes_text(4014080), bytes_text(12)
    ('4.0 MB', '12 B')
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:.0f} B"


def time_text(seconds: float) -> str:
    """A time for people.

    >>> time_text(0.0031), time_text(2.5e-6)
    ('3.10 ms', '2.50 µs')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds >= 100 * size else f"{seconds / size:.2f} {unit}"
    return f"{seconds * 1e9:.0f} ns"
