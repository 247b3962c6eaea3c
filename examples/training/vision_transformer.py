"""A vision transformer of PyTorch (of the package `transformers`), trained natively on pictures of shapes; what was
learned goes back into the PyTorch module.

The patch embeddings stay as they are (`frozen`), all else is trained.

    python examples/training/vision_transformer.py
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import torch
from transformers import ViTConfig, ViTForImageClassification

import relay
from relay import training

SHAPES = ("square", "disc", "cross", "frame")
SIZE = 32


class Classifier(torch.nn.Module):
    """pixels[n, 3, 32, 32] → logits[n, 4]"""

    def __init__(self) -> None:
        super().__init__()
        self.vit = ViTForImageClassification(
            ViTConfig(
                hidden_size=64,
                num_hidden_layers=3,
                num_attention_heads=4,
                intermediate_size=128,
                image_size=SIZE,
                patch_size=8,
                num_labels=len(SHAPES),
                attn_implementation="sdpa",
            )
        )

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return self.vit(pixels).logits


def pictures(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Shapes of random places, sizes and colours on noise: pixels[count, 3, 32, 32], labels[count]."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, len(SHAPES), count)
    pixels = 0.3 * random.standard_normal((count, 3, SIZE, SIZE))
    rows, columns = np.mgrid[:SIZE, :SIZE]
    for picture, label in zip(pixels, labels, strict=True):
        radius = random.integers(5, 9)
        y, x = random.integers(radius, SIZE - radius, 2)
        down, across = abs(rows - y), abs(columns - x)
        inside = (down <= radius) & (across <= radius)
        drawn = (
            inside,
            down**2 + across**2 <= radius**2,
            inside & ((down <= 1) | (across <= 1)),
            inside & ((down >= radius - 1) | (across >= radius - 1)),
        )[label]
        picture[:, drawn] += random.uniform(0.7, 1.5, 3)[:, None]
    return pixels.astype(np.float32), labels


def accuracy(logits: Any, labels: Any) -> Any:
    hits = relay.equal(relay.cast(relay.argmax(logits, axis=-1), "int64"), labels)
    return relay.mean(relay.cast(hits, "float32"))


def train(count: int = 2048, epochs: int = 8, **options: Any) -> tuple[training.Training, Classifier]:
    """The training, and the module with the weights that it found."""
    torch.manual_seed(0)
    network = Classifier().eval()  # nothing is dropped, here
    seen, held_out = pictures(count, seed=1), pictures(256, seed=2)
    example = torch.from_numpy(seen[0][:2])
    program = relay.frontend.from_pytorch(network, (example,), dynamic_shapes=({0: torch.export.Dim("n")},))
    rate = training.Warmup(50, training.CosineDecay(2e-3, epochs * count // 32))
    step = training.compile_step(
        program, training.ClipByGlobalNorm(training.AdamW(rate), limit=1.0), training.CrossEntropy(),
        metrics={"accuracy": accuracy}, frozen=("*.patch_embeddings.*",),
    )  # fmt: skip
    trained = training.fit(
        step, training.Batches(*seen, size=32), epochs,
        measured_on=training.Batches(*held_out, size=64, shuffle=False), **options,
    )  # fmt: skip
    learned = {name: torch.from_numpy(each) for name, each in trained.state.params.items()}
    network.load_state_dict(learned, strict=False)
    return trained, network


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--epochs", type=int, default=8)
    options.add_argument("--curves", default="vision_transformer.png")
    given = options.parse_args()
    _, network = train(epochs=given.epochs, curves=given.curves)
    pixels, labels = pictures(256, seed=2)
    with torch.no_grad():
        found = network(torch.from_numpy(pixels)).argmax(-1).numpy()
    print(f"accuracy of the PyTorch module on pictures that it has not seen: {np.mean(found == labels):.1%}")


if __name__ == "__main__":
    main()
