"""How the work of an action grows with its input: in calls and not in seconds, so that it holds on any machine."""

import sys
from collections.abc import Callable


def calls(action: Callable[[], object]) -> int:
    """The number of calls of Python and built-in functions that the action makes."""
    count = 0

    def profile(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def is_linear(action: Callable[[int], object], size: int) -> bool:
    """Whether twice the input costs little more than twice the calls (quadratic growth would cost four times)."""
    action(size)  # caches fill
    return calls(lambda: action(2 * size)) < 2.5 * calls(lambda: action(size))
