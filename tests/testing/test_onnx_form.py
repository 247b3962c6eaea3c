"""The networks of `relay.testing` as other libraries run them: what these give is what ours give."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relay
from relay import testing
from relay.base.diagnostics import RelayError
from relay.ir.module import IRModule
from relay.ir.types import TensorType
from relay.testing.measuring.peers import PEERS, installed_peers, relative_error
from relay.testing.onnx_models.onnx_form import to_onnx

Workload = tuple[IRModule, dict[str, Any]]

SMALL: dict[str, Callable[[], Workload]] = {
    "mlp": lambda: testing.mlp.get_workload(2, image_shape=(1, 6, 5)),
    "resnet8": lambda: testing.resnet.get_workload(2, 5, 8, (3, 9, 11)),
    "mobilenet": lambda: testing.mobilenet.get_workload(2, 5, (3, 33, 35), alpha=0.25),
    "mobilenet_v2": lambda: testing.mobilenet.get_workload(2, 5, (3, 33, 35), version=2, alpha=0.25),
    "vgg": lambda: testing.vgg.get_workload(2, 5, (3, 32, 33), units=16),
    "squeezenet": lambda: testing.squeezenet.get_workload(2, 5, "1.1", (3, 33, 35)),
    "dqn": lambda: testing.dqn.get_workload(2, 5, (4, 40, 44)),
    "dcgan": lambda: testing.dcgan.get_workload(2, (3, 32, 16), ngf=4, random_len=7),
    "inception_v3": lambda: testing.inception_v3.get_workload(1, 5, (3, 75, 76)),
    "transformer": lambda: testing.transformer.get_workload(2, 2, 16, 2, 24, 5),
    "gpt2": lambda: testing.gpt2.get_workload(3, testing.gpt2.Size(2, 16, 2, 11, 6)),
}


def inputs_of(module: IRModule, params: dict[str, Any]) -> dict[str, Any]:
    random = np.random.default_rng(1)
    inputs: dict[str, Any] = {}
    for each in module["main"].params:
        if each.name_hint not in params:
            type_ = each.type_annotation
            assert isinstance(type_, TensorType)
            made = random.standard_normal(type_.shape) if type_.dtype.is_float else random.integers(0, 9, type_.shape)
            inputs[each.name_hint] = made.astype(type_.dtype.numpy)
    return inputs


@pytest.mark.parametrize("name", SMALL)
def test_onnxruntime_gives_what_the_program_means(name: str) -> None:
    module, params = SMALL[name]()
    inputs = inputs_of(module, params)
    meant = relay.create_executor("interpreter", mod=module, params=params).evaluate()(**inputs)
    assert relative_error(PEERS["onnxruntime"].make_call(to_onnx(module, params), inputs, 1)(), meant) < 1e-4


GIVEN = [
    *((name, peer) for name in ("resnet8", "inception_v3", "dcgan", "gpt2") for peer in ("openvino", "pytorch")),
    ("transformer", "jax"), ("gpt2", "jax"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "peer"), GIVEN)
def test_every_peer_gives_what_native_code_gives(name: str, peer: str) -> None:
    if peer not in installed_peers():
        pytest.skip(f"{peer} is not installed")
    module, params = SMALL[name]()
    model, inputs = to_onnx(module, params), inputs_of(module, params)
    imported, weights = relay.frontend.from_onnx(model)
    ours = relay.build(imported, params=weights)(*inputs.values())
    theirs = PEERS[peer].make_call(model, inputs, len(os.sched_getaffinity(0)))()
    assert relative_error(ours, theirs) < 1e-4


@pytest.mark.parametrize(("name", "peer", "reason"), [
    ("dcgan", "jax", "the ONNX operator BatchNormalization cannot be given to this library"),
    ("mlp", "jax", "XLA has a thread for each processor"),
])  # fmt: skip
def test_what_a_peer_cannot_do_is_said(name: str, peer: str, reason: str) -> None:
    pytest.importorskip("jax")
    module, params = SMALL[name]()
    threads = (len(os.sched_getaffinity(0))) + (name == "mlp")
    with pytest.raises(RelayError, match=reason):
        PEERS[peer].make_call(to_onnx(module, params), inputs_of(module, params), threads)()


def test_what_has_no_onnx_form_is_named() -> None:
    x = relay.var("x", shape=(3,))
    with pytest.raises(RelayError, match="argsort"):
        to_onnx(relay.IRModule.from_expr(relay.Function([x], relay.argsort(x))), {})
