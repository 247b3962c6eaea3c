"""Whole networks as ONNX models with seeded weights, at batch 1: of `examples/onnx_models.py` and `relay.testing`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.workloads import Workload
from relay import testing
from relay.ir.module import IRModule
from relay.ir.types import TensorType
from relay.testing.workload import Parameters

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
import onnx_models

Make = Callable[[], Workload]
CONVOLUTIONAL = ("jax",)
"""Who does without networks of images: JAX computes convolutions in this layout slowly, and nobody writes them so."""


def from_examples(name: str, without: tuple[str, ...] = CONVOLUTIONAL, **more: Any) -> Make:
    def make() -> Workload:
        model = onnx_models.build(name, **more)
        (given,) = model.graph.input
        shape = tuple(each.dim_value for each in given.type.tensor_type.shape.dim)
        x = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
        return Workload(model.SerializeToString(), {"x": x}, without=without)

    return make


def from_testing(workload: Callable[[], tuple[IRModule, Parameters]], without: tuple[str, ...] = CONVOLUTIONAL) -> Make:
    def make() -> Workload:
        module, params = workload()
        random = np.random.default_rng(0)
        inputs: dict[str, Any] = {}
        for each in module["main"].params:
            type_ = each.type_annotation
            if each.name_hint not in params and isinstance(type_, TensorType):
                shape = tuple(extent for extent in type_.shape if isinstance(extent, int))
                drawn = random.standard_normal(shape) if type_.dtype.is_float else random.integers(0, 100, shape)
                inputs[each.name_hint] = drawn.astype(type_.dtype.numpy)
        return Workload(testing.to_onnx(module, params), inputs, without=without)

    return make


_BERT_BASE = onnx_models.EncoderSize(layers=12, width=768, heads=12, feedforward=3072, sequence=128)

NETWORKS: Mapping[str, Make] = MappingProxyType(
    {
        "resnet18": from_examples("resnet18"),
        "resnet50": from_examples("resnet50"),
        "vgg16": from_examples("vgg16"),
        "mobilenet_v1": from_testing(lambda: testing.mobilenet.get_workload(version=1)),
        "mobilenet_v2": from_examples("mobilenet_v2"),
        "squeezenet": from_examples("squeezenet"),
        "dqn": from_testing(lambda: testing.dqn.get_workload()),
        "dcgan": from_testing(lambda: testing.dcgan.get_workload()),
        "inception_v3": from_testing(lambda: testing.inception_v3.get_workload()),
        "bert_base_s128": from_examples("encoder", without=(), encoder=_BERT_BASE),
        "gpt2_decode_p127": from_testing(lambda: testing.gpt2.get_workload(past_length=127), without=()),
    }
)
"""`bert_base_s128`: the encoder of BERT-base on 128 embedded tokens. `gpt2_decode_p127`: GPT-2's next token after 127
others, whose keys and values are inputs; the longer ones are outputs."""

SMALL: Mapping[str, Make] = MappingProxyType(
    {
        "resnet18_64": from_examples("resnet18", image_size=(64, 64), classes=10),
        "mobilenet_v1_32": from_testing(
            lambda: testing.mobilenet.get_workload(image_shape=(3, 32, 32), alpha=0.25, num_classes=10)
        ),
        "encoder_s16": from_examples("encoder", without=(), encoder=onnx_models.EncoderSize(2, 64, 4, 128, 16)),
        "gpt2_small": from_testing(
            lambda: testing.gpt2.get_workload(15, testing.gpt2.Size(2, 64, 4, 100, 32)), without=()
        ),
    }
)
"""For `--quick`."""
