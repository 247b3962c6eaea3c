"""The JSON of graphs: what is damaged is refused, whatever it is."""

from __future__ import annotations

import copy
import json

import pytest

import relay
from relay.base.dtypes import DType
from relay.runtime.artefact.manifest import TupleSpec
from relay.runtime.graph.graph import Graph, GraphNode, GraphTensor

VECTOR = GraphTensor((4,), DType.FLOAT32, 0)
HALVES = (GraphTensor((2,), DType.FLOAT32, 1, 0), GraphTensor((2,), DType.INT8, 2, 64))
GRAPH = Graph(
    nodes=(
        GraphNode("x", "", (), (VECTOR,)),
        GraphNode("split", "split_1", ((0, 0),), HALVES),
        GraphNode("reshape", "__nop", ((1, 1),), (GraphTensor((1, 2), DType.INT8, 2, 64),)),
    ),
    heads=((2, 0), (1, 0)),
    result=TupleSpec((0, TupleSpec((1,)))),
)


def test_what_is_written_is_read():
    text = GRAPH.to_json()
    assert Graph.from_json(text) == GRAPH
    assert Graph.from_json(text).to_json() == text
    assert json.loads(text)["node_row_ptr"] == [0, 1, 3, 4]


def changed(*path: object, to: object) -> str:
    document = copy.deepcopy(json.loads(GRAPH.to_json()))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return json.dumps(document)


DAMAGED = {
    "no JSON": "{",
    "no document": "[]",
    "no nodes": changed("nodes", to=None),
    "an unknown op": changed("nodes", 1, "op", to="call"),
    "no kernel": changed("nodes", 1, "attrs", "func_name", to=""),
    "wrong count of inputs": changed("nodes", 1, "attrs", "num_inputs", to="2"),
    "wrong count of outputs": changed("nodes", 1, "attrs", "num_outputs", to="1"),
    "an input of a later node": changed("nodes", 1, "inputs", to=[[2, 0, 0]]),
    "an input of no node": changed("nodes", 1, "inputs", to=[[-1, 0, 0]]),
    "an output that is not there": changed("nodes", 1, "inputs", to=[[0, 1, 0]]),
    "an argument with inputs": changed("nodes", 0, "inputs", to=[[0, 0, 0]]),
    "two nodes of one name": changed("nodes", 1, "name", to="x"),
    "a head that is not there": changed("heads", 0, to=[3, 0, 0]),
    "outputs that go down": changed("node_row_ptr", to=[0, 3, 1, 4]),
    "too many outputs": changed("node_row_ptr", to=[0, 1, 3, 5]),
    "too few rows": changed("node_row_ptr", to=[0, 1, 4]),
    "a negative extent": changed("attrs", "shape", 1, 0, to=[-4]),
    "an infinite extent": changed("attrs", "shape", 1, 0, to=[float("inf")]),
    "an unknown dtype": changed("attrs", "dltype", 1, 0, to="float31"),
    "a negative offset": changed("attrs", "storage_offset", 1, 1, to=-64),
    "a negative storage": changed("attrs", "storage_id", 1, 1, to=-1),
    "too few storages": changed("attrs", "storage_id", 1, to=[0]),
    "a result that is not there": changed("metadata", "result", to=[0, 2]),
    "metadata of another kind": changed("metadata", to=3),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_documents(name):
    with pytest.raises(relay.RelayError) as caught:
        Graph.from_json(DAMAGED[name])
    assert caught.value.rule == "bad-graph"
