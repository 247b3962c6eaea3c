"""The encoder of the transformer (Vaswani et al. 2017, 1706.03762, section 3.1), with gelu, as BERT has it."""

from __future__ import annotations

import math

from relay import nn, op
from relay.base.diagnostics import RelayError
from relay.ir.expr import Expr, Function, const
from relay.ir.module import IRModule
from relay.ops.framework.build import var
from relay.testing.layers import dense_add_bias, layer_norm, sum_of, tensor_type_of
from relay.testing.workload import Parameters, create_workload, network


def attention(data: Expr, name: str, num_heads: int) -> Expr:
    """softmax(q · kᵀ / √depth) · v by heads.   data[batch, sequence, width] → the same"""
    type_ = tensor_type_of(data)
    batch, sequence, width = type_.shape
    depth = width // num_heads

    def by_heads(part: str) -> Expr:
        x = op.reshape(dense_add_bias(data, f"{name}_{part}", _known(width)), (batch, sequence, num_heads, depth))
        return op.reshape(op.transpose(x, (0, 2, 1, 3)), (batch * num_heads, sequence, depth))

    query, key, value = by_heads("query"), by_heads("key"), by_heads("value")
    scores = op.multiply(nn.batch_matmul(query, key), const(1 / math.sqrt(_known(depth)), type_.dtype))
    context = nn.batch_matmul(nn.softmax(scores, axis=-1), value, transpose_b=False)
    joined = op.transpose(op.reshape(context, (batch, num_heads, sequence, depth)), (0, 2, 1, 3))
    return dense_add_bias(op.reshape(joined, (batch, sequence, width)), f"{name}_output", _known(width))


def _known(extent: object) -> int:
    if not isinstance(extent, int):
        raise RelayError(rule="symbolic-width", message="the width of an encoder must be known", found=str(extent))
    return extent


def encoder_layer(data: Expr, name: str, num_heads: int, feedforward: int) -> Expr:
    """Attention and a feed-forward network, each added to its input and normalised."""
    width = _known(tensor_type_of(data).shape[-1])
    x = layer_norm(sum_of(attention(data, f"{name}_attention", num_heads), data), f"{name}_norm1")
    hidden = nn.gelu(dense_add_bias(x, f"{name}_up", feedforward))
    return layer_norm(sum_of(dense_add_bias(hidden, f"{name}_down", width), x), f"{name}_norm2")


def get_net(
    batch_size: int | str = 1, num_layers: int = 4, width: int = 256, num_heads: int = 4, feedforward: int = 1024,
    sequence: int | str = 64, dtype: str = "float32",
) -> Function:  # fmt: skip
    """data[batch, sequence, width] → the same; BERT-base is (12, 768, 12, 3072, 128)."""
    if num_heads < 1 or width % num_heads:
        raise RelayError(
            rule="bad-heads", message="the heads must divide the width", found=f"{num_heads} heads, width {width}"
        )
    x: Expr = var("data", shape=(batch_size, sequence, width), dtype=dtype)
    for number in range(num_layers):
        x = encoder_layer(x, f"layer{number}", num_heads, feedforward)
    return network(x)


def get_workload(
    batch_size: int | str = 1, num_layers: int = 4, width: int = 256, num_heads: int = 4, feedforward: int = 1024,
    sequence: int | str = 64, dtype: str = "float32", seed: int = 0,
) -> tuple[IRModule, Parameters]:  # fmt: skip
    """The module and its parameters. Raises `RelayError`: `bad-heads`.

    >>> module, _ = get_workload("n", num_layers=1, width=8, num_heads=2, feedforward=16, sequence="s")
    >>> print(module["main"].body.checked_type)
    Tensor[(n, s, 8), float32]
    """
    return create_workload(get_net(batch_size, num_layers, width, num_heads, feedforward, sequence, dtype), seed)
