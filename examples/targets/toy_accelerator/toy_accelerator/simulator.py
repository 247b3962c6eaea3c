"""The device: it executes instructions on tiles."""

from __future__ import annotations

from collections import deque
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
    Await,
    Fetch,
    Fill,
    Gemm,
    Instruction,
    Load,
    Place,
    Signal,
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
COPY_CYCLES = 32
"""Of a tile to or from a buffer, by the core or by the queue."""
CORE_CYCLES: dict[type[Instruction], int] = {
    Load: COPY_CYCLES, Store: COPY_CYCLES, Gemm: 64, Alu: 8, Fill: 8, Fetch: 1, Signal: 1, Await: 1,
}  # fmt: skip


class Simulator(PythonDevice):
    """Counts what it executes, and the cycles that it takes. `copied` are the ways that memory went."""

    def __init__(self) -> None:
        super().__init__()
        self.executed: dict[str, int] = {}
        self.cycles = 0
        self.copied: list[str] = []

    def upload(self, to: int, offset: int, source: int, size_bytes: int) -> int:
        self.copied.append("upload")
        return super().upload(to, offset, source, size_bytes)

    def download(self, target: int, source: int, offset: int, size_bytes: int) -> int:
        self.copied.append("download")
        return super().download(target, source, offset, size_bytes)

    def load_module(self, form: str, data: bytes) -> TileProgram:
        if form != FORMAT:
            raise ValueError(f"the toy accelerator loads {FORMAT}, and was given {form}")
        return decode(data)

    def run(self, module: TileProgram, launch: StartedLaunch) -> None:
        core = _Core(
            [
                np.ndarray(count, np.float32, memory)
                for count, memory in zip(module.elements, launch.buffers, strict=True)
            ]
        )
        for each in module.instructions:
            self.executed[type(each).__name__] = self.executed.get(type(each).__name__, 0) + 1
            core.execute(each)
        self.cycles += core.now


class _Core:
    """The core and its queue. A tile that is fetched holds no numbers until the core has awaited it."""

    def __init__(self, buffers: list[np.ndarray]) -> None:
        self._buffers = buffers
        self._tiles = np.full((INPUT_TILES + ACCUMULATOR_TILES, TILE, TILE), np.nan, np.float32)
        self._queue: deque[tuple[Fetch | Signal, int]] = deque()  # with the cycle in which each is done
        self._queue_free = 0
        self.now = 0

    def execute(self, instruction: Instruction) -> None:
        tiles = self._tiles
        self.now += CORE_CYCLES[type(instruction)]
        match instruction:
            case Load(tile, place):
                tiles[tile] = self._part(place)
            case Fetch(tile):
                tiles[tile] = np.nan
                self._queue_free = max(self._queue_free, self.now) + COPY_CYCLES
                self._queue.append((instruction, self._queue_free))
            case Signal():
                self._queue.append((instruction, self._queue_free))
            case Await(count):
                for _ in range(count):
                    self._await()
            case Fill(tile, number):
                tiles[tile] = number
            case Gemm(sums, left, right):
                tiles[sums] += tiles[left] @ tiles[right].T
            case Alu(op, tile, left, right):
                tiles[tile] = _ALU[op](tiles[left], tiles[right])
            case Store(tile, place):
                self._part(place)[:] = tiles[tile]
            case _:
                assert_never(instruction)

    def _await(self) -> None:
        """What is in the queue is done, up to its first signal."""
        while True:
            entry, done = self._queue.popleft()
            self.now = max(self.now, done)
            match entry:
                case Fetch(tile, place):
                    self._tiles[tile] = self._part(place)
                case Signal():
                    return
                case _:
                    assert_never(entry)

    def _part(self, place: Place) -> np.ndarray:
        strides = place.row_step * 4, place.column_step * 4
        return as_strided(self._buffers[place.buffer][place.first :], (TILE, TILE), strides)


def open_device(index: int) -> Simulator:
    """The device with an index; there is one."""
    if index:
        raise ValueError("there is one toy accelerator")
    return Simulator()
