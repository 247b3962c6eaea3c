"""The device: memory of its own, and functions of the loop language run thread by thread, in a random order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np

from relay.arith.expr import evaluate
from relay.runtime.devices.device import PythonDevice, RecordedLaunch
from relay.tir.interpreter import interpret
from relay.tir.parser import parse_primfunc
from relay.tir.stmt import PrimFunc
from toy_gpu.kernels import FORMAT, MACHINE, SEPARATOR


class Simulator(PythonDevice):
    """Every launch runs its threads in another order."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self._seeds = count(seed)
        self.launches: list[str] = []

    def load_module(self, form: str, data: bytes) -> dict[str, PrimFunc]:
        if form != FORMAT:
            raise ValueError(f"the toy GPU loads {FORMAT}, and was given {form}")
        functions = [parse_primfunc(text, hierarchy=MACHINE) for text in data.decode().split(SEPARATOR)]
        return {function.name: function for function in functions}

    def run(
        self, module: object, launch: RecordedLaunch, buffers: Sequence[memoryview], scalars: Sequence[int]
    ) -> None:
        assert isinstance(module, dict)
        function: PrimFunc = module[launch.entry]
        self.launches.append(launch.entry)
        numbers = [scalars[each.scalar] for each in launch.arguments if each.buffer is None]
        symbols = dict(zip(function.symbols, numbers, strict=True))
        places = [(each.buffer, scalars[each.scalar]) for each in launch.arguments if each.buffer is not None]
        arrays: list[np.ndarray] = []
        for (buffer, start), parameter in zip(places, function.parameters, strict=True):
            shape = tuple(evaluate(extent, symbols) for extent in parameter.shape)
            dtype = parameter.dtype.numpy
            size_bytes = int(np.prod(shape)) * dtype.itemsize
            memory = np.frombuffer(buffers[buffer], np.uint8)[start : start + size_bytes]
            arrays.append(memory.view(dtype).reshape(shape))
        interpret(function, arrays, symbols, seed=next(self._seeds))


def open_device(index: int) -> Simulator:
    """The device with an index; there is one."""
    if index:
        raise ValueError("there is one toy GPU")
    return Simulator()
