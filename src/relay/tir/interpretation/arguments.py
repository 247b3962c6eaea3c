"""Are these arrays what a PrimFunc takes? And what do its symbols stand for then?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from relay.arith.expr import Symbol, evaluate
from relay.base.diagnostics import RelayError
from relay.tir.buffer import Buffer
from relay.tir.stmt import PrimFunc

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def symbol_values(
    func: PrimFunc, arrays: Sequence[Array], given: Mapping[Symbol, int] | Sequence[int]
) -> dict[Symbol, int]:
    """The value of every symbol of `func`: as given, in order or by symbol, or read off the shapes of `arrays`."""
    if len(arrays) != len(func.parameters):
        raise _bad_arguments(func.name, f"{len(func.parameters)} arrays", f"{len(arrays)}")
    values = dict(given) if isinstance(given, Mapping) else dict(zip(func.symbols, given, strict=False))
    for buffer, array in zip(func.parameters, arrays, strict=True):
        if array.ndim != len(buffer.shape):
            raise _bad_arguments(buffer.name, f"{len(buffer.shape)} axes", f"shape {array.shape}")
        for extent, size in zip(buffer.shape, array.shape, strict=True):
            if isinstance(extent, Symbol):
                values.setdefault(extent, size)
    missing = [symbol.name for symbol in func.symbols if symbol not in values]
    if missing:
        raise _bad_arguments(func.name, f"values of the symbols {', '.join(missing)}", "none")
    return values


def check_argument(buffer: Buffer, array: Array, values: Mapping[Symbol, int]) -> None:
    """Refuse an array that is not what `buffer` is, with symbols at these values."""
    shape = tuple(evaluate(extent, values) for extent in buffer.shape)
    if array.shape != shape or array.dtype != buffer.dtype.numpy:
        raise _bad_arguments(buffer.name, f"{buffer.dtype}{list(shape)}", f"{array.dtype}{list(array.shape)}")


def _bad_arguments(name: str, expected: str, found: str) -> RelayError:
    return RelayError(
        rule="kernel-arguments",
        message=f"`{name}` was given other arguments than it takes",
        expected=expected,
        found=found,
    )
