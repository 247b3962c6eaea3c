"""Is a comparison of symbolic integers true, false, or not known?"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from math import gcd

from relay.arith.bounds import Ranges
from relay.arith.expr import Comparison, IntExpr, add, linear_parts, multiply
from relay.arith.simplify import Assumptions


class Proof(Enum):
    """What a prover can say. UNKNOWN is never to be read as YES or NO."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


def prove(comparison: Comparison, ranges: Ranges, facts: Sequence[Comparison] = ()) -> Proof:
    """YES if `comparison` holds for all values within `ranges` that meet `facts`, NO if for none.

    Symbols may be anything that their range allows: a dimension is non-negative only if `ranges` says so.

    >>> from relay.arith.expr import Symbol
    >>> from relay.arith.bounds import Interval
    >>> i, n = Symbol("i"), Symbol("n")
    >>> prove(Comparison(i, "<", n + 1), {i: Interval(0, None)}, [Comparison(i, "<", n)])
    <Proof.YES: 'yes'>
    """
    return prove_under(comparison, Assumptions(ranges, facts))


def prove_under(comparison: Comparison, known: Assumptions) -> Proof:
    """`prove` with assumptions made before."""
    if known.has_facts and known.certain(comparison):
        return Proof.YES  # facts stand as they were written, and simplifying may hide them
    difference = known.simplify(add(comparison.right, multiply(comparison.left, -1)))
    match comparison.op:
        case "<":
            return _sign(difference - 1, known)
        case "<=":
            return _sign(difference, known)
        case "==":
            return _is_zero(difference, known)
        case "!=":
            return _OPPOSITE[_is_zero(difference, known)]
        case op:
            raise ValueError(f"`{op}` is not a comparison")


def prove_equal(left: IntExpr, right: IntExpr, ranges: Ranges) -> Proof:
    """Whether two expressions are equal for all values within `ranges`.

    >>> from relay.arith.expr import Symbol
    >>> n = Symbol("n")
    >>> prove_equal(2 * n, 2 * n + 1, {})
    <Proof.NO: 'no'>
    """
    return prove(Comparison(left, "==", right), ranges)


def _sign(difference: IntExpr, known: Assumptions) -> Proof:
    """Whether `difference >= 0`."""
    if known.is_non_negative(difference):
        return Proof.YES
    return Proof.NO if known.is_non_negative(-1 - difference) else Proof.UNKNOWN


def _is_zero(difference: IntExpr, known: Assumptions) -> Proof:
    if isinstance(difference, int):
        return Proof.YES if difference == 0 else Proof.NO
    constant, terms = linear_parts(difference)
    divisor = gcd(*(coefficient for _, coefficient in terms))
    if constant % divisor:
        return Proof.NO
    opposite = multiply(difference, -1)
    if known.is_non_negative(difference - 1) or known.is_non_negative(opposite - 1):
        return Proof.NO
    both = known.is_non_negative(difference) and known.is_non_negative(opposite)
    return Proof.YES if both else Proof.UNKNOWN


_OPPOSITE = {Proof.YES: Proof.NO, Proof.NO: Proof.YES, Proof.UNKNOWN: Proof.UNKNOWN}
