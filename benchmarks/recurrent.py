"""Models as programs against those who run them: generation, recurrent layers, trees, and the cost of a call.

Batch 1, float32, the same weights, taken in turn in one run. PyTorch runs the loop in Python; onnxruntime runs it as a
Loop, and LSTM and GRU as its fused operators. Translation and trees have files of their own.
"""

from __future__ import annotations

import argparse
import timeit
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from rich.progress import track

import relay
from benchmarks import translation, trees
from benchmarks.figures import RELAY, Quantity, Record
from benchmarks.recurrent_programs import (
    CHARACTERS,
    HIDDEN,
    INPUTS,
    LENGTH,
    TRANSLATION_HIDDEN,
    TREE_HIDDEN,
    generation,
    layer,
    small_call,
)  # fmt: skip
from benchmarks.workloads import measure_calls
from relay.frontend import from_pytorch

Calls = Mapping[str, Callable[[], Any]]


def measure(options: argparse.Namespace) -> Iterator[Record]:
    """A record a model, thread count and peer; and the cost of a call."""
    chosen = {name: make for name, make in _models() if name.startswith(tuple(options.only or ("",)))}
    if options.quick:
        chosen = {"charrnn_h128": chosen["charrnn_h128"]}
    for name, make in track(list(chosen.items()), "recurrent", transient=True):
        for threads in options.threads:
            relay.set_num_threads(threads)
            torch.set_num_threads(threads)
            yield from measure_calls(name, threads, make(threads), options)
    microseconds = call_microseconds()
    yield Quantity("a call with three arrays", "time", RELAY, microseconds, "µs")


def _models() -> Iterator[tuple[str, Callable[[int], Calls]]]:
    for hidden in HIDDEN:
        yield f"charrnn_h{hidden}", lambda threads, hidden=hidden: _generation(hidden, threads)
    for kind in ("lstm", "gru"):
        for hidden in HIDDEN:
            yield f"{kind}_h{hidden}", lambda threads, kind=kind, hidden=hidden: _layer(kind, hidden, threads)
    yield f"translation_h{TRANSLATION_HIDDEN}", lambda _: translation.candidates()
    yield f"treelstm_h{TREE_HIDDEN}", lambda _: trees.candidates()


def call_microseconds() -> float:
    """One call into a compiled function with three small arrays: the least of several runs."""
    return min(timeit.repeat(small_call().call(), number=20_000, repeat=9)) / 20_000 * 1e6


# ------------------------------------------------------------------------------------------------------- generation


def _generation(hidden: int, threads: int) -> Calls:
    program = generation(hidden)
    ours = program.call()
    p = {name: torch.from_numpy(each) for name, each in program.weights.items()}

    def eager() -> tuple[Any, Any]:
        with torch.no_grad():
            h, character = torch.zeros(1, hidden), torch.tensor(1)
            for _ in range(CHARACTERS):
                x = torch.cat([p["embedding"][character][None], h], 1)
                h = torch.tanh(torch.nn.functional.linear(x, p["w"], p["b"]))
                character = torch.nn.functional.linear(h, p["w_out"], p["b_out"]).argmax(1)[0]
        return character, h

    session = _session(_generation_loop(program.weights, hidden), threads)
    feed = {"h0": np.zeros((1, hidden), np.float32), "first": np.array([1], np.int64)}
    return {
        "relay": lambda: ours()[1:],
        "torch eager": eager,
        "onnxruntime Loop": lambda: session.run(None, feed),
    }


def _generation_loop(weights: Mapping[str, np.ndarray[Any, Any]], hidden: int) -> bytes:
    constants = [numpy_helper.from_array(each, name) for name, each in weights.items()]
    integer, number, flag = TensorProto.INT64, TensorProto.FLOAT, TensorProto.BOOL
    nodes = [
        helper.make_node("Identity", ["go"], ["go_on"]),
        helper.make_node("Gather", ["embedding", "character"], ["x"]),
        helper.make_node("Concat", ["x", "h"], ["xh"], axis=1),
        helper.make_node("Gemm", ["xh", "w", "b"], ["sum"], transB=1),
        helper.make_node("Tanh", ["sum"], ["h_next"]),
        helper.make_node("Gemm", ["h_next", "w_out", "b_out"], ["logits"], transB=1),
        helper.make_node("ArgMax", ["logits"], ["chosen"], axis=1, keepdims=0),
    ]
    value = helper.make_tensor_value_info
    inputs = [
        value("i", integer, []),
        value("go", flag, []),
        value("character", integer, [1]),
        value("h", number, [1, hidden]),
    ]
    outputs = [value("go_on", flag, []), value("chosen", integer, [1]), value("h_next", number, [1, hidden])]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    loop = helper.make_node("Loop", ["count", "", "first", "h0"], ["last", "state"], body=body)
    constants.append(numpy_helper.from_array(np.array(CHARACTERS, np.int64), "count"))
    graph = helper.make_graph(
        [loop], "generate", [value("first", integer, [1]), value("h0", number, [1, hidden])],
        [value("last", integer, [1]), value("state", number, [1, hidden])], constants,
    )  # fmt: skip
    return _model(graph)


# ------------------------------------------------------------------------------------------------- recurrent layers


class _LastState(torch.nn.Module):
    """What a recurrent layer remembers at the end of a sequence."""

    def __init__(self, layer: torch.nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x)[1]


def _layer(kind: str, hidden: int, threads: int) -> Calls:
    program = layer(kind, hidden)
    call, weights, xs = program.call(), program.weights, program.arguments[0]
    theirs = (torch.nn.LSTM if kind == "lstm" else torch.nn.GRU)(INPUTS, hidden)
    names = {"w_ih": "weight_ih_l0", "w_hh": "weight_hh_l0", "b_ih": "bias_ih_l0", "b_hh": "bias_hh_l0"}
    theirs.load_state_dict({names[name]: torch.from_numpy(each) for name, each in weights.items()})
    x = torch.from_numpy(xs)[:, None]

    def eager() -> tuple[Any, ...]:
        with torch.no_grad():
            last = theirs(x)[1]
        return last if kind == "lstm" else (last,)

    def ours() -> tuple[Any, ...]:
        last = call()
        return last if kind == "lstm" else (last,)

    module, parameters = from_pytorch(_LastState(theirs).eval(), (x,))
    imported = relay.build(module, params=parameters, opt_level=3)

    def ours_imported() -> tuple[Any, ...]:
        last = imported(xs[:, None])
        return last if kind == "lstm" else (last,)

    session = _session(_layer_model(kind, weights, hidden), threads)
    feed = {"x": xs[:, None]}
    return {
        "relay": ours,
        "relay from_pytorch": ours_imported,
        "torch.nn": eager,
        "onnxruntime": lambda: session.run(None, feed),
    }


def _layer_model(kind: str, weights: Mapping[str, np.ndarray[Any, Any]], hidden: int) -> bytes:
    order = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2)}[kind]  # i f g o → i o f c; r z n → z r h

    def stacked(name: str) -> np.ndarray[Any, Any]:
        parts = np.split(weights[name], len(order))
        return np.concatenate([parts[position] for position in order])

    bias = np.concatenate([stacked("b_ih"), stacked("b_hh")])
    arrays = {"W": stacked("w_ih"), "R": stacked("w_hh"), "B": bias}
    constants = [numpy_helper.from_array(each[None], name) for name, each in arrays.items()]
    outputs = ["", "h", "c"] if kind == "lstm" else ["", "h"]
    more = {"linear_before_reset": 1} if kind == "gru" else {}
    node = helper.make_node(kind.upper(), ["x", "W", "R", "B"], outputs, hidden_size=hidden, **more)
    value = helper.make_tensor_value_info
    results = [value(name, TensorProto.FLOAT, [1, 1, hidden]) for name in outputs[1:]]
    inputs = [value("x", TensorProto.FLOAT, [LENGTH, 1, INPUTS])]
    return _model(helper.make_graph([node], kind, inputs, results, constants))


# --------------------------------------------------------------------------------------------------- onnxruntime


def _model(graph: Any) -> bytes:
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def _session(model: bytes, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
