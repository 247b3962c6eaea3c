"""A position in the tokens of a text, and the errors that belong to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.text.lexer import Kind, Tokens


class Cursor:
    """Reads tokens one after another. `kind` and `text` are those of the next one."""

    __slots__ = ("kind", "position", "text", "tokens")

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.seek(0)

    def seek(self, position: int) -> None:
        self.position = position
        self.kind = self.tokens.kinds[position]
        self.text = self.tokens.texts[position]

    def advance(self) -> str:
        """Pass the next token; its text."""
        text = self.text
        if self.kind is not Kind.END:
            self.position += 1
            self.kind = self.tokens.kinds[self.position]
            self.text = self.tokens.texts[self.position]
        return text

    def peek(self, ahead: int = 1) -> str:
        """The text of the token that many after the next one; empty past the end."""
        at = self.position + ahead
        return self.tokens.texts[at] if at < len(self.tokens.texts) else ""

    def at(self, text: str) -> bool:
        """Whether the next token is this mark or name."""
        return self.text == text and self.kind in (Kind.MARK, Kind.NAME)

    def accept(self, text: str) -> bool:
        """Pass the next token if it is this mark or name."""
        if self.text == text and self.kind in (Kind.MARK, Kind.NAME):
            self.advance()
            return True
        return False

    def expect(self, text: str, where: str) -> None:
        """Pass this mark or name, or raise `RelayError` (rule `syntax`)."""
        if not self.accept(text):
            self.fail(f"`{text}` is missing {where}", f"`{text}`")

    def expect_kind(self, kind: Kind, where: str) -> str:
        """Pass a token of this kind and give its text, or raise `RelayError` (rule `syntax`)."""
        if self.kind is not kind:
            self.fail(f"{kind.value} is missing {where}", kind.value)
        return self.advance()

    def items(self, close: str, things: str) -> Iterator[None]:
        """A turn for each of the `things` that stand here with commas between them, up to `close`, which is passed."""
        while not self.accept(close):
            yield
            if not self.at(close):
                self.expect(",", f"between {things}")

    def fail(self, message: str, expected: str = "", remedy: str = "") -> NoReturn:
        """Raise a `RelayError` (rule `syntax`) at the next token."""
        found = f"`{self.text}`" if self.text else self.kind.value
        raise RelayError(
            rule="syntax", message=message, span=self.span(), expected=expected, found=found, remedy=remedy
        )

    def span(self) -> Span:
        """The place of the next token."""
        return self.tokens.span(self.position)

    def span_from(self, first: int) -> Span:
        """The place from token `first` to the last one passed."""
        return self.tokens.span(first, self.position - 1)


class Depth:
    """How deep the reader is in what nests by recursion: each `with` is a level, of `limit` around the innermost."""

    def __init__(self, what: str, limit: int, cursor: Cursor) -> None:
        self.what = what
        self.limit = limit
        self.cursor = cursor
        self._levels = 0

    def __enter__(self) -> None:
        self._levels += 1
        if self._levels > self.limit + 1:
            raise RelayError(
                rule="nested-too-deep",
                message=f"{self.what} is nested too deep",
                span=self.cursor.span(),
                expected=f"at most {self.limit} levels",
            )

    def __exit__(self, *_: object) -> None:
        self._levels -= 1
