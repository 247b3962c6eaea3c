"""Random operators give numbers of the right distribution, the same each time, and others for other nodes and seeds."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

import relay
from relay.frontend.onnx import from_onnx
from tests.frontend.onnx_cases import Array, Case, floats, graph_of
from tests.frontend.running import run_relay

MANY = 20_000


def drawn(case: Case) -> Array:
    module, params = from_onnx(case.model())
    (first,) = run_relay(module, {**case.feeds(), **params})
    (again,) = run_relay(module, {**case.feeds(), **params})
    np.testing.assert_array_equal(first, again)
    return first


@pytest.mark.parametrize(
    "case",
    [
        Case("RandomUniform", (), {"shape": [MANY], "low": -2.0, "high": 4.0, "dtype": TensorProto.DOUBLE}),
        Case("RandomUniformLike", (floats(100, MANY // 100),), {"low": -2.0, "high": 4.0}),
    ],
    ids=str,
)
def test_uniform_numbers(case: Case) -> None:
    found = drawn(case)
    assert found.dtype == (np.float64 if "dtype" in case.attributes else np.float32)
    assert -2 <= found.min() < -1.99 < 3.99 < found.max() <= 4
    assert abs(found.mean() - 1) < 5 * np.sqrt(3 / MANY)


@pytest.mark.parametrize(
    "case",
    [
        Case("RandomNormal", (), {"shape": [MANY], "mean": 3.0, "scale": 2.0, "seed": 1.0}),
        Case("RandomNormalLike", (floats(MANY),), {"mean": 3.0, "scale": 2.0}),
    ],
    ids=str,
)
def test_normal_numbers(case: Case) -> None:
    found = drawn(case)
    assert abs(found.mean() - 3) < 5 * 2 / np.sqrt(MANY)
    assert abs(found.std() - 2) < 5 * 2 / np.sqrt(2 * MANY)


def test_bernoulli_draws_by_each_probability() -> None:
    chances = np.repeat(np.array([0, 0.25, 0.9, 1], np.float32), MANY).reshape(4, MANY)
    found = drawn(Case("Bernoulli", (chances,), {"dtype": TensorProto.INT32}))
    assert found.dtype == np.int32
    np.testing.assert_allclose(found.mean(axis=1), chances[:, 0], atol=5 * 0.5 / np.sqrt(MANY))
    assert found[0].sum() == 0
    assert found[3].sum() == MANY


def test_multinomial_draws_classes_by_their_shares() -> None:
    shares = np.array([[1, 3, 0, 4]], np.float32) / 8
    with np.errstate(divide="ignore"):
        logarithms = np.log(shares)
    found = drawn(Case("Multinomial", (logarithms,), {"sample_size": MANY}))
    assert (found.shape, found.dtype) == ((1, MANY), np.int32)
    counted = np.bincount(found[0], minlength=4) / MANY
    np.testing.assert_allclose(counted, shares[0], atol=5 * 0.5 / np.sqrt(MANY))


@pytest.mark.parametrize("known", [True, False])
def test_dropout_keeps_a_share_in_training(known: bool) -> None:
    """What is kept is scaled to make up for the rest. Whether it trains, and the share, may be known or the run's."""
    x = floats(100, MANY // 100, low=1.0)
    inputs = (x, np.float32(0.3) * np.ones((), np.float32), np.ones((), bool))
    case = Case("Dropout", inputs, {"seed": 7}, (1, 2) if known else (), outputs=2)
    module, params = from_onnx(case.model())
    feeds = {**case.feeds(), **params}
    y, mask = run_relay(module, feeds)
    assert (y.dtype, mask.dtype) == (np.float32, bool)
    assert abs(mask.mean() - 0.7) < 5 * np.sqrt(0.21 / MANY)
    np.testing.assert_allclose(y, np.where(mask, x / np.float32(0.7), 0), rtol=1e-6)
    again, _ = relay.build(module)(**feeds)
    np.testing.assert_allclose(again, y, rtol=1e-6)
    other, _ = from_onnx(Case("Dropout", inputs, {"seed": 8}, (1, 2) if known else ()).model())
    assert not np.array_equal(run_relay(other, feeds)[0], y)
    if not known:
        at_inference, all_kept = run_relay(module, {**feeds, "in2": np.zeros((), bool)})
        np.testing.assert_array_equal(at_inference, x)
        assert all_kept.all()


def test_nodes_and_seeds_draw_numbers_of_their_own() -> None:
    options = {"shape": [50]}
    nodes = [
        helper.make_node("RandomUniform", [], ["a"], name="first", **options),
        helper.make_node("RandomUniform", [], ["b"], name="second", **options),
        helper.make_node("RandomUniform", [], ["c"], name="third", seed=3.0, **options),
        helper.make_node("RandomUniform", [], ["d"], name="fourth", seed=3.0, **options),
    ]
    module, _ = from_onnx(graph_of(nodes, {}, ["a", "b", "c", "d"]))
    a, b, c, d = run_relay(module, {})
    assert not np.array_equal(a, b)
    assert not np.array_equal(a, c)
    np.testing.assert_array_equal(c, d)
