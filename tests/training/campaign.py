"""Whole trainings beside PyTorch's, of five models: `python -m tests.training.campaign`.

In float64, how far losses and parameters are from PyTorch's after each of ten steps. In float32, how far the gradients
of a step are from those in float64, by how far PyTorch's are; where the loss is after 300 steps among those of five
seeds of PyTorch; and whether the bits are the same on one and two threads, and where a training is saved and resumed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table
from torch import Tensor, nn
from torch.nn import functional

import relay
from relay import training
from tests.training import test_networks
from tests.training.examples import example

Batch = tuple[Any, ...]
SEEDS = range(5)
LAST = 20
"""Steps whose mean loss counts as that of the last."""
MOST_ERROR = 2
"""Of gradients in float32, by PyTorch's."""
LEAST_ERROR = 2.4e-7
"""Of gradients in float32, over their length, two units in the last place: less is not compared."""


class Loss(nn.Module):
    """The loss of a classifier, from data and labels."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor, labels: Tensor) -> Tensor:
        logits = self.network(x)
        return functional.cross_entropy(logits.flatten(0, -2), labels.flatten())


class Unit(nn.Module):
    def __init__(self, before: int, channels: int, stride: int) -> None:
        super().__init__()
        self.one, self.n1 = nn.Conv2d(before, channels, 3, stride, 1, bias=False), nn.BatchNorm2d(channels)
        self.two, self.n2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels)
        self.short = nn.Sequential()
        if stride > 1 or before != channels:
            self.short = nn.Sequential(nn.Conv2d(before, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x: Tensor) -> Tensor:
        y = self.n2(self.two(functional.relu(self.n1(self.one(x)))))
        return functional.relu(y + self.short(x))


def resnet18() -> nn.Module:
    stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    widths = [64, 64, 64, 128, 128, 256, 256, 512, 512]
    units = [Unit(a, b, 1 if a == b else 2) for a, b in pairwise(widths)]
    return nn.Sequential(*stem, *units, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def images(random: np.random.Generator) -> Batch:
    """Eight images of ten classes: a pattern of each class under noise. One label of three is any, so that no loss goes
    to zero, where a single step would tell one training from another."""
    labels, told = random.integers(0, 10, (2, 8)), random.random(8)
    patterns = np.random.default_rng(0).standard_normal((10, 3, 64, 64))
    data = patterns[labels[0]] + random.standard_normal((8, 3, 64, 64))
    return data, np.where(told < 1 / 3, labels[1], labels[0])


def digits(random: np.random.Generator) -> Batch:
    labels = random.integers(0, 10, 64)
    patterns = np.random.default_rng(0).standard_normal((10, 784))
    return patterns[labels] + 4 * random.standard_normal((64, 784)), labels


def texts(random: np.random.Generator) -> Batch:
    """Lines in which a letter tells most of the next one."""
    chain = np.random.default_rng(0).permutation(test_networks.VOCABULARY)
    text = random.integers(0, test_networks.VOCABULARY, (8, test_networks.LENGTH + 1))
    for place in range(1, text.shape[1]):
        told = random.random(8) < 0.8
        text[told, place] = chain[text[told, place - 1]]
    return text[:, :-1].copy(), text[:, 1:].copy()


def attending() -> nn.Module:
    network = test_networks.Attending()
    network.blocks = nn.Sequential(*(test_networks.Block() for _ in range(4)))
    return network


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


@dataclass(frozen=True)
class Course:
    """A model, what it learns from, and by which optimizer, ours and PyTorch's."""

    network: Callable[[], nn.Module]
    batch: Callable[[np.random.Generator], Batch]
    mine: training.Optimizer
    theirs: Callable[[Any], torch.optim.Optimizer]

    def module(self, seed: int, dtype: torch.dtype) -> nn.Module:
        torch.manual_seed(seed)
        return Loss(self.network()).to(dtype).train()

    def program(self, module: nn.Module, dtype: torch.dtype) -> tuple[Any, dict[str, Any]]:
        example = [_tensor(each, dtype) for each in self.batches(0, 1)[0]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return relay.frontend.from_pytorch(module, tuple(example), training=True)

    def step(self, module: nn.Module, dtype: torch.dtype) -> training.TrainingStep:
        return training.compile_step(self.program(module, dtype), self.mine)

    def backward(self, module: nn.Module, dtype: torch.dtype) -> Callable[[Batch], Sequence[Any]]:
        """The gradients of the parameters, by a batch."""
        program, params = self.program(module, dtype)
        names = [name for name, _ in module.named_parameters()]
        moved = [np.zeros_like(params[name]) for name in dict(program["main"].attrs).get("updates", ())]
        one = np.ones((), np.float64 if dtype is torch.float64 else np.float32)
        by = (one, *(() if each.dtype.kind in "iu" else each for each in moved)) if moved else one
        compiled = relay.build(relay.vjp(program, wrt=names))
        return lambda batch: compiled(*_arrays(batch, dtype), *params.values(), by)[1]

    def loss(self, module: nn.Module, batch: Batch, dtype: torch.dtype) -> Tensor:
        return module(*(_tensor(each, dtype) for each in batch))

    def batches(self, seed: int, count: int) -> list[Batch]:
        random = np.random.default_rng([seed, 7])
        return [self.batch(random) for _ in range(count)]


class OfTrees(Course):
    """The Tree-LSTM of `examples/training/trees.py`."""

    def module(self, seed: int, dtype: torch.dtype) -> nn.Module:
        kind = "float64" if dtype is torch.float64 else "float32"
        return test_networks.Recursive(example("trees").first_weights(16, seed, kind))

    def program(self, module: nn.Module, dtype: torch.dtype) -> tuple[Any, dict[str, Any]]:
        kind = "float64" if dtype is torch.float64 else "float32"
        return example("trees").model(16, kind), {name: each.detach().numpy().copy() for name, each in _learned(module)}

    def step(self, module: nn.Module, dtype: torch.dtype) -> training.TrainingStep:
        return training.compile_step(self.program(module, dtype), self.mine, lambda outputs: outputs[0], opt_level=3)

    def backward(self, module: nn.Module, dtype: torch.dtype) -> Callable[[Batch], Sequence[Any]]:
        program, params = self.program(module, dtype)
        kind = np.float64 if dtype is torch.float64 else np.float32
        by = (np.ones((), kind), np.zeros((), kind))
        compiled = relay.build(relay.vjp(program, wrt=list(params)))
        return lambda batch: compiled(*batch, *params.values(), by)[1]

    def loss(self, module: nn.Module, batch: Batch, dtype: torch.dtype) -> Tensor:
        return module(*batch)

    def batches(self, seed: int, count: int) -> list[Batch]:
        return [(example("trees").sentences(16, 1000 * seed + number),) for number in range(count)]


COURSES = {
    "mlp": Course(mlp, digits, training.SGD(0.1), lambda p: torch.optim.SGD(p, 0.1)),
    "resnet18": Course(
        resnet18, images, training.SGD(0.01, momentum=0.9), lambda p: torch.optim.SGD(p, 0.01, momentum=0.9)
    ),
    "lstm": Course(
        test_networks.Recurrent, texts, training.Adam(0.01), lambda p: torch.optim.Adam(p, 0.01)
    ),
    "gpt": Course(attending, texts, training.AdamW(0.003), lambda p: torch.optim.AdamW(p, 0.003)),
    "tree lstm": OfTrees(nn.Identity, texts, training.Adam(0.01), lambda p: torch.optim.Adam(p, 0.01)),
}  # fmt: skip


def _tensor(array: Any, dtype: torch.dtype) -> Tensor:
    found = torch.from_numpy(array)
    return found.to(dtype) if found.is_floating_point() else found


def _arrays(batch: Batch, dtype: torch.dtype) -> list[Any]:
    return [_tensor(each, dtype).numpy() if isinstance(each, np.ndarray) else each for each in batch]


def _learned(module: nn.Module) -> list[tuple[str, Tensor]]:
    return list(module.named_parameters())


def exact(course: Course, steps: int = 10) -> float:
    """In float64: the largest distance of losses and parameters from PyTorch's, over 1 and their size."""
    module = course.module(0, torch.float64)
    step, optimizer = course.step(module, torch.float64), course.theirs(module.parameters())
    state, worst = step.init(), 0.0
    for batch in course.batches(0, steps):
        found = step(state, *_arrays(batch, torch.float64))
        optimizer.zero_grad()
        loss = course.loss(module, batch, torch.float64)
        loss.backward()
        optimizer.step()
        pairs = [(state.params[name], each.detach().numpy()) for name, each in _learned(module)]
        for mine, theirs in [(found.loss, loss.item()), *pairs]:
            worst = max(worst, float(np.max(np.abs(mine - theirs) / (1 + np.abs(theirs)))))
    return worst


def gradient_error(course: Course, count: int = 5) -> float:
    """In float32: how far the gradient of each parameter is from that in float64, by how far PyTorch's is; of the worst
    parameter. The least over some batches: a unit near its corner may be on the other side when anything before it is
    rounded in another way, and then errors are a thousand times as large, PyTorch's as often as ours."""
    network = course.module(0, torch.float32)
    backward, ours, theirs = course.backward(network, torch.float32), list[list[float]](), list[list[float]]()

    def eager(dtype: torch.dtype, batch: Batch) -> list[Any]:
        module = course.module(0, torch.float32).to(dtype)
        course.loss(module, batch, dtype).backward()
        return [each.grad.numpy() for _, each in _learned(module) if each.grad is not None]

    for batch in course.batches(0, count):
        true, plain = eager(torch.float64, batch), eager(torch.float32, batch)
        largest = max(map(_length, true))
        scales = [max(_length(each), 1e-4 * largest) for each in true]
        ours.append([_length(a - t) / scale for a, t, scale in zip(backward(batch), true, scales, strict=True)])
        theirs.append([_length(b - t) / scale for b, t, scale in zip(plain, true, scales, strict=True)])
    return float(np.max(np.min(ours, axis=0) / np.maximum(np.min(theirs, axis=0), LEAST_ERROR)))


def _length(gradient: Any) -> float:
    return float(np.linalg.norm(gradient.astype(np.float64)))


def losses(course: Course, steps: int) -> tuple[float, list[float]]:
    """After so many steps in float32: our loss of the seed that is in the middle of PyTorch's, and those."""
    theirs: list[float] = []
    for seed in SEEDS:
        module = course.module(seed, torch.float32)
        optimizer, last = course.theirs(module.parameters()), list[float]()
        for batch in course.batches(seed, steps):
            optimizer.zero_grad()
            loss = course.loss(module, batch, torch.float32)
            loss.backward()
            optimizer.step()
            last.append(loss.item())
        theirs.append(float(np.mean(last[-LAST:])))
    middle = SEEDS[int(np.argsort(theirs)[len(theirs) // 2])]
    step = course.step(course.module(middle, torch.float32), torch.float32)
    state = step.init()
    mine = [float(step(state, *_arrays(batch, torch.float32)).loss) for batch in course.batches(middle, steps)]
    return float(np.mean(mine[-LAST:])), theirs


def has_same_bits(course: Course, steps: int = 10) -> bool:
    """On one thread, on two, and where it is saved and resumed in the middle."""
    step = course.step(course.module(0, torch.float32), torch.float32)
    batches = [_arrays(batch, torch.float32) for batch in course.batches(0, steps)]

    def run(state: training.TrainingState, given: Sequence[Batch], threads: int) -> training.TrainingState:
        with relay.num_threads(threads):
            for batch in given:
                step(state, *batch)
        return state

    one, two, half = (run(step.init(), *each) for each in ((batches, 1), (batches, 2), (batches[: steps // 2], 1)))
    with tempfile.TemporaryDirectory() as folder:
        training.save_checkpoint(Path(folder, "half.safetensors"), half)
        resumed = run(
            step.restore(training.load_checkpoint(Path(folder, "half.safetensors"))), batches[steps // 2 :], 1
        )
    kept = [{**each.params, **each.optimizer} for each in (one, two, resumed)]
    return all(np.array_equal(kept[0][name], each[name]) for each in kept[1:] for name in kept[0])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", nargs="+", choices=COURSES, default=list(COURSES), metavar="MODEL")
    options.add_argument("--steps", type=int, default=300)
    given = options.parse_args()
    table = Table("model", "float64, 10 steps", "gradients, by PyTorch's", "loss", "five seeds", "same bits")
    failed = False
    for name in track(given.only, "trainings", transient=True, console=Console(stderr=True)):
        course = COURSES[name]
        distance, ratio, same = exact(course), gradient_error(course), has_same_bits(course)
        loss, theirs = losses(course, given.steps)
        spread = f"{min(theirs):.4f} to {max(theirs):.4f}"
        table.add_row(name, f"{distance:.1e}", f"{ratio:.2f}", f"{loss:.4f}", spread, "yes" if same else "no")
        failed |= distance > 1e-8 or ratio > MOST_ERROR or not same or not min(theirs) <= loss <= max(theirs)
    Console(width=120).print(table)
    sys.exit(failed)


if __name__ == "__main__":
    main()
