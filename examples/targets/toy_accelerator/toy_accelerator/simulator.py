"""The device: it executes instructions on tiles."""

from __future__ import annotations

from typing import assert_never

import numpy as np
from numpy.lib.stride_tricks import as_strided

from relay.runtime.devices.device import PythonDevice, StartedLaunch
from toy_accelerator.instructions import (
    ACCUMULATOR_TILES,
    FORMAT,
    INPUT_TILES,
    TILE,
    Alu,
    AluOp,
    Fill,
    Gemm,
    Load,
    Place,
    Store,
    TileProgram,
    decode,
)

_ALU = {
    AluOp.ADD: np.add,
    AluOp.SUBTRACT: np.subtract,
    AluOp.MULTIPLY: np.multiply,
    AluOp.MINIMUM: np.minimum,
    AluOp.MAXIMUM: np.maximum,
}


class Simulator(PythonDevice):
    """Counts what it executes."""

    def __init__(self) -> None:
        super().__init__()
        self.executed: dict[str, int] = {}

    def load_module(self, form: str, data: bytes) -> TileProgram:
        if form != FORMAT:
            raise ValueError(f"the toy accelerator loads {FORMAT}, and was given {form}")
        return decode(data)

    def run(self, module: TileProgram, launch: StartedLaunch) -> None:
        buffers = [
            np.ndarray(count, np.float32, memory) for count, memory in zip(module.elements, launch.buffers, strict=True)
        ]
        tiles = np.full((INPUT_TILES + ACCUMULATOR_TILES, TILE, TILE), np.nan, np.float32)

        def part(place: Place) -> np.ndarray:
            strides = place.row_step * 4, place.column_step * 4
            return as_strided(buffers[place.buffer][place.first :], (TILE, TILE), strides)

        for each in module.instructions:
            self.executed[type(each).__name__] = self.executed.get(type(each).__name__, 0) + 1
            match each:
                case Load(tile, place):
                    tiles[tile] = part(place)
                case Fill(tile, number):
                    tiles[tile] = number
                case Gemm(sums, left, right):
                    tiles[sums] += tiles[left] @ tiles[right].T
                case Alu(op, tile, left, right):
                    tiles[tile] = _ALU[op](tiles[left], tiles[right])
                case Store(tile, place):
                    part(place)[:] = tiles[tile]
                case _:
                    assert_never(each)


def open_device(index: int) -> Simulator:
    """The device with an index; there is one."""
    if index:
        raise ValueError("there is one toy accelerator")
    return Simulator()
