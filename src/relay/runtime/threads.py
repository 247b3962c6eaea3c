"""How many threads native code uses, process-wide: there is one pool, whatever is loaded."""

from __future__ import annotations

from relay.base.diagnostics import RelayError
from relay.runtime.objects import set_pool_threads


def set_num_threads(count: int) -> None:
    """Let parallel regions use at most `count` threads (never more than the processors this process may run on).

    Raises `RelayError` (rule `bad-threads`) when `count` is not positive.
    """
    if count < 1:
        raise RelayError(
            rule="bad-threads", message="a thread count is at least 1", expected="1 or more", found=str(count)
        )
    set_pool_threads(count)
