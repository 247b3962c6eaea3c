"""What a processor does in a nanosecond, for passes that choose between two forms of a program: from its vectors and
caches.

The rates of products are those by which schedules share out work (`schedules.plan`), of vectors of 512 bits; narrower
ones multiply less at a time. What loads a weight for each product is bound by the cache that the weights come from: the
second level gives twice what the third does.
"""

from __future__ import annotations

from relay.targets.cpu.schedules.plan import STREAMED_PRODUCTS_PER_NANOSECOND, TILED_PRODUCTS_PER_NANOSECOND
from relay.targets.cpu.target import CpuTarget
from relay.transform.framework.context import Rates

_WIDEST_VECTOR_BITS = 512
_NEAR = 2.0  # times the rate of what comes from the third level
_COPIED_BYTES = 20.0
_FAR_COPIED_BYTES = 6.0  # to memory that the system may have to map first
_CACHED_SHARE = 4  # of the third-level cache, for what is read and written beside all else
_SUM_NANOSECONDS = 2.0  # four steps, each of which waits for the one before
_CALL_NANOSECONDS = 50.0  # a jump to code that is in no near cache, checks, and a cell of the heap
_REPEATED_CALL_NANOSECONDS = 10.0  # the same where code and cell have just been used


def rates_of(target: CpuTarget) -> Rates:
    """The rates of a resolved target.

    >>> rates_of(CpuTarget(vector_bits=256, l2_bytes=1 << 19)).tiled_products
    30.0
    """
    width = target.register_bits / _WIDEST_VECTOR_BITS
    return Rates(
        tiled_products=TILED_PRODUCTS_PER_NANOSECOND * width,
        streamed_products=_NEAR * STREAMED_PRODUCTS_PER_NANOSECOND * min(1.0, 2 * width),
        far_products=float(STREAMED_PRODUCTS_PER_NANOSECOND),
        near_bytes=target.cache_bytes[1] // 2,
        copied_bytes=_COPIED_BYTES,
        far_copied_bytes=_FAR_COPIED_BYTES,
        cached_bytes=target.cache_bytes[2] // _CACHED_SHARE,
        sum_nanoseconds=_SUM_NANOSECONDS,
        call_nanoseconds=_CALL_NANOSECONDS,
        repeated_call_nanoseconds=_REPEATED_CALL_NANOSECONDS,
    )
