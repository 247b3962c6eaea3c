"""One-node models of recurrent layers: directions, activations, clip, peepholes, lengths, first states."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.frontend.onnx_cases import Array, Case, floats

_N, _B, _INPUTS, _HIDDEN = 5, 3, 4, 2
_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def _layer(
    kind: str, name: str = "", *, ways: int = 1, bias: bool = True, lengths: bool = False, states: bool = False,
    peepholes: bool = False, skip: tuple[int, ...] = (), **attributes: Any,
) -> Case:  # fmt: skip
    gates = _GATES[kind]
    state = floats(ways, _B, _HIDDEN, seed=4)
    inputs: list[Array | None] = [
        floats(_N, _B, _INPUTS), floats(ways, gates * _HIDDEN, _INPUTS, seed=1),
        floats(ways, gates * _HIDDEN, _HIDDEN, seed=2),
        floats(ways, 2 * gates * _HIDDEN, seed=3) if bias else None,
        np.array([5, 1, 3], np.int32) if lengths else None, state if states else None,
    ]  # fmt: skip
    if kind == "LSTM":
        inputs += [state[:, ::-1].copy() if states else None]
        inputs += [floats(ways, 3 * _HIDDEN, seed=6) if peepholes else None]
    while inputs[-1] is None:
        inputs.pop()
    outputs = 3 if kind == "LSTM" else 2
    return Case(kind, tuple(inputs), {"hidden_size": _HIDDEN, **attributes}, (1, 2, 3), outputs=outputs, name=name)


def _of(kind: str) -> list[Case]:
    both: dict[str, Any] = {"ways": 2, "direction": "bidirectional"}
    named = {"LSTM": ["HardSigmoid", "Softsign", "Affine"], "GRU": ["HardSigmoid", "ScaledTanh"], "RNN": ["LeakyRelu"]}
    numbers = {"LSTM": ([0.3, 0.5], [0.4, 0.1]), "GRU": ([0.3, 0.7], [0.4, 1.2]), "RNN": ([0.3], [])}
    alphas, betas = numbers[kind]
    chosen = {"activations": named[kind], "activation_alpha": alphas} | ({"activation_beta": betas} if betas else {})
    return [
        _layer(kind, "no bias", bias=False),
        _layer(kind, "states", states=True),
        _layer(kind, "reverse", states=True, direction="reverse"),
        _layer(kind, "both ways", states=True, **both),
        _layer(kind, "lengths", lengths=True, states=True),
        _layer(kind, "lengths both ways", lengths=True, states=True, **both),
        _layer(kind, "clip", clip=0.6, states=True),
        _layer(kind, "activations", states=True, **chosen),
    ]


RECURRENT_CASES: tuple[Case, ...] = (
    *(case for kind in _GATES for case in _of(kind)),
    _layer("GRU", "reset after", linear_before_reset=1, states=True),
    _layer("GRU", "reset after, no bias", linear_before_reset=1, bias=False),
    _layer("LSTM", "peepholes", peepholes=True, states=True),
    _layer("LSTM", "coupled", input_forget=1, states=True),
    _layer("RNN", "elu", activations=["Elu"], activation_alpha=[0.5]),
    _layer("RNN", "softplus", activations=["Softplus"]),
    _layer("RNN", "thresholded", activations=["ThresholdedRelu"], activation_alpha=[0.2]),
)
