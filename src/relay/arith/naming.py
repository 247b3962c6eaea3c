"""Symbols for parts of expressions: what only reads `(h//4 + 3)//4` may as well read `n`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Set

from relay.arith.bounds import NON_NEGATIVE, bounds_of
from relay.arith.expr import IntExpr, Node, Pair, Product, Symbol, children, free_symbols
from relay.arith.simplify import map_parts
from relay.base.names.fresh_names import FreshNames


def named_parts(exprs: Collection[IntExpr], kept: Set[Symbol] = frozenset()) -> dict[Node, Symbol]:
    """New symbols for the largest products, quotients, minima, … in which all is that `exprs` say of their symbols, and
    of which no more is known than of a symbol, which is a natural number: nothing that follows from the expressions is
    lost. Symbols that are `kept` stay.

    >>> n, h = Symbol("n"), Symbol("h")
    >>> {str(part): str(name) for part, name in named_parts([n, 4 * ((h + 3) // 4), n * ((h + 3) // 4)]).items()}
    {'(h + 3) // 4': 'extent_0'}
    >>> named_parts([n * h, n]), named_parts([h % 4])
    ({}, {})
    """
    times = _occurrences(exprs)
    taken = {part.name for part in times if isinstance(part, Symbol)}
    names = FreshNames(taken.__contains__, separator="_", first=0)
    found: dict[Node, Symbol] = {}
    stack = list(reversed(list(exprs)))
    while stack:
        part = stack.pop()
        if isinstance(part, int) or part in found:
            continue
        if isinstance(part, (Product, Pair)) and _stands_alone(part, times) and kept.isdisjoint(free_symbols(part)):
            found[part] = Symbol(names.take_numbered("extent"))
        else:
            stack.extend(reversed(children(part)))
    return found


def with_names(expr: IntExpr, names: Mapping[Node, Symbol]) -> IntExpr:
    """`expr` with the parts that have names replaced by these."""
    if isinstance(expr, int):
        return expr
    return names[expr] if expr in names else map_parts(expr, lambda part: with_names(part, names))


def _stands_alone(part: Node, times: Mapping[Node, int]) -> bool:
    """Whether every occurrence of its symbols is inside one of its own, and nothing is known of it but its sign."""
    inside = _occurrences([part])
    symbols = [each for each in inside if isinstance(each, Symbol)]
    alone = all(times[symbol] == times[part] * inside[symbol] for symbol in symbols)
    return alone and bounds_of(part, dict.fromkeys(symbols, NON_NEGATIVE)) == NON_NEGATIVE


def _occurrences(exprs: Iterable[IntExpr]) -> Counter[Node]:
    """How often each part is written."""
    found: Counter[Node] = Counter()
    stack = list(exprs)
    while stack:
        part = stack.pop()
        if not isinstance(part, int):
            found[part] += 1
            stack.extend(children(part))
    return found
