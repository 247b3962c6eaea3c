"""Arithmetic on the extents of shapes. `?` (ANY) spreads: what is computed from it is not known either."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce

from relay.arith.bounds import NON_NEGATIVE, Ranges
from relay.arith.expr import (
    COMPARISON_OPERATORS,
    Comparison,
    Node,
    Product,
    ceil_divide,
    floor_divide,
    free_symbols,
    linear_parts,
    minimum,
    multiply,
)  # fmt: skip
from relay.arith.prove import Proof, prove
from relay.arith.simplify import simplify
from relay.ir.types import ANY, Dimension


def simplest(extent: Dimension) -> Dimension:
    """The simplest expression of an extent, whose symbols are not negative.

    >>> from relay.arith.expr import Symbol
    >>> n = Symbol("n")
    >>> simplest((n + -n % 4) // 4), simplest(n * n // n)
    ((n + 3) // 4, n)
    """
    return simplify(extent, _natural(extent))


def decide(condition: Comparison) -> Proof:
    """Whether a comparison holds for all extents, which are not negative; ANY makes everything unknown."""
    if condition.left is ANY or condition.right is ANY:
        return Proof.UNKNOWN
    if isinstance(condition.left, int) and isinstance(condition.right, int):
        holds = COMPARISON_OPERATORS[condition.op](condition.left, condition.right)
        return Proof.YES if holds else Proof.NO
    return prove(condition, _natural(condition.left, condition.right))


def _natural(*extents: Dimension) -> Ranges:
    """The ranges of the symbols in extents."""
    return dict.fromkeys((symbol for extent in extents for symbol in free_symbols(extent)), NON_NEGATIVE)


def decide_equal(left: Dimension, right: Dimension) -> Proof:
    """Whether two extents are equal for all values of their symbols."""
    if isinstance(left, int) and isinstance(right, int):
        return Proof.YES if left == right else Proof.NO
    if left is not ANY and left == right:
        return Proof.YES
    return decide(Comparison(left, "==", right))


def derived(function: Callable[..., Dimension], *extents: Dimension) -> Dimension:
    """`function(*extents)`, or ANY when one of them is.

    >>> derived(lambda a, b: a + b, 3, 4), derived(lambda a, b: a + b, ANY, 4)
    (7, ?)
    """
    return ANY if any(extent is ANY for extent in extents) else function(*extents)


def product(extents: Iterable[Dimension]) -> Dimension:
    """The number of elements along these axes; zero wins over `?`."""
    total: Dimension = 1
    unknown = False
    for extent in extents:
        if extent is ANY:
            unknown = True
        else:
            total = multiply(total, extent)
    return ANY if unknown and total != 0 else total


def quotient(whole: Dimension, part: Dimension) -> Dimension | None:
    """`whole / part` where the division is exact whatever the symbols are; else None. Division of polynomials.

    >>> from relay.arith.expr import Symbol
    >>> n = Symbol("n")
    >>> quotient(6 * n, 2 * n), quotient(2 * n + 2, 2), quotient(n, 2), quotient(n * n + n, n + 1)
    (3, n + 1, None, n)
    """
    if whole is ANY or part is ANY or part == 0:
        return None
    lead, lead_coefficient = _leading(part)
    rest, result = whole, 0
    for _ in range(16):  # a shape has few terms; more than this is not worth the search
        if rest == 0:
            return result
        term, coefficient = _leading(rest)
        factors = list(term)
        for factor in lead:
            if factor not in factors:
                return None
            factors.remove(factor)
        if coefficient % lead_coefficient:
            return None
        step = reduce(multiply, factors, coefficient // lead_coefficient)
        result = result + step
        rest = rest - multiply(step, part)
    return None


def _leading(extent: Dimension) -> tuple[tuple[Node, ...], int]:
    """`(factors, coefficient)` of a term with the most factors; a constant has none."""
    constant, terms = linear_parts(extent)
    monomials = [(term.factors if isinstance(term, Product) else (term,), k) for term, k in terms]
    return max(monomials, key=lambda monomial: len(monomial[0]), default=((), constant))


def window_extent(
    size: Dimension, window: Dimension, stride: int, dilation: int, before: int, after: int, *, ceil_mode: bool = False
) -> Dimension:
    """How many windows fit along an axis.

    floor mode: `(size + before + after - dilation·(window-1) - 1) // stride + 1`. Ceil mode also counts the last,
    partial window, if it starts inside the data or the padding before it (as PyTorch and ONNX do).

    >>> window_extent(7, 3, 2, 1, 0, 0), window_extent(8, 3, 2, 1, 0, 0, ceil_mode=True)
    (3, 4)
    """

    def extent(size: Dimension, window: Dimension) -> Dimension:
        room = size + (before + after) - ((window - 1) * dilation + 1)
        if not ceil_mode:
            return floor_divide(room, stride) + 1
        return minimum(ceil_divide(room, stride) + 1, floor_divide(size + (before - 1), stride) + 1)

    return derived(extent, size, window)


def window_span(window: Dimension, dilation: int) -> Dimension:
    """How far a window with gaps reaches: `dilation·(window-1) + 1`."""
    return derived(lambda window: (window - 1) * dilation + 1, window)
