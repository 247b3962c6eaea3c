"""Elements of arrays by index, one or a vector of them, and the errors of those that must not be touched."""

from __future__ import annotations

from typing import Any

import numpy as np

from relay.base.diagnostics import RelayError
from relay.tir.buffer import Buffer
from relay.tir.interpretation.arguments import Array


def carried(positions: tuple[Any, ...], last: int, rows: int, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Positions where what runs over the end of axis `last` goes on in the `rows` axes before."""
    result = list(positions)
    for axis in range(last, last - rows, -1):
        result[axis - 1], result[axis] = np.divmod(result[axis], shape[axis])
    return tuple(result)


def active_positions(positions: tuple[Any, ...], active: Array) -> tuple[Any, ...]:
    return tuple(position[active] if isinstance(position, np.ndarray) else position for position in positions)


def check_range(buffer: Buffer, what: str, positions: tuple[Any, ...], shape: tuple[int, ...]) -> None:
    for axis, (position, extent) in enumerate(zip(positions, shape, strict=True)):
        if isinstance(position, int):
            inside = 0 <= position < extent
        else:
            inside = not position.size or (position.min() >= 0 and position.max() < extent)
        if not inside:
            raise RelayError(
                rule="index-out-of-range",
                message=f"`{buffer.name}` is {what} outside of its axis {axis}",
                expected=f"0 <= index < {extent}",
                found=str(position if isinstance(position, int) else position.tolist()),
            )


def uninitialized_read(buffer: Buffer, positions: tuple[Any, ...]) -> RelayError:
    place = ", ".join(str(p if isinstance(p, int) else p.tolist()) for p in positions)
    return RelayError(
        rule="uninitialized-read",
        message=f"`{buffer.name}` is read before it is written",
        found=f"{buffer.name}[{place}]",
        remedy="a temporary has undefined contents until it is stored to",
    )
