"""Reading what a form describes (`form`), each field by its annotation.

Where several forms may stand, each that begins like the text is tried in turn, and the mistake that is told is the one
furthest on (Ford, "Packrat Parsing: Simple, Powerful, Lazy, Linear Time", ICFP 2002).
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from relay.arith.expr import Comparison, IntExpr, Symbol
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.ir.types import TensorType
from relay.lower.program.device import Device
from relay.lower.program.form import FieldPart, Form, default_of, parts_of
from relay.lower.program.place import Kind, Register, Scalar
from relay.runtime.artefact.value_types import TensorOf, type_from_json
from relay.text.cursor import Cursor
from relay.text.lexer import Kind as TokenKind
from relay.text.lexer import tokenize
from relay.text.types import TypeReader

_T = TypeVar("_T")
_F = TypeVar("_F", bound=Form)
_COMPARISONS = ("<", "<=", "==", "!=")


class FormReader:
    """Reads what its class's `form` describes, at a position in a text."""

    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self.tokens = tokenize(text, source)
        self.cursor = Cursor(self.tokens)
        self.types = TypeReader(self.cursor)
        self.furthest: tuple[int, RelayError] | None = None

    # ------------------------------------------------------------------------------------------- what has one form

    def form(self, cls: type[_F]) -> _F:
        hints, given = _hints(cls), dict[str, Any]()
        for part in parts_of(cls.form.partition(" // ")[0]):
            if isinstance(part, str):
                self._text(part, cls)
            elif hints[part.name] is bool:
                given[part.name] = self.cursor.accept(part.name)
            elif part.optional and not self._comes(part):
                given[part.name] = default_of(cls, part.name)
            else:
                given[part.name] = self.value(hints[part.name], part.prefix)
                self._text(part.behind, cls)
        return cls(**given)

    def _text(self, text: str, cls: type[Form]) -> None:
        for word in _words(text):
            self.cursor.expect(word, f"in `{cls.form}`")

    def _comes(self, part: FieldPart) -> bool:
        words = _words(part.before)
        return not words or all(map(self.cursor.accept, words))

    def value(self, hint: Any, prefix: str = "") -> Any:
        """What a field holds, by its annotation."""
        if hint == IntExpr:
            return self.types.dimension()
        if get_origin(hint) is tuple:
            return self.list(get_args(hint)[0])
        if hint == Kind:
            return self.kind()
        if TensorOf in get_args(hint):
            return self.json(type_from_json)
        if get_origin(hint) in (Union, UnionType):
            others = [each for each in get_args(hint) if each is not NoneType]
            return self.value(others[0], prefix) if len(others) == 1 else self.one_of(others)
        if hint is int:
            return self.token(prefix, int) if prefix else self.integer()
        if hint is str:
            return self.token(prefix, unquoted) if prefix else self.name()
        if hint is Symbol:
            return self.types.symbols.setdefault(name := self.name(), Symbol(name))
        if hint is DType:
            return self.types.dtype()
        if hint is TensorType:
            return self.types.type_()
        if hint is Comparison:
            return self.comparison()
        return self.form(hint)

    def kind(self) -> Kind:
        """What a register holds."""
        for word in ("word", "address"):
            if self.cursor.accept(word):
                return word
        return self.form(Device) if self.cursor.peek() == ":" else self.types.dtype()

    def comparison(self) -> Comparison:
        left = self.types.dimension()
        if self.cursor.text not in _COMPARISONS:
            self.cursor.fail("a comparison is missing", f"one of {' '.join(_COMPARISONS)}")
        op = self.cursor.advance()
        return Comparison(left, op, self.types.dimension())

    # ------------------------------------------------------------------------------------------------------- tokens

    def integer(self) -> int:
        sign = -1 if self.cursor.accept("-") else 1
        if not self.cursor.text.isdecimal():
            self.cursor.fail("a whole number is missing", "a whole number")
        return sign * int(self.cursor.advance())

    def name(self) -> str:
        if self.cursor.kind is TokenKind.STRING:
            return unquoted(self.cursor.advance())
        return self.cursor.expect_kind(TokenKind.NAME, "where something is named")

    def token(self, prefix: str, read: Callable[[str], _T]) -> _T:
        """What stands behind the prefix of one token: `block3`, `%3`, `@main`."""
        text = self.cursor.text
        rest = text.removeprefix(prefix)
        if rest == text or not (read is not int or rest.isdecimal()):
            self.cursor.fail(f"`{prefix}…` is missing", f"`{prefix}…`")
        self.cursor.advance()
        return read(rest)

    def json(self, read: Callable[[Any], _T]) -> _T:
        """What stands here as JSON."""
        cursor, tokens = self.cursor, self.tokens
        start = tokens.offsets[cursor.position]
        try:
            value, end = json.JSONDecoder().raw_decode(self.text, start)
            found = read(value)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
            cursor.fail("this is not the JSON of a type", "JSON as in a manifest")
        cursor.seek(bisect_left(tokens.offsets, end))
        return found

    # ------------------------------------------------------------------------------------------------------ choices

    def list(self, hint: Any) -> tuple[Any, ...]:
        """Values with commas between, or none."""
        found = self.some(lambda: self.value(hint), 1)
        while found and self.cursor.accept(","):
            found.append(self.value(hint))
        return tuple(found)

    def some(self, read: Callable[[], _T], most: int | None = None) -> list[_T]:
        """As many as stand here."""
        found: list[_T] = []
        while most is None or len(found) < most:
            start = self.cursor.position
            try:
                found.append(read())
            except RelayError as error:
                self._missed(start, error)
                break
        return found

    def one_of(self, hints: Sequence[Any]) -> Any:
        start = self.cursor.position
        for each in (form for hint in hints for form in _alternatives(hint)):
            if self._begins(each):
                try:
                    return self.form(each)
                except RelayError as error:
                    self._missed(start, error)
        return self.cursor.fail("nothing that may stand here begins like this")

    def _begins(self, cls: type[Form]) -> bool:
        """Whether a form can be what stands here, by its first tokens."""
        start = self.cursor.position
        here = self.tokens.texts[start : start + len(_leads(cls))]
        leads = zip(_leads(cls), here, strict=False)  # a text may end before the form does
        return all(found.startswith(word) if any_end else found == word for (word, any_end), found in leads)

    def _missed(self, start: int, error: RelayError) -> None:
        """Go back to where a form was tried; keep the mistake, if it is the furthest."""
        if self.furthest is None or self.cursor.position >= self.furthest[0]:
            self.furthest = self.cursor.position, error
        self.cursor.seek(start)

    def told(self, error: RelayError) -> RelayError:
        """The mistake that is furthest on."""
        return error if self.furthest is None or self.cursor.position >= self.furthest[0] else self.furthest[1]


@cache
def _hints(cls: type[Form]) -> Mapping[str, Any]:
    return get_type_hints(cls)


@cache
def _alternatives(hint: Any) -> tuple[type[Form], ...]:
    """The forms of a union."""
    return tuple(form for each in get_args(hint) for form in _alternatives(each)) if get_args(hint) else (hint,)


@cache
def _leads(cls: type[Form]) -> tuple[tuple[str, bool], ...]:
    """The first tokens of a form: a word, or what the token begins with (True)."""
    found: list[tuple[str, bool]] = []
    for part in parts_of(cls.form):
        hint = None if isinstance(part, str) else _hints(cls)[part.name]
        if isinstance(part, str):
            found += ((word, False) for word in _words(part))
        elif part.prefix:
            found.append((part.prefix, True))
        elif hint in (Register, Scalar):
            found += _leads(hint)
        elif hint is DType:
            found.append(("", True))
        else:
            break
    return tuple(found)


def unquoted(name: str) -> str:
    return json.loads(name) if name.startswith('"') else name


@cache
def _words(text: str) -> tuple[str, ...]:
    return tokenize(text, "").texts[:-1]
