"""Steps: one native call, in the memory of the state, which is whole or lost."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import relay
from relay import training
from relay.ir.module import IRModule
from tests.training.networks import batches, perceptron


def compiled(**options) -> training.TrainingStep:
    module, params, _ = perceptron()
    given = {"optimizer": training.SGD(0.1, momentum=0.9), "loss": training.CrossEntropy(), **options}
    return training.compile_step((module, params), **given)


def test_a_step_writes_over_the_arrays_of_its_state():
    step = compiled()
    state = step.init()
    arrays = {**state.params, **state.optimizer}
    before = {name: each.copy() for name, each in arrays.items()}
    step(state, *batches(1)[0])
    assert all({**state.params, **state.optimizer}[name] is each for name, each in arrays.items())
    assert all((each != before[name]).any() for name, each in arrays.items())
    assert state.count == 1


def test_a_state_has_arrays_of_its_own_or_those_of_the_caller():
    module, params, _ = perceptron()
    step = training.compile_step((module, params), training.SGD(0.1), training.CrossEntropy())
    first = {name: each.copy() for name, each in params.items()}
    step(step.init(), *batches(1)[0])
    for name, each in params.items():
        np.testing.assert_array_equal(each, first[name])
    state = step.init(params, copy=False)
    step(state, *batches(1)[0])
    assert state.params["0.weight"] is params["0.weight"]
    assert (params["0.weight"] != first["0.weight"]).any()


def test_metrics_are_computed_beside_the_loss():
    module, params, twin = perceptron()

    def hits(logits, labels):
        return relay.mean(
            relay.cast(relay.equal(relay.argmax(logits, axis=-1), relay.cast(labels, "int32")), "float32")
        )

    step = training.compile_step(
        (module, params), training.SGD(0.1), training.CrossEntropy(), metrics={"hits": hits, "logits": lambda x, _: x}
    )
    x, labels = batches(1)[0]
    logits = twin(torch.from_numpy(x)).detach().numpy()
    found = step(step.init(), x=x, labels=labels)
    np.testing.assert_allclose(found.metrics["logits"], logits, rtol=1e-10)
    assert found.metrics["hits"] == np.mean(logits.argmax(-1) == labels, dtype=np.float32)


def test_batches_of_any_size_and_tensors_of_pytorch():
    step = compiled()
    state = step.init()
    for count in (1, 7, 3):
        step(state, torch.ones(count, 6, dtype=torch.float64), torch.zeros(count, dtype=torch.int64))
    assert state.count == 3


def test_a_model_that_gives_its_own_loss():
    x, w = relay.var("x", shape=(3,)), relay.var("w", shape=(3,))
    model = relay.Function([x, w], relay.sum(x * w * w))
    step = training.compile_step((model, {"w": np.ones(3, np.float32)}), training.SGD(0.5))
    state = step.init()
    assert step(state, np.ones(3, np.float32)).loss == 3
    assert state.params["w"].tolist() == [0, 0, 0]


def test_frozen_parameters_and_integers_are_constants():
    step = compiled(frozen=("0.*",))
    assert list(step.program.params) == ["2.weight", "2.bias"]
    x, w, i = relay.var("x", shape=(3,)), relay.var("w", shape=(5,)), relay.var("i", shape=(3,), dtype="int64")
    model = relay.Function([x, w, i], relay.sum(relay.take(w, i) * x))
    params = {"w": np.ones(5, np.float32), "i": np.array([4, 0, 4])}
    step = training.compile_step((model, params), training.SGD(1.0))
    state = step.init()
    step(state, np.ones(3, np.float32))
    assert state.params["w"].tolist() == [0, 1, 1, 1, -1]


def test_tied_parameters_are_updated_once():
    x, a, b = (relay.var(name, shape=(2, 2)) for name in "xab")
    model = relay.Function([x, a, b], relay.sum(relay.nn.dense(relay.nn.dense(x, a), b)))
    weight = np.eye(2, dtype=np.float32)
    params = {"a": weight, "b": weight}
    with pytest.raises(relay.RelayError, match="`a` and `b` share memory") as error:
        training.compile_step((model, params), training.SGD(0.1))
    assert error.value.rule == "same-array-twice"
    step = training.compile_step((model, params), training.SGD(0.1), tied={"b": "a"})
    state = step.init()
    step(state, np.ones((2, 2), np.float32))
    mine = torch.nn.Parameter(torch.eye(2))
    (torch.ones(2, 2) @ mine.T @ mine.T).sum().backward()
    assert mine.grad is not None
    np.testing.assert_allclose(state.params["a"], np.eye(2) - 0.1 * mine.grad.numpy(), rtol=1e-6)
    assert list(state.params) == ["a"]


def test_what_is_refused_before_the_run_leaves_the_state_alone():
    step = compiled()
    state = step.init()
    x, labels = batches(1)[0]
    before = {name: each.copy() for name, each in state.params.items()}
    for batch in ((x,), (x.astype(np.float32), labels), (x[:, :5].copy(), labels), (x, labels[:3])):
        with pytest.raises(relay.RelayError):
            step(state, *batch)
    for name, each in state.params.items():
        np.testing.assert_array_equal(each, before[name])
    step(state, x, labels)


def test_a_step_that_fails_loses_the_state():
    step = compiled()
    state = step.init()
    x, labels = batches(1)[0]
    with pytest.raises(relay.RelayError, match="a label names no class"):
        step(state, x, labels + 100)
    for use in (lambda: state.params, lambda: state.optimizer, lambda: state.count, lambda: step(state, x, labels)):
        with pytest.raises(relay.RelayError, match="a label names no class") as error:
            use()
        assert error.value.rule == "state-lost"
    assert "lost" in repr(state)
    step(step.init(), x, labels)


def test_a_step_that_is_stopped_loses_the_state():
    step = compiled()
    state = step.init()
    x = np.ones((200_000, 6))
    with pytest.raises(relay.RelayError) as error:
        step(state, x, np.zeros(200_000, np.int64), timeout=1e-9)
    assert error.value.rule == "timed-out"
    with pytest.raises(relay.RelayError) as error:
        step(state, x, np.zeros(200_000, np.int64))
    assert error.value.rule == "state-lost"


def test_threads_change_no_bit():
    def trained(threads: int) -> dict[str, np.ndarray]:
        with relay.num_threads(threads):
            step = compiled(optimizer=training.ClipByGlobalNorm(training.Adam(0.01), 0.1))
            state = step.init()
            for batch in batches(5):
                step(state, *batch)
            return dict(state.params)

    one, two = trained(1), trained(2)
    for name, each in one.items():
        np.testing.assert_array_equal(each, two[name])


def test_the_program_of_a_step_is_a_program():
    module = compiled().program.update
    assert isinstance(module, IRModule)
    assert relay.structural_equal(relay.parse(module.astext()), module)


W = relay.var("w", shape=(3,))


@pytest.mark.parametrize(("make", "rule"), [
    (lambda: compiled(loss=None), "bad-loss"),
    (lambda: compiled(loss=lambda logits: logits), "bad-loss"),
    (lambda: compiled(metrics={"pair": lambda x, _: (x, x)}), "bad-measure"),
    (lambda: compiled(params={"3.weight": np.ones(3)}), "unknown-parameter"),
    (lambda: compiled(params={"0.bias": np.ones(3)}), "parameter-type"),
    (lambda: compiled(labels=[relay.var("x", shape=("n",), dtype="int64")]), "name-taken"),
    (lambda: compiled(labels=[relay.var("0.bias.x", shape=("n",), dtype="int64")]), "name-taken"),
    (lambda: compiled(tied={"0.bias": "2.bias"}), "bad-tie"),
    (lambda: compiled(tied={"0.bia": "2.bias"}), "unknown-parameter"),
    (lambda: compiled(frozen="0.*"), "wrong-argument"),
    (lambda: compiled().init({"0.weight": np.ones((8, 6))}), "missing-parameter"),
    (lambda: compiled().init({"weight": np.ones((8, 6))}), "unknown-parameter"),
])  # fmt: skip
def test_mistakes_are_told(make, rule):
    with pytest.raises(relay.RelayError) as error:
        make()
    assert error.value.rule == rule


def test_an_optimizer_that_gives_something_else_is_refused():
    class Widening(training.PerTensor):
        def rule(self, count):
            return lambda weight, gradient, kept: (relay.cast(weight, "float32"), kept)

    with pytest.raises(relay.RelayError, match=r"gives `0\.weight` another type") as error:
        compiled(optimizer=Widening())
    assert error.value.rule == "bad-optimizer"
