"""Expressions of the language, of indices and of kernels as formulas over all values that their variables may have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import z3

from relay.arith import expr as index
from relay.arith.rules import C, D, N
from relay.base.dtypes import DType
from relay.ir.expr import Call, Constant, Expr, Op, Tuple, TupleGetItem, Var
from relay.ir.traversal import post_order
from relay.ir.types import TensorType
from relay.ops.framework.record import OperatorRecord
from relay.tir.expr import Binary, Imm, Select, Unary, Value, ValueVar
from tests.rules.machine_integers import BINARY, UNARY, Formula, NotModelled, cast, number, unknown

EXTENT = 3
"""What symbolic extents are: a rule about elements does not depend on how many there are."""
LARGEST_MOVED = 32
"""Up to so many elements are all unknowns of their own."""
MOVES = frozenset({
    "batch_flatten", "broadcast_to", "concatenate", "expand_dims", "layout_transform", "nn.batch_flatten", "repeat",
    "reshape", "squeeze", "strided_slice", "tile", "transpose",
})  # fmt: skip
"""Operators that only move elements: their own meaning runs on arrays of formulas."""
LIKE = frozenset({"broadcast_to_like", "reshape_like"})
"""The same, with a second input that tells extents alone."""


def shape_of(expr: Expr) -> tuple[int, ...]:
    type_ = expr.checked_type
    assert isinstance(type_, TensorType)
    return tuple(extent if isinstance(extent, int) else EXTENT for extent in type_.shape)


def dtype_of(expr: Expr) -> DType:
    type_ = expr.checked_type
    assert isinstance(type_, TensorType)
    return type_.dtype


class Formulas:
    """The elements of expressions. Equal parameters have the same unknown elements in all of them."""

    def __init__(self, params: Sequence[Var]) -> None:
        self.known: dict[Expr, Any] = {param: _unknowns(param) for param in params}

    def of(self, root: Expr) -> Any:
        """An array of formulas. Raises `NotModelled` for operators that there are none for."""
        for expr in post_order(root):
            if expr not in self.known and not isinstance(expr, Op):
                self.known[expr] = self._of(expr)
        return self.known[root]

    def _of(self, expr: Expr) -> Any:
        match expr:
            case Constant(data=data):
                dtype = dtype_of(expr)
                return _each(lambda each: number(each, dtype), data)
            case Tuple(fields=fields):
                return tuple(self.known[each] for each in fields)
            case TupleGetItem(tuple_value=whole, index=at):
                return self.known[whole][at]
            case Call(op=Op(operator=OperatorRecord() as record), args=args, attrs=attrs):
                return self._call(expr, record, args, attrs)
            case _:
                raise NotModelled(f"a {type(expr).__name__} in a rule: give it a formula in tests/rules/formulas.py")

    def _call(self, expr: Expr, record: OperatorRecord, args: Sequence[Expr], attrs: Any) -> Any:
        given = [self.known[each] for each in args]
        name, dtype = record.name, dtype_of(expr)
        if dtype.is_float:
            raise NotModelled("a conversion to floats: it is run on all values of small dtypes")
        if name in MOVES:
            return np.asarray(record.meaning(attrs, *given))
        if name in LIKE:
            return np.asarray(np.broadcast_to(given[0], shape_of(expr)) if name == "broadcast_to_like"
                              else given[0].reshape(shape_of(expr)))  # fmt: skip
        if name in BINARY:
            return _each(lambda a, b: BINARY[name](a, b, dtype), *given)
        if name in UNARY:
            return _each(lambda a: UNARY[name](a, dtype), given[0])
        if name == "where":
            return _each(z3.If, *given)
        if name in ("cast", "cast_like"):
            source = dtype_of(args[0])
            return _each(lambda a: cast(a, source, dtype), given[0])
        if name in ("full", "zeros", "zeros_like", "ones", "ones_like"):
            filled = given[0][()] if name == "full" else number(int("ones" in name), dtype)
            return _each(lambda _: filled, np.zeros(shape_of(expr)))
        raise NotModelled(
            f"`{name}` has no formula: add it to BINARY or UNARY in tests/rules/machine_integers.py, or to MOVES in "
            "tests/rules/formulas.py, or the rule to EXHAUSTIVE in tests/rules/test_proofs.py"
        )


def _each(function: Any, *arrays: Any) -> Any:
    """A function of each element, once for equal ones."""
    made: dict[tuple[int, ...], Any] = {}

    def known(*elements: Any) -> Any:
        key = tuple(map(id, elements))
        if key not in made:
            made[key] = function(*elements)
        return made[key]

    arrays = tuple(np.asarray(each, dtype=object) for each in arrays)
    return np.asarray(np.frompyfunc(known, len(arrays), 1)(*arrays), dtype=object)


def _unknowns(param: Var) -> Any:
    """Elements of which nothing is known. Those of long vectors come again: what moves elements has smaller samples."""
    shape, dtype = shape_of(param), dtype_of(param)
    count = int(np.prod(shape))
    different = count if count <= LARGEST_MOVED else 2
    made = [unknown(f"{param.name_hint}[{at}]", dtype) for at in range(different)]
    elements = np.empty(count, dtype=object)
    elements[:] = [made[at % different] for at in range(count)]
    return elements.reshape(shape)


def claims_of_equality(left: Any, right: Any) -> list[Formula]:
    """The claims that two arrays of formulas have equal elements; of those that differ in the names of unknowns only,
    one."""
    assert left.shape == right.shape
    pairs = zip(left.reshape(-1), right.reshape(-1), strict=True)
    different = {(id(a), id(b)): (a, b) for a, b in pairs if not a.eq(b)}
    claims = [a == b for a, b in different.values()]
    return list({_without_names(each): each for each in claims}.values())


def _without_names(claim: Formula) -> str:
    """A claim as text in which unknowns are numbered as they appear."""
    numbers: dict[str, str] = {}
    return re.sub(r"\|[^|]*\|", lambda name: numbers.setdefault(name[0], f"#{len(numbers)}"), claim.sexpr())


_COMPARED: Mapping[str, Callable[[Formula, Formula], Formula]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip


class IndexFormulas:
    """Expressions of indices, as mathematical integers. Quotients and remainders are unknowns of which `facts` says
    what defines them."""

    def __init__(self) -> None:
        self.facts: list[Formula] = [self._symbol(C) > 0, self._symbol(D) > 0, self._symbol(N) != 0]
        self._divided: list[tuple[Formula, Formula, Formula, Formula]] = []

    def _symbol(self, symbol: index.Symbol) -> Formula:
        return z3.Int(symbol.name)

    def holds(self, comparison: index.Comparison) -> Formula:
        return _COMPARED[comparison.op](self.of(comparison.left), self.of(comparison.right))

    def of(self, expr: index.IntExpr) -> Formula:
        match expr:
            case int():
                return z3.IntVal(expr)
            case index.Symbol():
                return self._symbol(expr)
            case index.Sum(constant, terms):
                return z3.Sum(z3.IntVal(constant), *[self.of(term) * factor for term, factor in terms])
            case index.Product(factors):
                return z3.Product(*map(self.of, factors))
            case index.FloorDiv(left, right):
                return self._divide(left, right)[0]
            case index.FloorMod(left, right):
                return self._divide(left, right)[1]
            case index.Min(left, right):
                return z3.If(self.of(left) <= self.of(right), self.of(left), self.of(right))
            case index.Max(left, right):
                return z3.If(self.of(left) <= self.of(right), self.of(right), self.of(left))
            case _:
                raise NotModelled(f"{type(expr).__name__}: give it a formula in tests/rules/formulas.py")

    def _divide(self, left: index.IntExpr, right: index.IntExpr) -> tuple[Formula, Formula]:
        dividend, divisor = self.of(left), self.of(right)
        for known, by, quotient, rest in self._divided:
            if known.eq(dividend) and by.eq(divisor):
                return quotient, rest
        quotient, rest = z3.FreshInt("quotient"), z3.FreshInt("rest")
        within = z3.If(divisor > 0, z3.And(rest >= 0, rest < divisor), z3.And(rest <= 0, rest > divisor))
        self.facts += [dividend == divisor * quotient + rest, within]
        self._divided.append((dividend, divisor, quotient, rest))
        return quotient, rest


_BINARY_NAMES = {"and": "logical_and", "or": "logical_or"}


def value_formula(value: Value, dtype: DType) -> Formula:
    """A value of a kernel, on integers or truth values of a dtype."""
    match value:
        case ValueVar(name, kind):
            return unknown(name, DType.BOOL if kind.is_bool else dtype)
        case Imm(held, kind):
            return number(held, DType.BOOL if kind.is_bool else dtype)
        case Binary(op, left, right):
            name = op.name.lower()
            sides = value_formula(left, dtype), value_formula(right, dtype)
            kind = DType.BOOL if z3.is_bool(sides[0]) else dtype
            return BINARY[_BINARY_NAMES.get(name, name)](*sides, kind)
        case Unary(op, operand):
            inner = value_formula(operand, dtype)
            return z3.Not(inner) if op.name == "NOT" and z3.is_bool(inner) else UNARY[op.name.lower()](inner, dtype)
        case Select(condition, then, otherwise):
            return z3.If(*(value_formula(each, dtype) for each in (condition, then, otherwise)))
        case _:
            raise NotModelled(f"a {type(value).__name__} in a rule: give it a formula in tests/rules/formulas.py")
