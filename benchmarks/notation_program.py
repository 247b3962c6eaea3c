"""A decorated function of a hundred lines, as people write them: two layers of attention, then loops over numbers."""

import numpy as np

import relay

T = relay.Tensor
Tokens = relay.Tensor[(32,), "int32"]


@relay.function
def decode(  # noqa: C901 - long on purpose
    tokens: Tokens,
    table: T[(50, 16)],
    wq: T[(16, 16)],
    wk: T[(16, 16)],
    wv: T[(16, 16)],
    wo: T[(16, 16)],
    w1: T[(16, 32)],
    w2: T[(32, 16)],
    out: T[(16, 50)],
    steps: int,
    width: float,
):
    def norm(x):
        mean = np.mean(x, axis=-1, keepdims=True)
        centred = x - mean
        variance = np.mean(centred * centred, axis=-1, keepdims=True)
        return centred / np.sqrt(variance + 1e-5)

    def softmax(x):
        top = np.max(x, axis=-1, keepdims=True)
        raised = np.exp(x - top)
        return raised / np.sum(raised, axis=-1, keepdims=True)

    def gelu(x):
        inner = 0.7978845 * (x + 0.044715 * x * x * x)
        return 0.5 * x * (1.0 + np.tanh(inner))

    def attend(x, mask):
        q = x @ wq
        k = x @ wk
        v = x @ wv
        scores = q @ k.T / 4.0
        scores = np.where(mask, scores, -1e9)
        weights = softmax(scores)
        return (weights @ v) @ wo

    def feed(x):
        hidden = gelu(x @ w1)
        return hidden @ w2

    def layer(x, mask):
        x = x + attend(norm(x), mask)
        return x + feed(norm(x))

    rows = np.arange(32)
    mask = rows[:, None] >= rows[None, :]
    x = table[tokens]
    x = layer(x, mask)
    x = layer(x, mask)
    x = norm(x)
    logits = x @ out
    best = np.argmax(logits, axis=-1)
    total = 0
    longest = 0
    run = 0
    last = -1
    for t in best:
        total = total + t
        if t == last:
            run = run + 1
        else:
            run = 1
        if run > longest:
            longest = run
        last = t
    score = 0.0
    history = [0.0]
    for i in range(steps):
        row = logits[i % 32]
        top = np.max(row)
        low = np.min(row)
        spread = top - low
        if spread > width:
            score = score + spread * 0.5
        elif spread > width / 2.0:
            score = score + spread * 0.25
        else:
            score = score - 1.0
        if score > 1000.0:
            break
        if i % 2 == 0:
            continue
        history.append(score)
    n = 0
    while n * n < steps:
        n = n + 1
    moving = 0.0
    largest = 0.0
    for h in history:
        moving = 0.9 * moving + 0.1 * h
        largest = max(largest, h)
    counts = np.zeros(8)
    for i in range(32):
        place = best[i] % 8
        counts[place] = counts[place] + 1.0
    probabilities = counts / np.sum(counts)
    entropy = 0.0
    for p in probabilities:
        if p > 0.0:
            entropy = entropy - p * np.log(p)
    energy = np.sum(x * x)
    scale = 1.0
    while energy * scale > 100.0:
        scale = scale * 0.5
    x = x * scale
    pooled = np.mean(x, axis=0)
    peak = np.argmax(pooled)
    return pooled, total, longest, score, moving, largest, n, entropy, peak


def arguments() -> tuple[object, ...]:
    """Arrays and numbers for a call of it."""
    random = np.random.default_rng(0)
    shapes = [(50, 16), *[(16, 16)] * 4, (16, 32), (32, 16), (16, 50)]
    arrays = [random.standard_normal(shape, np.float32) for shape in shapes]
    return (random.integers(0, 50, 32, np.int32), *arrays, 20, 1.0)


@relay.function
def small(x: T[(4,)], y: T[(4,)], factor: float = 2.0):
    """What is timed to see what a call costs besides what it computes."""
    return x + y * factor
