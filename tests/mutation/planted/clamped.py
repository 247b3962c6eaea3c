"""A function of which one half is tested: the campaign must find the other."""

from collections.abc import Callable
from functools import wraps


def clamped(value: int, low: int, high: int) -> int:
    """`value`, or the limit that it exceeds.

    >>> clamped(0, 1, 3), clamped(1, 1, 3), clamped(2, 1, 3)
    (1, 1, 2)
    """
    if value < low:
        return low
    return high if value > high else value


def forgotten(value: int) -> int | None:
    """A function without a test."""
    return value + 1


def _positive(function: Callable[[int], int]) -> Callable[[int], int]:
    """A decorator, which has run when a mistake is made in it."""

    @wraps(function)
    def applied(value: int) -> int:
        return function(value) if value > 0 else 0

    return applied


@_positive
def successor(value: int) -> int:
    """The next number.

    >>> successor(1), successor(-1), successor(-2)
    (2, 0, 0)
    """
    return value + 1
