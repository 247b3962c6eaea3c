"""The networks of `relay.testing`: they type, survive text, and compute numbers that mean something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from relay import testing
from relay.base.diagnostics import RelayError
from relay.ir.module import IRModule
from relay.ir.structural import structural_equal
from relay.ir.types import TensorType
from relay.ir.well_formed import well_formed
from relay.ops.table import OPERATORS
from relay.text.module_parser import parse
from relay.text.printer import astext
from tests.frontend.running import run_relay
from tests.lower.interpreting import run_as_text

Workload = tuple[IRModule, dict[str, Any]]

PUBLISHED: dict[str, tuple[Callable[[], Workload], str]] = {
    "mlp": (lambda: testing.mlp.get_workload(3), "Tensor[(3, 10), float32]"),
    "resnet18": (lambda: testing.resnet.get_workload("n"), "Tensor[(n, 1000), float32]"),
    "resnet50": (lambda: testing.resnet.get_workload(num_layers=50, layout="NHWC", image_shape=(224, 224, 3)),
                 "Tensor[(1, 1000), float32]"),
    "mobilenet": (lambda: testing.mobilenet.get_workload(image_shape=(3, 225, 193)), "Tensor[(1, 1000), float32]"),
    "mobilenet_v2": (lambda: testing.mobilenet.get_workload(2, version=2), "Tensor[(2, 1000), float32]"),
    "squeezenet": (lambda: testing.squeezenet.get_workload(), "Tensor[(1, 1000), float32]"),
    "dqn": (lambda: testing.dqn.get_workload(), "Tensor[(1, 18), float32]"),
    "dcgan": (lambda: testing.dcgan.get_workload(2), "Tensor[(2, 3, 64, 64), float32]"),
    "inception_v3": (lambda: testing.inception_v3.get_workload(), "Tensor[(1, 1000), float32]"),
    "densenet": (lambda: testing.densenet.get_workload(), "Tensor[(4, 1000), float32]"),
    "transformer": (lambda: testing.transformer.get_workload("n"), "Tensor[(n, 64, 256), float32]"),
}  # fmt: skip

SMALL: dict[str, Callable[[], Workload]] = {
    "mlp": lambda: testing.mlp.get_workload(2, image_shape=(1, 6, 5)),
    "resnet8": lambda: testing.resnet.get_workload(2, 5, 8, (3, 9, 11)),
    "resnet8_nhwc": lambda: testing.resnet.get_workload(2, 5, 8, (9, 11, 3), layout="NHWC"),
    "resnet50": lambda: testing.resnet.get_workload(2, 5, 50, (3, 33, 35)),
    "mobilenet": lambda: testing.mobilenet.get_workload(2, 5, (3, 33, 35), alpha=0.25),
    "mobilenet_v2": lambda: testing.mobilenet.get_workload(2, 5, (3, 33, 35), version=2, alpha=0.25),
    "vgg": lambda: testing.vgg.get_workload(2, 5, (3, 32, 33), units=16),
    "vgg_norm": lambda: testing.vgg.get_workload(2, 5, (3, 32, 33), batch_norm=True, units=16),
    "squeezenet_1_0": lambda: testing.squeezenet.get_workload(2, 5, "1.0", (3, 37, 35)),
    "squeezenet_1_1": lambda: testing.squeezenet.get_workload(2, 5, "1.1", (3, 33, 35)),
    "dqn": lambda: testing.dqn.get_workload(2, 5, (4, 40, 44)),
    "dcgan": lambda: testing.dcgan.get_workload(2, (3, 32, 16), ngf=4, random_len=7),
    "inception_v3": lambda: testing.inception_v3.get_workload(2, 5, (3, 75, 76)),
    "densenet": lambda: testing.densenet.get_workload(121, 5, 2, (3, 33, 35)),
    "transformer": lambda: testing.transformer.get_workload(2, 2, 16, 2, 24, 5),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_sizes_have_their_types(name: str) -> None:
    build, type_ = PUBLISHED[name]
    module, params = build()
    function = module["main"]
    assert str(function.body.checked_type) == type_
    assert [var.name_hint for var in function.params[1:]] == list(params)
    assert not well_formed(module)


@pytest.mark.parametrize("name", SMALL)
def test_small_networks_compute_numbers_that_mean_something(name: str) -> None:
    module, params = SMALL[name]()
    function = module["main"]
    annotation = function.params[0].type_annotation
    assert isinstance(annotation, TensorType)
    data = np.random.default_rng(1).standard_normal(annotation.shape).astype(np.float32)
    (result,) = run_relay(module, {"data": data, **params})
    assert np.all(np.isfinite(result))
    assert np.std(result) > 1e-3
    assert np.abs(result[0] - result[1]).max() > 1e-4, "two inputs must give two results"
    if name.split("_")[0] not in ("dqn", "dcgan", "transformer"):
        assert result.shape == (2, 10 if name == "mlp" else 5)
        np.testing.assert_allclose(result.sum(axis=1), 1, rtol=1e-5)
        assert result.max() < 0.999, "a saturated softmax hides differences"


@pytest.mark.parametrize("name", SMALL)
def test_small_networks_run_by_the_interpreter_of_what_they_are_lowered_to(name: str) -> None:
    module, params = SMALL[name]()
    annotation = module["main"].params[0].type_annotation
    assert isinstance(annotation, TensorType)
    data = np.random.default_rng(1).standard_normal(annotation.shape).astype(np.float32)
    (expected,) = run_relay(module, {"data": data, **params})
    found = run_as_text(module, params=params, quickly=True)(data)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", SMALL)
def test_text_keeps_a_network(name: str) -> None:
    module, _ = SMALL[name]()
    assert structural_equal(parse(astext(module), OPERATORS), module)


def test_parameters_follow_from_the_seed() -> None:
    first, second, other = (testing.mlp.get_workload(seed=seed)[1] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first["fc1_weight"], second["fc1_weight"])
    assert not np.array_equal(first["fc1_weight"], other["fc1_weight"])


def test_both_layouts_take_the_same_parameters() -> None:
    names = [list(SMALL[name]()[1]) for name in ("resnet8", "resnet8_nhwc")]
    assert names[0] == names[1]


def test_element_types_reach_the_weights() -> None:
    module, params = testing.mlp.get_workload(dtype="float16")
    assert {str(array.dtype) for array in params.values()} == {"float16"}
    assert str(module["main"].body.checked_type) == "Tensor[(1, 10), float16]"


@pytest.mark.parametrize("build", [
    lambda: testing.resnet.get_workload(num_layers=19), lambda: testing.resnet.get_workload(layout="CHWN"),
    lambda: testing.vgg.get_workload(num_layers=12), lambda: testing.densenet.get_workload(120),
    lambda: testing.squeezenet.get_workload(version="2"), lambda: testing.mobilenet.get_workload(version=3),
    lambda: testing.dcgan.get_workload(oshape=(3, 30, 30)), lambda: testing.transformer.get_workload(num_heads=3),
])  # fmt: skip
def test_what_there_is_not_is_refused(build: Callable[[], Workload]) -> None:
    with pytest.raises(RelayError):
        build()
