"""The text form of PrimFuncs. `parser.parse_primfunc` reads it back to an equal function.

    primfunc add(a: float32[n, 16], b: float32[n, 16]) -> (c: float32[n, 16]) symbols (n) {
      parallel i in n {
        c[i, ramp(0, 1, 16)] = a[i, ramp(0, 1, 16)] + b[i, ramp(0, 1, 16)];
      }
    }

A constant is its type applied to a number (`float32(1.5)`, `float32x16(0)`); operations without a sign of their own are
calls by name. Names are unique in the text: a name that is taken gets a number.
"""

from __future__ import annotations

import json
import math
import re
from typing import assert_never

from relay.arith.expr import Atom, Comparison, FloorDiv, FloorMod, IntExpr, Max, Min, Product, Sum, Symbol
from relay.base.diagnostics import CompilerBug
from relay.base.dtypes import DType
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import (
    Binary,
    BinaryOp,
    Broadcast,
    Call,
    Cast,
    Compare,
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
)
from relay.tir.hierarchy import PLAIN_SCOPES
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, PrimFunc, Sequence, Stmt, Store
from relay.tir.traversal import ValueIndex

SIGNS = {BinaryOp.ADD: "+", BinaryOp.SUBTRACT: "-", BinaryOp.MULTIPLY: "*", BinaryOp.DIVIDE: "/"}
KEYWORDS = frozenset(
    {
        *("primfunc", "symbols", "attributes", "in", "if", "else", "alloc", "let", "where", "evaluate", "issue"),
        *("ramp", "ramp_value", "index_value", "index", "holds", "load", "select", "cast", "call", "broadcast"),
        *("min", "max", "true", "false", "inf", "nan"),
        *(kind.value for kind in LoopKind),
        *(scope.name for scope in PLAIN_SCOPES),
        "shared",  # what targets call a scope of theirs
        *(op.value for op in UnaryOp),
        *(op.value for op in BinaryOp),
    }
)
_TYPE = re.compile(rf"({'|'.join(DType)})(x\d+)?")


def print_primfunc(func: PrimFunc) -> str:
    """The text of `func`, with a final newline."""
    return _Printer().function(func)


def print_statement(statement: Stmt) -> str:
    """The text of one statement, for messages; free names are printed as they are."""
    printer = _Printer()
    printer.statement(statement, 0)
    return "\n".join(printer.lines) + "\n"


def print_value(value: Value) -> str:
    """The text of one value, for messages."""
    return _Printer().value(value)


def print_index(index: IntExpr) -> str:
    """The text of one index, for messages."""
    return _Printer().index(index)


def type_text(dtype: DType, lanes: int) -> str:
    """`float32` or, for a vector, `float32x16`."""
    return dtype.value if lanes == 1 else f"{dtype.value}x{lanes}"


class _Printer:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names: dict[Symbol | Buffer | ValueVar, str] = {}
        self._taken: dict[str, int] = {}

    def name(self, thing: Symbol | Buffer | ValueVar) -> str:
        """The name of a symbol, buffer or variable: its own, made a valid identifier and unique."""
        known = self._names.get(thing)
        if known is None:
            base = re.sub(r"[^A-Za-z0-9_.]", "_", thing.name)
            if not re.match(r"[A-Za-z_]", base):
                base = f"_{base}"
            known = self._unique(base)
            self._names[thing] = known
        return known

    def _unique(self, base: str) -> str:
        reserved = base in KEYWORDS or _TYPE.fullmatch(base) is not None
        if not reserved and base not in self._taken:
            self._taken[base] = 1
            return base
        number = self._taken.get(base, 0)
        while (name := f"{base}_{number}") in self._taken:
            number += 1
        self._taken[base] = number + 1
        self._taken[name] = 1
        return name

    # --- functions and statements -------------------------------------------------------------------------------------

    def function(self, func: PrimFunc) -> str:
        for symbol in func.symbols:
            self.name(symbol)
        inputs = ", ".join(map(self._declaration, func.inputs))
        outputs = ", ".join(map(self._declaration, func.outputs))
        head = f"primfunc {_quoted_name(func.name)}({inputs}) -> ({outputs})"
        if func.symbols:
            head += f" symbols ({', '.join(map(self.name, func.symbols))})"
        if func.attributes:
            head += f" attributes {_attributes(func.attributes)}"
        self.lines.append(head + " {")
        self.statement(func.body, 1)
        self.lines.append("}")
        return "\n".join(self.lines) + "\n"

    def _declaration(self, buffer: Buffer) -> str:
        shape = ", ".join(self.index(extent) for extent in buffer.shape)
        scope = "" if buffer.scope is Scope.GLOBAL else f" {buffer.scope}"
        return f"{self.name(buffer)}: {buffer.dtype.value}[{shape}]{scope}"

    def _line(self, depth: int, text: str) -> None:
        self.lines.append("  " * depth + text)

    def _block(self, head: str, body: Stmt, depth: int) -> None:
        self._line(depth, f"{head} {{" if head else "{")
        self.statement(body, depth + 1)
        self._line(depth, "}")

    def statement(self, statement: Stmt, depth: int) -> None:
        match statement:
            case For(variable, extent, body, kind, annotations):
                size = self.index(extent)
                notes = f" {_attributes(annotations)}" if annotations else ""
                self._block(f"{kind.value} {self.name(variable)} in {size}{notes}", body, depth)
            case Store(buffer, indices, value, mask):
                where = "" if mask is None else f" where {self.value(mask)}"
                self._line(depth, f"{self._place(buffer, indices)} = {self.value(value)}{where};")
            case LetValue(variable, value, body):
                bound = self.value(value)
                declared = type_text(variable.dtype, variable.lanes)
                self._block(f"let {self.name(variable)}: {declared} = {bound}", body, depth)
            case Sequence(statements):
                for part in statements:
                    if isinstance(part, Sequence):
                        self._block("", part, depth)
                    else:
                        self.statement(part, depth)
            case If(condition, then, otherwise):
                self._block(f"if {self.value(condition)}", then, depth)
                if otherwise is not None:
                    self.lines.pop()
                    self._block("} else", otherwise, depth)
            case Allocate(buffer, body):
                self._block(f"alloc {self._declaration(buffer)}", body, depth)
            case Evaluate(value):
                self._line(depth, f"evaluate {self.value(value)};")
            case Issue(queue, body):
                self._block(f"issue {queue}", body, depth)
            case _:
                assert_never(statement)

    # --- indices ------------------------------------------------------------------------------------------------------

    def _place(self, buffer: Buffer, indices: tuple[Index, ...]) -> str:
        return f"{self.name(buffer)}[{', '.join(map(self._index_or_ramp, indices))}]"

    def _index_or_ramp(self, index: Index) -> str:
        if isinstance(index, Ramp):
            return f"ramp({self.index(index.base)}, {index.stride}, {index.lanes})"
        return self.index(index)

    def index(self, index: IntExpr) -> str:
        match index:
            case int():
                return str(index)
            case Symbol():
                return self.name(index)
            case Sum(constant, terms):
                return self._sum(constant, [(self._factor(term), coefficient) for term, coefficient in terms])
            case Product(factors):
                return "*".join(map(self._factor, factors))
            case FloorDiv(left, right):
                return f"{self._factor(left)} // {self._factor(right)}"
            case FloorMod(left, right):
                return f"{self._factor(left)} % {self._factor(right)}"
            case Min(left, right):
                return f"min({self.index(left)}, {self.index(right)})"
            case Max(left, right):
                return f"max({self.index(left)}, {self.index(right)})"
            case ValueIndex(value):
                return f"index({self.value(value)})"
            case _:
                raise CompilerBug("tir.printer", f"an index of loops cannot hold {type(index).__name__}")

    def _factor(self, index: IntExpr) -> str:
        text = self.index(index)
        return text if isinstance(index, (Symbol, Min, Max, Atom)) or text.isdigit() else f"({text})"

    def _sum(self, constant: int, terms: list[tuple[str, int]]) -> str:
        text = ""
        for term, coefficient in terms:
            size = term if abs(coefficient) == 1 else f"{abs(coefficient)}*{term}"
            if text:
                text += f" {'-' if coefficient < 0 else '+'} {size}"
            else:
                text = f"-{size}" if coefficient < 0 else size
        return text if not constant else f"{text} {'-' if constant < 0 else '+'} {abs(constant)}"

    def comparison(self, comparison: Comparison) -> str:
        return f"{self.index(comparison.left)} {comparison.op} {self.index(comparison.right)}"

    # --- values -------------------------------------------------------------------------------------------------------

    def value(self, value: Value) -> str:
        match value:
            case Imm(number, dtype, lanes):
                return f"{type_text(dtype, lanes)}({_number(number)})"
            case ValueVar():
                return self.name(value)
            case IndexValue(index, dtype, lanes):
                return f"index_value({self.index(index)}, {type_text(dtype, lanes)})"
            case RampValue(base, stride, dtype, lanes):
                return f"ramp_value({self.index(base)}, {stride}, {type_text(dtype, lanes)})"
            case Holds(comparison, lanes):
                return f"holds({self.comparison(comparison)}{'' if lanes == 1 else f', {lanes}'})"
            case Load(buffer, indices, mask):
                place = self._place(buffer, indices)
                return place if mask is None else f"load({place}, {self.value(mask)})"
            case Unary(op, operand):
                return f"{op.value}({self.value(operand)})"
            case Binary(op, left, right) if op in SIGNS:
                return f"({self.value(left)} {SIGNS[op]} {self.value(right)})"
            case Binary(op, left, right):
                return f"{op.value}({self.value(left)}, {self.value(right)})"
            case Compare(op, left, right):
                return f"({self.value(left)} {op.value} {self.value(right)})"
            case Select(condition, then, otherwise):
                return f"select({self.value(condition)}, {self.value(then)}, {self.value(otherwise)})"
            case Cast(operand, dtype):
                return f"cast({self.value(operand)}, {dtype.value})"
            case Call(name, arguments, dtype, lanes):
                parts = [json.dumps(name), type_text(dtype, lanes), *map(self.value, arguments)]
                return f"call({', '.join(parts)})"
            case Broadcast(operand, lanes):
                return f"broadcast({self.value(operand)}, {lanes})"
            case _:
                assert_never(value)


def _quoted_name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*", name) and name not in KEYWORDS else json.dumps(name)


def _attributes(attributes: tuple[tuple[str, str | int], ...]) -> str:
    return f"({', '.join(f'{json.dumps(key)}: {json.dumps(value)}' for key, value in attributes)})"


def _number(number: float | bool) -> str:
    if isinstance(number, bool):
        return "true" if number else "false"
    if isinstance(number, float) and not math.isfinite(number):
        return "nan" if math.isnan(number) else ("inf" if number > 0 else "-inf")
    return repr(number)
