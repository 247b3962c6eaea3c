"""Where values are: registers, and the places of what kernels read and write."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias, Union

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
class Address:
    """A register that holds the address of an array of the caller's."""

    register: Register

    def __str__(self) -> str:
        return f"{self.register}:address"


Held: TypeAlias = Union[Register, Scalar]
"""What blocks and procedures hand on: a word, or a scalar."""

Kind: TypeAlias = Union[DType, Literal["word", "address"]]


def kind_of(held: Held | Address) -> Kind:
    match held:
        case Register():
            return "word"
        case Scalar(_, dtype):
            return dtype
        case Address():
            return "address"


def register_of(held: Held | Address) -> Register:
    """Where something is held."""
    return held if isinstance(held, Register) else held.register


@frozen
class AddressPlace:
    """The array of the caller's whose address is in a register, from byte `offset_bytes` on."""

    array: Register
    offset_bytes: int = 0

    def __str__(self) -> str:
        return f"*{self.array}{_further(self.offset_bytes)}"


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


Place: TypeAlias = Union[AddressPlace, ConstantPlace, ArenaPlace, DataPlace, Scalar]


def _further(offset_bytes: int) -> str:
    return f" + {offset_bytes}" if offset_bytes else ""


def moved(place: Place, by_bytes: int) -> Place:
    """The place so many bytes behind another; a scalar has no parts.

    >>> print(moved(AddressPlace(Register(0)), 256), moved(ArenaPlace(64), 256))
    *%0 + 256 arena[320]
    """
    if isinstance(place, Scalar):
        raise CompilerBug("lower", f"a part of the scalar {place}")
    return replace(place, offset_bytes=add(place.offset_bytes, by_bytes))


@frozen
class CheckExtents:
    """End the entry's call with failure number `failure` unless `condition` holds."""

    condition: Comparison
    failure: int

    def __str__(self) -> str:
        return f"check {self.condition} else fail {self.failure}"
