"""Options of a step: accumulated gradients, random keys, loss scales, checks of what is not finite."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import relay
from relay import training
from tests.training.networks import batches, perceptron


def test_accumulated_gradients_are_the_mean_of_those_of_the_batches():
    module, params, twin = perceptron()
    step = training.compile_step((module, params), training.SGD(0.1, 0.9), training.CrossEntropy(), accumulated=3)
    state = step.init()
    optimizer = torch.optim.SGD(twin.parameters(), 0.1, momentum=0.9)
    for number, (x, labels) in enumerate(batches(9), 1):
        found = step(state, x, labels)
        loss = torch.nn.functional.cross_entropy(twin(torch.from_numpy(x)), torch.from_numpy(labels))
        (loss / 3).backward()
        np.testing.assert_allclose(found.loss, loss.item(), rtol=1e-8)
        if number % 3 == 0:
            optimizer.step()
            optimizer.zero_grad()
        assert (state.count, state.pending) == (number // 3, number % 3)
        for name, parameter in twin.named_parameters():
            np.testing.assert_allclose(state.params[name], parameter.detach().numpy(), rtol=1e-8, atol=1e-10)


def noisy() -> tuple[relay.IRModule, dict[str, np.ndarray]]:
    """w · u for numbers u that a key draws; the loss is itself."""
    key, w = relay.var("key", shape=(10,), dtype="uint64"), relay.var("w", shape=(3,))
    _, drawn = relay.random.uniform(key, (3,))
    return relay.IRModule.from_expr(relay.Function([w, key], relay.sum(w * drawn))), {"w": np.zeros(3, np.float32)}


def test_every_step_has_a_key_of_its_own_that_the_seed_tells():
    step = training.compile_step(noisy(), training.SGD(1.0), key="key")
    weights = []
    for seed in (1, 1, 2):
        state = step.init(seed=seed)
        step(state)
        first = state.params["w"].copy()
        step(state)
        assert (state.params["w"] != 2 * first).all()
        weights.append(state.params["w"].copy())
    np.testing.assert_array_equal(weights[0], weights[1])
    assert (weights[0] != weights[2]).any()
    with pytest.raises(relay.RelayError, match="the random key is no input") as error:
        training.compile_step(noisy(), training.SGD(1.0), key="kee")
    assert error.value.rule == "unknown-parameter"


def logarithm() -> training.TrainingStep:
    x, w = relay.var("x", shape=(2,)), relay.var("w", shape=(2,))
    root = relay.sqrt(x)
    model = relay.Function([x, w], relay.sum(w * root))
    return training.compile_step((model, {"w": np.ones(2, np.float32)}), training.Adam(0.1), check_finite=True)


def test_what_is_not_finite_stops_with_the_step_and_the_operator_and_changes_nothing():
    step = logarithm()
    state = step.init()
    step(state, np.ones(2, np.float32))
    before = {name: each.copy() for name, each in {**state.params, **state.optimizer}.items()}
    with pytest.raises(relay.RelayError, match="of step 2 is not finite") as error:
        step(state, np.array([1, -1], np.float32))
    assert error.value.rule == "not-finite"
    assert "`sqrt` made the first NaN" in str(error.value)
    assert "root = relay.sqrt(x)" in str(error.value)
    for name, each in {**state.params, **state.optimizer}.items():
        np.testing.assert_array_equal(each, before[name])
    assert state.count == 1
    with pytest.raises(relay.RelayError, match="NaN in `x`, which it was given"):
        step(state, np.array([1, np.nan], np.float32))
    step(state, np.ones(2, np.float32))


def test_an_infinite_gradient_is_told_too():
    """The slope of a root at 0."""
    w = relay.var("w", shape=())
    model = relay.Function([w], relay.sqrt(w))
    step = training.compile_step((model, {"w": np.zeros((), np.float32)}), training.SGD(0.1), check_finite=True)
    with pytest.raises(relay.RelayError, match="made the first infinity"):
        step(step.init())


def test_accumulated_batches_are_checked_one_by_one():
    x, w = relay.var("x", shape=(2,)), relay.var("w", shape=(2,))
    model = relay.Function([x, w], relay.sum(w * relay.sqrt(x)))
    options = {"accumulated": 3, "check_finite": True}
    step = training.compile_step((model, {"w": np.ones(2, np.float32)}), training.SGD(0.3), **options)
    state = step.init()
    good, bad = np.array([1, 4], np.float32), np.array([1, -1], np.float32)
    for expected in (1, 2):
        with pytest.raises(relay.RelayError, match="is not finite"):
            step(state, bad)
        step(state, good)
        assert state.pending == expected
    with pytest.raises(relay.RelayError, match="is not finite"):
        step(state, bad)
    step(state, good)
    np.testing.assert_allclose(state.params["w"], [0.7, 0.4], rtol=1e-6)


def test_a_loss_scale_leaves_out_updates_that_are_not_finite_and_follows_pytorch():
    policy = training.LossScale(first=2.0**10, interval=2)
    x, w = relay.var("x", shape=(2,)), relay.var("w", shape=(2,))
    model = relay.Function([x, w], relay.sum(w * x))
    step = training.compile_step((model, {"w": np.zeros(2, np.float32)}), training.SGD(1.0), loss_scale=policy)
    state = step.init()
    assert step(state, np.array([1, np.inf], np.float32)).updated is False
    assert state.progress["step.loss_scale"] == 2**9
    assert state.count == 0
    assert state.params["w"].tolist() == [0, 0]
    for expected in (2**9, 2**10, 2**10, 2**11):
        assert step(state, np.array([1, 2], np.float32)).updated
        assert state.progress["step.loss_scale"] == expected
    assert state.params["w"].tolist() == [-4, -8]
    with pytest.raises(relay.RelayError, match="grows and shrinks"):
        training.LossScale(growth=0.5)


def test_measuring_changes_nothing():
    module, params, twin = perceptron()
    step = training.compile_step((module, params), training.SGD(0.1), training.CrossEntropy())
    state = step.init()
    x, labels = batches(1)[0]
    found = step.measure(state, x, labels)
    loss = torch.nn.functional.cross_entropy(twin(torch.from_numpy(x)), torch.from_numpy(labels))
    np.testing.assert_allclose(found.loss, loss.item(), rtol=1e-10)
    assert state.count == 0


def test_an_update_takes_at_least_one_batch():
    module, params, _ = perceptron()
    with pytest.raises(relay.RelayError) as error:
        training.compile_step((module, params), training.SGD(0.1), training.CrossEntropy(), accumulated=0)
    assert error.value.rule == "bad-accumulation"


@pytest.mark.parametrize(("precision", "scale"), [("bfloat16", None), ("float16", training.LossScale())])
def test_narrow_products_stay_near_wide_ones(precision: str, scale: training.LossScale | None):
    """Within the rounding of the narrow type; parameters and state are float32 in any case."""
    module, params, _ = perceptron("float32")
    optimizer, loss = training.SGD(0.1, 0.9), training.CrossEntropy()
    narrow = training.compile_step((module, params), optimizer, loss, precision=precision, loss_scale=scale)
    wide = training.compile_step((module, params), optimizer, loss)
    states = narrow.init(), wide.init()
    for batch in batches(10, "float32"):
        one, other = (step(state, *batch).loss for step, state in zip((narrow, wide), states, strict=True))
        assert one != other
        np.testing.assert_allclose(one, other, rtol=1e-2)
    for name, each in states[0].params.items():
        assert each.dtype == np.float32
        np.testing.assert_allclose(each, states[1].params[name], atol=2e-2)
    with pytest.raises(relay.RelayError, match="16-bit"):
        training.compile_step((module, params), optimizer, loss, precision="float8_e5m2")


def normalised() -> tuple[relay.IRModule, dict[str, np.ndarray], torch.nn.Module]:
    """A batch norm of 3 features and a layer behind it, with its running statistics among the parameters, as importers
    give such models: what `updates` names are the last results."""
    torch.manual_seed(2)
    twin = torch.nn.Sequential(torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 2)).double()
    params = {name: each.detach().numpy().copy() for name, each in twin.state_dict().items()}
    w = {name: relay.var(name, shape=each.shape, dtype=str(each.dtype)) for name, each in params.items()}
    x = relay.var("x", shape=("n", 3), dtype="float64")
    mean, spread = relay.mean(x, axis=0), relay.variance(x, axis=0)
    y = (x - mean) / relay.sqrt(spread + 1e-5) * w["0.weight"] + w["0.bias"]
    rows = relay.sum(relay.ones_like(x), axis=0)
    following = {
        "0.running_mean": 0.9 * w["0.running_mean"] + 0.1 * mean,
        "0.running_var": 0.9 * w["0.running_var"] + 0.1 * (spread * rows / (rows - 1.0)),
        "0.num_batches_tracked": w["0.num_batches_tracked"] + relay.const(1, "int64"),
    }
    outputs = relay.nn.dense(y, w["1.weight"]) + w["1.bias"]
    model = relay.Function([x, *w.values()], relay.Tuple([outputs, *following.values()]))
    return relay.IRModule.from_expr(model.with_attr("updates", tuple(following))), params, twin


@pytest.mark.parametrize("accumulated", [1, 2])
def test_running_statistics_go_along(accumulated: int):
    module, params, twin = normalised()
    loss = training.MeanSquaredError()
    step = training.compile_step((module, params), training.SGD(0.1), loss, accumulated=accumulated)
    state, optimizer = step.init(), torch.optim.SGD(twin.parameters(), 0.1)
    assert set(state.params) == set(params)
    random = np.random.default_rng(0)
    for number in range(1, 5):
        x, labels = random.standard_normal((6, 3)), random.standard_normal((6, 2))
        found = step(state, x, labels)
        loss = torch.nn.functional.mse_loss(twin(torch.from_numpy(x)), torch.from_numpy(labels))
        (loss / accumulated).backward()
        if number % accumulated == 0:
            optimizer.step()
            optimizer.zero_grad()
        np.testing.assert_allclose(found.loss, loss.item(), rtol=1e-8)
        for name, each in twin.state_dict().items():
            np.testing.assert_allclose(state.params[name], each.numpy(), rtol=1e-8, atol=1e-10)
    before = {name: each.copy() for name, each in state.params.items()}
    step.measure(state, x, labels)
    for name, each in before.items():
        np.testing.assert_array_equal(state.params[name], each)


def test_options_go_together():
    """A loss scale that is a power of two changes no bit, with random numbers and batches that wait for an update."""
    results: list[dict[str, np.ndarray]] = []
    for scale in (None, training.LossScale(first=2.0**8)):
        options = {"key": "key", "accumulated": 2, "loss_scale": scale, "check_finite": scale is None}
        step = training.compile_step(noisy(), training.Adam(0.1), **options)
        state = step.init(seed=3)
        for _ in range(6):
            assert step(state).updated
        assert (state.count, state.pending) == (3, 0)
        results.append(dict(state.params))
    np.testing.assert_array_equal(results[0]["w"], results[1]["w"])
