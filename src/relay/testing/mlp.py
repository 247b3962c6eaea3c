"""A multilayer perceptron for digits: 128 and 64 units with relu."""

from __future__ import annotations

from collections.abc import Sequence

from relay import nn
from relay.ir.expr import Function
from relay.ir.module import IRModule
from relay.testing.layers import classifier, dense_add_bias, image_input
from relay.testing.workload import Parameters, create_workload, network


def get_net(
    batch_size: int | str, num_classes: int = 10, image_shape: Sequence[int] = (1, 28, 28), dtype: str = "float32"
) -> Function:
    """data[batch, *image_shape] → probabilities[batch, num_classes]"""
    hidden = nn.batch_flatten(image_input(batch_size, image_shape, dtype))
    for name, units in (("fc1", 128), ("fc2", 64)):
        hidden = nn.relu(dense_add_bias(hidden, name, units))
    return network(classifier(hidden, "fc3", num_classes))


def get_workload(
    batch_size: int | str = 1, num_classes: int = 10, image_shape: Sequence[int] = (1, 28, 28),
    dtype: str = "float32", seed: int = 0,
) -> tuple[IRModule, Parameters]:  # fmt: skip
    """The module and its parameters.

    >>> module, parameters = get_workload(batch_size="n")
    >>> print(module["main"].body.checked_type, len(parameters))
    Tensor[(n, 10), float32] 6
    """
    return create_workload(get_net(batch_size, num_classes, image_shape, dtype), seed)
