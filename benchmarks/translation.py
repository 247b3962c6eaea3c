"""Greedy translation: a GRU reads a sentence, another writes one and attends to it. PyTorch runs the loop in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from benchmarks.recurrent_programs import LIMIT, TRANSLATION_HIDDEN, translation
from relay.testing.programs import seq2seq

_LAYER = {"w_ih": "weight_ih", "w_hh": "weight_hh", "b_ih": "bias_ih", "b_hh": "bias_hh"}


def candidates() -> dict[str, Callable[[], Any]]:
    """The tokens of a sentence, by relay and by PyTorch."""
    program = translation()
    ours, hidden = program.call(), TRANSLATION_HIDDEN
    p = {name.removeprefix("network."): torch.from_numpy(each) for name, each in program.weights.items()}
    reading, writing = torch.nn.GRU(hidden, hidden), torch.nn.GRUCell(hidden, hidden)
    reading.load_state_dict({f"{_LAYER[name]}_l0": p[f"encoder.{name}"] for name in _LAYER})
    writing.load_state_dict({_LAYER[name]: p[name] for name in _LAYER})
    given = torch.from_numpy(program.arguments[0]).long()

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

    return {"relay": lambda: ours()[:1], "torch eager": eager}
