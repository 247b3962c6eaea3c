"""Reading the text form of PrimFuncs back (see `printer`)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import NoReturn, cast

from relay.arith.expr import Comparison, IntExpr, Symbol, maximum, minimum
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.span import Source, Span
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import (
    Binary,
    BinaryOp,
    Broadcast,
    Call,
    Cast,
    Compare,
    CompareOp,
    Holds,
    Imm,
    Index,
    IndexValue,
    Load,
    Ramp,
    RampValue,
    Select,
    Unary,
    UnaryOp,
    Value,
    ValueVar,
    imm,
)
from relay.tir.printer import SIGNS
from relay.tir.stmt import Allocate, Evaluate, For, If, LetValue, LoopKind, PrimFunc, Sequence, Stmt, Store
from relay.tir.traversal import ValueIndex

_TOKEN = re.compile(
    r"(?P<space>\s+|#[^\n]*)"
    r'|(?P<string>"(?:[^"\\]|\\.)*")'
    r"|(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_.]*)"
    r"|(?P<sign>->|//|<=|>=|==|!=|[-+*/%<>=(){}\[\],:;])"
)
_BINARY_BY_SIGN = {sign: op for op, sign in SIGNS.items()}
_COMPARISONS = frozenset(op.value for op in CompareOp)
_DEPTH_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    start: int


def parse_primfunc(text: str, source: str = "<primfunc>") -> PrimFunc:
    """The function that a text describes. Raises `RelayError` (rule `tir-syntax`) with the place of the mistake.

    >>> parse_primfunc("primfunc f(a: int32[4]) -> (b: int32[4]) { serial i in 4 { b[i] = a[i]; } }").name
    'f'
    """
    parser = _Parser(text, source)
    func = parser.function()
    parser.expect_end()
    return func


@cache
def _binary_names() -> dict[str, BinaryOp]:
    return {op.value: op for op in BinaryOp if op not in SIGNS}


class _Parser:
    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._source = source
        self._tokens = self._tokenize()
        self._position = 0
        self._depth = 0
        self._symbols: dict[str, Symbol] = {}
        self._buffers: dict[str, Buffer] = {}
        self._variables: dict[str, ValueVar] = {}

    # --- tokens -----------------------------------------------------------------------------------------------------

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

    def _wrong(self, expected: str) -> NoReturn:
        token = self._tokens[self._position]
        self._fail("this is not how a loop program goes on", token.start, len(token.text), expected, token.text)

    @property
    def _next(self) -> str:
        token = self._tokens[self._position]
        return token.text if token.kind in ("sign", "name") else ""

    def _take(self) -> Token:
        token = self._tokens[self._position]
        self._position += 1
        return token

    def _accept(self, text: str) -> bool:
        if self._next == text:
            self._position += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            self._wrong(f"`{text}`")

    def _of_kind(self, kind: str) -> str:
        if self._tokens[self._position].kind != kind:
            self._wrong(f"a {kind}")
        return self._take().text

    def expect_end(self) -> None:
        if self._tokens[self._position].kind != "end":
            self._wrong("the end of the text")

    def _integer(self) -> int:
        sign = -1 if self._accept("-") else 1
        text = self._of_kind("number")
        if not text.isdigit():
            self._position -= 1
            self._wrong("an integer")
        return sign * int(text)

    # --- functions and statements -------------------------------------------------------------------------------------

    def function(self) -> PrimFunc:
        self._expect("primfunc")
        name = json.loads(self._take().text) if self._tokens[self._position].kind == "string" else self._of_kind("name")
        self._declare_symbols()
        inputs = self._declarations()
        self._expect("->")
        outputs = self._declarations()
        symbols: list[Symbol] = []
        if self._accept("symbols"):
            self._expect("(")
            while not self._accept(")"):
                symbols.append(self._symbols[self._of_kind("name")])
                self._accept(",")
        attributes = self._attributes() if self._accept("attributes") else ()
        body = self._block()
        return PrimFunc(name, (*inputs, *outputs), len(outputs), tuple(symbols), body, attributes)

    def _declare_symbols(self) -> None:
        """The symbols are listed behind the parameters whose shapes use them."""
        for position, token in enumerate(self._tokens):
            if token.kind == "name" and token.text == "symbols" and self._tokens[position + 1].text == "(":
                for later in self._tokens[position + 2 :]:
                    if later.text == ")":
                        return
                    if later.kind == "name":
                        self._symbols[later.text] = Symbol(later.text)
            if token.text == "{":
                return

    def _declarations(self) -> list[Buffer]:
        self._expect("(")
        buffers: list[Buffer] = []
        while not self._accept(")"):
            buffers.append(self._declaration())
            if self._next != ")":
                self._expect(",")
        return buffers

    def _declaration(self) -> Buffer:
        name = self._of_kind("name")
        self._expect(":")
        dtype, _ = self._type()
        self._expect("[")
        shape: list[IntExpr] = []
        while not self._accept("]"):
            shape.append(self._index())
            if self._next != "]":
                self._expect(",")
        scope = Scope(self._take().text) if self._next in set(Scope) else Scope.GLOBAL
        self._buffers[name] = Buffer(name, tuple(shape), dtype, scope)
        return self._buffers[name]

    def _attributes(self) -> tuple[tuple[str, str | int], ...]:
        self._expect("(")
        attributes: list[tuple[str, str | int]] = []
        while not self._accept(")"):
            key = json.loads(self._of_kind("string"))
            self._expect(":")
            is_text = self._tokens[self._position].kind == "string"
            attributes.append((key, json.loads(self._of_kind("string")) if is_text else self._integer()))
            if self._next != ")":
                self._expect(",")
        return tuple(attributes)

    def _block(self) -> Stmt:
        self._expect("{")
        self._enter()
        statements: list[Stmt] = []
        while not self._accept("}"):
            statements.append(self._statement())
        self._depth -= 1
        return statements[0] if len(statements) == 1 else Sequence(tuple(statements))

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > _DEPTH_LIMIT:
            self._wrong(f"at most {_DEPTH_LIMIT} levels of nesting")

    def _statement(self) -> Stmt:
        word = self._next
        if word == "{":
            block = self._block()
            return block if isinstance(block, Sequence) else Sequence((block,))
        if word in set(LoopKind):
            return self._loop(LoopKind(self._take().text))
        if self._accept("if"):
            condition, then = self._value(), self._block()
            return If(condition, then, self._block() if self._accept("else") else None)
        if self._accept("alloc"):
            buffer = self._declaration()
            return Allocate(buffer, self._block())
        if self._accept("let"):
            return self._let()
        if self._accept("evaluate"):
            value = self._value()
            self._expect(";")
            return Evaluate(value)
        buffer, indices = self._place()
        self._expect("=")
        value = self._value()
        mask = self._value() if self._accept("where") else None
        self._expect(";")
        return Store(buffer, indices, value, mask)

    def _loop(self, kind: LoopKind) -> For:
        name = self._of_kind("name")
        self._expect("in")
        extent = self._index()
        annotations = self._attributes() if self._next == "(" else ()
        variable = self._symbols[name] = Symbol(name)
        return For(variable, extent, self._block(), kind, annotations)

    def _let(self) -> LetValue:
        name = self._of_kind("name")
        self._expect(":")
        dtype, lanes = self._type()
        self._expect("=")
        value = self._value()
        variable = self._variables[name] = ValueVar(name, dtype, lanes)
        return LetValue(variable, value, self._block())

    # --- indices --------------------------------------------------------------------------------------------------------

    def _place(self) -> tuple[Buffer, tuple[Index, ...]]:
        if self._next not in self._buffers:
            self._wrong("a statement, or a buffer that is declared")
        buffer = self._buffers[self._take().text]
        self._expect("[")
        indices: list[Index] = []
        while not self._accept("]"):
            indices.append(self._ramp() if self._next == "ramp" else self._index())
            if self._next != "]":
                self._expect(",")
        return buffer, tuple(indices)

    def _ramp(self) -> Ramp:
        self._expect("ramp")
        self._expect("(")
        base = self._index()
        self._expect(",")
        stride = self._integer()
        self._expect(",")
        lanes = self._integer()
        self._expect(")")
        return Ramp(base, stride, lanes)

    def _index(self) -> IntExpr:
        self._enter()
        total = self._index_term()
        while self._next in ("+", "-"):
            sign = self._take().text
            term = self._index_term()
            total = total + term if sign == "+" else total - term
        self._depth -= 1
        return total

    def _index_term(self) -> IntExpr:
        left = self._index_factor()
        while self._next in ("*", "//", "%"):
            sign = self._take().text
            right = self._index_factor()
            if sign != "*" and right == 0:
                self._wrong("a divisor that is not 0")
            left = left * right if sign == "*" else (left // right if sign == "//" else left % right)
        return left

    def _index_factor(self) -> IntExpr:
        if self._accept("-"):
            return -self._index_factor()
        if self._accept("("):
            inner = self._index()
            self._expect(")")
            return inner
        if self._tokens[self._position].kind == "number":
            return self._integer()
        word = self._next
        if word in ("min", "max"):
            self._take()
            self._expect("(")
            left = self._index()
            self._expect(",")
            right = self._index()
            self._expect(")")
            return minimum(left, right) if word == "min" else maximum(left, right)
        if self._accept("index"):
            self._expect("(")
            value = self._value()
            self._expect(")")
            return ValueIndex(value)
        if word not in self._symbols:
            self._wrong("an index: a number, or a symbol that is declared")
        return self._symbols[self._take().text]

    # --- values ---------------------------------------------------------------------------------------------------------

    def _type(self) -> tuple[DType, int]:
        token = self._of_kind("name")
        name, lanes = _split_type(token)
        if name is None:
            self._position -= 1
            self._wrong("an element type")
        return name, lanes

    def _value(self) -> Value:
        self._enter()
        value = self._signed_value() if self._accept("(") else self._named_value()
        self._depth -= 1
        return value

    def _signed_value(self) -> Value:
        """`left sign right)`: the opening parenthesis is behind us."""
        left = self._value()
        sign = self._take().text
        right = self._value()
        self._expect(")")
        if sign in _BINARY_BY_SIGN:
            return Binary(_BINARY_BY_SIGN[sign], left, right)
        if sign not in _COMPARISONS:
            self._wrong("one of + - * / < <= > >= == !=")
        return Compare(CompareOp(sign), left, right)

    def _named_value(self) -> Value:
        word = self._next
        if word in self._variables:
            return self._variables[self._take().text]
        if word in self._buffers:
            return Load(*self._place())
        dtype, lanes = _split_type(word)
        if dtype is not None:
            self._take()
            return self._constant(dtype, lanes)
        if self._tokens[self._position].kind != "name":
            self._wrong("a value")
        self._take()
        self._expect("(")
        value = self._application(word)
        self._expect(")")
        return value

    def _constant(self, dtype: DType, lanes: int) -> Imm:
        self._expect("(")
        negative = self._accept("-")
        token = self._take()
        words: dict[str, float | bool] = {"inf": float("inf"), "nan": float("nan"), "true": True, "false": False}
        if token.kind != "number" and token.text not in words:
            self._position -= 1
            self._wrong("a number")
        number = words[token.text] if token.text in words else (float if dtype.is_float else int)(token.text)
        self._expect(")")
        return imm(-number if negative else number, dtype, lanes)

    def _application(self, word: str) -> Value:
        match word:
            case "index_value":
                index = self._index()
                self._expect(",")
                return IndexValue(index, *self._type())
            case "ramp_value":
                base = self._index()
                self._expect(",")
                stride = self._integer()
                self._expect(",")
                return RampValue(base, stride, *self._type())
            case "holds":
                left = self._index()
                op = self._take().text
                if op not in ("<", "<=", "==", "!="):
                    self._wrong("one of < <= == !=")
                comparison = Comparison(left, op, self._index())
                return Holds(comparison, self._integer() if self._accept(",") else 1)
            case "load":
                buffer, indices = self._place()
                self._expect(",")
                return Load(buffer, indices, self._value())
            case "cast":
                operand = self._value()
                self._expect(",")
                return Cast(operand, self._type()[0])
            case "broadcast":
                operand = self._value()
                self._expect(",")
                return Broadcast(operand, self._integer())
            case "call":
                name = json.loads(self._of_kind("string"))
                self._expect(",")
                dtype, lanes = self._type()
                return Call(name, tuple(self._more_values()), dtype, lanes)
            case _:
                return self._operation(word)

    def _more_values(self) -> list[Value]:
        values: list[Value] = []
        while self._accept(","):
            values.append(self._value())
        return values

    def _operation(self, word: str) -> Value:
        start = self._position
        operands = (self._value(), *self._more_values())
        if word == "select" and len(operands) == 3:
            return Select(*operands)
        if word in set(UnaryOp) and len(operands) == 1:
            return Unary(UnaryOp(word), operands[0])
        if word in _binary_names() and len(operands) == 2:
            return Binary(_binary_names()[word], *cast(tuple[Value, Value], operands))
        self._position = start - 2
        self._wrong("an operation with its number of operands")


def _split_type(word: str) -> tuple[DType | None, int]:
    """`float32x16` is `(FLOAT32, 16)`; what is not a type is `(None, 1)`."""
    if word in set(DType):
        return DType(word), 1
    name, separator, lanes = word.rpartition("x")
    return (DType(name), int(lanes)) if separator and name in set(DType) and lanes.isdigit() else (None, 1)
