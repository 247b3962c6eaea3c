"""Where values are that have their place before anything runs, and the one thing that all code checks."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias, Union

from relay.arith.expr import Comparison, IntExpr, add
from relay.base.frozen import frozen


@frozen
class InputPlace:
    """The caller's array number `index`, from byte `offset_bytes` on."""

    index: int
    offset_bytes: int = 0

    def __str__(self) -> str:
        return f"input[{self.index}]{_further(self.offset_bytes)}"


@frozen
class OutputPlace:
    """The array number `index` that the caller made for a result, from byte `offset_bytes` on."""

    index: int
    offset_bytes: int = 0

    def __str__(self) -> str:
        return f"output[{self.index}]{_further(self.offset_bytes)}"


@frozen
class ConstantPlace:
    """The bytes at `offset_bytes` of the program's constants."""

    offset_bytes: int

    def __str__(self) -> str:
        return f"constant[{self.offset_bytes}]"


@frozen
class WorkspacePlace:
    """The bytes at `offset_bytes` of the call's workspace."""

    offset_bytes: IntExpr

    def __str__(self) -> str:
        return f"workspace[{self.offset_bytes}]"


Place: TypeAlias = Union[InputPlace, OutputPlace, ConstantPlace, WorkspacePlace]


def _further(offset_bytes: int) -> str:
    return f" + {offset_bytes}" if offset_bytes else ""


def moved(place: Place, by_bytes: int) -> Place:
    """The place so many bytes behind another.

    >>> print(moved(OutputPlace(0), 256), moved(WorkspacePlace(64), 256))
    output[0] + 256 workspace[320]
    """
    return replace(place, offset_bytes=add(place.offset_bytes, by_bytes))


@frozen
class CheckExtents:
    """Return failure number `failure` unless `condition` holds."""

    condition: Comparison
    failure: int

    def __str__(self) -> str:
        return f"check {self.condition} else fail {self.failure}"
