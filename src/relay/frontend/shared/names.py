"""Names that come from a file, as messages and the text of programs can have them."""

from __future__ import annotations

from relay.base.names.fresh_names import FreshNames


def printable(text: str) -> str:
    """Control characters must not reach a terminal or break a line."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


class SymbolNames:
    """Names of dimensions as the text format can write them; two names of the model stay two."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._fresh = FreshNames(separator="_", first=1)

    def of(self, name: str) -> str:
        """Letters, digits and underscores, not beginning with a digit.

        >>> names = SymbolNames()
        >>> names.of("seq.len"), names.of("seq_len"), names.of("seq.len")
        ('seq_len', 'seq_len_1', 'seq_len')
        """
        if name not in self._names:
            plain = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name)
            plain = plain if not plain[0].isdigit() else f"_{plain}"
            self._names[name] = self._fresh.take(plain)
        return self._names[name]
