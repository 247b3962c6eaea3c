"""Relay text into tokens."""

from __future__ import annotations

import re
from bisect import bisect_right
from enum import Enum

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.span import Source, Span

MAX_CHARACTERS = 1 << 31
METADATA_MARK = "#[metadata]"


class Kind(Enum):
    """What a token is; the value is its name in messages."""

    LOCAL = "a local variable"
    GRAPH = "a graph variable"
    GLOBAL = "a global variable"
    NUMBER = "a number"
    STRING = "a string"
    NAME = "a name"
    PROJECTION = "a projection"
    MARK = "a mark"
    END = "the end of the text"


_QUOTED = r'"(?:[^"\\\n]|\\.)*"'
SUFFIXES = (
    "f4_e2m1fn|f8_e4m3fnuz|f8_e4m3fn|f8_e5m2fnuz|f8_e5m2|f8_e8m0fnu|bf16|f16|f32|f64|f|i2|i4|i8|i16|i32|i64|i|u2|u4|u8|"
    "u16|u32|u64"
)
_TOKEN = re.compile(
    rf"""
      (?P<LOCAL>%(?:[A-Za-z_]\w*|{_QUOTED}))
    | (?P<GRAPH>%\d+)
    | (?P<GLOBAL>@(?:[A-Za-z_]\w*|{_QUOTED}))
    | (?P<NUMBER>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?:{SUFFIXES})?(?!\w))
    | (?P<STRING>{_QUOTED})
    | (?P<NAME>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)
    | (?P<PROJECTION>\.\d+(?!\w))
    | (?P<MARK>->|=>|==|!=|<=|>=|:=|\#\[|[-+*/<>=(){{}}\[\],;:?^])
    """,
    re.VERBOSE | re.ASCII,
)
_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*)+")
_BLANK_STARTS = frozenset(" \t\r\n/")
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_KINDS = {kind.name: kind for kind in Kind}


@frozen
class Tokens:
    """The tokens of a text, the last of kind END, in three parallel tuples; `offsets` count characters."""

    source: Source
    kinds: tuple[Kind, ...]
    texts: tuple[str, ...]
    offsets: tuple[int, ...]
    metadata: str | None
    line_starts: tuple[int, ...]

    def span(self, first: int, last: int | None = None) -> Span:
        """The place of tokens `first` to `last`, cut at the end of the first line."""
        start = self.offsets[first]
        line = bisect_right(self.line_starts, start)
        end_token = first if last is None else max(first, last)
        end = self.offsets[end_token] + len(self.texts[end_token])
        if line < len(self.line_starts):
            end = min(end, self.line_starts[line] - 1)
        return Span(self.source, line, start - self.line_starts[line - 1] + 1, max(1, end - start))


def tokenize(text: str, source_name: str) -> Tokens:
    """The tokens of `text`. What follows `#[metadata]` is kept as it is.

    Raises `RelayError` (rules `unknown-character`, `unclosed-comment`, `text-too-large`).

    >>> tokenize("add(%x, 1f) // sum", "m.relay").texts
    ('add', '(', '%x', ',', '1f', ')', '')
    """
    source = Source(source_name, text)
    if len(text) > MAX_CHARACTERS:
        raise RelayError(
            rule="text-too-large",
            message="the text is too large to read",
            expected=f"at most {MAX_CHARACTERS} characters",
            found=f"{len(text)} characters",
        )
    body, metadata = _split_metadata(text)
    line_starts = (0, *(match.end() for match in re.finditer("\n", body)))
    kinds: list[Kind] = []
    texts: list[str] = []
    offsets: list[int] = []
    position = _skip(body, 0, source, line_starts)
    match_token = _TOKEN.match
    while position < len(body):
        match = match_token(body, position)
        if match is None:
            raise _unknown(body, position, source, line_starts)
        kinds.append(_KINDS[match.lastgroup or ""])
        texts.append(match.group())
        offsets.append(position)
        position = match.end()
        if body[position : position + 1] in _BLANK_STARTS:
            position = _skip(body, position, source, line_starts)
    kinds.append(Kind.END)
    texts.append("")
    offsets.append(len(body))
    return Tokens(source, tuple(kinds), tuple(texts), tuple(offsets), metadata, line_starts)


def _split_metadata(text: str) -> tuple[str, str | None]:
    """The program and its metadata section: the mark counts only where a line starts with it."""
    if text.startswith(METADATA_MARK):
        return "", text[len(METADATA_MARK) :]
    at = text.find("\n" + METADATA_MARK)
    return (text, None) if at < 0 else (text[: at + 1], text[at + 1 + len(METADATA_MARK) :])


def _skip(text: str, position: int, source: Source, line_starts: tuple[int, ...]) -> int:
    while True:
        blank = _BLANK.match(text, position)
        if blank is not None:
            position = blank.end()
        if not text.startswith("/*", position):
            return position
        position = _comment_end(text, position, source, line_starts)


def _comment_end(text: str, start: int, source: Source, line_starts: tuple[int, ...]) -> int:
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, start):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    raise RelayError(
        rule="unclosed-comment",
        message="a comment is not closed",
        span=_place(start, 2, source, line_starts),
        expected="`*/` before the end of the text",
    )


def _unknown(text: str, position: int, source: Source, line_starts: tuple[int, ...]) -> RelayError:
    span = _place(position, 1, source, line_starts)
    if text[position] == '"' or text[position : position + 2] in ('%"', '@"'):
        return RelayError(rule="unclosed-string", message="a string is not closed on its line", span=span)
    if text[position].isdigit():
        remedy = f"a suffix names the element type: {SUFFIXES.replace('|', ', ')}"
        return RelayError(rule="bad-number", message="this is not a number", span=span, remedy=remedy)
    return RelayError(
        rule="unknown-character", message=f"`{text[position]}` does not begin anything in Relay text", span=span
    )


def _place(offset: int, width: int, source: Source, line_starts: tuple[int, ...]) -> Span:
    line = bisect_right(line_starts, offset)
    return Span(source, line, offset - line_starts[line - 1] + 1, width)
