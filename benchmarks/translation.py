"""Greedy translation: a GRU reads a sentence, another writes one and attends to it. PyTorch runs the loop in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import relay
from relay.testing.programs import seq2seq

VOCABULARY, HIDDEN, SOURCE_LENGTH, LIMIT = 2000, 256, 20, 40
_LAYER = {"w_ih": "weight_ih", "w_hh": "weight_hh", "b_ih": "bias_ih", "b_hh": "bias_hh"}


def candidates() -> dict[str, Callable[[], Any]]:
    """The tokens of a sentence, by relay and by PyTorch. The weights are those of a network that seldom ends one."""
    program, weights = seq2seq.Greedy(seq2seq.Seq2Seq(VOCABULARY, HIDDEN), LIMIT).to_relay()
    executable = relay.build(program, params=weights, opt_level=3)
    source = np.random.default_rng(0).integers(2, VOCABULARY, SOURCE_LENGTH).astype(np.int32)
    p = {name.removeprefix("network."): torch.from_numpy(each) for name, each in weights.items()}
    reading, writing = torch.nn.GRU(HIDDEN, HIDDEN), torch.nn.GRUCell(HIDDEN, HIDDEN)
    reading.load_state_dict({f"{_LAYER[name]}_l0": p[f"encoder.{name}"] for name in _LAYER})
    writing.load_state_dict({_LAYER[name]: p[name] for name in _LAYER})
    given = torch.from_numpy(source).long()

    @torch.no_grad()
    def eager() -> list[Any]:
        outputs, last = reading(p["source"][given][:, None])
        read, h = outputs[:, 0], last[0]
        tokens, token = torch.full((LIMIT,), seq2seq.END, dtype=torch.int32), torch.tensor(seq2seq.START)
        for count in range(LIMIT):
            h = writing(p["target"][token][None], h)
            context = torch.softmax(h @ read.T, 1) @ read
            attending = torch.tanh(torch.nn.functional.linear(torch.cat([context, h], 1), p["attend"]))
            scores = torch.log_softmax(torch.nn.functional.linear(attending, p["w_out"], p["b_out"]), 1)
            token = scores[0].argmax()
            if token == seq2seq.END:
                break
            tokens[count] = token
        return [tokens.numpy()]

    return {"relay": lambda: executable(source)[:1], "torch eager": eager}
