"""What a manifest tells of the regions that an entry runs."""

from __future__ import annotations

from collections.abc import Iterator

from relay.arith.expr import IntExpr, Symbol, free_symbols, substitute
from relay.base.names.fresh_names import FreshNames
from relay.lower.program.procedure import CallProcedure, NewClosure, Procedure, TailCall
from relay.lower.program.program import Entry, Program
from relay.lower.program.region import RunRegion
from relay.runtime.artefact.work import ArenaBuffer, RegionSpec


def region_specs(entry: Entry, program: Program) -> tuple[RegionSpec, ...]:
    """Those of its procedure, and of all that this may call, by the names of procedures and their numbers there."""
    if entry.is_flat:
        regions = program.procedure(entry.procedure).regions()
        return tuple(RegionSpec(each.arena_bytes, each.arena) for each in regions)
    return tuple(
        _spec(region, name, entry)
        for procedure in _called(entry.procedure, program)
        for name, region in named_regions(procedure)
    )


def named_regions(procedure: Procedure) -> Iterator[tuple[str, RunRegion]]:
    """The regions of a procedure, by the names that profiles and graphs call them."""
    return ((f"@{procedure.name}, region {number}", each) for number, each in enumerate(procedure.regions(), start=1))


def _called(name: str, program: Program) -> list[Procedure]:
    """A procedure, and those that it may call."""
    found: dict[str, Procedure] = {}
    waiting = [name]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = procedure = program.procedure(name)
            made = (each for each in procedure.instructions() if isinstance(each, CallProcedure | NewClosure))
            jumps = (block.terminator for block in procedure.blocks if isinstance(block.terminator, TailCall))
            waiting += (each.procedure for each in (*made, *jumps))
    return list(found.values())


def _spec(region: RunRegion, name: str, entry: Entry) -> RegionSpec:
    """A region of a procedure that finds its extents itself, under names that no others have."""
    names = FreshNames({each.name for each in entry.symbols}.__contains__)
    numbers = (region.arena_bytes, *(each for room in region.arena for each in (room.offset_bytes, room.size_bytes)))
    found = dict.fromkeys(sorted((s for each in numbers for s in free_symbols(each)), key=lambda symbol: symbol.name))
    known: dict[Symbol, IntExpr] = {symbol: Symbol(names.take(symbol.name)) for symbol in found}
    arena = tuple(
        ArenaBuffer(
            each.kernel, substitute(each.offset_bytes, known), substitute(each.size_bytes, known), each.first, each.last
        )
        for each in region.arena
    )
    opened = tuple(each for each in known.values() if isinstance(each, Symbol))
    return RegionSpec(substitute(region.arena_bytes, known), arena, name, opened)
