"""What a program says of devices: on which one each kernel runs.

Where there is one kind, it means nothing more, and goes.

    before: add(device_copy(on_device(exp(%x), device="cpu:0"), src_device="cpu:0", dst_device="cpu:1"), %y)
    after:  add(exp(%x), %y)                                                                           on a "cpu"

Where a target has a device beside the host, every value is given a device before the program is optimized (PlanDevices:
the target's, where nothing is said), and `device_copy` keeps apart what is on different ones. Behind fusion each kernel
is asked for its device. Then what was said goes: copies are made where regions want them (`residency`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from relay.base.diagnostics import RelayError
from relay.base.names.loading import when_called
from relay.base.span import Span
from relay.ir.attributes import AttributeValue
from relay.ir.expr import Call, Expr, Function, record_type
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes, typed_as
from relay.ir.traversal import post_order
from relay.ops.device import DeviceCopyAttributes, OnDeviceAttributes, device_kind
from relay.transform.devices.device_domains import PARAM_DEVICES, RESULT_DEVICE, DeviceDomains
from relay.transform.devices.offload import TARGET

_plan_devices = when_called("relay.transform.devices.plan_devices", "PlanDevices")


def on_one_device(module: IRModule, kind: str) -> IRModule:
    """The module without annotations and copies of devices, all of which must be of one kind.

    Raises `RelayError` (rule `no-back-end`) for a device of another kind, by its place.
    """
    return _without(module) if _says_something(module, (kind,)) else module


def on_devices(module: IRModule, default: str, host: str) -> IRModule:
    """The module with a device for every value: `default` ("gpu:0") where nothing is said. One that says nothing stays
    as it is.

    Raises `RelayError`: `no-back-end` for a device of another kind than the default and the host, `device-conflict`.
    """
    if not _says_something(module, (device_kind(default), host)):
        return module
    functions = {name: _with_indices(function) for name, function in module.functions.items()}
    return _plan_devices(default)(module.with_functions(functions))


def wanted_devices(module: IRModule, default: str, host: str) -> tuple[IRModule, Callable[[Function], str]]:
    """A fused module that says nothing of devices any more, but which kernels are the host's; and for the others, on
    which device each is to run."""
    if not any(True for function in module.functions.values() for _ in _named(function)):
        return module, lambda _: default
    domains = DeviceDomains(module, default)

    def step(node: Expr, rebuilt: Expr) -> Expr:
        if isinstance(node, Function) and node.attrs.get("Primitive") and "Compiler" not in node.attrs:
            is_hosts = device_kind(domains.of(node.body)) == host
            return typed_as(node.with_attr(TARGET, host), node) if is_hosts else node
        return rebuilt

    functions = {name: rewrite_nodes(_without_attributes(each), step) for name, each in module.functions.items()}
    return module.with_functions(functions), lambda function: domains.of(function.body)


def _says_something(module: IRModule, kinds: Sequence[str]) -> bool:
    """Whether a module names devices, which must be of these kinds."""
    says = False
    for name, function in module.functions.items():
        for device, span in _named(function):
            says = True
            if device_kind(device, span) not in kinds:
                raise RelayError(
                    rule="no-back-end",
                    message=f"`{name.name_hint}` puts a value on {device}, for which there is no back end",
                    span=span,
                    expected=f"devices of kind {' or '.join(kinds)}, for which the target makes code",
                    found=device,
                    remedy="annotate it otherwise, or give that part to a compiler of its own "
                    "(relay.transform.PartitionGraph)",
                )
    return says


def _named(function: Function) -> Iterator[tuple[str, Span | None]]:
    """Every device that a function names, and where."""
    params = function.attrs.get(PARAM_DEVICES)
    whole = (*(params if isinstance(params, tuple) else ()), function.attrs.get(RESULT_DEVICE))
    yield from ((each, function.span) for each in whole if isinstance(each, str))
    for node in post_order(function.body):
        match node:
            case Call(attrs=OnDeviceAttributes(device=device)):
                yield device, node.span
            case Call(attrs=DeviceCopyAttributes(source, destination)):
                yield source, node.span
                yield destination, node.span
            case _:
                pass


def _with_indices(function: Function) -> Function:
    """A function that names the first device of a kind as it names others: "gpu:0"."""

    def step(node: Expr, rebuilt: Expr) -> Expr:  # noqa: ARG001
        match rebuilt:
            case Call(op, args, OnDeviceAttributes(device, body, result)):
                return Call(op, args, OnDeviceAttributes(_with_index(device), body, result), span=rebuilt.span)
            case Call(op, args, DeviceCopyAttributes(source, destination)):
                attrs = DeviceCopyAttributes(_with_index(source), _with_index(destination))
                return Call(op, args, attrs, span=rebuilt.span)
            case _:
                return rebuilt

    told = dict(function.attrs)
    params, result = told.get(PARAM_DEVICES), told.get(RESULT_DEVICE)
    if isinstance(params, tuple):
        told[PARAM_DEVICES] = tuple(_with_index(str(each)) for each in params)
    if isinstance(result, str):
        told[RESULT_DEVICE] = _with_index(result)
    return rewrite_nodes(_with_attributes(function, told), step)


def _with_index(device: str) -> str:
    return device if ":" in device else f"{device}:0"


def _without(module: IRModule) -> IRModule:
    def step(node: Expr, rebuilt: Expr) -> Expr:  # noqa: ARG001
        match rebuilt:
            case Call(args=(data,), attrs=OnDeviceAttributes() | DeviceCopyAttributes()):
                return data
            case _:
                return rebuilt

    functions = {name: rewrite_nodes(_without_attributes(each), step) for name, each in module.functions.items()}
    return module.with_functions(functions)


def _without_attributes(function: Function) -> Function:
    attrs = {name: value for name, value in function.attrs.items() if name not in (PARAM_DEVICES, RESULT_DEVICE)}
    return _with_attributes(function, attrs)


def _with_attributes(function: Function, attrs: dict[str, AttributeValue]) -> Function:
    if attrs == dict(function.attrs):
        return function
    made = Function(function.params, function.body, function.ret_type, function.type_params, attrs, span=function.span)
    return made if function.checked_type is None else record_type(made, function.checked_type)
