"""Models as programs against those who run them: generation, recurrent layers, trees, and the cost of a call.

Batch 1, float32, the same weights, taken in turn in one run. PyTorch runs the loop in Python; onnxruntime runs it as a
Loop, and LSTM and GRU as its fused operators.
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
from rich.console import Console
from rich.table import Table

import relay
from relay.testing.measure import interleaved, ratio
from relay.testing.programs import char_rnn, recurrent_cells, tree_lstm

CHARACTERS, LENGTH, INPUTS = 100, 32, 128
TREES, LEAVES, TREE_HIDDEN = 8, (150 + 4) // 8, 128
THREADS = (1, 2)
PAUSE_S = 0.02  # PyTorch's and onnxruntime's threads spin for milliseconds after a call
Calls = Mapping[str, Callable[[], Any]]


def measure(options: argparse.Namespace) -> list[dict[str, object]]:
    """One row a model, peer and thread count: peer time ÷ our time."""
    rows: list[dict[str, object]] = []
    table = Table("model", "threads", "relay ms (min)", "peer", "peer ms (min)", "times as fast", "quartiles", "minima")
    for name, make in _models():
        if options.only and not any(name.startswith(each) for each in options.only):
            continue
        for threads in THREADS:
            relay.set_num_threads(threads)
            torch.set_num_threads(threads)
            timings = interleaved(make(threads), options.seconds, pause_s=PAUSE_S if threads > 1 else 0.0)
            ours = timings.pop("relay")
            for peer, theirs in timings.items():
                compared = ratio(theirs, ours)
                rows.append(
                    {
                        "model": name, "threads": threads, "peer": peer, "relay_ms": ours.median_s * 1e3,
                        "relay_min_ms": ours.minimum_s * 1e3, "peer_ms": theirs.median_s * 1e3,
                        "peer_min_ms": theirs.minimum_s * 1e3, "ratio": compared.median,
                        "quartiles": [compared.low, compared.high], "ratio_of_minima": compared.of_minima,
                    }
                )  # fmt: skip
                table.add_row(
                    name, str(threads), f"{ours.median_s * 1e3:.3f} ({ours.minimum_s * 1e3:.3f})", peer,
                    f"{theirs.median_s * 1e3:.3f} ({theirs.minimum_s * 1e3:.3f})", f"{compared.median:.2f}",
                    f"{compared.low:.2f}–{compared.high:.2f}", f"{compared.of_minima:.2f}",
                )  # fmt: skip
    microseconds = call_microseconds()
    rows.append({"model": "a call with three arrays", "microseconds": microseconds})
    table.add_row("a call with three arrays", "1", f"{microseconds / 1e3:.4f}", "", "", "", "", "")
    Console(width=140).print(table)
    return rows


def _models() -> Iterator[tuple[str, Callable[[int], Calls]]]:
    for hidden in (128, 256, 512):
        yield f"charrnn_h{hidden}", lambda threads, hidden=hidden: _generation(hidden, threads)
    for kind in ("lstm", "gru"):
        for hidden in (128, 256, 512):
            yield f"{kind}_h{hidden}", lambda threads, kind=kind, hidden=hidden: _layer(kind, hidden, threads)
    yield "treelstm_h128", lambda _: _trees()


def call_microseconds() -> float:
    """One call into a compiled function with three small arrays: the least of several runs."""
    x, y, z = (relay.var(name, shape=(16,)) for name in "xyz")
    executable = relay.build(relay.Function([x, y, z], relay.add(x, relay.multiply(y, z))))
    arrays = [np.ones(16, np.float32)] * 3
    return min(timeit.repeat(lambda: executable(*arrays), number=20_000, repeat=9)) / 20_000 * 1e6


def _checked(calls: Calls) -> Calls:
    """The calls, after all were seen to give the same."""
    results = {name: [np.asarray(each) for each in call()] for name, call in calls.items()}
    for name, found in results.items():
        for one, other in zip(found, results["relay"], strict=True):
            if not np.allclose(one.reshape(-1), other.reshape(-1), rtol=1e-3, atol=1e-4):
                raise SystemExit(f"{name} and relay disagree")
    return calls


# ------------------------------------------------------------------------------------------------------- generation


def _generation(hidden: int, threads: int) -> Calls:
    weights = char_rnn.parameters(hidden)
    executable = relay.build(char_rnn.char_rnn(hidden).module, params=weights, opt_level=3)
    arguments = (np.asarray(CHARACTERS, np.int32), np.asarray(1, np.int32), np.asarray(0, np.int32), np.float32(0))
    p = {name: torch.from_numpy(each) for name, each in weights.items()}

    def eager() -> tuple[Any, Any]:
        with torch.no_grad():
            h, character = torch.zeros(1, hidden), torch.tensor(1)
            for _ in range(CHARACTERS):
                x = torch.cat([p["embedding"][character][None], h], 1)
                h = torch.tanh(torch.nn.functional.linear(x, p["w"], p["b"]))
                character = torch.nn.functional.linear(h, p["w_out"], p["b_out"]).argmax(1)[0]
        return character, h

    session = _session(_generation_loop(weights, hidden), threads)
    feed = {"h0": np.zeros((1, hidden), np.float32), "first": np.array([1], np.int64)}
    return _checked(
        {
            "relay": lambda: executable(*arguments)[1:],
            "torch eager": eager,
            "onnxruntime Loop": lambda: session.run(None, feed),
        }
    )


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


def _layer(kind: str, hidden: int, threads: int) -> Calls:
    weights = recurrent_cells.parameters(kind, INPUTS, hidden)
    program = getattr(recurrent_cells, kind)(INPUTS, hidden)
    executable = relay.build(program.module, params=weights, opt_level=3)
    xs = np.random.default_rng(0).standard_normal((LENGTH, INPUTS), dtype=np.float32)
    state = [np.zeros((1, hidden), np.float32)] * (2 if kind == "lstm" else 1)
    layer = (torch.nn.LSTM if kind == "lstm" else torch.nn.GRU)(INPUTS, hidden)
    names = {"w_ih": "weight_ih_l0", "w_hh": "weight_hh_l0", "b_ih": "bias_ih_l0", "b_hh": "bias_hh_l0"}
    layer.load_state_dict({names[name]: torch.from_numpy(each) for name, each in weights.items()})
    x = torch.from_numpy(xs)[:, None]

    def eager() -> tuple[Any, ...]:
        with torch.no_grad():
            last = layer(x)[1]
        return last if kind == "lstm" else (last,)

    def ours() -> tuple[Any, ...]:
        last = executable(xs, *state)
        return last if kind == "lstm" else (last,)

    session = _session(_layer_model(kind, weights, hidden), threads)
    feed = {"x": xs[:, None]}
    return _checked({"relay": ours, "torch.nn": eager, "onnxruntime": lambda: session.run(None, feed)})


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


# ------------------------------------------------------------------------------------------------------------ trees


def _trees() -> Calls:
    """One tree after another; and all in one call, with AutoBatch and without it."""
    weights, tree_type = tree_lstm.parameters(TREE_HIDDEN, TREE_HIDDEN), tree_lstm.tree_type(TREE_HIDDEN)
    single = tree_lstm.tree_lstm(tree_type, TREE_HIDDEN, TREE_HIDDEN).module
    forest = tree_lstm.forest_lstm(tree_type, TREE_HIDDEN, TREE_HIDDEN).module
    batched = relay.build(forest, params=weights, opt_level=3)
    with relay.PassContext(disabled_pass=("AutoBatch",)):
        one = relay.build(single, params=weights, opt_level=3)
        unbatched = relay.build(forest, params=weights, opt_level=3)
    random = np.random.default_rng(0)
    trees = [tree_lstm.random_tree(tree_type, LEAVES, TREE_HIDDEN, random) for _ in range(TREES)]
    p = {name: torch.from_numpy(each) for name, each in weights.items()}

    def as_torch(tree: Any) -> Any:
        """The tree with PyTorch's tensors, made beforehand: eager pays for no conversion."""
        if not hasattr(tree, "left"):
            return tree_type.Leaf(torch.from_numpy(tree.word))
        return tree_type.Node(as_torch(tree.left), as_torch(tree.right))

    theirs = [as_torch(tree) for tree in trees]
    linear_form = _levels(theirs)

    def eager() -> list[Any]:
        with torch.no_grad():
            return [each for tree in theirs for each in _encode(tree, p)]

    def by_hand() -> list[Any]:
        with torch.no_grad():
            return _encode_levels(linear_form, p)

    return _checked(
        {
            "relay": lambda: [e for state in batched(trees) for e in state],
            "relay without AutoBatch": lambda: [e for state in unbatched(trees) for e in state],
            "relay, a call a tree": lambda: [e for tree in trees for e in one(tree)],
            "torch eager": eager,
            "torch, linear form by hand": by_hand,
        }
    )


def _leaf(words: Any, p: Mapping[str, Any]) -> tuple[Any, Any]:
    i, o, u = torch.nn.functional.linear(words, p["w_leaf"], p["b_leaf"]).chunk(3, 1)
    c = i.sigmoid() * u.tanh()
    return o.sigmoid() * c.tanh(), c


def _node(left: tuple[Any, Any], right: tuple[Any, Any], p: Mapping[str, Any]) -> tuple[Any, Any]:
    gates = torch.nn.functional.linear(torch.cat([left[0], right[0]], 1), p["w_node"], p["b_node"])
    i, o, u, f_left, f_right = gates.chunk(5, 1)
    c = i.sigmoid() * u.tanh() + f_left.sigmoid() * left[1] + f_right.sigmoid() * right[1]
    return o.sigmoid() * c.tanh(), c


def _encode(tree: Any, p: Mapping[str, Any]) -> tuple[Any, Any]:
    if not hasattr(tree, "left"):
        return _leaf(tree.word, p)
    return _node(_encode(tree.left, p), _encode(tree.right, p), p)


def _levels(trees: list[Any]) -> tuple[Any, list[tuple[Any, Any]], Any]:
    """What a person would prepare outside the timed part: all words, the places of both children of the nodes of each
    height, and those of the roots, where every result has a row of one tensor."""
    words: list[Any] = []
    by_height: list[list[tuple[Any, Any]]] = []  # of each node the places of its children: height, position there

    def visit(tree: Any) -> tuple[int, int]:
        if not hasattr(tree, "left"):
            words.append(tree.word)
            return 0, len(words) - 1
        children = visit(tree.left), visit(tree.right)
        height = 1 + max(each[0] for each in children)
        while len(by_height) < height:
            by_height.append([])
        by_height[height - 1].append(children)
        return height, len(by_height[height - 1]) - 1

    roots = [visit(tree) for tree in trees]
    starts = np.cumsum([0, len(words), *map(len, by_height)])

    def row(place: Any) -> int:
        return int(starts[place[0]] + place[1])

    indices = [tuple(torch.tensor([row(pair[side]) for pair in level]) for side in range(2)) for level in by_height]
    return torch.cat(words), indices, torch.tensor([row(root) for root in roots])


def _encode_levels(linear_form: tuple[Any, list[tuple[Any, Any]], Any], p: Mapping[str, Any]) -> list[Any]:
    words, levels, roots = linear_form
    h = torch.empty(len(words) + sum(len(left) for left, _ in levels), TREE_HIDDEN)
    c = torch.empty_like(h)
    start = len(words)
    h[:start], c[:start] = _leaf(words, p)
    for left, right in levels:
        stop = start + len(left)
        h[start:stop], c[start:stop] = _node((h[left], c[left]), (h[right], c[right]), p)
        start = stop
    return [each[None] for root in roots for each in (h[root], c[root])]


def _model(graph: Any) -> bytes:
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def _session(model: bytes, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
