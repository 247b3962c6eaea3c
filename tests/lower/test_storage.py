"""Storage plans: no two values alive at once share a byte, and little more is used than must be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relay.arith.expr import Symbol
from relay.lower.planning.storage import ALIGNMENT_BYTES, Lifetime, plan_storage
from tests.growth import is_linear

LIFETIMES = st.lists(
    st.tuples(st.integers(1, 5000), st.integers(0, 12), st.integers(0, 12)).map(
        lambda t: Lifetime(t[0], min(t[1:]), max(t[1:]))
    ),
    max_size=30,
)


@given(LIFETIMES)
def test_values_alive_at_once_do_not_overlap(values: list[Lifetime]) -> None:
    plan = plan_storage(values)
    for i, left in enumerate(values):
        for j, right in enumerate(values[:i]):
            if left.overlaps(right):
                a, b = plan.offsets_bytes[i], plan.offsets_bytes[j]
                assert a + left.size_bytes <= b or b + right.size_bytes <= a
    assert all(offset % ALIGNMENT_BYTES == 0 for offset in plan.offsets_bytes)
    assert all(o + v.size_bytes <= plan.total_bytes for o, v in zip(plan.offsets_bytes, values, strict=True))


def test_a_chain_needs_two_buffers() -> None:
    chain = [Lifetime(1024, time, time + 1) for time in range(50)]
    plan = plan_storage(chain)
    assert plan.total_bytes == 2048


def test_values_of_one_symbolic_size_share_a_slot_when_they_can() -> None:
    n = Symbol("n")
    plan = plan_storage([Lifetime(4 * n, 0, 1), Lifetime(4 * n, 1, 2), Lifetime(4 * n, 2, 3)])
    assert plan.offsets_bytes[0] == plan.offsets_bytes[2] != plan.offsets_bytes[1]


def test_values_that_live_long_are_placed_in_linear_time():
    """As those are that the way back of a deep program reads: the first last."""

    def planned(count: int) -> None:
        plan_storage([Lifetime(256, at, 2 * count - at) for at in range(count)])

    assert is_linear(planned, 400)
