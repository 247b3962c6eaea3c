"""Reading the text form of PrimFuncs back (see `printer`)."""

from __future__ import annotations

import json
from functools import cache

from relay.arith.expr import Comparison, IntExpr, Symbol, maximum, minimum
from relay.base.dtypes import DType
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
from relay.tir.hierarchy import PLAIN, Hierarchy
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, PrimFunc, Sequence, Stmt, Store
from relay.tir.text.lexer import TokenReader, split_type
from relay.tir.text.printer import SIGNS
from relay.tir.traversal import ValueIndex

_BINARY_BY_SIGN = {sign: op for op, sign in SIGNS.items()}
_COMPARISONS = frozenset(op.value for op in CompareOp)


def parse_primfunc(text: str, source: str = "<primfunc>", hierarchy: Hierarchy = PLAIN) -> PrimFunc:
    """The function that a text describes, whose scopes and threads are those of `hierarchy`.

    Raises `RelayError` (rule `tir-syntax`) with the place of the mistake.

    >>> parse_primfunc("primfunc f(a: int32[4]) -> (b: int32[4]) { serial i in 4 { b[i] = a[i]; } }").name
    'f'
    """
    parser = _Parser(text, source, hierarchy)
    func = parser.function()
    parser.expect_end()
    return func


def parse_primfuncs(text: str, source: str = "<primfunc>", hierarchy: Hierarchy = PLAIN) -> tuple[PrimFunc, ...]:
    """The functions that a text describes, one after another. Raises as `parse_primfunc` does."""
    parser = _Parser(text, source, hierarchy)
    found: list[PrimFunc] = []
    while parser.next == "primfunc":
        found.append(parser.function())
    parser.expect_end()
    return tuple(found)


@cache
def _binary_names() -> dict[str, BinaryOp]:
    return {op.value: op for op in BinaryOp if op not in SIGNS}


class _Parser(TokenReader):
    def __init__(self, text: str, source: str, hierarchy: Hierarchy) -> None:
        super().__init__(text, source)
        self._hierarchy = hierarchy
        self._scopes = {scope.name: scope for scope in hierarchy.all_scopes}
        self._symbols: dict[str, Symbol] = {}
        self._buffers: dict[str, Buffer] = {}
        self._variables: dict[str, ValueVar] = {}

    # --- functions and statements -------------------------------------------------------------------------------------

    def function(self) -> PrimFunc:
        self._symbols, self._buffers, self._variables = {}, {}, {}
        self.expect("primfunc")
        name = json.loads(self.take().text) if self.tokens[self.position].kind == "string" else self.of_kind("name")
        self._declare_symbols()
        inputs = self._declarations()
        self.expect("->")
        outputs = self._declarations()
        symbols: list[Symbol] = []
        if self.accept("symbols"):
            self.expect("(")
            while not self.accept(")"):
                symbols.append(self._symbols[self.of_kind("name")])
                self.accept(",")
        attributes = self._attributes() if self.accept("attributes") else ()
        body = self._block()
        return PrimFunc(name, (*inputs, *outputs), len(outputs), tuple(symbols), body, attributes, self._hierarchy)

    def _declare_symbols(self) -> None:
        """The symbols are listed behind the parameters whose shapes use them."""
        for position, token in enumerate(self.tokens[self.position :], self.position):
            if token.kind == "name" and token.text == "symbols" and self.tokens[position + 1].text == "(":
                for later in self.tokens[position + 2 :]:
                    if later.text == ")":
                        return
                    if later.kind == "name":
                        self._symbols[later.text] = Symbol(later.text)
            if token.text == "{":
                return

    def _declarations(self) -> list[Buffer]:
        self.expect("(")
        buffers: list[Buffer] = []
        while not self.accept(")"):
            buffers.append(self._declaration())
            if self.next != ")":
                self.expect(",")
        return buffers

    def _declaration(self) -> Buffer:
        name = self.of_kind("name")
        self.expect(":")
        dtype, _ = self.type()
        self.expect("[")
        shape: list[IntExpr] = []
        while not self.accept("]"):
            shape.append(self._index())
            if self.next != "]":
                self.expect(",")
        scope = self._scopes[self.take().text] if self.next in self._scopes else Scope.GLOBAL
        self._buffers[name] = Buffer(name, tuple(shape), dtype, scope)
        return self._buffers[name]

    def _attributes(self) -> tuple[tuple[str, str | int], ...]:
        self.expect("(")
        attributes: list[tuple[str, str | int]] = []
        while not self.accept(")"):
            key = json.loads(self.of_kind("string"))
            self.expect(":")
            is_text = self.tokens[self.position].kind == "string"
            attributes.append((key, json.loads(self.of_kind("string")) if is_text else self.integer()))
            if self.next != ")":
                self.expect(",")
        return tuple(attributes)

    def _block(self) -> Stmt:
        self.expect("{")
        self.enter()
        statements: list[Stmt] = []
        while not self.accept("}"):
            statements.append(self._statement())
        self.leave()
        return statements[0] if len(statements) == 1 else Sequence(tuple(statements))

    def _statement(self) -> Stmt:
        word = self.next
        if word == "{":
            block = self._block()
            return block if isinstance(block, Sequence) else Sequence((block,))
        if word in set(LoopKind):
            return self._loop(LoopKind(self.take().text))
        if self.accept("if"):
            condition, then = self._value(), self._block()
            return If(condition, then, self._block() if self.accept("else") else None)
        if self.accept("alloc"):
            buffer = self._declaration()
            return Allocate(buffer, self._block())
        if self.accept("let"):
            return self._let()
        if self.accept("evaluate"):
            value = self._value()
            self.expect(";")
            return Evaluate(value)
        if self.accept("issue"):
            return Issue(self.of_kind("name"), self._block())
        buffer, indices = self._place()
        self.expect("=")
        value = self._value()
        mask = self._value() if self.accept("where") else None
        self.expect(";")
        return Store(buffer, indices, value, mask)

    def _loop(self, kind: LoopKind) -> For:
        name = self.of_kind("name")
        self.expect("in")
        extent = self._index()
        annotations = self._attributes() if self.next == "(" else ()
        variable = self._symbols[name] = Symbol(name)
        return For(variable, extent, self._block(), kind, annotations)

    def _let(self) -> LetValue:
        name = self.of_kind("name")
        self.expect(":")
        dtype, lanes = self.type()
        self.expect("=")
        value = self._value()
        variable = self._variables[name] = ValueVar(name, dtype, lanes)
        return LetValue(variable, value, self._block())

    # --- indices ------------------------------------------------------------------------------------------------------

    def _place(self) -> tuple[Buffer, tuple[Index, ...]]:
        if self.next not in self._buffers:
            self.wrong("a statement, or a buffer that is declared")
        buffer = self._buffers[self.take().text]
        self.expect("[")
        indices: list[Index] = []
        while not self.accept("]"):
            indices.append(self._ramp() if self.next == "ramp" else self._index())
            if self.next != "]":
                self.expect(",")
        return buffer, tuple(indices)

    def _ramp(self) -> Ramp:
        self.expect("ramp")
        self.expect("(")
        base = self._index()
        self.expect(",")
        stride = self.integer()
        self.expect(",")
        lanes = self.integer()
        self.expect(")")
        return Ramp(base, stride, lanes)

    def _index(self) -> IntExpr:
        self.enter()
        total = self._index_term()
        while self.next in ("+", "-"):
            sign = self.take().text
            term = self._index_term()
            total = total + term if sign == "+" else total - term
        self.leave()
        return total

    def _index_term(self) -> IntExpr:
        left = self._index_factor()
        while self.next in ("*", "//", "%"):
            sign = self.take().text
            right = self._index_factor()
            if sign != "*" and right == 0:
                self.wrong("a divisor that is not 0")
            left = left * right if sign == "*" else (left // right if sign == "//" else left % right)
        return left

    def _index_factor(self) -> IntExpr:
        if self.accept("-"):
            return -self._index_factor()
        if self.accept("("):
            inner = self._index()
            self.expect(")")
            return inner
        if self.tokens[self.position].kind == "number":
            return self.integer()
        word = self.next
        if word in ("min", "max"):
            self.take()
            self.expect("(")
            left = self._index()
            self.expect(",")
            right = self._index()
            self.expect(")")
            return minimum(left, right) if word == "min" else maximum(left, right)
        if self.accept("index"):
            self.expect("(")
            value = self._value()
            self.expect(")")
            return ValueIndex(value)
        if word not in self._symbols:
            self.wrong("an index: a number, or a symbol that is declared")
        return self._symbols[self.take().text]

    # --- values -------------------------------------------------------------------------------------------------------

    def _value(self) -> Value:
        self.enter()
        value = self._signed_value() if self.accept("(") else self._named_value()
        self.leave()
        return value

    def _signed_value(self) -> Value:
        """`left sign right)`: the opening parenthesis is behind us."""
        left = self._value()
        sign = self.take().text
        right = self._value()
        self.expect(")")
        if sign in _BINARY_BY_SIGN:
            return Binary(_BINARY_BY_SIGN[sign], left, right)
        if sign not in _COMPARISONS:
            self.wrong("one of + - * / < <= > >= == !=")
        return Compare(CompareOp(sign), left, right)

    def _named_value(self) -> Value:
        word = self.next
        if word in self._variables:
            return self._variables[self.take().text]
        if word in self._buffers:
            return Load(*self._place())
        dtype, lanes = split_type(word)
        if dtype is not None:
            self.take()
            return self._constant(dtype, lanes)
        if self.tokens[self.position].kind != "name":
            self.wrong("a value")
        self.take()
        self.expect("(")
        value = self._application(word)
        self.expect(")")
        return value

    def _constant(self, dtype: DType, lanes: int) -> Imm:
        self.expect("(")
        negative = self.accept("-")
        token = self.take()
        words: dict[str, float | bool] = {"inf": float("inf"), "nan": float("nan"), "true": True, "false": False}
        if token.kind != "number" and token.text not in words:
            self.position -= 1
            self.wrong("a number")
        number = words[token.text] if token.text in words else (float if dtype.is_float else int)(token.text)
        self.expect(")")
        return imm(-number if negative else number, dtype, lanes)

    def _application(self, word: str) -> Value:
        match word:
            case "index_value":
                index = self._index()
                self.expect(",")
                return IndexValue(index, *self.type())
            case "ramp_value":
                base = self._index()
                self.expect(",")
                stride = self.integer()
                self.expect(",")
                return RampValue(base, stride, *self.type())
            case "holds":
                left = self._index()
                op = self.take().text
                if op not in ("<", "<=", "==", "!="):
                    self.wrong("one of < <= == !=")
                comparison = Comparison(left, op, self._index())
                return Holds(comparison, self.integer() if self.accept(",") else 1)
            case "load":
                buffer, indices = self._place()
                self.expect(",")
                return Load(buffer, indices, self._value())
            case "cast":
                operand = self._value()
                self.expect(",")
                return Cast(operand, self.type()[0])
            case "broadcast":
                operand = self._value()
                self.expect(",")
                return Broadcast(operand, self.integer())
            case "call":
                name = json.loads(self.of_kind("string"))
                self.expect(",")
                dtype, lanes = self.type()
                return Call(name, tuple(self._more_values()), dtype, lanes)
            case _:
                return self._operation(word)

    def _more_values(self) -> list[Value]:
        values: list[Value] = []
        while self.accept(","):
            values.append(self._value())
        return values

    def _operation(self, word: str) -> Value:
        start = self.position
        operands = (self._value(), *self._more_values())
        if word == "select" and len(operands) == 3:
            return Select(*operands)
        if word in set(UnaryOp) and len(operands) == 1:
            return Unary(UnaryOp(word), operands[0])
        if word in _binary_names() and len(operands) == 2:
            return Binary(_binary_names()[word], *operands)
        self.position = start - 2
        return self.wrong("an operation with its number of operands")
