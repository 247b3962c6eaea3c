"""Elements of HTML and SVG as text, everything escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

_NO_CHARACTERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What no document of XML may have, escaped or not."""


def escaped(text: str) -> str:
    r"""A text as documents have it.

    >>> escaped("a < b\x00")
    'a &lt; b�'
    """
    return escape(_NO_CHARACTERS.sub("\ufffd", text))


def element(tag: str, *children: str, **attributes: object) -> str:
    """An element around finished text. `_` in names of attributes is `-`, and one at the end is dropped.

    >>> element("rect", element("title", escaped("a < b")), x=1.25, stroke_width=2, class_="bar")
    '<rect x="1.25" stroke-width="2" class="bar"><title>a &lt; b</title></rect>'
    """
    words = [tag]
    for name, value in attributes.items():
        shown = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
        words.append(f'{name.rstrip("_").replace("_", "-")}="{escaped(shown)}"')
    return f"<{' '.join(words)}>{''.join(children)}</{tag}>"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], names: int = 1) -> str:
    """A table of texts, whose first columns are `names`, and the others numbers.

    >>> table(["kernel", "µs"], [["<a>", "2"]])[:58]
    '<table><thead><tr><th style="text-align:left">kernel</th><'
    """
    styles = ["text-align:left" if column < names else "text-align:right" for column in range(len(header))]

    def row(tag: str, cells: Sequence[str]) -> str:
        pairs = zip(cells, styles, strict=True)
        return element("tr", *(element(tag, escaped(cell), style=style) for cell, style in pairs))

    body = element("tbody", *(row("td", cells) for cells in rows))
    return element("table", element("thead", row("th", header)), body)
