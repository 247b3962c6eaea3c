"""Names that look like a name that nothing has."""

from __future__ import annotations

from collections.abc import Iterable

from relay.base.names.loading import when_called

_close_matches = when_called("difflib", "get_close_matches")


def near_names(name: str, names: Iterable[str]) -> str:
    """`did you mean …?` with the names that look like `name`; the empty string when none does.

    >>> near_names("nn.conv2", ["nn.conv2d", "add"])
    'did you mean `nn.conv2d`?'
    """
    near: list[str] = _close_matches(name, list(names), n=3)
    return f"did you mean {' or '.join(f'`{other}`' for other in near)}?" if near else ""
