"""Extents: whether two are the same, what makes them the same, and what is known of a `?`."""

from __future__ import annotations

from collections.abc import Iterable, Set
from enum import Enum
from math import gcd

from relay.arith.bounds import Interval
from relay.arith.expr import IntExpr, Symbol, add, free_symbols, linear_parts, linear_sum, multiply
from relay.arith.prove import Proof, prove_equal
from relay.base.frozen import frozen
from relay.ir.expr import Var
from relay.ir.type_traversal import has_unknown_dimension, map_type
from relay.ir.types import ANY, AnyDimension, FuncType, RefType, TensorType, TupleType, Type, TypeCall


class Agreement(Enum):
    """Whether two extents are equal: always, never, or only the run can tell."""

    ALWAYS = "always"
    NEVER = "never"
    UNDECIDED = "undecided"


def agreement(left: IntExpr, right: IntExpr) -> Agreement:
    """Whether two extents are equal, for symbols that are natural numbers.

    >>> n = Symbol("n")
    >>> agreement(n + 1, n), agreement(2 * n, 5), agreement(n, 4)
    (<Agreement.NEVER: 'never'>, <Agreement.NEVER: 'never'>, <Agreement.UNDECIDED: 'undecided'>)
    """
    if isinstance(left, AnyDimension) or isinstance(right, AnyDimension):
        return Agreement.UNDECIDED
    constant, terms = linear_parts(add(left, multiply(right, -1)))
    if not terms:
        return Agreement.ALWAYS if constant == 0 else Agreement.NEVER
    if constant % gcd(*(coefficient for _, coefficient in terms)):
        return Agreement.NEVER
    if all(isinstance(term, Symbol) for term, _ in terms):
        signs = {coefficient > 0 for _, coefficient in terms}
        if constant and signs == {constant > 0}:
            return Agreement.NEVER
        return Agreement.UNDECIDED
    natural = {symbol: Interval(0, None) for symbol in free_symbols(left) | free_symbols(right)}
    return _OF_PROOF[prove_equal(left, right, natural)]


_OF_PROOF = {Proof.YES: Agreement.ALWAYS, Proof.NO: Agreement.NEVER, Proof.UNKNOWN: Agreement.UNDECIDED}


@frozen
class Solution:
    """`symbol` must be `value`."""

    symbol: Symbol
    value: IntExpr


def solve_for(left: IntExpr, right: IntExpr, unknowns: Set[Symbol]) -> Solution | None:
    """What one of `unknowns` must be for `left` to equal `right`, when that is a whole expression; else None.

    >>> n, m = Symbol("n"), Symbol("m")
    >>> solve_for(2 * n + 1, 7, {n}).value, solve_for(n + m, 2 * m, {n}).value, solve_for(2 * n, m, {n})
    (3, m, None)
    """
    constant, terms = linear_parts(add(left, multiply(right, -1)))
    for term, coefficient in terms:
        if not isinstance(term, Symbol) or term not in unknowns:
            continue
        rest = [(other, k) for other, k in terms if other is not term]
        whole = constant % coefficient == 0 and all(k % coefficient == 0 for _, k in rest)
        if whole and not any(term in free_symbols(other) for other, _ in rest):
            value = linear_sum(-constant // coefficient, [(other, -k // coefficient) for other, k in rest])
            return Solution(term, value)
    return None


def open_unknowns(type_: Type, hint: str = "d") -> Type:
    """`type_` with each `?` of its tensors a new symbol: what is unknown is at least one and the same extent wherever
    this value is used. Inside functions, data types and refs `?` stays: each call, cell or content has its own. The
    symbols are named after `hint`, which says what the value is, and the axis.

    >>> from relay.base.dtypes import DType
    >>> print(open_unknowns(TensorType((ANY, 4), DType.INT8)))
    Tensor[(d_0, 4), int8]
    """
    match type_:
        case TensorType(shape, dtype):
            if ANY not in shape:
                return type_
            dims = (
                Symbol(f"{hint}_{axis}") if isinstance(dim, AnyDimension) else dim for axis, dim in enumerate(shape)
            )
            return TensorType(tuple(dims), dtype)
        case TupleType(fields):
            opened = tuple(open_unknowns(field, f"{hint}_{position}") for position, field in enumerate(fields))
            return type_ if all(a is b for a, b in zip(fields, opened, strict=True)) else type_.with_fields(opened)
        case _:
            return type_


def close_symbols(type_: Type, visible: Set[Symbol]) -> Type:
    """`type_` with each dimension that depends on a symbol outside `visible` written `?`.

    Symbols that a function type inside quantifies itself stay.
    """

    def close(inner: Type, seen: Set[Symbol]) -> Type:
        match inner:
            case FuncType(arg_types, ret_type, type_params):
                own = seen | {symbol for arg in arg_types for symbol in _symbols(arg)}
                return FuncType(arg_types, close(ret_type, own), type_params)
            case TupleType(fields):
                return inner.with_fields(tuple(close(field, seen) for field in fields))
            case RefType(value):
                return RefType(close(value, seen))
            case TypeCall(func, args):
                return TypeCall(func, tuple(close(arg, seen) for arg in args))
            case _:
                return map_type(inner, dimension=lambda dim: dim if free_symbols(dim) <= seen else ANY)

    return close(type_, visible)


def _symbols(type_: Type) -> set[Symbol]:
    found: set[Symbol] = set()

    def note(dim: IntExpr) -> IntExpr:
        found.update(free_symbols(dim))
        return dim

    map_type(type_, dimension=note)
    return found


def function_type(params: Iterable[Var], result: Type) -> FuncType:
    """The type of a function of typed parameters; extents that they do not determine are unknown."""
    types = tuple(param.checked_type for param in params if param.checked_type is not None)
    return FuncType(types, close_symbols(result, {symbol for type_ in types for symbol in _symbols(type_)}))


__all__ = [
    "Agreement", "Solution", "agreement", "close_symbols", "function_type", "has_unknown_dimension", "open_unknowns",
    "solve_for",
]  # fmt: skip
