"""How far a rewrite or an algorithm may change floating-point results, and kernels those that an operator means."""

from __future__ import annotations

from enum import IntEnum


class FloatingPointClass(IntEnum):
    """From bit-identical to anything goes; a setting allows all classes up to one.

    >>> FloatingPointClass.EXACT <= FloatingPointClass.ROUNDING
    True
    """

    EXACT = 0  # bit for bit the same
    ROUNDING = 1  # reassociation, fused multiply-add, split sums, folded scales, functions of a few ulp
    NONFINITE_MAY_SPREAD = 2  # an infinity or NaN may reach more elements (Winograd)
    FAST_MATH = 3  # assumes that there are no NaN, infinities or signed zeros


_LEVELS = {
    FloatingPointClass.EXACT: 0,
    FloatingPointClass.ROUNDING: 2,
    FloatingPointClass.NONFINITE_MAY_SPREAD: 3,
    FloatingPointClass.FAST_MATH: 4,
}


def level_that_allows(floating_point: FloatingPointClass) -> int:
    """The optimization level from which rewrites of a class are allowed.

    >>> level_that_allows(FloatingPointClass.FAST_MATH)
    4
    """
    return _LEVELS[floating_point]
