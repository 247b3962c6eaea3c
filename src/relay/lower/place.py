"""Where values are: registers, and the places of what kernels read and write."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias, Union

from relay.arith.expr import Comparison, IntExpr, add
from relay.base.diagnostics import CompilerBug
from relay.base.dtypes import DType
from relay.base.frozen import frozen


@frozen
class Register:
    """One word, written once."""

    number: int

    def __str__(self) -> str:
        return f"%{self.number}"


@frozen
class Scalar:
    """A register that holds a scalar: its bytes, as they are in memory, and zeros."""

    register: Register
    dtype: DType

    def __str__(self) -> str:
        return f"{self.register}:{self.dtype}"


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
class ArenaPlace:
    """The bytes at `offset_bytes` of the call's arena."""

    offset_bytes: IntExpr

    def __str__(self) -> str:
        return f"arena[{self.offset_bytes}]"


@frozen
class DataPlace:
    """The data of the tensor in a register, from byte `offset_bytes` on."""

    tensor: Register
    offset_bytes: int = 0

    def __str__(self) -> str:
        return f"{self.tensor}{_further(self.offset_bytes)}"


Place: TypeAlias = Union[InputPlace, OutputPlace, ConstantPlace, ArenaPlace, DataPlace, Scalar]


def _further(offset_bytes: int) -> str:
    return f" + {offset_bytes}" if offset_bytes else ""


def moved(place: Place, by_bytes: int) -> Place:
    """The place so many bytes behind another; a scalar has no parts.

    >>> print(moved(OutputPlace(0), 256), moved(ArenaPlace(64), 256))
    output[0] + 256 arena[320]
    """
    if isinstance(place, Scalar):
        raise CompilerBug("lower", f"a part of the scalar {place}")
    return replace(place, offset_bytes=add(place.offset_bytes, by_bytes))


@frozen
class CheckExtents:
    """Return failure number `failure` unless `condition` holds."""

    condition: Comparison
    failure: int

    def __str__(self) -> str:
        return f"check {self.condition} else fail {self.failure}"
