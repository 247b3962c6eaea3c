"""Where values are that have their place before anything runs, and the one thing that all code checks."""

from __future__ import annotations

from typing import TypeAlias, Union

from relay.arith.expr import Comparison, IntExpr
from relay.base.frozen import frozen


@frozen
class InputPlace:
    """The caller's array number `index`."""

    index: int

    def __str__(self) -> str:
        return f"input[{self.index}]"


@frozen
class OutputPlace:
    """The array number `index` that the caller made for a result."""

    index: int

    def __str__(self) -> str:
        return f"output[{self.index}]"


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


@frozen
class CheckExtents:
    """Return failure number `failure` unless `condition` holds."""

    condition: Comparison
    failure: int

    def __str__(self) -> str:
        return f"check {self.condition} else fail {self.failure}"
