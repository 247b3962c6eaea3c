"""The dimension symbols of a program, found from the extents of its inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from relay.arith.expr import IntExpr, Symbol, linear_parts


@dataclass(frozen=True, slots=True)
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
