"""Finding the left sides of the rules in `rules.py`: each matcher gives what the letters of a rule stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import gcd
from typing import TypeAlias

from relay.arith.bounds import Interval
from relay.arith.expr import (
    FloorDiv,
    FloorMod,
    IntExpr,
    Max,
    Min,
    Node,
    Product,
    Sum,
    Symbol,
    add,
    floor_divide,
    floor_modulo,
    linear_parts,
    linear_sum,
    multiply,
)
from relay.arith.rules import C, D, N, Q, Shape, W, X, Y, Z

Binding: TypeAlias = dict[Symbol, IntExpr]
Bounds: TypeAlias = Callable[[IntExpr], Interval]

REST = Symbol("rest")
"""What a rule about terms of a sum leaves of it."""


def _match_quotient(expr: FloorDiv | FloorMod, bounds: Bounds) -> Iterator[Binding]:
    if isinstance(expr.right, int) and expr.right > 0:
        low, _ = bounds(expr.left)
        if low is not None:
            yield {X: expr.left, C: expr.right, Q: low // expr.right}


def _match_factor(expr: FloorDiv | FloorMod, bounds: Bounds) -> Iterator[Binding]:
    if not isinstance(expr.right, int) or expr.right <= 0:
        return
    constant, terms = linear_parts(expr.left)
    factors = sorted({gcd(coefficient, expr.right) for _, coefficient in terms} - {1}, reverse=True)
    for factor in factors:
        multiples = linear_sum(0, [(term, k // factor) for term, k in terms if k % factor == 0])
        rest = linear_sum(constant, [(term, k) for term, k in terms if k % factor])
        low, _ = bounds(rest)
        if low is not None:
            yield {X: multiples, Y: rest, C: factor, D: expr.right // factor, Q: low // factor}


def _match_inner_modulo(expr: FloorMod, _: Bounds) -> Iterator[Binding]:
    if isinstance(expr.right, int) and expr.right > 0:
        yield from _inner_modulos(expr.left, expr.right)


def _inner_modulos(expr: IntExpr, divisor: int) -> Iterator[Binding]:
    """`expr` as `x % (c*d) * w + y`, where c is the divisor: once for each such modulo among its terms."""
    constant, terms = linear_parts(expr)
    for position, (term, coefficient) in enumerate(terms):
        match term:
            case FloorMod(inner, int(modulus)) if modulus > 0 and modulus % divisor == 0:
                rest = linear_sum(constant, (*terms[:position], *terms[position + 1 :]))
                yield {X: inner, C: divisor, D: modulus // divisor, W: coefficient, Y: rest}
            case _:
                pass


def _match_symbolic_multiple(expr: FloorDiv | FloorMod, _: Bounds) -> Iterator[Binding]:
    """Terms with the divisor, a product, as a factor; a divisor is never 0."""
    none, divisors = linear_parts(expr.right)
    if none or len(divisors) != 1:
        return
    ((divisor, scale),) = divisors
    constant, terms = linear_parts(expr.left)
    multiples: list[tuple[IntExpr, int]] = []
    rest: list[tuple[Node, int]] = []
    for term, coefficient in terms:
        quotient = None if coefficient % scale else _without_factor(term, divisor)
        if quotient is None:
            rest.append((term, coefficient))
        else:
            multiples.append((quotient, coefficient // scale))
    if multiples:
        total: IntExpr = 0
        for quotient, coefficient in multiples:
            total = add(total, multiply(quotient, coefficient))
        yield {X: total, Y: linear_sum(constant, rest), N: expr.right}


def _without_factor(term: Node, divisor: Node) -> IntExpr | None:
    """`term / divisor` if `divisor` is among the factors of `term`."""
    factors = list(term.factors) if isinstance(term, Product) else [term]
    for factor in divisor.factors if isinstance(divisor, Product) else (divisor,):
        if factor not in factors:
            return None
        factors.remove(factor)
    result: IntExpr = 1
    for factor in factors:
        result = multiply(result, factor)
    return result


def _match_symbolic_divisor(expr: FloorDiv | FloorMod, _: Bounds) -> Iterator[Binding]:
    if not isinstance(expr.right, int):
        yield {X: expr.left, N: expr.right}


def _match_quotient_and_rest(expr: Sum, _: Bounds) -> Iterator[Binding]:
    for term, coefficient in expr.terms:
        for modulo, others in _modulo_factors(term):
            scale = multiply(others, coefficient)
            quotient = multiply(multiply(floor_divide(modulo.left, modulo.right), modulo.right), scale)
            rest = _less(expr, quotient, (term, coefficient))
            if rest is not None:
                yield {X: modulo.left, N: modulo.right, Z: scale, REST: rest}


def _modulo_factors(term: Node) -> Iterator[tuple[FloorMod, IntExpr]]:
    """Each modulo among the factors of a term, with the product of the others."""
    if isinstance(term, FloorMod):
        yield term, 1
    elif isinstance(term, Product):
        for factor in term.factors:
            if isinstance(factor, FloorMod):
                others = _without_factor(term, factor)
                if others is not None:
                    yield factor, others


def _less(expr: Sum, part: IntExpr, also: tuple[Node, int]) -> IntExpr | None:
    """`expr` without the terms of `part` and the term `also`, if it has them all with these coefficients."""
    remaining = dict(expr.terms)
    constant, terms = linear_parts(part)
    if constant:
        return None
    for term, coefficient in (*terms, also):
        if remaining.pop(term, None) != coefficient:
            return None
    return linear_sum(expr.constant, remaining.items())


def _match_digit_and_rest(expr: Sum, _: Bounds) -> Iterator[Binding]:
    for term, coefficient in expr.terms:
        if not isinstance(term, FloorDiv) or not isinstance(term.right, int) or term.right <= 0:
            continue
        scale = coefficient // term.right
        for inner in _inner_modulos(term.left, term.right):
            digit = floor_modulo(add(multiply(inner[X], inner[W]), inner[Y]), term.right)
            rest = _less(expr, multiply(digit, scale), (term, scale * term.right))
            if rest is not None:
                yield {**inner, Z: scale, REST: rest}


def _match_value_and_quotient(expr: Sum, _: Bounds) -> Iterator[Binding]:
    for term, coefficient in expr.terms:
        match term:
            case FloorDiv(left, int(divisor)) if divisor > 0 and coefficient % divisor == 0:
                scale = -coefficient // divisor
                rest = _less(expr, multiply(left, scale), (term, coefficient))
                if rest is not None:
                    yield {X: left, C: divisor, Z: scale, REST: rest}
            case _:
                pass


def _match_value_and_padding(expr: Sum, _: Bounds) -> Iterator[Binding]:
    for term, coefficient in expr.terms:
        match term:
            case FloorMod(left, int(divisor)) if divisor > 0:
                value = multiply(left, -1)
                rest = _less(expr, multiply(value, coefficient), (term, coefficient))
                if rest is not None:
                    yield {X: value, C: divisor, Z: coefficient, REST: rest}
            case _:
                pass


def _match_pair(expr: Min | Max, _: Bounds) -> Iterator[Binding]:
    yield {X: expr.left, Y: expr.right}


MATCHERS: Mapping[Shape, Callable[..., Iterator[Binding]]] = {
    Shape.QUOTIENT: _match_quotient,
    Shape.FACTOR: _match_factor,
    Shape.INNER_MODULO: _match_inner_modulo,
    Shape.SYMBOLIC_MULTIPLE: _match_symbolic_multiple,
    Shape.SYMBOLIC_DIVISOR: _match_symbolic_divisor,
    Shape.QUOTIENT_AND_REST: _match_quotient_and_rest,
    Shape.DIGIT_AND_REST: _match_digit_and_rest,
    Shape.VALUE_AND_QUOTIENT: _match_value_and_quotient,
    Shape.VALUE_AND_PADDING: _match_value_and_padding,
    Shape.PAIR: _match_pair,
}
