"""What a processor does in a nanosecond, for passes that choose between two forms of a program: from its vectors and
caches.

The rates of products are those by which schedules share out work (`core`), of vectors of 512 bits; narrower ones
multiply less at a time. What loads a weight for each product is bound by the cache that the weights come from: the
second level gives twice what the third does.
"""

from __future__ import annotations

from relay.targets.cpu.core import core_of
from relay.targets.cpu.target import CpuTarget
from relay.transform.framework.context import Rates


def rates_of(target: CpuTarget) -> Rates:
    """The rates of a resolved target.

    >>> rates_of(CpuTarget(vector_bits=256, l2_bytes=1 << 19)).tiled_products
    30.0
    """
    core = core_of(target)
    return Rates(
        tiled_products=core.tiled_products * core.speed,
        streamed_products=core.near * core.streamed_products * min(1.0, 2 * core.speed),
        far_products=float(core.streamed_products),
        near_bytes=core.l2_bytes // 2,
        copied_bytes=core.copied_bytes,
        far_copied_bytes=core.far_copied_bytes,
        cached_bytes=core.l3_bytes // core.cached_share,
        sum_nanoseconds=core.lane_sum,
        call_nanoseconds=core.call,
        repeated_call_nanoseconds=core.repeated_call,
    )
