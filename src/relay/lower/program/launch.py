"""What a target makes of a kernel: a module in the target's format, and the launches that run it.

    module ::= format, bytes, launches, bytes of scratch
    launch ::= entry, grid, group, memory of a group, arguments

Extents are integer expressions in the kernel's dimension symbols: whoever launches computes them.
"""

from __future__ import annotations

from enum import Flag
from typing import TypeAlias, Union

from relay.arith.expr import IntExpr, Symbol
from relay.base.dtypes import DType
from relay.base.frozen import frozen

AXES = 3
"""How many axes a grid has at most, and a group of threads."""


class Access(Flag):
    """What an entry does with a buffer."""

    READ = 1
    WRITE = 2
    READ_WRITE = 3


@frozen
class BufferArgument:
    """A buffer: one of the kernel's inputs, then its outputs, then its scratch, counted from 0."""

    parameter: int
    access: Access

    def __str__(self) -> str:
        words = {Access.READ: "read", Access.WRITE: "written", Access.READ_WRITE: "read and written"}
        return f"buffer {self.parameter} {words[self.access]}"


@frozen
class ScalarArgument:
    """An integer, as wide as its type."""

    value: IntExpr
    dtype: DType = DType.INT64

    def __str__(self) -> str:
        return f"{self.value}:{self.dtype}"


Argument: TypeAlias = Union[BufferArgument, ScalarArgument]


@frozen
class Launch:
    """Run `entry` once for each thread of each group of a grid; `arguments` in the order in which it takes them.

    Nothing runs where an extent of the grid is 0. A target that has limits writes entries which go over larger grids in
    several rounds. `group_memory_bytes`: what the threads of a group share, where its size is not said by the entry."""

    entry: str
    arguments: tuple[Argument, ...]
    grid: tuple[IntExpr, ...] = ()
    group: tuple[IntExpr, ...] = ()
    group_memory_bytes: IntExpr = 0

    def __str__(self) -> str:
        grid, group = (" × ".join(map(str, extents or (1,))) for extents in (self.grid, self.group))
        shared = f", {self.group_memory_bytes} bytes a group" if self.group_memory_bytes else ""
        return f"launch {self.entry}({', '.join(map(str, self.arguments))}) on {grid} groups of {group}{shared}"


@frozen(eq=False)
class KernelModule:
    """The code of a kernel. One without launches is a C function of the kernel's name, which the host links and calls
    with the addresses of inputs, outputs and scratch, and the extents. Its launches run in their order, each after the
    one before. Extents are in terms of `symbols`, the kernel's. `scratch_bytes`: what a call works in, one number a
    buffer."""

    format: str
    data: bytes
    launches: tuple[Launch, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    scratch_bytes: tuple[IntExpr, ...] = ()

    def __str__(self) -> str:
        lines = [f"module {self.format}, {len(self.data)} bytes"]
        lines += [f"  scratch {size} bytes" for size in self.scratch_bytes]
        return "\n".join([*lines, *(f"  {each}" for each in self.launches)])
