"""Models that targets outside of the package run."""

from __future__ import annotations

import numpy as np

import relay


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def dense(data: relay.Expr, units: int, depth: int, seed: int) -> relay.Expr:
    weight, bias = relay.const(normal(units, depth, seed=seed)), relay.const(normal(units, seed=seed + 1))
    return relay.nn.bias_add(relay.nn.dense(data, weight), bias)


def mlp(units: int = 12) -> relay.Function:
    x = relay.var("x", shape=(8, 16))
    return relay.Function([x], relay.nn.softmax(dense(relay.nn.relu(dense(x, 32, 16, 1)), units, 32, 3)))


def cnn(batch: int = 1, units: int = 8) -> relay.Function:
    x = relay.var("x", shape=(batch, 3, 8, 8))
    kernels = relay.const(normal(4, 3, 3, 3, seed=5))
    features = relay.nn.relu(relay.nn.conv2d(x, kernels, channels=4, kernel_size=(3, 3), padding=(1, 1)))
    pooled = relay.nn.batch_flatten(relay.nn.max_pool2d(features, pool_size=(2, 2), strides=(2, 2)))
    return relay.Function([x], relay.nn.softmax(dense(pooled, units, 64, 7)))


def lstm(batch: int, size: int) -> relay.IRModule:
    """A cell of `size` numbers, as many of input, called by itself as often as the first argument says."""
    state, weight = f"Tensor[({batch}, {size}), float32]", f"Tensor[({4 * size}, {2 * size}), float32]"
    return relay.parse(f"""#[version = "0.0.5"]
def @cell(%i: int32, %x: {state}, %h: {state}, %c: {state}, %w: {weight}) -> {state} {{
  if (%i == 0) {{ %h }} else {{
    let %g = split(nn.dense(concatenate((%x, %h), axis=1), %w), indices_or_sections=4, axis=1);
    let %next = add(multiply(sigmoid(%g.0), %c), multiply(sigmoid(%g.1), tanh(%g.2)));
    @cell(%i - 1, %x, multiply(sigmoid(%g.3), tanh(%next)), %next, %w)
  }}
}}
def @main(%n: int32, %x: {state}, %w: {weight}) {{
  @cell(%n, %x, zeros_like(%x), zeros_like(%x), %w)
}}
""")


def lstm_in_data(batch: int, size: int) -> relay.IRModule:
    """The same cell, whose state is in data that a closure makes anew; all states are listed, and the list is added
    up."""
    state, weight = f"Tensor[({batch}, {size}), float32]", f"Tensor[({4 * size}, {2 * size}), float32]"
    return relay.parse(f"""#[version = "0.0.5"]
type State {{ State({state}, {state}) }}
type States {{ First(State), Then(State, States) }}
def @states(%i: int32, %step: fn (State) -> State, %s: State) -> States {{
  if (%i == 0) {{ First(%s) }} else {{ Then(%s, @states(%i - 1, %step, %step(%s))) }}
}}
def @total(%all: States, %sum: {state}) -> {state} {{
  match (%all) {{
    First(State(%h, _)) => {{ add(%sum, %h) }},
    Then(State(%h, _), %rest) => {{ @total(%rest, add(%sum, %h)) }}
  }}
}}
def @main(%n: int32, %x: {state}, %w: {weight}) {{
  let %step = fn (%s: State) -> State {{
    match (%s) {{
      State(%h, %c) => {{
        let %g = split(nn.dense(concatenate((%x, %h), axis=1), %w), indices_or_sections=4, axis=1);
        let %next = add(multiply(sigmoid(%g.0), %c), multiply(sigmoid(%g.1), tanh(%g.2)));
        State(multiply(sigmoid(%g.3), tanh(%next)), %next)
      }}
    }}
  }};
  @total(@states(%n, %step, State(zeros_like(%x), zeros_like(%x))), %x)
}}
""")
