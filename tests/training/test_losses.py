"""Losses and their gradients are those of PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import relay
from relay import training

RANDOM = np.random.default_rng(2)
CORNERS = np.array([[0.0, 1.0, -1.0, 1e3], [-1e3, 2.0, 0.5, -0.5]])
PROBABILITIES = np.array([[0.0, 1.0, 0.3, 0.6], [0.5, 1e-9, 1 - 1e-9, 0.25]])
TARGETS = np.array([[0.0, 1.0, 0.5, 1.0], [1.0, 0.0, 1.0, 0.25]])

LOSSES: dict[str, tuple[Any, Any, np.ndarray, np.ndarray]] = {
    "mean squared error": (training.MeanSquaredError(), torch.nn.MSELoss(), CORNERS, TARGETS),
    "mean absolute error": (training.MeanAbsoluteError(), torch.nn.L1Loss(), CORNERS, TARGETS),
    "Huber": (training.Huber(0.7), torch.nn.HuberLoss(delta=0.7), CORNERS, TARGETS),
    "binary cross entropy": (training.BinaryCrossEntropy(), torch.nn.BCELoss(), PROBABILITIES, TARGETS),
    "binary cross entropy of logits": (
        training.BinaryCrossEntropyWithLogits(), torch.nn.BCEWithLogitsLoss(), CORNERS, TARGETS,
    ),
    "cross entropy": (
        training.CrossEntropy(), torch.nn.CrossEntropyLoss(), RANDOM.standard_normal((7, 5)), RANDOM.integers(0, 5, 7),
    ),
    "cross entropy, smoothed": (
        training.CrossEntropy(label_smoothing=0.1), torch.nn.CrossEntropyLoss(label_smoothing=0.1),
        RANDOM.standard_normal((7, 5)), RANDOM.integers(0, 5, 7),
    ),
    "cross entropy of some": (
        training.CrossEntropy(ignore_index=-100), torch.nn.CrossEntropyLoss(),
        RANDOM.standard_normal((4, 5)), np.array([2, -100, 0, -100]),
    ),
    "cross entropy of large logits": (
        training.CrossEntropy(), torch.nn.CrossEntropyLoss(), 1e3 * RANDOM.standard_normal((4, 5)), np.arange(4),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_values_and_gradients_are_those_of_pytorch(name: str):
    mine, theirs, outputs, target = LOSSES[name]
    x = relay.var("x", shape=outputs.shape, dtype="float64")
    y = relay.var("y", shape=target.shape, dtype=str(target.dtype))
    loss = relay.Function([x, y], mine(x, y))
    value, slope = relay.build(relay.value_and_grad(loss, wrt="x"))(outputs, target)
    given = torch.from_numpy(outputs).requires_grad_()
    wanted = theirs(given, torch.from_numpy(target))
    wanted.backward()
    np.testing.assert_allclose(value, wanted.item(), rtol=1e-10)
    assert given.grad is not None
    np.testing.assert_allclose(slope, given.grad.numpy(), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("label", [-1, 5])
def test_a_label_that_names_no_class_ends_the_run(label: int):
    x, y = relay.var("x", shape=(2, 5)), relay.var("y", shape=(2,), dtype="int64")
    loss = relay.build(relay.Function([x, y], training.CrossEntropy()(x, y)))
    with pytest.raises(relay.RelayError, match="a label names no class") as error:
        loss(np.zeros((2, 5), np.float32), np.array([0, label]))
    assert error.value.rule == "check-failed"


def test_what_is_no_loss_is_refused():
    x = relay.var("x", shape=("n", "c"))
    with pytest.raises(relay.RelayError, match="an axis of classes") as error:
        training.CrossEntropy()(x, relay.var("y", shape=("n",), dtype="int64"))
    assert error.value.rule == "bad-loss"
    with pytest.raises(relay.RelayError, match="no tensor of a known type"):
        training.CrossEntropy()(relay.var("x"), x)
    with pytest.raises(relay.RelayError, match="is a share"):
        training.CrossEntropy(label_smoothing=2)
    with pytest.raises(relay.RelayError, match="where squares end"):
        training.Huber(0)
