"""From what a schedule makes to what targets emit: the passes of `tir/passes`, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from relay.tir.passes.dispatch_tails import dispatch_tails
from relay.tir.passes.hoist_invariants import hoist_invariants
from relay.tir.passes.partition_loops import partition_loops
from relay.tir.passes.simplify import simplify
from relay.tir.passes.unroll_loops import unroll_loops
from relay.tir.passes.vectorize_loops import vectorize_loops
from relay.tir.stmt import PrimFunc

Pass = Callable[[PrimFunc], PrimFunc]
PASSES: tuple[tuple[str, Pass], ...] = (
    ("simplify", simplify),
    ("partition_loops", partition_loops),
    ("simplify_partitions", simplify),
    ("dispatch_tails", dispatch_tails),
    ("vectorize_loops", vectorize_loops),
    ("simplify_vectors", simplify),
    ("hoist_invariants", hoist_invariants),
    ("unroll_loops", unroll_loops),
)
"""Names and passes. Unrolling decides what it can itself, so nothing has to follow it."""


def lower(func: PrimFunc) -> PrimFunc:
    """The same function with loops SERIAL, PARALLEL or THREAD only, explicit vectors, registers indexed by constants.

    Raises `RelayError`: `register-index`, `unroll-too-large`.
    """
    for _, lowered in lowering_stages(func):
        func = lowered
    return func


def lowering_stages(func: PrimFunc) -> Iterator[tuple[str, PrimFunc]]:
    """Each pass's name and what it makes of `func`, in order: what a user looks at."""
    for name, apply in PASSES:
        func = apply(func)
        yield name, func
