"""Models that targets outside of the package run."""

from __future__ import annotations

import re

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


def kept(size: int) -> dict[str, relay.IRModule]:
    """Programs of a count, an input and weights that hold tensors in every way: lists of the prelude that are folded
    and mapped, trees, closures and lists of them, refs and lists of them, choices."""
    tensor = f"Tensor[({size}, {size}), float32]"
    layer = "def @layer(%x: T, %w: T) -> T { nn.relu(nn.dense(%x, %w)) }"
    states = """
def @states(%i: int32, %x: T, %w: T) -> List[T] {
  if (%i == 0) { Nil } else { let %y = @layer(%x, %w); Cons(%y, @states(%i - 1, %y, %w)) }
}
"""
    texts = {
        "folded list": f"""{states}
def @main(%n: int32, %x: T, %w: T) {{ @foldl(@layer, %x, @states(%n, %x, %w)) }}
""",
        "mapped list": f"""{states}
def @main(%n: int32, %x: T, %w: T) {{
  @foldr(@layer, %x, @map(fn (%y: T) -> T {{ @layer(%y, %w) }}, @states(%n, %x, %w)))
}}
""",
        "tree": """
def @grow(%i: int32, %x: T, %w: T) -> Tree[T] {
  let %y = @layer(%x, %w);
  if (%i == 0) { Rose(%y, Nil) } else { Rose(%y, Cons(@grow(%i - 1, %y, %w), Nil)) }
}
def @folded(%tree: Tree[T]) -> T {
  match (%tree) { Rose(%x, %parts) => { @foldl(fn (%y: T, %t: Tree[T]) -> T { @layer(%y, @folded(%t)) }, %x, %parts) } }
}
def @main(%n: int32, %x: T, %w: T) { @folded(@grow(%n, %x, %w)) }
""",
        "closure": """
def @times(%i: int32, %f: fn (T) -> T, %x: T) -> T { if (%i == 0) { %x } else { @times(%i - 1, %f, %f(%x)) } }
def @main(%n: int32, %x: T, %w: T) {
  let %k = @layer(%w, %w);
  @times(%n, fn (%y: T) -> T { @layer(%y, %k) }, %x)
}
""",
        "list of closures": """
def @closures(%i: int32, %x: T, %w: T) -> List[fn (T) -> T] {
  if (%i == 0) { Nil } else {
    let %k = @layer(%x, %w);
    Cons(fn (%y: T) -> T { @layer(%y, %k) }, @closures(%i - 1, %k, %w))
  }
}
def @main(%n: int32, %x: T, %w: T) {
  @foldl(fn (%y: T, %f: fn (T) -> T) -> T { %f(%y) }, %x, @closures(%n, %x, %w))
}
""",
        "ref": """
def @loop(%i: int32, %r: ref(T), %w: T) -> () {
  if (%i == 0) { () } else { %r := @layer(%r^, %w); @loop(%i - 1, %r, %w) }
}
def @main(%n: int32, %x: T, %w: T) {
  let %r = ref(@layer(%x, %w));
  let %done = @loop(%n, %r, %w);
  %r^
}
""",
        "list of refs": """
def @refs(%i: int32, %x: T, %w: T) -> List[ref(T)] {
  if (%i == 0) { Nil } else { let %y = @layer(%x, %w); Cons(ref(%y), @refs(%i - 1, %y, %w)) }
}
def @updated(%all: List[ref(T)], %x: T) -> T {
  match (%all) { Nil => { %x }, Cons(%r, %rest) => { %r := @layer(%r^, %x); @updated(%rest, %r^) } }
}
def @main(%n: int32, %x: T, %w: T) { @updated(@refs(%n, %x, %w), %w) }
""",
        "choice in a tuple": """
def @loop(%i: int32, %s: (Option[T], T), %w: T) -> (Option[T], T) {
  if (%i == 0) { %s } else {
    match (%s.0) {
      None => { @loop(%i - 1, (Some(@layer(%s.1, %w)), %s.1), %w) },
      Some(%t) => { @loop(%i - 1, (Some(@layer(%t, %w)), @layer(%s.1, %t)), %w) }
    }
  }
}
def @main(%n: int32, %x: T, %w: T) {
  let %s = @loop(%n, (None, %x), %w);
  match (%s.0) { None => { %s.1 }, Some(%t) => { @layer(%t, %s.1) } }
}
""",
    }
    return {
        title: relay.parse('#[version = "0.0.5"]\n' + re.sub(r"\bT\b", tensor, layer + text))
        for title, text in texts.items()
    }
