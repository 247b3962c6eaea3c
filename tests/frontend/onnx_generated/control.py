"""Nodes that hold graphs."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper

from tests.frontend.onnx_generated.draft import Draft, value_info

_UNARY = ("Relu", "Tanh", "Neg", "Identity", "Abs")
_BINARY = ("Add", "Sub", "Mul", "Max")


def branches(draft: Draft) -> None:
    """A choice by what the graph computes, or by what it is given; each branch takes values from outside."""
    x = draft.pick(dtype="float32")
    y = draft.operand(draft.array(draft.values[x].shape))
    if draft.chance(0.5):
        condition = draft.operand(np.asarray(draft.chance(0.5)))
    else:
        (total,) = draft.node("ReduceSum", x, keepdims=0)
        (condition,) = draft.node("Greater", total, draft.given(np.asarray(0, np.float32)))

    def branch(name: str) -> onnx.GraphProto:
        nodes = [helper.make_node(draft.one_of(*_BINARY), [x, y], [f"{name}_a"])]
        nodes.append(helper.make_node(draft.one_of(*_UNARY), [f"{name}_a"], [f"{name}_b"]))
        return helper.make_graph(nodes, name, [], [value_info(f"{name}_b", np.dtype("float32"), draft.values[x].shape)])

    draft.node(
        "If", condition, then_branch=branch(f"then{len(draft.nodes)}"), else_branch=branch(f"else{len(draft.nodes)}")
    )


def loop(draft: Draft) -> None:
    """Some rounds with a state, and what each leaves."""
    x = draft.pick(dtype="float32", most_rank=3)
    shape, p = draft.values[x].shape, f"loop{len(draft.nodes)}"
    step = draft.operand(np.asarray(0.5, np.float32))
    kind = np.dtype("float32")
    nodes = [
        helper.make_node("Identity", [f"{p}_goes_on"], [f"{p}_still"]),
        helper.make_node(draft.one_of("Add", "Sub", "Mul"), [f"{p}_state", step], [f"{p}_next"]),
        helper.make_node(draft.one_of(*_UNARY), [f"{p}_next"], [f"{p}_left"]),
    ]
    inputs = [
        value_info(f"{p}_round", np.dtype("int64"), ()),
        value_info(f"{p}_goes_on", np.dtype("bool"), ()),
        value_info(f"{p}_state", kind, shape),
    ]
    outputs = [
        value_info(f"{p}_still", np.dtype("bool"), ()),
        value_info(f"{p}_next", kind, shape),
        value_info(f"{p}_left", kind, shape),
    ]
    rounds = draft.operand(np.asarray(draft.whole(1, 4), np.int64))
    condition = "" if draft.chance(0.5) else draft.given(np.asarray(True))
    draft.node("Loop", rounds, condition, x, outputs=2, body=helper.make_graph(nodes, p, inputs, outputs))


def scan(draft: Draft) -> None:
    """Along an axis: a state, and what each step gives."""
    x = draft.pick(dtype="float32", least_rank=1, most_rank=3)
    shape, p, kind = draft.values[x].shape, f"scan{len(draft.nodes)}", np.dtype("float32")
    start = draft.operand(draft.array(shape[1:]))
    nodes = [
        helper.make_node(draft.one_of("Add", "Max", "Sub"), [f"{p}_state", f"{p}_item"], [f"{p}_next"]),
        helper.make_node(draft.one_of(*_UNARY), [f"{p}_next"], [f"{p}_given"]),
    ]
    inputs = [value_info(f"{p}_{name}", kind, shape[1:]) for name in ("state", "item")]
    outputs = [value_info(f"{p}_{name}", kind, shape[1:]) for name in ("next", "given")]
    backward = {"scan_input_directions": [draft.whole(0, 1)], "scan_output_directions": [draft.whole(0, 1)]}
    body = helper.make_graph(nodes, p, inputs, outputs)
    draft.node("Scan", start, x, outputs=2, body=body, num_scan_inputs=1, **(backward if draft.chance(0.5) else {}))


CONTROL = (branches, loop, scan)
