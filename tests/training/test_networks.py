"""Ten steps of recurrent, attending and recursive models in float64 are those of PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import relay
from relay import training
from tests.training.examples import example

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*LeafSpec.*:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*_flat_weights.*were assigned during export.*:UserWarning"),
]
VOCABULARY, WIDTH, LENGTH = 11, 8, 7


class Recurrent(torch.nn.Module):
    """A language model of one LSTM."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.lstm = torch.nn.LSTM(WIDTH, WIDTH, batch_first=True)
        self.head = torch.nn.Linear(WIDTH, VOCABULARY)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(self.embedding(x))[0])


class Block(torch.nn.Module):
    def __init__(self, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.qkv, self.out = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, t, d = x.shape
        parts = (each.reshape(n, t, self.heads, -1).transpose(1, 2) for each in self.qkv(self.before(x)).split(d, -1))
        seen = torch.nn.functional.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(n, t, d))
        return x + self.narrow(torch.nn.functional.gelu(self.wide(self.between(x))))


class Attending(torch.nn.Module):
    """A small GPT."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.places = torch.nn.Parameter(0.1 * torch.randn(LENGTH, WIDTH))
        self.blocks = torch.nn.Sequential(Block(), Block())
        self.norm, self.head = torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.blocks(self.embedding(x) + self.places)))


@pytest.mark.parametrize(("network", "mine", "theirs"), [
    (Recurrent, training.Adam(0.01), lambda p: torch.optim.Adam(p, 0.01)),
    (Attending, training.AdamW(0.01), lambda p: torch.optim.AdamW(p, 0.01)),
])  # fmt: skip
def test_language_models(
    network: Callable[[], torch.nn.Module], mine: training.Optimizer, theirs: Callable[[Any], torch.optim.Optimizer]
):
    torch.manual_seed(1)
    twin = network().double()
    random = np.random.default_rng(0)
    texts = [random.integers(0, VOCABULARY, (3, LENGTH + 1)) for _ in range(10)]
    program = relay.frontend.from_pytorch(twin.eval(), (torch.from_numpy(texts[0][:, :-1]),))
    step = training.compile_step(program, mine, training.CrossEntropy())
    state, optimizer = step.init(), theirs(twin.parameters())
    assert set(state.params) == {name for name, _ in twin.named_parameters()}
    for text in texts:
        x, labels = text[:, :-1].copy(), text[:, 1:].copy()
        found = step(state, x, labels)
        optimizer.zero_grad()
        logits = twin(torch.from_numpy(x)).flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(logits, torch.from_numpy(labels).flatten())
        loss.backward()
        optimizer.step()
        np.testing.assert_allclose(found.loss, loss.item(), rtol=1e-8)
        for name, parameter in twin.named_parameters():
            np.testing.assert_allclose(state.params[name], parameter.detach().numpy(), rtol=1e-8, atol=1e-8)


class Recursive(torch.nn.Module):
    """The Tree-LSTM of `examples/training/trees.py`, tree by tree."""

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        super().__init__()
        for name, each in weights.items():
            self.register_parameter(name, torch.nn.Parameter(torch.from_numpy(each.copy())))

    def encode(self, tree: Any) -> tuple[torch.Tensor, torch.Tensor]:
        if not hasattr(tree, "left"):
            i, o, u = (self.embedding[tree.word] @ self.leaf.T).chunk(3)
            c = torch.sigmoid(i) * torch.tanh(u)
        else:
            (left_h, left_c), (right_h, right_c) = self.encode(tree.left), self.encode(tree.right)
            i, o, u, f, g = (torch.cat((left_h, right_h)) @ self.inner.T + self.bias).chunk(5)
            c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(f) * left_c + torch.sigmoid(g) * right_c
        return torch.sigmoid(o) * torch.tanh(c), c

    def forward(self, sentences: list[tuple[Any, int]]) -> torch.Tensor:
        logits = torch.stack([self.encode(tree)[0] @ self.head.T for tree, _ in sentences])
        return torch.nn.functional.cross_entropy(logits, torch.tensor([label for _, label in sentences]))


def test_a_tree_lstm():
    trees = example("trees")
    weights = trees.first_weights(6, dtype="float64")
    twin = Recursive(weights)
    step = trees.compiled_step(6, "float64")
    state, optimizer = step.init(), torch.optim.Adam(twin.parameters(), 1e-2)
    for seed in range(10):
        sentences = trees.sentences(4, seed)
        found = step(state, sentences)
        optimizer.zero_grad()
        loss = twin(sentences)
        loss.backward()
        optimizer.step()
        np.testing.assert_allclose(found.loss, loss.item(), rtol=1e-8)
        for name, parameter in twin.named_parameters():
            np.testing.assert_allclose(state.params[name], parameter.detach().numpy(), rtol=1e-8, atol=1e-8)
