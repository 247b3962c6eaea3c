"""VGG (Simonyan and Zisserman 2014, 1409.1556, table 1)."""

from __future__ import annotations

from collections.abc import Sequence

from relay import nn
from relay.base.diagnostics import RelayError
from relay.ir.expr import Expr, Function
from relay.ir.module import IRModule
from relay.testing.layers import batch_norm_infer, bias_add, classifier, conv2d, dense_add_bias, image_input
from relay.testing.workload import Parameters, create_workload, network

_LAYERS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
_FILTERS = (64, 128, 256, 512, 512)


def get_feature(data: Expr, layers: Sequence[int], batch_norm: bool = False) -> Expr:
    """The convolutions: `layers` of them in each of the five blocks."""
    for block, (count, channels) in enumerate(zip(layers, _FILTERS, strict=True), start=1):
        for number in range(1, count + 1):
            name = f"conv{block}_{number}"
            data = bias_add(conv2d(data, name, channels, (3, 3), padding=(1, 1)), name)
            data = nn.relu(batch_norm_infer(data, f"bn{block}_{number}") if batch_norm else data)
        data = nn.max_pool2d(data, pool_size=(2, 2), strides=(2, 2))
    return data


def get_net(
    batch_size: int | str, image_shape: Sequence[int] = (3, 224, 224), num_classes: int = 1000,
    dtype: str = "float32", num_layers: int = 11, batch_norm: bool = False, units: int = 4096,
) -> Function:  # fmt: skip
    """data[batch, *image_shape] → probabilities[batch, num_classes]; `units` of the two hidden dense layers."""
    if num_layers not in _LAYERS:
        raise RelayError(
            rule="no-such-depth", message="there is no VGG of this depth",
            expected="one of " + ", ".join(map(str, _LAYERS)), found=str(num_layers),
        )  # fmt: skip
    x = nn.batch_flatten(get_feature(image_input(batch_size, image_shape, dtype), _LAYERS[num_layers], batch_norm))
    for name in ("fc6", "fc7"):
        x = nn.dropout(nn.relu(dense_add_bias(x, name, units)), rate=0.5)
    return network(classifier(x, "fc8", num_classes))


def get_workload(
    batch_size: int | str = 1, num_classes: int = 1000, image_shape: Sequence[int] = (3, 224, 224),
    dtype: str = "float32", num_layers: int = 11, batch_norm: bool = False, units: int = 4096, seed: int = 0,
) -> tuple[IRModule, Parameters]:  # fmt: skip
    """The module and its parameters. Raises `RelayError`: `no-such-depth`."""
    return create_workload(get_net(batch_size, image_shape, num_classes, dtype, num_layers, batch_norm, units), seed)
