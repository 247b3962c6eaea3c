"""The training steps of `training_programs` that are natural to JAX: one jitted step each, with weights and state
donated, matrices as `x @ w` wants them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from benchmarks.training_programs import HEADS, LAYERS, LSTM_BATCH, LSTM_HIDDEN, MLP_WIDTHS, TOKENS, WIDTH, Training
from benchmarks.training_updates import EPSILON, FIRST, SECOND, Update

Tree = Mapping[str, Any]


def _dense(p: Tree, x: Any, name: str) -> Any:
    return x @ p[f"{name}_w"] + p[f"{name}_b"]


def _cross_entropy(logits: Any, labels: Any) -> Any:
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1).mean()


def mlp(p: Tree, data: Any, labels: Any) -> Any:
    x = data
    for layer in range(len(MLP_WIDTHS) - 1):
        x = _dense(p, jax.nn.relu(x) if layer else x, f"fc{layer}")
    return _cross_entropy(x, labels)


def lstm(p: Tree, xs: Any, targets: Any) -> Any:
    def step(state: Any, row: Any) -> Any:
        h, c = state
        i, f, g, o = jnp.split(h @ p["w_hh"] + p["b_hh"] + row, 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    start = jnp.zeros((LSTM_BATCH, LSTM_HIDDEN))
    _, outputs = jax.lax.scan(step, (start, start), xs @ p["w_ih"] + p["b_ih"])
    return jnp.square(outputs - targets).mean()


def transformer(p: Tree, tokens: Any, labels: Any) -> Any:
    def norm(x: Any, name: str) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        scale = jax.lax.rsqrt(jnp.square(centred).mean(-1, keepdims=True) + 1e-5)
        return centred * scale * p[f"{name}_g"] + p[f"{name}_b"]

    x = p["embedding"][tokens]
    for layer in range(LAYERS):
        name = f"l{layer}"
        q, k, v = jnp.split(_dense(p, norm(x, f"{name}_n1"), f"{name}_qkv").reshape(*TOKENS, 3 * HEADS, -1), 3, axis=2)
        x = x + _dense(p, jax.nn.dot_product_attention(q, k, v).reshape(*TOKENS, WIDTH), f"{name}_out")
        up = jax.nn.gelu(_dense(p, norm(x, f"{name}_n2"), f"{name}_up"), approximate=False)
        x = x + _dense(p, up, f"{name}_down")
    return _cross_entropy(_dense(p, norm(x, "last_n"), "head").reshape(labels.shape[0], -1), labels)


LOSSES: Mapping[str, Callable[..., Any]] = {
    "train_mlp_b64": mlp, "train_lstm_h256": lstm, "train_transformer_6x512": transformer,
}  # fmt: skip


class Step:
    """Steps, one after another, on arrays of their own; a call gives the loss when all is computed."""

    def __init__(self, name: str, training: Training) -> None:
        self.turned = {each for each in training.weights if each.rpartition("_")[2] == "w" or each.startswith("w_")}
        self.weights = {name: jnp.asarray(self._turned(name, each)) for name, each in training.weights.items()}
        self.update, self.batch = training.update, tuple(map(jnp.asarray, training.batch))
        self.state = {
            moment: {name: jnp.zeros_like(each) for name, each in self.weights.items()}
            for moment in self.update.moments
        }
        self.steps, self.before = 0, {name: each.copy() for name, each in training.weights.items()}
        self.step = jax.jit(_step(LOSSES[name], self.update), donate_argnums=(0, 1))

    def __call__(self) -> Any:
        self.steps += 1
        found = self.step(self.weights, self.state, np.float32(self.steps), *self.batch)
        loss, self.weights, self.state = jax.block_until_ready(found)
        return loss

    def gradients(self) -> list[NDArray[Any]]:
        """Of the first step, told from what it left."""
        if not self.update.moments:
            after = {name: self._turned(name, np.asarray(self.weights[name])) for name in self.before}
            return [(each - after[name]) / self.update.rate for name, each in self.before.items()]
        share = 1 - FIRST if self.update.counts else 1
        return [self._turned(name, np.asarray(self.state["m"][name])) / share for name in self.before]

    def _turned(self, name: str, array: NDArray[Any]) -> NDArray[Any]:
        return np.ascontiguousarray(array.T) if name in self.turned else array


def _step(loss: Callable[..., Any], update: Update) -> Callable[..., Any]:
    """The loss, its gradient, and the update of all weights."""

    def step(weights: Tree, state: Tree, steps: Any, *batch: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(weights, *batch)
        found = {name: _one(update, w, gradients[name], [s[name] for s in state.values()], steps)
                 for name, w in weights.items()}  # fmt: skip
        after = {name: each[0] for name, each in found.items()}
        moments = {m: {name: each[1 + at] for name, each in found.items()} for at, m in enumerate(state)}
        return value, after, moments

    return step


def _one(update: Update, weight: Any, gradient: Any, moments: Sequence[Any], steps: Any) -> tuple[Any, ...]:
    weight = weight * (1 - update.rate * update.decay)
    match list(moments):
        case []:
            return (weight - update.rate * gradient,)
        case [velocity]:
            velocity = FIRST * velocity + gradient
            return weight - update.rate * velocity, velocity
        case [first, second, *_]:
            first = FIRST * first + (1 - FIRST) * gradient
            second = SECOND * second + (1 - SECOND) * gradient * gradient
            spread = jnp.sqrt(second / (1 - SECOND**steps)) + EPSILON
            return weight - update.rate / (1 - FIRST**steps) * first / spread, first, second
