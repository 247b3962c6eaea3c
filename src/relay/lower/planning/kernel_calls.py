"""What it takes to call a kernel: its name and extents, the bytes of its results, and where constants stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import IntExpr, Symbol, free_symbols, multiply, substitute
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen, mutable
from relay.ir.expr import Expr, Function
from relay.ir.types import ANY, TensorType
from relay.lower.planning.storage import ALIGNMENT_BYTES
from relay.lower.program.place import ConstantPlace
from relay.lower.program.program import ConstantData
from relay.lower.refusal import not_native

KernelOf: TypeAlias = Callable[[Function], "KernelInfo"]
"""Names the kernel of a primitive function; equal functions get one kernel."""


@frozen
class KernelInfo:
    """How a kernel is called: its symbol, the dimension symbols it takes, what these are in terms of the parameters of
    the function that it computes (`extents`), and the positions of the inputs that its results may be written over,
    each over one. `of_scalars`: it reads, computes and gives nothing but scalars, and is a formula. `on_device`: it is
    a region of kernels that run on a device."""

    name: str
    symbols: tuple[Symbol, ...]
    extents: tuple[IntExpr, ...]
    in_place: tuple[int, ...] = ()
    of_scalars: bool = False
    on_device: bool = False


@mutable
class Constants:
    """Constants of all functions, each array once, by identity."""

    places: dict[int, ConstantPlace] = field(default_factory=dict)
    data: list[ConstantData] = field(default_factory=list)
    size_bytes: int = 0

    def place(self, array: NDArray[np.generic]) -> ConstantPlace:
        if id(array) not in self.places:
            self.places[id(array)] = ConstantPlace(self.size_bytes)
            self.data.append(ConstantData(self.size_bytes, array))
            self.size_bytes += -(-array.nbytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        return self.places[id(array)]


def extents_of(function: Function, types: Sequence[TensorType]) -> dict[Symbol, IntExpr]:
    """The symbols of a primitive function's parameters, in terms of the caller's dimensions."""
    known: dict[Symbol, IntExpr] = {}
    for parameter, type_ in zip(function.params, types, strict=True):
        declared = parameter.checked_type
        if isinstance(declared, TensorType):
            for symbol, extent in zip(declared.shape, type_.shape, strict=True):
                if isinstance(symbol, Symbol):
                    known.setdefault(symbol, extent)
                for free in free_symbols(symbol):
                    known.setdefault(free, free)
    return known


def extent_here(extent: IntExpr, symbols: Mapping[Symbol, IntExpr], where: Expr) -> IntExpr:
    """An extent in terms of the symbols that are defined in a procedure.

    Raises `RelayError` (rule `not-native-yet`) when nothing before determines it.
    """
    if isinstance(extent, int):
        return extent
    unknown = [symbol.name for symbol in free_symbols(extent) if symbol not in symbols]
    if unknown:
        raise not_native(where, f"needs the extent `{min(unknown)}`, which no value before determines")
    if extent == ANY:
        raise not_native(where, "needs an extent that is only known at run time, inside a value")
    return substitute(extent, symbols)


def size_bytes(type_: TensorType) -> IntExpr:
    """The bytes of a tensor. Raises `RelayError` for an extent that inputs do not determine."""
    total: IntExpr = type_.dtype.item_bytes
    for extent in type_.shape:
        if extent == ANY:
            raise RelayError(
                rule="not-native-yet",
                message=f"a value has the type {type_}, whose extent is only known at run time",
                remedy='run it with relay.create_executor("interpreter")',
            )
        total = multiply(total, extent)
    return total
