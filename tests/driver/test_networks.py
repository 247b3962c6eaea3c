"""Real networks, from ONNX bytes to native code, against onnxruntime."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import relay

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
from onnx_models import build

LARGEST_DIFFERENCE = 1e-4  # relative to the largest magnitude of the output
IMAGES = ("resnet18", "resnet50", "mobilenet_v2", "squeezenet")


def difference(model: bytes, executable: relay.Executable, shape: tuple[int, ...]) -> float:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (described,) = session.get_inputs()
    x = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
    (expected,) = session.run(None, {described.name: x})
    result = executable(x)
    assert result.shape == expected.shape
    assert np.abs(expected).max() > 1e-3
    return float(np.abs(result - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize(
    ("name", "batch", "size"),
    [
        *((name, 1, (224, 224)) for name in IMAGES),
        *((name, 3, (225, 193)) for name in IMAGES),
        ("vgg16", 1, (96, 96)),  # its dense weights grow with the image
        ("vgg16", 3, (97, 65)),
    ],
)
def test_image_networks_agree_with_onnxruntime(name: str, batch: int, size: tuple[int, int]) -> None:
    model = build(name, batch=batch, image_size=size).SerializeToString()
    module, params = relay.frontend.from_onnx(model)
    executable = relay.build(module, params=params, opt_level=3)
    assert difference(model, executable, (batch, 3, *size)) <= LARGEST_DIFFERENCE


@pytest.mark.parametrize("level", range(5))
def test_every_level_agrees(level: int) -> None:
    model = build("resnet18", image_size=(63, 65)).SerializeToString()
    module, params = relay.frontend.from_onnx(model)
    executable = relay.build(module, params=params, opt_level=level)
    assert difference(model, executable, (1, 3, 63, 65)) <= LARGEST_DIFFERENCE


@pytest.mark.parametrize("name", ["resnet18", "encoder", "mlp"])
def test_one_artefact_serves_every_batch(name: str) -> None:
    model = build(name, batch="n", image_size=(64, 48)).SerializeToString()
    module, params = relay.frontend.from_onnx(model)
    executable = relay.build(module, params=params, opt_level=3)
    (spec,) = executable.entry.inputs
    for batch in (1, 2, 3, 7):
        shape = (batch, *(extent for extent in spec.shape[1:] if isinstance(extent, int)))
        assert difference(model, executable, shape) <= LARGEST_DIFFERENCE


@pytest.mark.parametrize("batch", [1, 3])
def test_the_transformer_encoder_agrees_with_onnxruntime(batch: int) -> None:
    model = build("encoder", batch=batch).SerializeToString()
    module, params = relay.frontend.from_onnx(model)
    executable = relay.build(module, params=params, opt_level=3)
    assert difference(model, executable, (batch, 64, 256)) <= LARGEST_DIFFERENCE
