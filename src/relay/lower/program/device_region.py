"""Regions that run on a device: kernels of its own, in memory of its own.

    device region @dense_relu(%0:address, %1:toy_gpu:0, %2:address) on toy_gpu:0
      region, arena 1280 bytes
        arena[0] = copy(*%0, 1024 bytes)
        arena[1024] = dense_relu_1f3a(arena[0], constant[0])
        %1 = exp_20ab(arena[1024])
        *%2 = copy(arena[1024], 256 bytes)

A host's region calls one as it calls a kernel. Of what it is given, tensors on the device are read and written where
they are. What it reads of the host's is copied to its arena, which is on the device, and results that the host wants
are copied there; nothing else of the host's is looked at. A region without kernels copies tensors, on its device, to
the host or from there, or from another device of its kind. Constants are brought to the device once.
"""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import indent

from relay.arith.expr import Symbol
from relay.base.frozen import frozen
from relay.lower.program.device import Device
from relay.lower.program.form import Form, shown
from relay.lower.program.launch import KernelModule
from relay.lower.program.place import Address, Buffer, ConstantPlace
from relay.lower.program.region import RunRegion
from relay.lower.program.registers import places
from relay.text.types import TypeNames


@frozen(eq=False)
class DeviceRegion(Form):
    """`parameters` are the addresses of arrays on the host, or tensors on the device: what is read, then the results.
    What a region reads that has no kernels may be on another device.
    `symbols` are the extents that callers tell. `modules`: what the device's kernel target made of each kernel, when it
    has."""

    name: str
    device: Device
    parameters: tuple[Address | Buffer, ...]
    symbols: tuple[Symbol, ...]
    region: RunRegion
    modules: Mapping[str, KernelModule] | None = None

    @property
    def source(self) -> Device | None:
        """The device that tensors are copied from, where that is another one."""
        return next((each.device for each in self.buffers if each.device != self.device), None)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The parameters that are tensors on devices."""
        return tuple(each for each in self.parameters if isinstance(each, Buffer))

    @property
    def constants(self) -> tuple[ConstantPlace, ...]:
        """The constants that are read, each once."""
        found = (place for place in places(self.region) if isinstance(place, ConstantPlace))
        return tuple(dict.fromkeys(found))

    def written(self, names: TypeNames) -> str:
        """All of it, but for the modules."""
        told = f" [{shown(self.symbols, names)}]" if self.symbols else ""
        head = f"device region @{self.name}({shown(self.parameters, names)}){told} on {self.device}"
        return f"{head}\n{indent(shown(self.region, names), '  ')}"
