"""Residual networks with pre-activation (He et al. 2016, 1603.05027, figure 4e), as the published Relay has them."""

from __future__ import annotations

from collections.abc import Sequence

from relay import nn
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.ir.expr import Expr, Function
from relay.ir.module import IRModule
from relay.testing.layers import batch_norm_infer, classifier, conv2d, image_input, sum_of
from relay.testing.workload import Parameters, create_workload, network

_EPSILON = 2e-5
_UNITS = {
    18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3),
    269: (3, 30, 48, 8),
}  # fmt: skip


@frozen
class Plan:
    """`units` a stage and the channels that each stage gives; `small` is for images of up to 32 pixels."""

    units: tuple[int, ...]
    filters: tuple[int, ...]
    bottleneck: bool
    small: bool


def plan_of(num_layers: int, height: int) -> Plan:
    """How a depth is laid out. Raises `RelayError` (rule `no-such-depth`)."""
    if height <= 32:
        bottleneck = (num_layers - 2) % 9 == 0 and num_layers >= 164
        per_unit = 9 if bottleneck else 6
        if (num_layers - 2) % per_unit or num_layers < 8:
            raise _no_such_depth(num_layers, "6n + 2 for images of up to 32 pixels")
        filters = (16, 64, 128, 256) if bottleneck else (16, 16, 32, 64)
        return Plan(((num_layers - 2) // per_unit,) * 3, filters, bottleneck, True)
    if num_layers not in _UNITS:
        raise _no_such_depth(num_layers, "one of " + ", ".join(map(str, _UNITS)))
    bottleneck = num_layers >= 50
    filters = (64, 256, 512, 1024, 2048) if bottleneck else (64, 64, 128, 256, 512)
    return Plan(_UNITS[num_layers], filters, bottleneck, False)


def _no_such_depth(num_layers: int, expected: str) -> RelayError:
    return RelayError(
        rule="no-such-depth", message="there is no residual network of this depth", expected=expected,
        found=str(num_layers),
    )  # fmt: skip


def residual_unit(
    data: Expr, name: str, channels: int, stride: int, matches: bool, bottleneck: bool, layout: str
) -> Expr:
    """Two 3×3 convolutions, or 1×1, 3×3, 1×1 with a quarter of the channels, added to the data or its projection."""
    axis = layout.index("C")

    def active(x: Expr, part: str) -> Expr:
        return nn.relu(batch_norm_infer(x, f"{name}_{part}", _EPSILON, axis=axis))

    first = active(data, "bn1")
    if bottleneck:
        inner = channels // 4
        x = conv2d(first, f"{name}_conv1", inner, (1, 1), layout=layout)
        x = conv2d(active(x, "bn2"), f"{name}_conv2", inner, (3, 3), (stride, stride), (1, 1), layout=layout)
        x = conv2d(active(x, "bn3"), f"{name}_conv3", channels, (1, 1), layout=layout)
    else:
        x = conv2d(first, f"{name}_conv1", channels, (3, 3), (stride, stride), (1, 1), layout=layout)
        x = conv2d(active(x, "bn2"), f"{name}_conv2", channels, (3, 3), padding=(1, 1), layout=layout)
    shortcut = data if matches else conv2d(first, f"{name}_sc", channels, (1, 1), (stride, stride), layout=layout)
    return sum_of(x, shortcut)


def get_net(
    batch_size: int | str, num_classes: int = 1000, num_layers: int = 50, image_shape: Sequence[int] = (3, 224, 224),
    layout: str = "NCHW", dtype: str = "float32",
) -> Function:  # fmt: skip
    """data[batch, *image_shape] → probabilities[batch, num_classes]; `image_shape` is in `layout` without N."""
    plan = plan_of(num_layers, image_shape[layout.index("H") - 1])
    axis = layout.index("C")
    x = batch_norm_infer(image_input(batch_size, image_shape, dtype), "bn_data", _EPSILON, scale=False, axis=axis)
    if plan.small:
        x = conv2d(x, "conv0", plan.filters[0], (3, 3), padding=(1, 1), layout=layout)
    else:
        x = conv2d(x, "conv0", plan.filters[0], (7, 7), (2, 2), (3, 3), layout=layout)
        x = nn.relu(batch_norm_infer(x, "bn0", _EPSILON, axis=axis))
        x = nn.max_pool2d(x, pool_size=(3, 3), strides=(2, 2), padding=(1, 1), layout=layout)
    for stage, count in enumerate(plan.units):
        for unit in range(count):
            name, stride = f"stage{stage + 1}_unit{unit + 1}", 2 if stage and not unit else 1
            x = residual_unit(x, name, plan.filters[stage + 1], stride, unit > 0, plan.bottleneck, layout)
    x = nn.relu(batch_norm_infer(x, "bn1", _EPSILON, axis=axis))
    return network(classifier(nn.global_avg_pool2d(x, layout=layout), "fc1", num_classes))


def get_workload(
    batch_size: int | str = 1, num_classes: int = 1000, num_layers: int = 18,
    image_shape: Sequence[int] = (3, 224, 224), layout: str = "NCHW", dtype: str = "float32", seed: int = 0,
) -> tuple[IRModule, Parameters]:  # fmt: skip
    """The module and its parameters. Raises `RelayError`: `no-such-depth`, `bad-layout`.

    >>> module, _ = get_workload(num_layers=8, image_shape=(3, 32, 32), num_classes=10)
    >>> print(module["main"].body.checked_type)
    Tensor[(1, 10), float32]
    """
    return create_workload(get_net(batch_size, num_classes, num_layers, image_shape, layout, dtype), seed)
