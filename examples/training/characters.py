"""Text, character by character: an LSTM that is trained on the pages of this documentation, then writes some of its own
as a native library (`characters.so`), which needs neither the compiler nor Python.

    python examples/training/characters.py
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import relay
from relay import nn, training

VOCABULARY = 128
DOCS = Path(__file__).resolve().parents[2] / "docs"
WRITTEN = 200  # characters


def corpus(folder: Path = DOCS) -> np.ndarray:
    """The characters of all pages, as numbers below 128."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in sorted(folder.glob("*.md")))
    return np.frombuffer(text.encode("ascii", "ignore"), np.uint8).astype(np.int32)


def first_weights(hidden: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Normal, with variance 1 / fan-in."""
    random = np.random.default_rng(seed)
    shapes = {
        "embedding": (VOCABULARY, hidden), "gates": (4 * hidden, 2 * hidden), "bias": (4 * hidden,),
        "head": (VOCABULARY, hidden),
    }  # fmt: skip
    return {name: (random.standard_normal(s) / np.sqrt(s[-1])).astype(np.float32) for name, s in shapes.items()}


def programs(hidden: int, batch: int = 16, length: int = 32) -> tuple[Any, Any]:
    """Of a size: `loss(text[batch, length + 1], weights…)`, the mean surprise at each next character, and
    `write(first, key, temperature, weights…)`, the characters that come behind a first one."""
    table = relay.Tensor[(VOCABULARY, hidden)]
    product, vector = relay.Tensor[(4 * hidden, 2 * hidden)], relay.Tensor[(4 * hidden,)]
    rows, piece = relay.Tensor[(relay.symbol("n"), hidden)], relay.Tensor[(batch, length + 1), "int32"]
    random_key = relay.Tensor[(10,), "uint64"]

    @relay.function
    def cell(x: rows, h: rows, c: rows, gates: product, bias: vector) -> tuple[rows, rows]:
        """A step of an LSTM (Hochreiter and Schmidhuber, 1997, with forget gates)."""
        i, f, g, o = relay.split(nn.dense(relay.concatenate([x, h], 1), gates) + bias, 4, axis=1)
        c = relay.sigmoid(f) * c + relay.sigmoid(i) * relay.tanh(g)
        return relay.sigmoid(o) * relay.tanh(c), c

    @relay.function
    def loss(text: piece, embedding: table, gates: product, bias: vector, head: table):
        h, c, total = relay.zeros((batch, hidden)), relay.zeros((batch, hidden)), 0.0
        for at in range(length):
            h, c = cell(relay.take(embedding, text[:, at], axis=0), h, c, gates, bias)
            total = total + training.CrossEntropy()(nn.dense(h, head), text[:, at + 1])
        return total / float(length)

    @relay.function
    def write(
        first: int, key: random_key, temperature: float,
        embedding: table, gates: product, bias: vector, head: table,
    ):  # fmt: skip
        h, c, character = relay.zeros((1, hidden)), relay.zeros((1, hidden)), first
        text = relay.zeros((WRITTEN,), "int32")
        for at in range(WRITTEN):
            h, c = cell(relay.expand_dims(embedding[character], 0), h, c, gates, bias)
            likely = nn.softmax(nn.dense(h, head)[0] / temperature)
            key, drawn = relay.random.multinomial(key, likely, 1)
            character = drawn[0]
            text[at] = character
        return text

    return loss, write


def snippets(text: np.ndarray, count: int, batch: int, length: int) -> Any:
    """`count` batches an epoch, each of pieces of the text from places that the epoch alone tells."""

    def epoch(number: int) -> Any:
        random = np.random.default_rng(number)
        for _ in range(count):
            starts = random.integers(0, len(text) - length, batch)
            yield np.stack([text[start : start + length + 1] for start in starts])

    return epoch


def train(
    folder: Path,
    hidden: int = 128,
    epochs: int = 10,
    count: int = 100,
    batch: int = 16,
    length: int = 32,
    **options: Any,
) -> str:
    """Train, export the writer to `folder / "characters.so"`, and give what that writes."""
    loss, write = programs(hidden, batch, length)
    step = training.compile_step(
        (loss.module, first_weights(hidden)),
        training.ClipByGlobalNorm(training.Adam(training.CosineDecay(4e-3, epochs * count, last=4e-4)), limit=1.0),
    )
    trained = training.fit(step, snippets(corpus(), count, batch, length), epochs, **options)
    library = folder / "characters.so"
    relay.build(write.module, params=trained.state.params).export(library)
    written = relay.load(library)(ord("T"), relay.random.threefry_key(1).data, 0.5)
    return bytes(np.asarray(written, np.uint8)).decode("ascii", "replace")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--epochs", type=int, default=10)
    options.add_argument("--curves", default="characters.png")
    given = options.parse_args()
    print("T" + train(Path(), epochs=given.epochs, curves=given.curves))


if __name__ == "__main__":
    main()
