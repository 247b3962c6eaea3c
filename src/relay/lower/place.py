"""Where values are that have their place before anything runs, and the one thing that all code checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, Union

from relay.arith.expr import Comparison, IntExpr


@dataclass(frozen=True, slots=True)
class InputPlace:
    """The caller's array number `index`."""

    index: int

    def __str__(self) -> str:
        return f"input[{self.index}]"


@dataclass(frozen=True, slots=True)
class OutputPlace:
    """The array number `index` that the caller made for a result."""

    index: int

    def __str__(self) -> str:
        return f"output[{self.index}]"


@dataclass(frozen=True, slots=True)
class ConstantPlace:
    """The bytes at `offset_bytes` of the program's constants."""

    offset_bytes: int

    def __str__(self) -> str:
        return f"constant[{self.offset_bytes}]"


@dataclass(frozen=True, slots=True)
class WorkspacePlace:
    """The bytes at `offset_bytes` of the call's workspace."""

    offset_bytes: IntExpr

    def __str__(self) -> str:
        return f"workspace[{self.offset_bytes}]"


Place: TypeAlias = Union[InputPlace, OutputPlace, ConstantPlace, WorkspacePlace]


@dataclass(frozen=True, slots=True)
class CheckExtents:
    """Return failure number `failure` unless `condition` holds."""

    condition: Comparison
    failure: int

    def __str__(self) -> str:
        return f"check {self.condition} else fail {self.failure}"
