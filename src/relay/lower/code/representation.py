"""How a value is held while a procedure runs, and how it is passed from one to another.

    Boxed      one word: a counted object, or one without fields; of a tensor on a device, that too
    Unboxed    a scalar: its bits
    ScalarReplaced   a tuple that is not made: its fields, each in a way of its own

A value's type decides: tensors without axes are scalars, small tuples are taken apart. What is stored (fields of cells,
captures of closures, refs), what is of a type that the caller chooses, and what goes through a closure is boxed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, Union

from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.types import TensorType, TupleType, Type
from relay.lower.program.device import Device
from relay.lower.program.place import Kind

MOST_PARTS = 8
MOST_RESULTS = 3
"""How many words a procedure can give back in registers: three on x86-64."""


@frozen
class Boxed:
    """One word; `device`: where the data of its tensor are, if not on the host."""

    device: Device | None = None


@frozen
class Unboxed:
    """The bits of a scalar."""

    dtype: DType


@frozen
class ScalarReplaced:
    """The fields of a tuple."""

    parts: tuple[Representation, ...]


Path: TypeAlias = tuple[int, ...]
"""Where something is in nested tuples: the fields to go through."""
Representation: TypeAlias = Union[Boxed, Unboxed, ScalarReplaced]
BOXED = Boxed()


@frozen
class Convention:
    """How a procedure takes its arguments and gives its result."""

    parameters: tuple[Representation, ...]
    result: Representation

    @property
    def is_boxed(self) -> bool:
        """Whether closures, which know only words, can be called this way."""
        return all(isinstance(each, Boxed) for each in (*self.parameters, self.result))


def nowhere(path: Path) -> None:
    """No tensor is on a device."""


def representation(
    type_: Type | None, device_of: Callable[[Path], Device | None] = nowhere, path: Path = ()
) -> Representation:
    """How values of a type are held. `device_of` says where the data of a tensor in nested tuples are, if not on the
    host; the value is found there at `path` itself.

    >>> representation(TupleType((TensorType((), DType.INT32), TensorType((4,), DType.INT32))))
    ScalarReplaced(parts=(Unboxed(dtype=<DType.INT32: 'int32'>), Boxed(device=None)))
    """
    match type_:
        case TensorType(shape=(), dtype=dtype):
            return Unboxed(dtype)
        case TensorType():
            return Boxed(device_of(path))
        case TupleType(fields) if 0 < len(fields) <= MOST_PARTS:
            parts = (representation(each, device_of, (*path, index)) for index, each in enumerate(fields))
            whole = ScalarReplaced(tuple(parts))
            return whole if register_count(whole) <= MOST_PARTS else BOXED
        case _:
            return BOXED


def leaves(whole: Representation) -> Iterator[Boxed | Unboxed]:
    """What each register of a value holds, in order."""
    if isinstance(whole, ScalarReplaced):
        for part in whole.parts:
            yield from leaves(part)
    else:
        yield whole


def kinds(whole: Representation) -> tuple[Kind, ...]:
    """What the registers of a value hold, in order."""
    return tuple(each.dtype if isinstance(each, Unboxed) else each.device or "word" for each in leaves(whole))


def register_count(whole: Representation) -> int:
    return sum(1 for _ in leaves(whole))
