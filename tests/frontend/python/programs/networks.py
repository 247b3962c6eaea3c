"""Networks and learning: layers, recurrences, attention, search, training."""

# As people write it:
# ruff: noqa: B007, B905, F821, RUF005

import dataclasses
from typing import NamedTuple

import numpy as np

import relay

from .inputs import runs

RANDOM = np.random.default_rng(3)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


X = normal(5, 4)
Data = relay.Tensor[("n", 4)]
Sequence = relay.Tensor[("t", 4)]
Square = relay.Tensor[(4, 4)]
Vector = relay.Tensor[(4,)]


def relu(x):
    return np.maximum(x, 0)


@relay.function
def softmax(x: relay.Tensor[("n", "m")]):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@relay.function
def sigmoid(x: Vector):
    return 1 / (1 + np.exp(-x))


@runs(
    (X, normal(4, 3), normal(3), normal(3, 2), normal(2)),
)
def mlp(x: Data, w1: relay.Tensor[(4, 3)], b1: relay.Tensor[(3,)], w2: relay.Tensor[(3, 2)], b2: relay.Tensor[(2,)]):
    params = [(w1, b1), (w2, b2)]
    for i, (w, b) in enumerate(params):
        x = x @ w + b
        if i < len(params) - 1:
            x = np.maximum(x, 0)
    return x


@runs(
    (X, normal(4, 4), normal(4, 4)),
)
def mlp_by_names(x: Data, w1: Square, w2: Square):
    params = {"w1": w1, "w2": w2}
    h = np.tanh(x @ params["w1"])
    return h @ params["w2"] + x


@runs(
    (X, normal(3, 4, 4)),
)
def residual_stack(x: Data, weights: relay.Tensor[(3, 4, 4)]):
    for w in weights:
        h = np.maximum(x @ w, 0.0)
        x = x + h
    return x


class Linear(NamedTuple):
    weight: Square
    bias: Vector


@runs(
    (X, Linear(normal(4, 4), normal(4))),
)
def linear_layer(x: Data, layer: Linear):
    return x @ layer.weight.T + layer.bias


@dataclasses.dataclass(frozen=True)
class Norm:
    scale: Vector
    shift: Vector
    epsilon: float = 1e-5


@runs(
    (X, Norm(normal(4), normal(4))),
)
def layer_norm(x: Data, norm: Norm):
    mean = x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, keepdims=True)
    return norm.scale * (x - mean) / np.sqrt(variance + norm.epsilon) + norm.shift


@runs(
    (X, normal(4, 4), normal(4, 4), normal(4, 4)),
)
def attention(x: Data, wq: Square, wk: Square, wv: Square):
    q, k, v = x @ wq, x @ wk, x @ wv
    scores = q @ k.T / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    return weights @ v


@runs(
    (X, normal(4, 4)),
)
def causal_attention(x: Data, w: Square):
    n = x.shape[0]
    scores = (x @ w) @ x.T
    mask = np.tril(np.ones((n, n)))
    scores = np.where(mask == 0, -1e9, scores)
    return softmax(scores) @ x


@runs(
    (X, normal(4, 4), normal(4, 4), normal(4, 4)),
)
def multi_head_attention(x: relay.Tensor[(5, 4)], wq: Square, wk: Square, wv: Square):
    heads, d = 2, 2
    t = x.shape[0]
    q = (x @ wq).reshape(t, heads, d).transpose(1, 0, 2)
    k = (x @ wk).reshape(t, heads, d).transpose(1, 0, 2)
    v = (x @ wv).reshape(t, heads, d).transpose(1, 0, 2)
    scores = q @ k.transpose(0, 2, 1) / d**0.5
    e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    p = e / np.sum(e, axis=-1, keepdims=True)
    return (p @ v).transpose(1, 0, 2).reshape(t, heads * d)


@runs(
    (X, normal(4, 4), normal(4, 4)),
)
def rnn(xs: Sequence, wx: Square, wh: Square):
    h = np.zeros(4)
    outputs = []
    for x in xs:
        h = np.tanh(x @ wx + h @ wh)
        outputs.append(h)
    return h, outputs


@runs(
    (X, normal(8, 16), normal(16)),
)
def lstm(xs: Sequence, w: relay.Tensor[(8, 16)], b: relay.Tensor[(16,)]):
    h, c = np.zeros(4, np.float32), np.zeros(4, np.float32)
    for x in xs:
        z = np.concatenate([x, h]) @ w + b
        i, f, g, o = np.split(z, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    return h, c


@runs(
    (X, normal(4, 4), normal(4, 4)),
)
def gru(xs: Sequence, wz: Square, wh: Square):
    h = np.zeros(4)
    for t in range(len(xs)):
        z = sigmoid(xs[t] @ wz)
        h = (1 - z) * h + z * np.tanh((xs[t] + h) @ wh)
    return h


@runs(
    (normal(5, 5), normal(2, 2)),
)
def conv2d(image: relay.Tensor[(5, 5)], kernel: relay.Tensor[(2, 2)]):
    h, w = image.shape
    kh, kw = kernel.shape
    out = np.zeros((h - kh + 1, w - kw + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = (image[i : i + kh, j : j + kw] * kernel).sum()
    return out


@runs(
    (normal(4, 6),),
)
def max_pool(image: relay.Tensor[(4, 6)]):
    h, w = image.shape
    return image.reshape(h // 2, 2, w // 2, 2).max(axis=(1, 3))


@runs(
    (np.array([2, 0, 1], np.int32), normal(4, 4)),
)
def embedding(tokens: relay.Tensor[("t",), "int32"], table: Square):
    return table[tokens].mean(axis=0), np.take(table, tokens, axis=0)


@runs(
    (X, np.array([0, 3, 1, 2, 2], np.int32)),
)
def cross_entropy(logits: relay.Tensor[("n", 4)], labels: relay.Tensor[("n",), "int32"]):
    n = logits.shape[0]
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_probabilities = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    loss = -log_probabilities[np.arange(n), labels].mean()
    accuracy = (logits.argmax(axis=1) == labels).mean()
    return loss, accuracy


@runs(
    (normal(4), normal(4)),
)
def adam(w: Vector, g: Vector):
    m = v = np.zeros_like(w)
    b1, b2, lr = 0.9, 0.999, 0.01
    for t in range(1, 6):
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g**2
        w = w - lr * (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + 1e-8)
    return w


@runs(
    (X, np.array([0, 1, 1, 0, 1], np.float32)),
)
def logistic_regression(x: relay.Tensor[(5, 4)], y: relay.Tensor[(5,)]):
    w, b = np.zeros(4), 0.0
    for epoch in range(20):
        p = 1 / (1 + np.exp(-(x @ w + b)))
        error = p - y
        w -= 0.5 * x.T @ error / len(y)
        b -= 0.5 * error.mean()
    return w, b


@runs(
    (X, np.array([1, -1, 1, -1, 1], np.float32)),
)
def perceptron(x: relay.Tensor[(5, 4)], y: relay.Tensor[(5,)]):
    w = np.zeros(4)
    mistakes = 0
    for _ in range(3):
        for xi, yi in zip(x, y):
            if yi * (w @ xi) <= 0:
                w += yi * xi
                mistakes += 1
    return w, mistakes


@runs(
    (X, np.array([0, 1, 1, 0, 1], np.int32), normal(4)),
)
def nearest_neighbours(data: relay.Tensor[(5, 4)], labels: relay.Tensor[(5,), "int32"], query: Vector):
    distances = np.linalg.norm(data - query, axis=1)
    nearest = np.argsort(distances)[:3]
    votes = labels[nearest]
    return nearest, 1 if votes.sum() >= 2 else 0


@runs(
    (X, normal(2, 4)),
)
def k_means(x: relay.Tensor[(5, 4)], centers: relay.Tensor[(2, 4)]):
    k = len(centers)
    assignment = np.zeros(5, dtype=np.int32)
    for _ in range(4):
        distances = ((x[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
        assignment = distances.argmin(axis=1)
        means = []
        for j in range(k):
            chosen = (assignment == j).astype(np.float32)
            count = max(chosen.sum(), 1.0)
            means.append((x * chosen[:, None]).sum(axis=0) / count)
        centers = np.stack(means)
    return centers, assignment


@runs(
    (X,),
)
def first_component(x: relay.Tensor[(5, 4)]):
    centered = x - x.mean(axis=0)
    covariance = centered.T @ centered / (len(x) - 1)
    v = np.ones(4)
    for _ in range(50):
        v = covariance @ v
        v /= np.linalg.norm(v)
    return v, covariance.trace()


@runs(
    (normal(4, 4), 0, 3),
)
def greedy_decode(transition: Square, start: int, steps: int):
    token = start
    out = [token]
    for _ in range(steps):
        token = int(np.argmax(transition[token]))
        out.append(token)
        if token == 3:
            break
    return out


@runs(
    (normal(4, 4), 2),
)
def beam_search(log_probabilities: Square, width: int):
    beams = [([0], 0.0)]
    for _ in range(3):
        candidates = []
        for tokens, score in beams:
            for token in range(4):
                candidates.append((tokens + [token], score + log_probabilities[tokens[-1], token]))
        candidates = sorted(candidates, key=lambda c: c[1], reverse=True)
        beams = candidates[:width]
    return beams[0]


@runs(
    (6, 4),
)
def positional_encoding(length: int, width: int):
    position = np.arange(length)[:, None]
    i = np.arange(width)[None, :]
    angle = position / np.power(10000.0, (2 * (i // 2)) / width)
    return np.where(i % 2 == 0, np.sin(angle), np.cos(angle))


@runs(
    (X, normal(4, 4), normal(4, 8), normal(8, 4)),
)
def transformer_block(x: Data, w: Square, up: relay.Tensor[(4, 8)], down: relay.Tensor[(8, 4)]):
    def norm(h, eps=1e-5):
        return (h - h.mean(-1, keepdims=True)) / np.sqrt(h.var(-1, keepdims=True) + eps)

    def gelu(h):
        return 0.5 * h * (1 + np.tanh(0.7978845608 * (h + 0.044715 * h**3)))

    h = norm(x)
    x = x + softmax(h @ h.T) @ h @ w
    return x + gelu(norm(x) @ up) @ down


@runs(
    (normal(4), normal(4), normal(4)),
)
def variational_sample(mean: Vector, log_variance: Vector, noise: Vector):
    z = mean + np.exp(0.5 * log_variance) * noise
    kl = -0.5 * np.sum(1 + log_variance - mean**2 - np.exp(log_variance))
    return z, kl


@runs(
    (X, normal(4, 4), normal(4)),
)
def batch_norm_training(x: relay.Tensor[(5, 4)], w: Square, running: Vector):
    h = x @ w
    mean, std = h.mean(0), h.std(0)
    running = 0.9 * running + 0.1 * mean
    return (h - mean) / (std + 1e-5), running


@runs((X, 1.0), (X, -1.0))
def with_options(x: Data, scale: float, *, activation: int = 1, bias: float = 0.0):
    y = x * scale + bias
    if activation == 1:
        return np.maximum(y, 0)
    if activation == 2:
        return np.tanh(y)
    return y


@runs(
    (normal(4), normal(4), normal(4)),
)
def cosine_ranking(query: Vector, a: Vector, b: Vector):
    def cosine(x, y):
        return x @ y / (np.linalg.norm(x) * np.linalg.norm(y))

    scores = [cosine(query, d) for d in (a, b)]
    return scores, 0 if scores[0] > scores[1] else 1


@runs(
    (np.array([0, 2, 1], np.int32),),
)
def one_hot(labels: relay.Tensor[("n",), "int32"]):
    return (labels[:, None] == np.arange(3)).astype(np.float32), np.eye(3)[labels]


@runs(
    (normal(4), normal(4, 4), 0.1),
)
def training_step(w: Vector, x: Square, lr: float):
    def loss(w: Vector) -> float:
        return ((x @ w - 1.0) ** 2).mean()

    gradient = 2 * x.T @ (x @ w - 1.0) / 4
    return w - lr * gradient, loss(w)


@runs(
    (np.array([1.0, 0.5, 0.25, -0.5], np.float32), 3),
)
def discounted_returns(rewards: Vector, n: int):
    returns = []
    total = 0.0
    for r in rewards[::-1]:
        total = r + 0.9 * total
        returns.append(total)
    returns.reverse()
    return returns, np.array(returns).mean(), n


@runs(
    (np.zeros((3, 2), np.float32), 0, 1, 1.0, 2),
)
def q_learning(q: relay.Tensor[(3, 2)], state: int, action: int, reward: float, following: int):
    q = q.copy()
    target = reward + 0.9 * np.max(q[following])
    q[state, action] += 0.1 * (target - q[state, action])
    return q, q.argmax(axis=1)
