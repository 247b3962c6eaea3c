"""One step of decoding by GPT-2 (Radford et al. 2019), with the keys and values of the tokens before it."""

from __future__ import annotations

import math

from relay import nn, op
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.ir.expr import Expr, Function, Tuple, const
from relay.ir.module import IRModule
from relay.ir.variables import free_vars
from relay.ops.framework.build import var
from relay.testing.layers import dense_add_bias, layer_norm, sum_of
from relay.testing.workload import Parameters, create_workload


@frozen
class Size:
    """The extents of a network; the published one is the smallest of four."""

    layers: int = 12
    width: int = 768
    heads: int = 12
    vocabulary: int = 50257
    positions: int = 1024

    @property
    def depth(self) -> int:
        return self.width // self.heads


@frozen(eq=False)
class Cache:
    """Keys and values [heads, count, depth] of a layer."""

    keys: Expr
    values: Expr


def attention(data: Expr, name: str, size: Size, past: Cache) -> tuple[Expr, Cache]:
    """data[1, width] attends to the past and itself: the result[1, width], and what the next token will attend to."""
    joined = op.reshape(dense_add_bias(data, f"{name}_joined", 3 * size.width), (3, size.heads, 1, size.depth))
    query, key, value = (
        op.squeeze(op.strided_slice(joined, begin=(part,), end=(part + 1,), axes=(0,)), axis=[0]) for part in range(3)
    )
    present = Cache(op.concatenate([past.keys, key], axis=1), op.concatenate([past.values, value], axis=1))
    scores = op.multiply(nn.batch_matmul(query, present.keys), const(1 / math.sqrt(size.depth), "float32"))
    context = nn.batch_matmul(nn.softmax(scores, axis=-1), present.values, transpose_b=False)
    return dense_add_bias(op.reshape(context, (1, size.width)), f"{name}_output", size.width), present


def gelu(data: Expr) -> Expr:
    """By the hyperbolic tangent (Hendrycks and Gimpel 2016, 1606.08415, section 2), as GPT-2 has it."""
    cube = op.multiply(op.multiply(data, data), data)
    inner = op.multiply(op.add(data, op.multiply(cube, const(0.044715, "float32"))), const(math.sqrt(2 / math.pi)))
    return op.multiply(op.multiply(data, const(0.5, "float32")), op.add(op.tanh(inner), const(1.0, "float32")))


def get_net(past_length: int = 127, size: Size = Size()) -> Function:
    """token[1] int32, then keys and values[heads, past_length, depth] of each layer → (logits[1, vocabulary], then
    keys and values[heads, past_length + 1, depth] of each layer)."""
    if size.width % size.heads or not 0 < past_length < size.positions:
        raise RelayError(
            rule="bad-size", message="GPT-2 cannot have these extents",
            expected=f"heads that divide the width, and 1 to {size.positions - 1} tokens before",
            found=f"{size.heads} heads, width {size.width}, {past_length} tokens",
        )  # fmt: skip
    token = var("token", shape=(1,), dtype="int32")
    shape = (size.heads, past_length, size.depth)
    past = [tuple(var(f"past_{part}_{n}", shape=shape) for part in ("keys", "values")) for n in range(size.layers)]
    embedding = var("token_weight", shape=(size.vocabulary, size.width))
    positions = var("position_weight", shape=(size.positions, size.width))
    place = op.strided_slice(positions, begin=(past_length,), end=(past_length + 1,), axes=(0,))
    x: Expr = sum_of(op.take(embedding, token, axis=0), place)
    results: list[Expr] = []
    for number, (keys, values) in enumerate(past):
        name = f"layer{number}"
        attended, present = attention(layer_norm(x, f"{name}_norm1"), f"{name}_attention", size, Cache(keys, values))
        x = sum_of(attended, x)
        hidden = gelu(dense_add_bias(layer_norm(x, f"{name}_norm2"), f"{name}_up", 4 * size.width))
        x = sum_of(dense_add_bias(hidden, f"{name}_down", size.width), x)
        results += [present.keys, present.values]
    logits = nn.dense(layer_norm(x, "norm"), embedding, units=size.vocabulary)
    body, given = Tuple((logits, *results)), (token, *(each for pair in past for each in pair))
    return Function((*given, *(each for each in free_vars(body) if each not in given)), body)


def get_workload(past_length: int = 127, size: Size = Size(), seed: int = 0) -> tuple[IRModule, Parameters]:
    """The module and its parameters. Raises `RelayError`: `bad-size`.

    >>> module, _ = get_workload(3, Size(layers=1, width=8, heads=2, vocabulary=5, positions=6))
    >>> print(*(each.checked_type for each in module["main"].body.fields), sep=", ")
    Tensor[(1, 5), float32], Tensor[(2, 4, 4), float32], Tensor[(2, 4, 4), float32]
    """
    return create_workload(get_net(past_length, size), seed, inputs=1 + 2 * size.layers)
