"""Programs on one kind of device: what is said of devices means nothing more, and goes.

before: add(device_copy(on_device(exp(%x), device="cpu:0"), src_device="cpu:0", dst_device="cpu:1"), %y)
after:  add(exp(%x), %y)                                                                           on a "cpu"
"""

from __future__ import annotations

from collections.abc import Iterator

from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.ir.expr import Call, Expr, Function, record_type
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ir.traversal import post_order
from relay.ops.device import DeviceCopyAttributes, OnDeviceAttributes, device_kind
from relay.transform.devices.device_domains import PARAM_DEVICES, RESULT_DEVICE


def on_one_device(module: IRModule, kind: str) -> IRModule:
    """The module without annotations and copies of devices, all of which must be of one kind.

    Raises `RelayError` (rule `no-back-end`) for a device of another kind, by its place.
    """
    functions = dict(module.functions)
    for name, function in module.functions.items():
        named = list(_named(function))
        for device, span in named:
            if device_kind(device, span) != kind:
                raise RelayError(
                    rule="no-back-end",
                    message=f"`{name.name_hint}` puts a value on {device}, for which there is no back end",
                    span=span,
                    expected=f"devices of kind {kind}, for which the target makes code",
                    found=device,
                    remedy="annotate it otherwise, or give that part to a compiler of its own "
                    "(relay.transform.PartitionGraph)",
                )
        if named:
            functions[name] = _without_attributes(rewrite_nodes(function, _without))
    return module.with_functions(functions)


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


def _without_attributes(function: Function) -> Function:
    attrs = {name: value for name, value in function.attrs.items() if name not in (PARAM_DEVICES, RESULT_DEVICE)}
    made = Function(function.params, function.body, function.ret_type, function.type_params, attrs, span=function.span)
    return made if function.checked_type is None else record_type(made, function.checked_type)


def _without(node: Expr, rebuilt: Expr) -> Expr:  # noqa: ARG001
    match rebuilt:
        case Call(args=(data,), attrs=OnDeviceAttributes() | DeviceCopyAttributes()):
            return data
        case _:
            return rebuilt
