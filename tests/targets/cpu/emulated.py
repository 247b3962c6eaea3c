"""Programs compiled for AArch64, run on an emulated one."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from unicorn import UC_PROT_READ, UC_PROT_WRITE

import relay
from relay.arith.expr import evaluate
from relay.driver.build import compile_stages
from relay.runtime.arguments.arguments import bind_arguments, solve_symbols
from relay.runtime.arguments.extents import symbol_sources
from relay.runtime.artefact.artefact import Artefact
from relay.runtime.artefact.nesting import nesting
from tests.targets.cpu.emulator import Machine

AARCH64 = "llvm -mtriple=aarch64-unknown-linux-gnu -num-threads=2"
"""Parallel loops are there, and run on one thread."""

_WRITABLE = UC_PROT_READ | UC_PROT_WRITE


@dataclass(eq=False)
class EmulatedProgram:
    """A straight-line program in the memory of a machine of its own, callable with arrays."""

    artefact: Artefact
    machine: Machine = field(default_factory=Machine)

    def __post_init__(self) -> None:
        objects = (self.artefact.support, *self.artefact.objects)
        self.symbols = self.machine.load(_linked(objects))
        self.constants = self.machine.place(self.artefact.constants.tobytes())

    def __call__(self, *arrays: NDArray[np.generic]) -> NDArray[np.generic] | tuple[object, ...]:
        entry = self.artefact.manifest.entry("main")
        inputs = bind_arguments(entry, arrays, {})
        values = solve_symbols(entry, symbol_sources(entry.input_shapes), inputs)
        shapes = [tuple(evaluate(extent, values) for extent in spec.shape) for spec in entry.outputs]
        results = [np.empty(shape, spec.dtype.numpy) for shape, spec in zip(shapes, entry.outputs, strict=True)]
        places = [place_array(self.machine, each) for each in inputs]
        places += [place_array(self.machine, each, _WRITABLE) for each in results]
        size = entry.workspace_bytes
        workspace = self.machine.place(bytes(size if isinstance(size, int) else evaluate(size, values)), _WRITABLE)
        symbols = [values[symbol] for symbol in entry.symbols]
        status = self.machine.call(
            self.symbols[entry.native_symbol], place_words(self.machine, places),
            place_words(self.machine, symbols), workspace, self.constants,
        )  # fmt: skip
        if status:
            raise RuntimeError(f"status {status}")
        found = [
            read_array(self.machine, place, each) for place, each in zip(places[len(inputs) :], results, strict=True)
        ]
        return nesting(entry.result)(found)


def run_kernel(
    objects: Sequence[bytes], name: str, arrays: Sequence[NDArray[np.generic]], symbols: Sequence[int]
) -> None:
    """Call a kernel of these objects; the arrays are what it leaves in them."""
    machine = Machine()
    addresses = machine.load(_linked(objects))
    places = [place_array(machine, each, _WRITABLE) for each in arrays]
    machine.call(addresses[name], *places, *symbols)
    for place, each in zip(places, arrays, strict=True):
        each[...] = read_array(machine, place, each)


def run_exported(library: bytes, *arrays: NDArray[np.generic], results: Sequence[NDArray[np.generic]]) -> None:
    """Call what `export` wrote, as a program in C would; every extent is known."""
    machine = Machine()
    addresses = machine.load(library)
    inputs = [place_array(machine, each) for each in arrays]
    outputs = [place_array(machine, each, _WRITABLE) for each in results]
    (run,) = (address for name, address in addresses.items() if name.endswith("_run"))
    status = machine.call(run, place_words(machine, inputs + outputs), 0)
    if status:
        raise RuntimeError(f"status {status}")
    for place, each in zip(outputs, results, strict=True):
        each[...] = read_array(machine, place, each)


def read_array(machine: Machine, place: int, like: NDArray[np.generic]) -> NDArray[np.generic]:
    return np.frombuffer(machine.read(place, like.nbytes), like.dtype).reshape(like.shape)


def place_array(machine: Machine, array: NDArray[np.generic], rights: int = UC_PROT_READ) -> int:
    """An array at the end of its pages, where no vector begins."""
    return machine.place(np.ascontiguousarray(array).tobytes(), rights, max(1, array.dtype.itemsize))


def place_words(machine: Machine, words: Sequence[int]) -> int:
    return machine.place(np.array([*words], "<i8").tobytes(), alignment=8)


def build(function: relay.Expr | relay.IRModule, target: str = AARCH64, opt_level: int = 3) -> EmulatedProgram:
    """As `relay.build`."""
    return EmulatedProgram(compile_stages(function, target, opt_level=opt_level).artefact)


def _linked(objects: Sequence[bytes]) -> bytes:
    """A shared library of objects: what the C library has to give is left open."""
    with tempfile.TemporaryDirectory() as folder:
        names = [str(Path(folder, f"{number}.o")) for number in range(len(objects))]
        for name, image in zip(names, objects, strict=True):
            Path(name).write_bytes(image)
        library = Path(folder, "library.so")
        command = [sys.executable, "-m", "ziglang", "ld.lld", "-shared", "-Bsymbolic", "--hash-style=sysv"]
        subprocess.run([*command, "-o", str(library), *names], check=True, timeout=60)
        return library.read_bytes()
