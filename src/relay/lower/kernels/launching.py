"""From the loops of a kernel to the launches that run it, for devices that launch nests of thread loops."""

from __future__ import annotations

from collections.abc import Callable

from relay.arith.expr import IntExpr, multiply
from relay.lower.program.launch import Access, BufferArgument, KernelModule, Launch, ScalarArgument
from relay.tir.buffer import Buffer
from relay.tir.stmt import PrimFunc
from relay.tir.threads.thread_nests import ThreadNest, thread_nests


def launched(function: PrimFunc, form: str, written: Callable[[tuple[PrimFunc, ...]], bytes]) -> KernelModule:
    """The module of a kernel: a function for each nest of thread loops, and its launch. `written` puts the functions
    into the device's format; the launch of each has its name as entry, its buffers, then its symbols.

    Raises `RelayError` (rule `no-threads`) for a kernel with statements outside of thread loops.
    """
    nests = thread_nests(function)
    places = {buffer: position for position, buffer in enumerate((*function.parameters, *nests.scratch))}
    launches = tuple(_launch(each, places) for each in nests.nests)
    scratch_bytes = tuple(map(_size_bytes, nests.scratch))
    data = written(tuple(each.function for each in nests.nests))
    return KernelModule(form, data, launches, function.symbols, scratch_bytes)


def _launch(nest: ThreadNest, places: dict[Buffer, int]) -> Launch:
    function = nest.function
    buffers = [
        BufferArgument(places[each], Access.READ_WRITE if each in function.outputs else Access.READ)
        for each in function.parameters
    ]
    return Launch(function.name, (*buffers, *map(ScalarArgument, function.symbols)), nest.grid, nest.group)


def _size_bytes(buffer: Buffer) -> IntExpr:
    total: IntExpr = buffer.dtype.item_bytes
    for extent in buffer.shape:
        total = multiply(total, extent)
    return total
