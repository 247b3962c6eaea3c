"""The device: memory of its own, and functions of the loop language run thread by thread, in a random order."""

from __future__ import annotations

from itertools import count

import numpy as np

from relay.arith.expr import evaluate
from relay.runtime.devices.device import PythonDevice, StartedLaunch
from relay.tir.interpretation.interpreter import interpret
from relay.tir.stmt import PrimFunc
from relay.tir.text.parser import parse_primfunc
from toy_gpu.kernels import FORMAT, MACHINE, SEPARATOR


class Simulator(PythonDevice):
    """Every launch runs its threads in another order. `launches` and `copied` are what it did: entries, and ways."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self._seeds = count(seed)
        self.launches: list[str] = []
        self.copied: list[str] = []

    def load_module(self, form: str, data: bytes) -> dict[str, PrimFunc]:
        if form != FORMAT:
            raise ValueError(f"the toy GPU loads {FORMAT}, and was given {form}")
        functions = [parse_primfunc(text, hierarchy=MACHINE) for text in data.decode().split(SEPARATOR)]
        return {function.name: function for function in functions}

    def upload(self, to: int, offset: int, source: int, size_bytes: int) -> int:
        self.copied.append("upload")
        return super().upload(to, offset, source, size_bytes)

    def download(self, target: int, source: int, offset: int, size_bytes: int) -> int:
        self.copied.append("download")
        return super().download(target, source, offset, size_bytes)

    def run(self, module: dict[str, PrimFunc], launch: StartedLaunch) -> None:
        self.launches.append(launch.entry)
        function = module[launch.entry]
        symbols = dict(zip(function.symbols, launch.scalars, strict=True))
        arrays = [
            np.ndarray([evaluate(extent, symbols) for extent in each.shape], each.dtype.numpy, memory)
            for each, memory in zip(function.parameters, launch.buffers, strict=True)
        ]
        interpret(function, arrays, symbols, seed=next(self._seeds))


def open_device(index: int) -> Simulator:
    """The device with an index; there is one."""
    if index:
        raise ValueError("there is one toy GPU")
    return Simulator()
