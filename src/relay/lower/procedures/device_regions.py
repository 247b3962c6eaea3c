"""Regions for a device, which `transform.devices.offload` found, as what the program says of them."""

from __future__ import annotations

from relay.base.diagnostics import CompilerBug
from relay.ir.expr import Function, Var
from relay.ir.known_types import known_tensor_type
from relay.ir.sharing import let_chain
from relay.ir.traversal import children
from relay.lower.planning.kernel_calls import KernelInfo, KernelOf
from relay.lower.planning.kernel_line import Around, KernelLine, leaves, stored
from relay.lower.planning.placing import Result, placed
from relay.lower.planning.straight_line import StoredValue
from relay.lower.program.device import Device
from relay.lower.program.device_region import DeviceRegion
from relay.lower.program.place import Address, AddressPlace, Buffer, DataPlace, Place, Register
from relay.transform.devices.flows import DEVICE, HOST, param_devices, result_devices


def is_device_region(function: Function) -> bool:
    """Whether a primitive function is a region of kernels for a device."""
    return DEVICE in function.attrs


def device_region(function: Function, info: KernelInfo, around: Around, kernel_of: KernelOf) -> DeviceRegion:
    """The region of a function that `is_device_region`. What is on the device is read and written where it is. All else
    that kernels work on is in the arena: what they read of the host's is copied there, and results from there."""
    device = Device.parse(str(function.attrs[DEVICE]))
    parameters: list[Address | Buffer] = []

    def parameter(where: str) -> Place:
        register = Register(len(parameters))
        parameters.append(Address(register) if where == HOST else Buffer(register, Device.parse(where)))
        return AddressPlace(register) if where == HOST else DataPlace(register)

    line = KernelLine(around, _nothing_outside, lambda type_, _: type_, writes_all=True)
    lets, result = let_chain(function.body)
    read = {atom for let in lets for atom in children(let.value)}
    brought: list[Result] = []
    for each, where in zip(function.params, param_devices(function), strict=True):
        type_, place = known_tensor_type(each), parameter(where)
        is_brought = where == HOST and each in read
        value = line.values[each] = stored(type_, None if is_brought else place)
        if is_brought:
            brought.append((value.storage, place))
    for let in lets:
        line.bind(let.var, let.value, may_be_part=False)
    made = list(leaves(line.value(result)))
    where = result_devices(function) or (HOST,) * len(made)
    results = [(leaf.storage, parameter(each)) for leaf, each in zip(made, where, strict=True)]
    late = [place for _, place in results if isinstance(place, AddressPlace)]
    own = {symbol: symbol for symbol in info.symbols}
    region = placed(line.steps, line.parts, results, kernel_of, own, brought, late)
    return DeviceRegion(info.name, device, tuple(parameters), info.symbols, region)


def _nothing_outside(var: Var) -> StoredValue:
    raise CompilerBug("lower", f"a region of a device uses %{var.name_hint}, which it is not given")
