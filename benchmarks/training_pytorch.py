"""The training steps of `training_programs` as PyTorch runs them: the same losses, weights and updates, with its fused
optimisers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks import trees
from benchmarks.training_programs import (
    HEADS,
    LAYERS,
    LSTM_BATCH,
    LSTM_HIDDEN,
    MLP_WIDTHS,
    MOBILENET_STAGES,
    RESNET_STAGES,
    TOKENS,
    WIDTH,
    Training,
)
from benchmarks.training_updates import EPSILON, FIRST, SECOND, Update

Weights = Mapping[str, Tensor]
Loss = Callable[..., Tensor]


def mlp(p: Weights, data: Tensor, labels: Tensor) -> Tensor:
    x = data
    for layer in range(len(MLP_WIDTHS) - 1):
        x = functional.linear(functional.relu(x) if layer else x, p[f"fc{layer}_w"], p[f"fc{layer}_b"])
    return functional.cross_entropy(x, labels)


def lstm(p: Weights, xs: Tensor, targets: Tensor) -> Tensor:
    start = torch.zeros(1, LSTM_BATCH, LSTM_HIDDEN, dtype=xs.dtype)
    weights = [p[name] for name in ("w_ih", "w_hh", "b_ih", "b_hh")]
    outputs, _, _ = torch.lstm(xs, (start, start), weights, True, 1, 0.0, True, False, False)
    return functional.mse_loss(outputs, targets)


def _norm(p: Weights, x: Tensor, name: str) -> Tensor:
    return functional.batch_norm(x, None, None, p[f"{name}_g"], p[f"{name}_b"], training=True)


def _conv(p: Weights, x: Tensor, name: str, stride: int = 1, groups: int = 1) -> Tensor:
    weight = p[f"{name}_w"]
    return functional.conv2d(x, weight, None, stride, weight.shape[-1] // 2, 1, groups)


def resnet18(p: Weights, data: Tensor, labels: Tensor) -> Tensor:
    x = functional.max_pool2d(functional.relu(_norm(p, _conv(p, data, "first", 2), "first_n")), 3, 2, 1)
    before = RESNET_STAGES[0][0]
    for stage, (channels, first) in enumerate(RESNET_STAGES):
        for unit in range(2):
            name, stride = f"s{stage}u{unit}", 1 if unit else first
            y = functional.relu(_norm(p, _conv(p, x, f"{name}_1", stride), f"{name}_n1"))
            y = _norm(p, _conv(p, y, f"{name}_2"), f"{name}_n2")
            if stride > 1 or before != channels:
                x = _norm(p, _conv(p, x, f"{name}_s", stride), f"{name}_ns")
            x, before = functional.relu(y + x), channels
    return functional.cross_entropy(functional.linear(x.mean((2, 3)), p["fc_w"], p["fc_b"]), labels)


def mobilenet_v2(p: Weights, data: Tensor, labels: Tensor) -> Tensor:
    before, number = 32, 0
    x = functional.relu6(_norm(p, _conv(p, data, "first", 2), "first_n"))
    for expansion, channels, repeats, first in MOBILENET_STAGES:
        for unit in range(repeats):
            name, stride, y = f"b{number}", 1 if unit else first, x
            if expansion > 1:
                y = functional.relu6(_norm(p, _conv(p, y, f"{name}_up"), f"{name}_up_n"))
            inner = before * expansion
            y = functional.relu6(_norm(p, _conv(p, y, f"{name}_of_each", stride, inner), f"{name}_of_each_n"))
            y = _norm(p, _conv(p, y, f"{name}_down"), f"{name}_down_n")
            x = x + y if stride == 1 and before == channels else y
            before, number = channels, number + 1
    x = functional.relu6(_norm(p, _conv(p, x, "last"), "last_n"))
    return functional.cross_entropy(functional.linear(x.mean((2, 3)), p["fc_w"], p["fc_b"]), labels)


def transformer(p: Weights, tokens: Tensor, labels: Tensor) -> Tensor:
    def dense(x: Tensor, name: str) -> Tensor:
        return functional.linear(x, p[f"{name}_w"], p[f"{name}_b"])

    def norm(x: Tensor, name: str) -> Tensor:
        return functional.layer_norm(x, (WIDTH,), p[f"{name}_g"], p[f"{name}_b"])

    x = functional.embedding(tokens, p["embedding"])
    for layer in range(LAYERS):
        name = f"l{layer}"
        apart = dense(norm(x, f"{name}_n1"), f"{name}_qkv").view(*TOKENS, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        context = functional.scaled_dot_product_attention(*apart).transpose(1, 2).reshape(*TOKENS, WIDTH)
        x = x + dense(context, f"{name}_out")
        x = x + dense(functional.gelu(dense(norm(x, f"{name}_n2"), f"{name}_up")), f"{name}_down")
    return functional.cross_entropy(dense(norm(x, "last_n"), "head").view(labels.shape[0], -1), labels)


def tree(p: Weights, forest: list[Any]) -> Tensor:
    """The recursion in Python."""
    return _squares(state for each in forest for state in trees.encoded(each, p))


def tree_by_hand(p: Weights, linear_form: Any) -> Tensor:
    """The nodes of each height together, in a form that was made before."""
    return _squares(trees.encoded_levels(linear_form, p))


def _squares(states: Iterator[Tensor]) -> Tensor:
    return torch.stack([each.square().sum() for each in states]).sum()


LOSSES: Mapping[str, Loss] = {
    "train_mlp_b64": mlp,
    "train_lstm_h256": lstm,
    "train_resnet18_b8": resnet18,
    "train_mobilenet_v2_b8": mobilenet_v2,
    "train_transformer_6x512": transformer,
}
IMAGES = ("train_resnet18_b8", "train_mobilenet_v2_b8")
"""Whose steps have a better layout than the plain one."""


class Step:
    """Steps, one after another, on tensors of their own; a call gives the loss."""

    def __init__(self, training: Training, loss: Loss, batch: tuple[Any, ...], channels_last: bool = False) -> None:
        def laid(x: Any) -> Any:
            return x.to(memory_format=torch.channels_last) if channels_last and x.dim() == 4 else x

        self.update = training.update
        self.weights = {
            name: laid(torch.from_numpy(each.copy())).requires_grad_() for name, each in training.weights.items()
        }
        self.loss, self.batch = loss, tuple(laid(each) if isinstance(each, Tensor) else each for each in batch)
        self.optimizer = optimizer(self.update, list(self.weights.values()))

    def __call__(self) -> Tensor:
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(self.weights, *self.batch)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def gradients(self) -> list[Any]:
        """Of the step before."""
        return [each.grad.detach().contiguous().numpy() for each in self.weights.values()]


def exact_gradients(name: str, training: Training) -> list[Any]:
    """Of the first step, in float64."""
    weights = {each: torch.from_numpy(array).double().requires_grad_() for each, array in training.weights.items()}
    if name in LOSSES:
        batch = [torch.from_numpy(each) for each in training.batch]
        loss = LOSSES[name](weights, *(each.double() if each.is_floating_point() else each for each in batch))
    else:
        (forest,) = training.batch
        words, heights, roots = trees.levels([trees.as_torch(each) for each in forest])
        loss = tree_by_hand(weights, (words.double(), heights, roots))
    loss.backward()
    return [each.grad.numpy() for each in weights.values()]


def optimizer(update: Update, weights: list[Tensor]) -> torch.optim.Optimizer:
    betas = (FIRST, SECOND)
    match update.name:
        case "sgd":
            return torch.optim.SGD(weights, update.rate, fused=True)
        case "momentum":
            return torch.optim.SGD(weights, update.rate, momentum=FIRST, fused=True)
        case "adam":
            return torch.optim.Adam(weights, update.rate, betas, EPSILON, fused=True)
        case _:
            return torch.optim.AdamW(weights, update.rate, betas, EPSILON, update.decay, fused=True)


def steps(name: str, training: Training, compiled: bool) -> dict[str, Step]:
    """Every way in which PyTorch runs a step, by name; with `compiled`, by its own compiler."""
    if name not in LOSSES:
        (forest,) = training.batch
        theirs = [trees.as_torch(each) for each in forest]
        made = {"torch eager": Step(training, tree, (theirs,))}
        made["torch, batched by hand"] = Step(training, tree_by_hand, (trees.levels(theirs),))
        return {} if compiled else made
    batch = tuple(torch.from_numpy(each) for each in training.batch)
    loss, is_image = LOSSES[name], name in IMAGES
    if compiled:
        torch.compiler.reset()
        return {"torch compile": Step(training, torch.compile(loss, dynamic=False), batch, is_image)}
    made = {"torch eager": Step(training, loss, batch)}
    if is_image:
        made["torch eager, channels last"] = Step(training, loss, batch, channels_last=True)
    return made
