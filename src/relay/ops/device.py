"""Where values are: on_device, device_copy. Both mean their input; passes ask their attributes.

A device is named by its kind, and a number where there are several: `cpu`, `cuda:1`.
"""

from __future__ import annotations

import re
from typing import Any

from relay import te
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.span import Span, caller_span
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import TensorType
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, call
from relay.ops.framework.layout_rule import Elementwise
from relay.ops.framework.record import FusionKind, OperatorRecord, PrecisionRule, define, same_gradient
from relay.ops.framework.scale_role import NO_SCALE_YET

_DEVICE = re.compile(r"[a-z_][a-z0-9_]*(:[0-9]+)?")


@frozen
class OnDeviceAttributes(Attributes):
    """`constrain_body`: what is computed is on the device; `constrain_result`: what uses it is too (else it may be
    copied to where it is used)."""

    device: str
    constrain_body: bool = True
    constrain_result: bool = False


@frozen
class DeviceCopyAttributes(Attributes):
    src_device: str
    dst_device: str


def _same(_: Any, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    return te.compute(result.shape, lambda *i: inputs[0][i], name="copy")


def _identity(name: str, description: str, attributes: type[Attributes]) -> OperatorRecord:
    return define(
        name,
        description,
        inputs={"data": "[..]"},
        attributes=attributes,
        type_rule=lambda run, _: run.tensor(0),
        meaning=lambda _, data: data,
        compute=_same,
        fusion=FusionKind.OPAQUE,  # a kernel runs on one device
        layout=Elementwise(),
        effect=Effect.PURE,
        gradient=same_gradient,
        batch=NO_BATCH_RULE_YET,
        scale=NO_SCALE_YET,
        support_level=10,
        is_view=True,
        precision=PrecisionRule.FOLLOW,
    )


ON_DEVICE = _identity("on_device", "The input, which is computed on a device.", OnDeviceAttributes)
DEVICE_COPY = _identity("device_copy", "The input, copied from one device to another.", DeviceCopyAttributes)

DEVICES: tuple[OperatorRecord, ...] = (ON_DEVICE, DEVICE_COPY)


def device_kind(device: str, span: Span | None = None) -> str:
    """The kind of a device, which the program names at `span`. Raises `RelayError` (rule `bad-device`).

    >>> device_kind("cuda:1")
    'cuda'
    """
    if not (isinstance(device, str) and _DEVICE.fullmatch(device)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise RelayError(
            rule="bad-device",
            message="a device is named by its kind, and a number where there are several",
            expected="for example cpu, or cuda:1",
            found=repr(device),
            span=span,
        )
    return device.partition(":")[0]


def on_device(
    data: Argument, device: str, constrain_body: bool = True, constrain_result: bool = False
) -> Call:  # fmt: skip
    """data[..], computed on `device`; what uses it may be elsewhere unless `constrain_result`.

    Raises `RelayError` (rule `bad-device`).

    >>> from relay.ops.framework.build import var
    >>> on_device(var("x", shape=(2,)), "cuda").attrs
    OnDeviceAttributes(device='cuda', constrain_body=True, constrain_result=False)
    """
    device_kind(device, caller_span())
    return call(ON_DEVICE, (data,), OnDeviceAttributes(device, constrain_body, constrain_result))


def device_copy(data: Argument, src_device: str, dst_device: str) -> Call:
    """data[..], copied from one device to another. Raises `RelayError` (rule `bad-device`)."""
    device_kind(src_device, caller_span())
    device_kind(dst_device, caller_span())
    return call(DEVICE_COPY, (data,), DeviceCopyAttributes(src_device, dst_device))
