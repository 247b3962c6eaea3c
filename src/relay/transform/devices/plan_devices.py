"""Give every value a device, and copy values where they go from one to another: PlanDevices.

    before: def @main(%x, %y) { add(on_device(exp(%x), device="cuda"), %y) }
    after:  def @main(%x, %y, param_devices=["cuda", "cpu"], result_device="cpu") {
              add(device_copy(exp(%x), src_device="cuda", dst_device="cpu"), %y)
            }

Devices are found by unification (`device_domains` says what brings values to one); what nothing
is said of is on the default device, and so are the conditions of `if`s. Annotations go: `device_copy` and the
attributes of functions say what they said. A value that two devices claim is refused, with both places. Nothing is
computed twice and nothing moved, so a program that runs on one device means the same. Floating point: EXACT.
"""

from __future__ import annotations

from relay.ir.attributes import AttributeValue
from relay.ir.expr import Call, Constant, Constructor, Expr, Function, If
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ops.device import DeviceCopyAttributes, OnDeviceAttributes, device_copy, device_kind
from relay.transform.devices.device_domains import PARAM_DEVICES, RESULT_DEVICE, DeviceDomains
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import Pass, module_pass, pass_factory


@pass_factory
def PlanDevices(default_device: str = "cpu") -> Pass:
    """Give every value a device.

    For programs whose values are on `default_device` where nothing else is said.

    Raises `RelayError` (rule `bad-device`); running it, `device-conflict`.

    >>> print(PlanDevices("cpu"))
    PlanDevices (from -O0)  Give every value a device.
    """
    device_kind(default_device)

    @module_pass(level=0)
    def run(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
        devices = DeviceDomains(module, default_device)
        return module.with_functions({
            name: function if "Compiler" in function.attrs else _planned(function, devices)
            for name, function in module.functions.items()
        })  # fmt: skip

    return run


def _planned(function: Function, devices: DeviceDomains) -> Function:
    def step(node: Expr, rebuilt: Expr) -> Expr:
        match node, rebuilt:
            case Call(args=(old,), attrs=OnDeviceAttributes() | DeviceCopyAttributes()), Call(args=(new,)):
                copied = isinstance(node.attrs, DeviceCopyAttributes)
                return _copied(old, new, devices.of(old), devices.of(node), rebuilt if copied else None)
            case If(cond=old), If(cond, true_branch, false_branch):
                asked = _copied(old, cond, devices.of(old), devices.default, None)
                return rebuilt if asked is cond else If(asked, true_branch, false_branch, span=rebuilt.span)
            case _:
                return rebuilt

    planned = rewrite_nodes(function, step)
    params = tuple(devices.of(param) for param in function.params)
    result = devices.of(function.body)
    attrs: dict[str, AttributeValue] = {**function.attrs}
    if {*params, result} != {devices.default}:
        attrs.update({PARAM_DEVICES: params, RESULT_DEVICE: result})
    if attrs == dict(function.attrs):
        return planned
    return planned.with_attrs(attrs)


def _copied(old: Expr, new: Expr, source: str, destination: str, there: Expr | None) -> Expr:
    """The value on another device; `there` is the copy that stands there already."""
    if source == destination or isinstance(old, Constant | Constructor):
        return new
    return device_copy(new, source, destination) if there is None else there
