"""Ten steps in float64 are those of PyTorch, for each optimizer, schedule and way to clip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import relay
from relay import training
from tests.training.networks import batches, perceptron

STEPS = 10
OPTIMIZERS: dict[str, tuple[training.Optimizer, Callable[[Any], torch.optim.Optimizer]]] = {
    "SGD": (training.SGD(0.1), lambda p: torch.optim.SGD(p, 0.1)),
    "SGD with weight decay": (
        training.SGD(0.1, weight_decay=0.02), lambda p: torch.optim.SGD(p, 0.1, weight_decay=0.02),
    ),
    "SGD with momentum": (training.SGD(0.1, momentum=0.9), lambda p: torch.optim.SGD(p, 0.1, momentum=0.9)),
    "SGD with dampened momentum": (
        training.SGD(0.1, momentum=0.9, dampening=0.3, weight_decay=0.01),
        lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, dampening=0.3, weight_decay=0.01),
    ),
    "SGD with Nesterov's momentum": (
        training.SGD(0.1, momentum=0.9, nesterov=True),
        lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True),
    ),
    "Adam": (training.Adam(0.01), lambda p: torch.optim.Adam(p, 0.01)),
    "Adam with weight decay": (
        training.Adam(0.01, (0.8, 0.95), 1e-6, 0.1),
        lambda p: torch.optim.Adam(p, 0.01, (0.8, 0.95), 1e-6, 0.1),
    ),
    "AdamW": (training.AdamW(0.01, weight_decay=0.1), lambda p: torch.optim.AdamW(p, 0.01, weight_decay=0.1)),
    "RMSProp": (training.RMSProp(0.01), lambda p: torch.optim.RMSprop(p, 0.01)),
    "RMSProp, centered, with momentum": (
        training.RMSProp(0.01, 0.9, 1e-6, 0.01, 0.7, centered=True),
        lambda p: torch.optim.RMSprop(p, 0.01, 0.9, 1e-6, 0.01, 0.7, centered=True),
    ),
    "Adagrad": (training.Adagrad(0.1), lambda p: torch.optim.Adagrad(p, 0.1)),
    "Adagrad with all options": (
        training.Adagrad(0.1, 0.05, 0.01, 0.2, 1e-8),
        lambda p: torch.optim.Adagrad(p, 0.1, 0.05, 0.01, 0.2, 1e-8),
    ),
}  # fmt: skip


def follow(
    mine: training.Optimizer, theirs: Callable[[Any], torch.optim.Optimizer],
    before_update: Callable[[Any], object] = lambda _: None, schedule: Callable[[Any], Any] | None = None,
) -> None:  # fmt: skip
    """Losses and all parameters agree to 1e-8 after each of ten steps."""
    module, params, twin = perceptron()
    step = training.compile_step((module, params), mine, training.CrossEntropy())
    state = step.init()
    optimizer = theirs(twin.parameters())
    scheduler = schedule(optimizer) if schedule else None
    for x, labels in batches(STEPS):
        found = step(state, x, labels)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(twin(torch.from_numpy(x)), torch.from_numpy(labels))
        loss.backward()
        before_update(twin.parameters())
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        np.testing.assert_allclose(found.loss, loss.item(), rtol=1e-8)
        for name, parameter in twin.named_parameters():
            np.testing.assert_allclose(state.params[name], parameter.detach().numpy(), rtol=1e-8, atol=1e-10)
    assert state.count == STEPS


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_ten_steps_are_those_of_pytorch(name: str):
    follow(*OPTIMIZERS[name])


SCHEDULES: dict[str, tuple[training.schedules.Rate, Callable[[Any], Any]]] = {
    "in steps": (
        training.StepDecay(0.1, 3, 0.5), lambda o: torch.optim.lr_scheduler.StepLR(o, 3, 0.5),
    ),
    "by a cosine": (
        training.CosineDecay(0.1, 10, 0.01), lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 10, 0.01),
    ),
    "on a line": (
        training.LinearDecay(0.1, 6, 0.02), lambda o: torch.optim.lr_scheduler.LinearLR(o, 1.0, 0.2, 6),
    ),
    "up, then by a cosine": (
        training.Warmup(4, training.CosineDecay(0.1, 8), first=0.25),
        lambda o: torch.optim.lr_scheduler.SequentialLR(
            o,
            [
                torch.optim.lr_scheduler.LinearLR(o, 0.25, 1.0, 4),
                torch.optim.lr_scheduler.CosineAnnealingLR(o, 8),
            ],
            [4],
        ),
    ),
    "of one's own": (
        lambda count: 0.1 / (1.0 + relay.cast(count, "float64")),
        lambda o: torch.optim.lr_scheduler.LambdaLR(o, lambda count: 1 / (1 + count)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.filterwarnings("ignore:.*epoch parameter in `scheduler.step.*:UserWarning")  # SequentialLR's own
def test_rates_are_those_of_pytorch(name: str):
    rate, schedule = SCHEDULES[name]
    follow(training.SGD(rate), lambda p: torch.optim.SGD(p, 0.1), schedule=schedule)


def test_gradients_clipped_to_a_length_are_those_of_pytorch():
    follow(
        training.ClipByGlobalNorm(training.SGD(0.5), 0.3), lambda p: torch.optim.SGD(p, 0.5),
        lambda parameters: torch.nn.utils.clip_grad_norm_(parameters, 0.3),
    )  # fmt: skip


def test_gradients_clipped_by_value_are_those_of_pytorch():
    follow(
        training.ClipByValue(training.Adam(0.01), 0.02), lambda p: torch.optim.Adam(p, 0.01),
        lambda parameters: torch.nn.utils.clip_grad_value_(parameters, 0.02),
    )  # fmt: skip


def test_an_optimizer_of_ones_own():
    class Signs(training.PerTensor):
        """Steps of one size, along the sign of the running mean of the gradient (Lion without its second rate)."""

        slots = {"mean": 0.0}  # noqa: RUF012

        def rule(self, count):
            def update(weight, gradient, kept):
                mean = 0.9 * kept["mean"] + 0.1 * gradient
                return weight - 0.01 * relay.sign(mean), {"mean": mean}

            return update

    module, params, _ = perceptron()
    step = training.compile_step((module, params), Signs(), training.CrossEntropy())
    state = step.init()
    step(state, *batches(1)[0])
    for name, first in params.items():
        np.testing.assert_allclose(np.abs(state.params[name] - first), 0.01, rtol=1e-6)
        assert state.optimizer[f"{name}.mean"].any()


def test_functions_of_relay_are_losses_and_updates():
    """Written as text: what they take and give has types of its own, and is checked where they are called."""
    functions = relay.parse("""#[version = "0.0.5"]
    def @loss(%given: Tensor[(5, 4), float64], %wanted: Tensor[(5, 4), float64]) {
      let %error = subtract(%given, %wanted); mean(multiply(%error, %error))
    }
    def @update(%w: Tensor[(4,), float64], %g: Tensor[(4,), float64]) { subtract(%w, multiply(0.1f64, %g)) }
    """)

    class Descent(training.PerTensor):
        def rule(self, count):
            return lambda weight, gradient, kept: (relay.Call(functions["update"], [weight, gradient]), kept)

    module, params, twin = perceptron()
    step = training.compile_step(
        (module, params), Descent(), lambda given, wanted: relay.Call(functions["loss"], [given, wanted]),
        labels=[relay.var("wanted", shape=(5, 4), dtype="float64")], frozen=("*.weight", "0.*"),
    )  # fmt: skip
    state, (x, _) = step.init(), batches(1)[0]
    step(state, x, np.zeros((5, 4)))
    loss = torch.nn.functional.mse_loss(twin(torch.from_numpy(x)), torch.zeros(5, 4, dtype=torch.float64))
    loss.backward()
    bias = twin.get_parameter("2.bias")
    assert bias.grad is not None
    np.testing.assert_allclose(state.params["2.bias"], (bias - 0.1 * bias.grad).detach().numpy(), rtol=1e-8)


@pytest.mark.parametrize(("make", "rule"), [
    (lambda: training.SGD(0.1, nesterov=True), "bad-optimizer"),
    (lambda: training.Adam(0.1, (0.9, 1.0)), "bad-optimizer"),
    (lambda: training.RMSProp(0.1, epsilon=-1.0), "bad-optimizer"),
    (lambda: training.ClipByValue(training.SGD(0.1), 0.0), "bad-optimizer"),
    (lambda: training.StepDecay(0.1, 0), "bad-schedule"),
    (lambda: training.rate_after(-0.1, 0), "bad-rate"),
    (lambda: training.rate_after(lambda count: count, 0), "bad-rate"),
])  # fmt: skip
def test_options_out_of_range_are_refused(make: Callable[[], object], rule: str):
    with pytest.raises(relay.RelayError) as error:
        make()
    assert error.value.rule == rule
