"""Simplification of symbolic integers under ranges: the driver of the rules in `rules.py`.

`Assumptions` is what is known at a place of a program: ranges of symbols and facts. It answers `bounds`, `simplify` and
`prove`, and remembers what it found. One pass after the other comes to the same places, so equal assumptions share what
they remember.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import lru_cache

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
    Pair,
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
from relay.arith.left_sides import MATCHERS, REST
from relay.arith.rules import (
    DIVISION,
    MAXIMUM,
    MINIMUM,
    MODULO,
    SUM,
    Rule,
)
from relay.base.diagnostics import CompilerBug

_STEP_LIMIT = 64


def simplify(expr: IntExpr, ranges: Ranges, facts: Sequence[Comparison] = ()) -> IntExpr:
    """An expression equal to `expr` for all values of its symbols within `ranges` that meet `facts`.

    >>> i, j = Symbol("i"), Symbol("j")
    >>> simplify((8 * i + j) // 4 % 2, {j: Interval(0, 3)})
    0
    """
    return Assumptions(ranges, facts).simplify(expr)


class _Memory:
    """What was found under assumptions: simplest expressions, and what is not negative."""

    __slots__ = ("non_negative", "simplest")

    def __init__(self) -> None:
        self.simplest: dict[IntExpr, IntExpr] = {}
        self.non_negative: dict[IntExpr, bool] = {}


@lru_cache(maxsize=1024)
def _memory_of(ranges: Set[tuple[Symbol, Interval]], forms: tuple[IntExpr, ...]) -> _Memory:  # noqa: ARG001
    """What equal assumptions share."""
    return _Memory()


class Assumptions:
    """What is known of symbols: intervals, and comparisons that hold. Immutable but for its memory of answers."""

    __slots__ = ("_forms", "_memory", "ranges")

    def __init__(self, ranges: Ranges, facts: Sequence[Comparison] = ()) -> None:
        self.ranges: dict[Symbol, Interval] = dict(ranges)
        forms = (plain for fact in facts for form in non_negative_forms(fact) for plain in _plain_forms(form, ranges))
        self._forms: tuple[IntExpr, ...] = tuple(forms)
        self._memory: _Memory | None = None

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
            forms = _plain_forms(extent - variable - 1, result.ranges)
            result._forms = self._forms + forms + _forms_of_quotient(variable, extent)
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
        known = self._found.non_negative.get(expr)
        if known is None:
            known = self._found.non_negative[expr] = is_non_negative(expr, self.ranges, self._forms)
        return known

    @property
    def _found(self) -> _Memory:
        if self._memory is None:
            self._memory = _memory_of(frozenset(self.ranges.items()), self._forms)
        return self._memory

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
        known = self._found.simplest.get(expr)
        if known is None:
            known = self._found.simplest[expr] = self._to_fixed_point(expr)
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
            try:
                rebuilt = map_parts(current, self.simplify)
            except ZeroDivisionError:  # facts by which a divisor is 0 are of code that no run reaches
                return current
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

    def _apply_rules(self, expr: Node) -> tuple[Rule, IntExpr] | None:
        for rule in _RULES_BY_TYPE.get(type(expr), ()):
            for binding in MATCHERS[rule.shape](expr, self.bounds):
                if all(self.certain(condition.substitute(binding)) for condition in rule.when):
                    rewritten = substitute(rule.right, binding)
                    rest = binding.get(REST)
                    return rule, rewritten if rest is None else add(rewritten, rest)
        return None


def _narrow(ranges: dict[Symbol, Interval], form: IntExpr) -> None:
    """Tighten the range of the one symbol in `form >= 0`."""
    constant, terms = linear_parts(form)
    if len(terms) != 1 or not isinstance(symbol := terms[0][0], Symbol):
        return
    low, high = ranges.get(symbol, (None, None))
    coefficient = terms[0][1]
    if coefficient > 0:
        limit = -(constant // coefficient)
        ranges[symbol] = Interval(limit if low is None else max(low, limit), high)
    else:
        limit = constant // -coefficient
        ranges[symbol] = Interval(low, limit if high is None else min(high, limit))


def _forms_of_quotient(variable: Symbol, extent: IntExpr) -> tuple[IntExpr, ...]:
    """What is known where loops were fused: `variable // d` is below `c` in a loop over `c * d` iterations."""
    constant, terms = linear_parts(extent)
    if constant != 0 or len(terms) != 1 or terms[0][1] <= 1:
        return ()
    ((divisor, count),) = terms
    return (count - 1 - floor_divide(variable, divisor),)


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


# --- rebuilding with other parts --------------------------------------------------------------------------------------


def map_parts(expr: IntExpr, go: Callable[[IntExpr], IntExpr]) -> IntExpr:
    """`expr` with `go` of each of its direct parts in its place, in normal form."""
    rebuild = None if isinstance(expr, int) else _REBUILD.get(type(expr))
    return expr if rebuild is None else rebuild(expr, go)


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

_RULES_BY_TYPE: Mapping[type[Node], tuple[Rule, ...]] = {
    FloorDiv: DIVISION,
    FloorMod: MODULO,
    Sum: SUM,
    Min: MINIMUM,
    Max: MAXIMUM,
}
