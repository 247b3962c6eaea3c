"""Storage plans: no two values alive at once share a byte, and little more is used than must be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relay.arith.expr import Symbol, substitute
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


@given(
    st.lists(
        st.tuples(st.sampled_from([4, 64, 100, 1000, 4000, 4096]), st.integers(0, 1), st.integers(0, 9)), max_size=20
    )
)
def test_values_of_open_sizes_alive_at_once_do_not_overlap_whatever_the_extents(kinds: list[tuple[int, int, int]]):
    symbols = Symbol("n"), Symbol("m")
    values = [Lifetime(size * symbols[which], at, at + size % 3) for size, which, at in kinds]
    plan = plan_storage(values)
    for extents in ((0, 0), (1, 7), (7, 1), (3, 1000)):
        known = dict(zip(symbols, extents, strict=True))
        offsets = [substitute(offset, known) for offset in plan.offsets_bytes]
        ends = [offset + substitute(value.size_bytes, known) for offset, value in zip(offsets, values, strict=True)]
        for i, left in enumerate(values):
            assert offsets[i] % ALIGNMENT_BYTES == 0
            assert ends[i] <= substitute(plan.total_bytes, known)
            for j, right in enumerate(values[:i]):
                assert not left.overlaps(right) or ends[i] <= offsets[j] or ends[j] <= offsets[i]


def test_multiples_of_an_open_extent_are_packed_as_numbers_are():
    n = Symbol("n")
    chain = [Lifetime(size * n, time, time + 1) for time, size in enumerate([64, 4096, 1024, 2048, 512])]
    plan = plan_storage(chain)
    assert plan.total_bytes == (4096 + 1024) * n
    assert plan.offsets_bytes[2] == 4096 * n
    assert plan.offsets_bytes[3] == 0
