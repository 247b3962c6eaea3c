"""Simplification of symbolic integers under ranges: the driver of the rules in `rules.py`.

`Assumptions` is what is known at a place of a program: ranges of symbols and facts. It answers `bounds`, `simplify` and
`prove`, and remembers simplified expressions, so one object should serve a whole scope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import gcd
from typing import TypeAlias

from relay.arith.bounds import NON_NEGATIVE, Interval, Ranges, bounds_of
from relay.arith.expr import (
    Atom,
    Comparison,
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
    maximum,
    minimum,
    multiply,
    substitute,
)
from relay.arith.inequality import is_non_negative, non_negative_forms
from relay.arith.rules import (
    DIVISION,
    MAXIMUM,
    MINIMUM,
    MODULO,
    SUM,
    C,
    D,
    N,
    Q,
    Rule,
    Shape,
    X,
    Y,
    Z,
)
from relay.base.diagnostics import CompilerBug

_STEP_LIMIT = 64
Binding = dict[Symbol, IntExpr]


def simplify(expr: IntExpr, ranges: Ranges, facts: Sequence[Comparison] = ()) -> IntExpr:
    """An expression equal to `expr` for all values of its symbols within `ranges` that meet `facts`.

    >>> i, j = Symbol("i"), Symbol("j")
    >>> simplify((8 * i + j) // 4 % 2, {j: Interval(0, 3)})
    0
    """
    return Assumptions(ranges, facts).simplify(expr)


class Assumptions:
    """What is known of symbols: intervals, and comparisons that hold. Immutable but for its memory of answers."""

    __slots__ = ("_forms", "_memory", "ranges")

    def __init__(self, ranges: Ranges, facts: Sequence[Comparison] = ()) -> None:
        self.ranges: dict[Symbol, Interval] = dict(ranges)
        forms = (plain for fact in facts for form in non_negative_forms(fact) for plain in _plain_forms(form, ranges))
        self._forms: tuple[IntExpr, ...] = tuple(forms)
        self._memory: dict[IntExpr, IntExpr] = {}

    def assuming(self, *facts: Comparison) -> Assumptions:
        """These assumptions and more facts. A fact about one symbol and constants narrows its range too."""
        result = Assumptions(self.ranges)
        forms = [
            plain for fact in facts for form in non_negative_forms(fact) for plain in _plain_forms(form, self.ranges)
        ]
        for form in forms:
            _narrow(result.ranges, form)
        result._forms = self._forms + tuple(forms)
        return result

    def with_loop(self, variable: Symbol, extent: IntExpr) -> Assumptions:
        """These assumptions and `0 <= variable < extent`."""
        high = self.bounds(extent).high
        result = Assumptions(self.ranges)
        result.ranges[variable] = Interval(0, None if high is None else high - 1)
        if not isinstance(extent, int):
            result._forms = self._forms + _plain_forms(extent - variable - 1, result.ranges)
        else:
            result._forms = self._forms
        return result

    def with_range(self, symbol: Symbol, interval: Interval = NON_NEGATIVE) -> Assumptions:
        """These assumptions with `symbol` in `interval`."""
        result = Assumptions(self.ranges)
        result.ranges[symbol] = interval
        result._forms = self._forms
        return result

    @property
    def has_facts(self) -> bool:
        """Whether anything beyond the ranges of symbols is known."""
        return bool(self._forms)

    def bounds(self, expr: IntExpr) -> Interval:
        return bounds_of(expr, self.ranges)

    def is_non_negative(self, expr: IntExpr) -> bool:
        """Whether `expr >= 0` is certain; False means not proven."""
        return is_non_negative(expr, self.ranges, self._forms)

    def certain(self, comparison: Comparison) -> bool:
        """Whether `comparison` is certain, without simplifying its sides first; False means not proven."""
        forms = non_negative_forms(comparison)
        return bool(forms) and all(map(self.is_non_negative, forms))

    def simplify(self, expr: IntExpr) -> IntExpr:
        """The simplest equal expression that the rules find."""
        if isinstance(expr, (int, Symbol)):
            return self._known_constant(expr)
        if isinstance(expr, Atom):
            return expr
        if isinstance(expr, Sum) and all(isinstance(term, Symbol) for term, _ in expr.terms):
            return expr
        known = self._memory.get(expr)
        if known is None:
            known = self._memory[expr] = self._to_fixed_point(expr)
        return known

    def _known_constant(self, expr: int | Symbol) -> IntExpr:
        if isinstance(expr, Symbol):
            low, high = self.ranges.get(expr, (None, None))
            if low is not None and low == high:
                return low
        return expr

    def _to_fixed_point(self, expr: Node) -> IntExpr:
        current: IntExpr = expr
        applied: list[str] = []
        while len(applied) <= _STEP_LIMIT:
            rebuilt = self._rebuild(current)
            if rebuilt == current and not isinstance(rebuilt, (int, Symbol, Atom)):
                found = self._apply_rules(rebuilt)
                if found is None:
                    return rebuilt
                rule, rebuilt = found
                applied.append(rule.name)
            elif isinstance(rebuilt, (int, Symbol, Atom)):
                return self.simplify(rebuilt)
            current = rebuilt
        raise CompilerBug("arith.simplify", f"rules run in a circle on {expr}: {', '.join(applied[-6:])}")

    def _rebuild(self, expr: IntExpr) -> IntExpr:
        """`expr` with its parts simplified."""
        if isinstance(expr, int):
            return expr
        rebuild = _REBUILD.get(type(expr))
        return expr if rebuild is None else rebuild(expr, self.simplify)

    def _apply_rules(self, expr: Node) -> tuple[Rule, IntExpr] | None:
        for rule in _RULES_BY_TYPE.get(type(expr), ()):
            for binding in _MATCHERS[rule.shape](expr, self):
                if all(self.certain(condition.substitute(binding)) for condition in rule.when):
                    rewritten = substitute(rule.right, binding)
                    rest = binding.get(_REST)
                    return rule, rewritten if rest is None else add(rewritten, rest)
        return None


_REST = Symbol("rest")
"""Bound by matchers of sums: what else is in the sum."""


def _narrow(ranges: dict[Symbol, Interval], form: IntExpr) -> None:
    """Tighten the range of the one symbol in `form >= 0`."""
    constant, terms = linear_parts(form)
    if len(terms) != 1 or not isinstance(symbol := terms[0][0], Symbol):
        return
    low, high = ranges.get(symbol, (None, None))
    coefficient = terms[0][1]
    limit = -(constant // coefficient) if coefficient > 0 else constant // -coefficient
    if coefficient > 0:
        ranges[symbol] = Interval(limit if low is None else max(low, limit), high)
    else:
        ranges[symbol] = Interval(low, limit if high is None else min(high, limit))


def _plain_forms(form: IntExpr, ranges: Ranges) -> tuple[IntExpr, ...]:
    """What `form >= 0` says without minima and maxima, as far as that goes: it holds for both sides of a minimum, and
    where it cannot hold for one side of a maximum, for the other."""
    constant, terms = linear_parts(form)
    for position, (term, coefficient) in enumerate(terms):
        if not isinstance(term, (Min, Max)):
            continue
        rest = linear_sum(constant, (*terms[:position], *terms[position + 1 :]))
        sides = [add(rest, multiply(side, coefficient)) for side in (term.left, term.right)]
        if isinstance(term, Min) != (coefficient > 0):
            sides = [side for side in sides if not is_non_negative(multiply(side, -1) - 1, ranges)]
            if len(sides) != 1:
                continue
        return tuple(plain for side in sides for plain in _plain_forms(side, ranges))
    return (form,)


# --- rebuilding with simplified parts ---------------------------------------------------------------------------------


def _rebuild_sum(expr: Sum, go: Callable[[IntExpr], IntExpr]) -> IntExpr:
    parts = [(go(term), coefficient) for term, coefficient in expr.terms]
    if all(part is term for (part, _), (term, _) in zip(parts, expr.terms, strict=True)):
        return expr
    total: IntExpr = expr.constant
    for part, coefficient in parts:
        total = add(total, multiply(part, coefficient))
    return total


def _rebuild_product(expr: Product, go: Callable[[IntExpr], IntExpr]) -> IntExpr:
    total: IntExpr = 1
    for factor in expr.factors:
        total = multiply(total, go(factor))
    return total


Pair: TypeAlias = FloorDiv | FloorMod | Min | Max


def _rebuild_pair(
    build: Callable[[IntExpr, IntExpr], IntExpr],
) -> Callable[[Pair, Callable[[IntExpr], IntExpr]], IntExpr]:
    return lambda expr, go: build(go(expr.left), go(expr.right))


_REBUILD: Mapping[type[Node], Callable[..., IntExpr]] = {
    Sum: _rebuild_sum,
    Product: _rebuild_product,
    FloorDiv: _rebuild_pair(floor_divide),
    FloorMod: _rebuild_pair(floor_modulo),
    Min: _rebuild_pair(minimum),
    Max: _rebuild_pair(maximum),
}

# --- finding the left sides of rules ----------------------------------------------------------------------------------


def _match_quotient(expr: FloorDiv | FloorMod, known: Assumptions) -> Iterator[Binding]:
    if isinstance(expr.right, int) and expr.right > 0:
        low, _ = known.bounds(expr.left)
        if low is not None:
            yield {X: expr.left, C: expr.right, Q: low // expr.right}


def _match_factor(expr: FloorDiv | FloorMod, known: Assumptions) -> Iterator[Binding]:
    if not isinstance(expr.right, int) or expr.right <= 0:
        return
    constant, terms = linear_parts(expr.left)
    factors = sorted({gcd(coefficient, expr.right) for _, coefficient in terms} - {1}, reverse=True)
    for factor in factors:
        multiples = linear_sum(0, [(term, k // factor) for term, k in terms if k % factor == 0])
        rest = linear_sum(constant, [(term, k) for term, k in terms if k % factor])
        low, _ = known.bounds(rest)
        if low is not None:
            yield {X: multiples, Y: rest, C: factor, D: expr.right // factor, Q: low // factor}


def _match_inner_modulo(expr: FloorMod, _: Assumptions) -> Iterator[Binding]:
    divisor = expr.right
    if not isinstance(divisor, int) or divisor <= 0:
        return
    constant, terms = linear_parts(expr.left)
    for position, (term, coefficient) in enumerate(terms):
        match term:
            case FloorMod(inner, int(modulus)) if modulus > 0 and modulus % divisor == 0:
                rest = linear_sum(constant, (*terms[:position], *terms[position + 1 :]))
                yield {X: inner, C: divisor, D: modulus // divisor, Z: coefficient, Y: rest}
            case _:
                pass


def _match_symbolic_multiple(expr: FloorDiv | FloorMod, _: Assumptions) -> Iterator[Binding]:
    """Terms with the divisor, a node, as a factor; a divisor is never 0."""
    if isinstance(expr.right, (int, Sum)):
        return
    constant, terms = linear_parts(expr.left)
    multiples: list[tuple[IntExpr, int]] = []
    rest: list[tuple[Node, int]] = []
    for term, coefficient in terms:
        quotient = _without_factor(term, expr.right)
        if quotient is None:
            rest.append((term, coefficient))
        else:
            multiples.append((quotient, coefficient))
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


def _match_symbolic_divisor(expr: FloorDiv | FloorMod, _: Assumptions) -> Iterator[Binding]:
    if not isinstance(expr.right, int):
        yield {X: expr.left, N: expr.right}


def _match_quotient_and_rest(expr: Sum, _: Assumptions) -> Iterator[Binding]:
    for term, coefficient in expr.terms:
        for modulo, others in _modulo_factors(term):
            scale = multiply(others, coefficient)
            quotient = multiply(multiply(floor_divide(modulo.left, modulo.right), modulo.right), scale)
            rest = _less(expr, quotient, (term, coefficient))
            if rest is not None:
                yield {X: modulo.left, N: modulo.right, Z: scale, _REST: rest}


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


def _match_digit_and_rest(expr: Sum, _: Assumptions) -> Iterator[Binding]:
    for term, coefficient in expr.terms:
        match term:
            case FloorDiv(FloorMod(value, int(modulus)), int(divisor)) if divisor > 0 and modulus % divisor == 0:
                scale = coefficient // divisor
                rest = _less(expr, multiply(floor_modulo(value, divisor), scale), (term, scale * divisor))
                if rest is not None:
                    yield {X: value, C: divisor, D: modulus // divisor, Z: scale, _REST: rest}
            case _:
                pass


def _match_value_and_quotient(expr: Sum, _: Assumptions) -> Iterator[Binding]:
    for term, coefficient in expr.terms:
        match term:
            case FloorDiv(left, int(divisor)) if divisor > 0 and coefficient % divisor == 0:
                scale = -coefficient // divisor
                rest = _less(expr, multiply(left, scale), (term, coefficient))
                if rest is not None:
                    yield {X: left, C: divisor, Z: scale, _REST: rest}
            case _:
                pass


def _match_pair(expr: Min | Max, _: Assumptions) -> Iterator[Binding]:
    yield {X: expr.left, Y: expr.right}


_MATCHERS: Mapping[Shape, Callable[..., Iterator[Binding]]] = {
    Shape.QUOTIENT: _match_quotient,
    Shape.FACTOR: _match_factor,
    Shape.INNER_MODULO: _match_inner_modulo,
    Shape.SYMBOLIC_MULTIPLE: _match_symbolic_multiple,
    Shape.SYMBOLIC_DIVISOR: _match_symbolic_divisor,
    Shape.QUOTIENT_AND_REST: _match_quotient_and_rest,
    Shape.DIGIT_AND_REST: _match_digit_and_rest,
    Shape.VALUE_AND_QUOTIENT: _match_value_and_quotient,
    Shape.PAIR: _match_pair,
}
_RULES_BY_TYPE: Mapping[type[Node], tuple[Rule, ...]] = {
    FloorDiv: DIVISION,
    FloorMod: MODULO,
    Sum: SUM,
    Min: MINIMUM,
    Max: MAXIMUM,
}
