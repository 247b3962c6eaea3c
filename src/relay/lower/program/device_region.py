"""Regions that run on a device: kernels of its own, in memory of its own.

    device region @dense_relu(%0:address, %1:address) on toy_gpu:0
      region, arena 1280 bytes
        arena[0] = copy(*%0, 1024 bytes)
        arena[1024] = dense_relu_1f3a(arena[0], constant[0])
        *%1 = copy(arena[1024], 256 bytes)

A host's region calls one as it calls a kernel. What the region reads is copied from the arrays of its arguments to its
arena, which is on the device, and its results are copied back; nothing else of the host's is looked at. Constants are
brought to the device once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from textwrap import indent

from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.lower.program.form import Form, shown
from relay.lower.program.launch import KernelModule
from relay.lower.program.place import Address, ConstantPlace, Register
from relay.lower.program.region import RunRegion
from relay.text.names import sigil_name
from relay.text.types import TypeNames


@frozen
class Device:
    """One of the devices of a kind, as a program names them: they are counted from 0.

    >>> print(Device.parse("toy_gpu"), Device.parse("toy_gpu:1"))
    toy_gpu:0 toy_gpu:1
    """

    kind: str
    index: int = 0

    def __str__(self) -> str:
        return f"{self.kind}:{self.index}"

    @staticmethod
    def parse(text: str) -> Device:
        """Raises `RelayError` (rule `bad-device`)."""
        kind, colon, index = text.partition(":")
        if not kind or (colon and not (index.isascii() and index.isdigit())):
            raise RelayError(
                rule="bad-device",
                message="this is no name of a device",
                expected='a kind, and which one of them, such as "toy_gpu:0"',
                found=text or "nothing",
            )
        return Device(kind, int(index or 0))


@frozen(eq=False)
class DeviceRegion(Form):
    """`parameters` are the addresses of arrays on the host: those that are read, then those of the results. `symbols`
    are the extents that callers tell. `modules`: what the device's kernel target made of each kernel, when it has."""

    name: str
    device: Device
    parameters: tuple[Register, ...]
    symbols: tuple[Symbol, ...]
    region: RunRegion
    modules: Mapping[str, KernelModule] | None = None

    @property
    def constants(self) -> tuple[ConstantPlace, ...]:
        """The constants that kernels read, each once."""
        places = (place for call in self.region.calls for place in call.inputs)
        return tuple(dict.fromkeys(place for place in places if isinstance(place, ConstantPlace)))

    def with_modules(self, modules: Mapping[str, KernelModule]) -> DeviceRegion:
        return replace(self, modules=modules)

    def written(self, names: TypeNames) -> str:
        """All of it, but for the modules."""
        told = f" [{shown(self.symbols, names)}]" if self.symbols else ""
        device = f"{sigil_name('', self.device.kind)}:{self.device.index}"
        head = f"device region @{self.name}({shown(tuple(map(Address, self.parameters)), names)}){told} on {device}"
        return f"{head}\n{indent(shown(self.region, names), '  ')}"
