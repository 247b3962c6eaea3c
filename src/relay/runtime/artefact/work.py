"""What an artefact says of the work in it: each kernel's multiply-adds and bytes, and who lives where in a workspace.

The compiler counts, and a loaded artefact can be profiled without it. Counts are extents (`extent_json`): numbers, or
expressions in the symbols that a call passes to the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relay.arith.expr import IntExpr, Symbol
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.runtime.artefact.extent_json import extent_from_json, extent_to_json


@frozen
class KernelWork:
    """One call of a kernel: what it computes and how much it must read and write.

    `operators` are the operators that it was fused of, in the order of the program. It takes `pointers` addresses, then
    the extents `symbols`. `dtype` is the type that its products are of, or its first result. `constant_bytes` are read
    from constants, `value_bytes` are the other inputs and the results, each counted once. A count is None where only
    the run can tell it (an extent that values decide)."""

    name: str
    operators: tuple[str, ...]
    pointers: int
    symbols: tuple[Symbol, ...]
    dtype: DType
    multiply_adds: IntExpr | None
    constant_bytes: IntExpr | None
    value_bytes: IntExpr | None


@frozen
class ArenaBuffer:
    """A value of `size_bytes` at `offset_bytes` of a region's arena. Kernel call number `first` of the region
    writes it (`kernel` is its name), call number `last` is the last to read it."""

    kernel: str
    offset_bytes: IntExpr
    size_bytes: IntExpr
    first: int
    last: int


@frozen
class RegionSpec:
    """A region of kernels that an entry runs, and what is where in its arena of `arena_bytes`. `name` tells it from
    others, where there are others. `open_symbols` are the extents in it that only the run tells."""

    arena_bytes: IntExpr
    arena: tuple[ArenaBuffer, ...]
    name: str = ""
    open_symbols: tuple[Symbol, ...] = ()


def work_to_json(work: KernelWork) -> Any:
    return {
        "name": work.name,
        "operators": list(work.operators),
        "pointers": work.pointers,
        "symbols": [symbol.name for symbol in work.symbols],
        "dtype": str(work.dtype),
        "work": [_count_to_json(each) for each in (work.multiply_adds, work.constant_bytes, work.value_bytes)],
    }


def work_from_json(value: Any) -> KernelWork:
    symbols = {str(name): Symbol(str(name)) for name in value["symbols"]}
    multiply_adds, constant_bytes, value_bytes = (_count_from_json(each, symbols) for each in value["work"])
    pointers = int(value["pointers"])
    if pointers < 0 or len(symbols) != len(value["symbols"]):
        raise ValueError(f"a kernel of {pointers} pointers and the symbols {value['symbols']}")
    return KernelWork(
        name=str(value["name"]),
        operators=tuple(map(str, value["operators"])),
        pointers=pointers,
        symbols=tuple(symbols.values()),
        dtype=DType(value["dtype"]),
        multiply_adds=multiply_adds,
        constant_bytes=constant_bytes,
        value_bytes=value_bytes,
    )


def buffer_to_json(buffer: ArenaBuffer) -> Any:
    extents = [extent_to_json(each) for each in (buffer.offset_bytes, buffer.size_bytes)]
    return [buffer.kernel, *extents, buffer.first, buffer.last]


def buffer_from_json(value: Any, symbols: Mapping[str, Symbol]) -> ArenaBuffer:
    kernel, offset, size, first, last = value
    return ArenaBuffer(
        str(kernel), extent_from_json(offset, symbols), extent_from_json(size, symbols), int(first), int(last)
    )


def region_to_json(region: RegionSpec) -> Any:
    return {
        "arena_bytes": extent_to_json(region.arena_bytes),
        "arena": list(map(buffer_to_json, region.arena)),
        **({"name": region.name} if region.name else {}),
        **({"open_symbols": [each.name for each in region.open_symbols]} if region.open_symbols else {}),
    }


def region_from_json(value: Any, symbols: Mapping[str, Symbol]) -> RegionSpec:
    opened = {str(name): Symbol(str(name)) for name in value.get("open_symbols", [])}
    if opened.keys() & symbols.keys():
        raise ValueError(f"the inputs tell {', '.join(opened)}")
    known = {**symbols, **opened}
    arena = tuple(buffer_from_json(each, known) for each in value["arena"])
    name = str(value.get("name", ""))
    return RegionSpec(extent_from_json(value["arena_bytes"], known), arena, name, tuple(opened.values()))


def _count_to_json(count: IntExpr | None) -> Any:
    return None if count is None else extent_to_json(count)


def _count_from_json(value: Any, symbols: Mapping[str, Symbol]) -> IntExpr | None:
    return None if value is None else extent_from_json(value, symbols)
