"""Peers in processes of their own: what they answer, and what is told when they do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import relay
from relay.testing.measuring.measure import interleaved
from relay.testing.measuring.peer_process import PeerProcess
from relay.testing.onnx_models.onnx_form import to_onnx

INPUTS = {"x": np.ones((2, 3), np.float32)}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    x = relay.var("x", shape=(2, 3))
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    path.write_bytes(to_onnx(relay.IRModule.from_expr(relay.Function([x], relay.tanh(x))), {}))
    return path


def test_a_peer_takes_turns_with_functions_of_this_process(model):
    with PeerProcess("onnxruntime", model, INPUTS, 1) as peer:
        timings = interleaved({"peer": peer, "ours": lambda: None}, rounds=3)
    assert all(len(timing.samples_s) == 3 for timing in timings.values())
    assert min(timings["peer"].samples_s) > 0
    assert peer._process.poll() is not None  # it is gone


def test_what_the_peer_cannot_do_is_told_here(tmp_path):
    (tmp_path / "model.pb").write_bytes(b"")
    with pytest.raises(relay.RelayError, match="unknown-model-kind"), PeerProcess(
        "pytorch", tmp_path / "model.pb", INPUTS, 1
    ):  # fmt: skip
        pass


def test_a_peer_that_ends_is_told_with_its_last_words(model, tmp_path):
    (tmp_path / "bad.onnx").write_bytes(b"abc")
    with pytest.raises(relay.RelayError, match=r"peer-failed[\s\S]*onnxruntime ended"), PeerProcess(
        "onnxruntime", tmp_path / "bad.onnx", INPUTS, 1
    ):  # fmt: skip
        pass
    with PeerProcess("onnxruntime", model, INPUTS, 1) as peer:
        peer._process.kill()
        with pytest.raises(relay.RelayError, match="peer-failed"):
            peer.turn()
