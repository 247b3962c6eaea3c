"""Where values are: registers, and the places of what kernels read and write."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias, Union

from relay.arith.expr import Comparison, IntExpr, add
from relay.base.diagnostics import CompilerBug
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.lower.program.device import Device
from relay.lower.program.form import Form


@frozen
class Register(Form):
    """One word, written once."""

    form = "%{number}"

    number: int


@frozen
class Scalar(Form):
    """A register that holds a scalar: its bytes, as they are in memory, and zeros."""

    form = "{register}:{dtype}"

    register: Register
    dtype: DType


@frozen
class Address(Form):
    """A register that holds the address of an array of the caller's."""

    form = "{register}:address"

    register: Register


@frozen
class Buffer(Form):
    """A register that holds a tensor whose data are on a device."""

    form = "{register}:{device}"

    register: Register
    device: Device


Held: TypeAlias = Union[Scalar, Buffer, Register]
"""What blocks and procedures hand on: a scalar, a word, or the word of a tensor on a device, which says so where it is
written. Whoever reads that names the register alone."""

Kind: TypeAlias = Union[DType, Device, Literal["word", "address"]]


def kind_of(held: Held | Address) -> Kind:
    match held:
        case Register():
            return "word"
        case Scalar(_, dtype):
            return dtype
        case Buffer(_, device):
            return device
        case Address():
            return "address"


def register_of(held: Held | Address) -> Register:
    """Where something is held."""
    return held if isinstance(held, Register) else held.register


@frozen
class AddressPlace(Form):
    """The array of the caller's whose address is in a register, from byte `offset_bytes` on."""

    form = "*{array}{ + offset_bytes?}"

    array: Register
    offset_bytes: int = 0


@frozen
class ConstantPlace(Form):
    """The bytes at `offset_bytes` of the program's constants."""

    form = "constant[{offset_bytes}]"

    offset_bytes: int


@frozen
class ArenaPlace(Form):
    """The bytes at `offset_bytes` of the call's arena."""

    form = "arena[{offset_bytes}]"

    offset_bytes: IntExpr


@frozen
class DataPlace(Form):
    """The data of the tensor in a register, from byte `offset_bytes` on: they are where the tensor is."""

    form = "{tensor}{ + offset_bytes?}"

    tensor: Register
    offset_bytes: int = 0


Place: TypeAlias = Union[AddressPlace, ConstantPlace, ArenaPlace, Scalar, DataPlace]


def moved(place: Place, by_bytes: int) -> Place:
    """The place so many bytes behind another; a scalar has no parts.

    >>> print(moved(AddressPlace(Register(0)), 256), moved(ArenaPlace(64), 256))
    *%0 + 256 arena[320]
    """
    if isinstance(place, Scalar):
        raise CompilerBug("lower", f"a part of the scalar {place}")
    return replace(place, offset_bytes=add(place.offset_bytes, by_bytes))


@frozen
class CheckExtents(Form):
    """End the entry's call with failure number `failure` unless `condition` holds."""

    form = "check {condition} else fail {failure}"

    condition: Comparison
    failure: int
