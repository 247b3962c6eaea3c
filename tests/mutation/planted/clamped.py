"""A function of which one half is tested: the campaign must find the other."""


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
