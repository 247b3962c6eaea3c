"""An extension of Griffe: examples in docstrings, lines that begin with `>>>`, are shown as code."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*(?:\n\n>>> .*(?:\n(?!\s*$).*)*)*", re.MULTILINE)


class Doctests(griffe.Extension):
    """Puts a fence around each example."""

    def on_instance(self, *, obj: griffe.Object, **arguments: Any) -> None:  # noqa: ARG002
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(lambda found: f"\n```pycon\n{found[0]}\n```\n", obj.docstring.value)
