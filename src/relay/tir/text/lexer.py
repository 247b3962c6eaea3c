"""The words of the text form of PrimFuncs, and reading them one after the other with errors that show the place."""

from __future__ import annotations

import re
from typing import NoReturn

from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.base.span import Source, Span

_TOKEN = re.compile(
    r"(?P<space>\s+|#[^\n]*)"
    r'|(?P<string>"(?:[^"\\]|\\.)*")'
    r"|(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_.]*)"
    r"|(?P<sign>->|//|<=|>=|==|!=|[-+*/%<>=(){}\[\],:;])"
)
_DEPTH_LIMIT = 200


@frozen
class Token:
    kind: str
    text: str
    start: int


class TokenReader:
    """A position in a text. Every mistake is a `RelayError` with the rule `tir-syntax`."""

    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._source = source
        self.tokens = self._tokenize()
        self.position = 0
        self._depth = 0

    def _tokenize(self) -> list[Token]:
        tokens: list[Token] = []
        position = 0
        while position < len(self._text):
            match = _TOKEN.match(self._text, position)
            if match is None or match.lastgroup is None:
                self._fail(f"`{self._text[position]}` starts no word of this language", position, 1)
            if match.lastgroup != "space":
                tokens.append(Token(match.lastgroup, match.group(), position))
            position = match.end()
        tokens.append(Token("end", "the end of the text", len(self._text)))
        return tokens

    def _fail(self, message: str, position: int, width: int, expected: str = "", found: str = "") -> NoReturn:
        line = self._text.count("\n", 0, position) + 1
        column = position - (self._text.rfind("\n", 0, position) + 1) + 1
        span = Span(Source(self._source, self._text), line, column, width)
        raise RelayError(rule="tir-syntax", message=message, span=span, expected=expected, found=found)

    def wrong(self, expected: str) -> NoReturn:
        token = self.tokens[self.position]
        self._fail("this is not how a loop program goes on", token.start, len(token.text), expected, token.text)

    @property
    def next(self) -> str:
        token = self.tokens[self.position]
        return token.text if token.kind in ("sign", "name") else ""

    def take(self) -> Token:
        token = self.tokens[self.position]
        self.position += 1
        return token

    def accept(self, text: str) -> bool:
        if self.next == text:
            self.position += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.wrong(f"`{text}`")

    def of_kind(self, kind: str) -> str:
        if self.tokens[self.position].kind != kind:
            self.wrong(f"a {kind}")
        return self.take().text

    def expect_end(self) -> None:
        if self.tokens[self.position].kind != "end":
            self.wrong("the end of the text")

    def integer(self) -> int:
        sign = -1 if self.accept("-") else 1
        text = self.of_kind("number")
        if not text.isdigit():
            self.position -= 1
            self.wrong("an integer")
        return sign * int(text)

    def enter(self) -> None:
        self._depth += 1
        if self._depth > _DEPTH_LIMIT:
            self.wrong(f"at most {_DEPTH_LIMIT} levels of nesting")

    def leave(self) -> None:
        self._depth -= 1

    def type(self) -> tuple[DType, int]:
        token = self.of_kind("name")
        name, lanes = split_type(token)
        if name is None:
            self.position -= 1
            self.wrong("an element type")
        return name, lanes


def split_type(word: str) -> tuple[DType | None, int]:
    """`float32x16` is `(FLOAT32, 16)`; what is not a type is `(None, 1)`."""
    if word in set(DType):
        return DType(word), 1
    name, separator, lanes = word.rpartition("x")
    return (DType(name), int(lanes)) if separator and name in set(DType) and lanes.isdigit() else (None, 1)
