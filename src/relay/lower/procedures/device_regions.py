"""Regions for a device, which `transform.devices.offload` found, as what the program says of them."""

from __future__ import annotations

from relay.base.diagnostics import CompilerBug
from relay.ir.expr import Function, Var
from relay.ir.known_types import known_type
from relay.ir.sharing import let_chain
from relay.lower.planning.kernel_calls import KernelInfo, KernelOf
from relay.lower.planning.kernel_line import Around, KernelLine, leaves, nested, stored
from relay.lower.planning.placing import Result, placed
from relay.lower.planning.straight_line import StoredValue
from relay.lower.program.device_region import Device, DeviceRegion
from relay.lower.program.place import AddressPlace, Register
from relay.transform.devices.offload import DEVICE


def is_device_region(function: Function) -> bool:
    """Whether a primitive function is a region of kernels for a device."""
    return DEVICE in function.attrs


def device_region(function: Function, info: KernelInfo, around: Around, kernel_of: KernelOf) -> DeviceRegion:
    """The region of a function that `is_device_region`. All that it works on is in the arena: what it reads is copied
    there, and its results from there."""
    parameters: list[AddressPlace] = []

    def parameter() -> AddressPlace:
        parameters.append(AddressPlace(Register(len(parameters))))
        return parameters[-1]

    line = KernelLine(around, _nothing_outside, lambda type_, _: type_, writes_all=True)
    brought: list[Result] = []
    for each in function.params:
        value = line.values[each] = nested(known_type(each), stored)
        brought += [(leaf.storage, parameter()) for leaf in leaves(value)]
    lets, result = let_chain(function.body)
    for let in lets:
        line.bind(let.var, let.value, may_be_part=False)
    results = [(leaf.storage, parameter()) for leaf in leaves(line.value(result))]
    own = {symbol: symbol for symbol in info.symbols}
    region = placed(line.steps, line.parts, results, kernel_of, own, brought, [place for _, place in results])
    device = Device.parse(str(function.attrs[DEVICE]))
    return DeviceRegion(info.name, device, tuple(each.array for each in parameters), info.symbols, region)


def _nothing_outside(var: Var) -> StoredValue:
    raise CompilerBug("lower", f"a region of a device uses %{var.name_hint}, which it is not given")
