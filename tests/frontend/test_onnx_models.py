"""The models of `examples/onnx_models.py`, imported: their types, and on small extents what they compute."""

from __future__ import annotations

from functools import cache

import numpy as np
import onnx
import pytest
from examples.onnx_models import MODELS, EncoderSize, build

from relay.frontend.onnx import from_onnx
from relay.ir.well_formed import well_formed
from tests.frontend.running import assert_close, run_onnxruntime, run_relay

SMALL = EncoderSize(layers=2, width=16, heads=2, feedforward=24, sequence=5)
SMALL_IDS = EncoderSize(layers=1, width=8, heads=2, feedforward=8, sequence=4, vocabulary=11)
IMAGE_MODELS = ("resnet18", "resnet50", "mobilenet_v2", "squeezenet", "vgg16")


@cache
def small_model(name: str, batch: int | str, opset: int = 17, fold: bool = False) -> onnx.ModelProto:
    return build(name, batch, (33, 35), 0, opset, 3, fold, SMALL)


@pytest.mark.parametrize("batch", [1, 3, "n"])
@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2", "squeezenet", "encoder", "mlp"])
def test_models_import_with_every_batch(name: str, batch: int | str) -> None:
    model = build(name, batch, (225, 193))
    module, params = from_onnx(model)
    wanted = {"encoder": "64, 256", "mlp": "10"}.get(name, "1000")
    assert str(module["main"].body.checked_type) == f"Tensor[({batch}, {wanted}), float32]"
    assert len(params) == len(module["main"].params) - 1
    assert not well_formed(module)


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2", "squeezenet", "encoder", "mlp"])
@pytest.mark.parametrize("batch", [2, "n"])
def test_models_equal_onnxruntime(name: str, batch: int | str) -> None:
    model = small_model(name, batch)
    shape = {"encoder": (2, 5, 16), "mlp": (2, 784)}.get(name, (2, 3, 33, 35))
    feeds = {"x": np.random.default_rng(1).standard_normal(shape, dtype=np.float32)}
    module, params = from_onnx(model)
    assert_close(run_relay(module, {**feeds, **params}), run_onnxruntime(model, feeds), 1e-4)


@pytest.mark.parametrize("opset", [13, 15, 18, 20, 21, 23])
def test_models_of_several_opsets(opset: int) -> None:
    encoder = build("encoder", "n", opset=opset, encoder=SMALL_IDS)
    feeds = {"x": np.random.default_rng(1).integers(0, 11, (3, 4))}
    module, params = from_onnx(encoder)
    assert_close(run_relay(module, {**feeds, **params}), run_onnxruntime(encoder, feeds), 1e-4)


def test_folded_batch_normalisation_means_the_same() -> None:
    feeds = {"x": np.random.default_rng(1).standard_normal((1, 3, 33, 35), dtype=np.float32)}
    plain, folded = (run_onnxruntime(small_model("resnet18", 1, fold=fold), feeds) for fold in (False, True))
    assert_close(plain, folded, 1e-4)


def test_one_seed_is_one_model() -> None:
    assert build("mlp", seed=3) == build("mlp", seed=3) != build("mlp", seed=4)


def test_every_model_is_tested() -> None:
    assert set(MODELS) == {*IMAGE_MODELS, "encoder", "mlp"}


@pytest.mark.parametrize("name", ["resnet50", "vgg16"])
def test_large_models_import(name: str) -> None:
    module, _ = from_onnx(small_model(name, "n"))
    assert str(module["main"].body.checked_type) == "Tensor[(n, 3), float32]"
