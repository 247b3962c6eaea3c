"""The dimension symbols of a program, found from the extents of its inputs and of values that cross its boundary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from relay.arith.expr import IntExpr, Symbol, linear_parts
from relay.base.frozen import frozen, mutable
from relay.runtime.artefact.extent_json import extent_from_json
from relay.runtime.artefact.value_types import Extent


@frozen
class Source:
    """Where a symbol is read: an axis of an input, whose extent is `factor * symbol + offset`."""

    position: int
    axis: int
    factor: int
    offset: int

    @property
    def is_plain(self) -> bool:
        """Whether the extent is the symbol itself."""
        return self.factor == 1 and self.offset == 0

    def value(self, extent: int) -> int | None:
        """The symbol's value when the axis has this extent; None when no value of 0 or more gives it."""
        value, rest = divmod(extent - self.offset, self.factor)
        return value if rest == 0 and value >= 0 else None


def symbol_sources(shapes: Iterable[Sequence[IntExpr]]) -> dict[Symbol, Source]:
    """The symbols that these shapes determine, in the order in which they appear. An axis that is the symbol itself is
    taken before one that is a multiple of it.

    >>> n = Symbol("n")
    >>> symbol_sources([(2 * n + 1, 4)])[n].value(7)
    3
    """
    found: dict[Symbol, Source] = {}
    for position, shape in enumerate(shapes):
        for axis, extent in enumerate(shape):
            offset, terms = linear_parts(extent)
            if len(terms) != 1:
                continue
            symbol, factor = terms[0]
            if isinstance(symbol, Symbol) and (
                symbol not in found or (extent is symbol and not found[symbol].is_plain)
            ):
                found[symbol] = Source(position, axis, factor, offset)
    return found


@mutable
class Extents:
    """What the names of symbols in types stand for, found as values of these types are met."""

    known: dict[str, int] = field(default_factory=dict)
    open: list[tuple[Extent, int]] = field(default_factory=list)

    def copy(self) -> Extents:
        return Extents(dict(self.known))

    def number(self, extent: Extent) -> Extent:
        """The number that an extent stands for; the extent itself when that is not known."""
        if extent is None or isinstance(extent, int):
            return extent
        value = extent_from_json(extent, _Known(self.known))
        return value if isinstance(value, int) else extent

    def agree(self, extent: Extent, found: int) -> bool:
        """Whether an axis may have this many entries. Binds the symbol when that is the one thing unknown."""
        if isinstance(extent, int):
            return extent == found
        if extent is None:
            return True
        if isinstance(extent, str):
            return self.known.setdefault(extent, found) == found
        offset, terms = linear_parts(extent_from_json(extent, _Known(self.known)))
        if not terms:
            return offset == found
        symbol, factor = terms[0]
        if len(terms) > 1 or not isinstance(symbol, Symbol):
            self.open.append((extent, found))
            return True
        value = Source(0, 0, factor, offset).value(found)
        if value is not None:
            self.known[symbol.name] = value
        return value is not None

    def settle(self) -> Extent:
        """Make sure of the extents that stayed open. Gives one that does not agree, or that nothing determines; None
        when all do."""
        while self.open:
            waiting, self.open = self.open, []
            for extent, found in waiting:
                if not self.agree(extent, found):
                    return extent
            if len(self.open) == len(waiting):
                return waiting[0][0]
        return None


class _Known(dict[str, IntExpr]):
    """Names stand for what is known of them, or for symbols."""

    def __init__(self, known: Mapping[str, int]) -> None:
        super().__init__(known)

    def __missing__(self, name: str) -> IntExpr:
        symbol = self[name] = Symbol(name)
        return symbol
