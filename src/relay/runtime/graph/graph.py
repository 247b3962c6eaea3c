"""A straight-line program as a graph: the JSON document that Relay's graph executors and graph viewers read.

    nodes          {"op": "null"} is an input or a parameter, {"op": "tvm_op"} calls the kernel `func_name`; inputs are
                   [node, output, version], and the attributes of a node are text
    arg_nodes      the nodes whose op is "null"
    heads          the results, as inputs are written
    node_row_ptr   the number of the first output of each node, among all outputs
    attrs          for each output its shape, its dltype, its storage_id (outputs with one id take turns in one place),
                   and its storage_offset: where in one arena it is, -1 if its storage is apart
    metadata       how the results nest

The kernel `__nop` runs nothing: its output is its input, seen with another shape. `storage_offset` and `metadata` are
ours; readers that do not know them make room for each storage_id, and compute the same. So is the attribute
`checks_index_of` of a node whose output tells of an index that lies outside: others go on with what is nearest; and
`scratch`, how many of its last outputs are nothing but what the kernel works in.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.runtime.artefact.arena_map import ArenaMap, PlacedBuffer
from relay.runtime.artefact.manifest import ResultSpec, result_from_json, result_to_json

NOTHING = "__nop"
APART = -1
_CHECKS_INDEX = "checks_index_of"
_SCRATCH = "scratch"

Entry: TypeAlias = tuple[int, int]
"""An output: the number of its node, and which of the node's outputs it is."""


@frozen
class GraphTensor:
    """An output of a node: its type and its place. Outputs of one `storage` are never alive at once."""

    shape: tuple[int, ...]
    dtype: DType
    storage: int
    offset_bytes: int = APART

    @property
    def size_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.item_bytes

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


@frozen
class GraphNode:
    """An input or parameter (no `kernel`), or a call of `kernel`. `checks_index_of`: its output is an index that this
    is given, and how many entries the axis has; the run ends where the index lies outside. `scratch`: what the kernel
    works in, given behind the outputs."""

    name: str
    kernel: str
    inputs: tuple[Entry, ...]
    outputs: tuple[GraphTensor, ...]
    checks_index_of: str = ""
    scratch: tuple[GraphTensor, ...] = ()

    @property
    def written(self) -> tuple[GraphTensor, ...]:
        return (*self.outputs, *self.scratch)

    @property
    def is_argument(self) -> bool:
        return not self.kernel

    @property
    def calls_kernel(self) -> bool:
        return self.kernel not in ("", NOTHING)


@frozen
class Graph:
    """Nodes in an order in which they can run, the outputs that are results, and how these nest."""

    nodes: tuple[GraphNode, ...]
    heads: tuple[Entry, ...]
    result: ResultSpec

    def tensor(self, entry: Entry) -> GraphTensor:
        return self.nodes[entry[0]].outputs[entry[1]]

    def arena(self) -> ArenaMap:
        """What is where in the arena, between which kernel calls."""
        numbers = [number for number, node in enumerate(self.nodes) if node.calls_kernel]
        calls = {number: at for at, number in enumerate(numbers)}
        last: dict[Entry, int] = dict.fromkeys(self.heads, len(calls) - 1)
        for number, node in reversed([*enumerate(self.nodes)]):
            read = calls.get(number, last.get((number, 0), 0))  # what runs nothing is read when its output is
            for entry in node.inputs:
                last[entry] = max(last.get(entry, 0), read)
        buffers = [
            PlacedBuffer(
                self.nodes[number].name, each.offset_bytes, each.offset_bytes + each.size_bytes,
                calls[number], max(calls[number], last.get((number, output), 0)),
            )
            for number in numbers
            for output, each in enumerate(self.nodes[number].outputs)
            if each.offset_bytes != APART and each.size_bytes
        ]  # fmt: skip
        return ArenaMap.around(buffers)

    def to_json(self) -> str:
        """The document; the same text for the same graph."""
        tensors = [tensor for node in self.nodes for tensor in node.written]
        firsts = [0]
        for node in self.nodes:
            firsts.append(firsts[-1] + len(node.written))
        document = {
            "nodes": [_node_to_json(node) for node in self.nodes],
            "arg_nodes": [number for number, node in enumerate(self.nodes) if node.is_argument],
            "heads": [[*head, 0] for head in self.heads],
            "attrs": {
                "dltype": ["list_str", [str(tensor.dtype) for tensor in tensors]],
                "shape": ["list_shape", [list(tensor.shape) for tensor in tensors]],
                "storage_id": ["list_int", [tensor.storage for tensor in tensors]],
                "storage_offset": ["list_int", [tensor.offset_bytes for tensor in tensors]],
            },
            "node_row_ptr": firsts,
            "metadata": {"result": result_to_json(self.result)},
        }
        return _indented(document) + "\n"

    @staticmethod
    def from_json(text: str | bytes) -> Graph:
        """The graph that a document describes. Without `storage_offset` every storage is apart; without `metadata` the
        results are a tuple, or one tensor.

        Raises `RelayError` (rule `bad-graph`) for anything that is no such document.
        """
        try:
            document = json.loads(text)
            nodes = _nodes_from_json(document)
            heads = tuple((int(head[0]), int(head[1])) for head in document["heads"])
            _check_entries(nodes, heads, len(nodes))
            nest = document.get("metadata", {}).get("result", 0 if len(heads) == 1 else list(range(len(heads))))
            result = result_from_json(nest, len(heads))
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise RelayError(
                rule="bad-graph",
                message="this is no graph of kernels",
                found=f"{type(error).__name__}: {error}",
                remedy="give the JSON that `get_graph_json` gives",
            ) from error
        return Graph(nodes, heads, result)


def _node_to_json(node: GraphNode) -> dict[str, Any]:
    if node.is_argument:
        return {"op": "null", "name": node.name, "inputs": []}
    attributes = {
        "func_name": node.kernel,
        "num_inputs": str(len(node.inputs)),
        "num_outputs": str(len(node.written)),
        "flatten_data": "0",
        **({_CHECKS_INDEX: node.checks_index_of} if node.checks_index_of else {}),
        **({_SCRATCH: str(len(node.scratch))} if node.scratch else {}),
    }
    return {"op": "tvm_op", "name": node.name, "attrs": attributes, "inputs": [[*entry, 0] for entry in node.inputs]}


def _indented(document: dict[str, Any]) -> str:
    """Two levels of lines, so that a node is a line."""
    lines: list[str] = []
    for key, value in document.items():
        if isinstance(value, dict):
            parts = [f"{json.dumps(name)}: {json.dumps(part)}" for name, part in cast("dict[str, Any]", value).items()]
            opening, closing = "{", "}"
        elif key == "nodes":
            parts, opening, closing = [json.dumps(part) for part in value], "[", "]"
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
            continue
        lines.append(f"  {json.dumps(key)}: {opening}\n    " + ",\n    ".join(parts) + f"\n  {closing}")
    return "{\n" + ",\n".join(lines) + "\n}"


def _nodes_from_json(document: Any) -> tuple[GraphNode, ...]:
    firsts = [int(number) for number in document["node_row_ptr"]]
    tensors = _tensors_from_json(document["attrs"], firsts[-1])
    if len(firsts) != len(document["nodes"]) + 1 or firsts[0] != 0 or sorted(firsts) != firsts:
        raise ValueError("node_row_ptr does not fit the nodes")
    nodes: list[GraphNode] = []
    for number, value in enumerate(document["nodes"]):
        inputs = tuple((int(entry[0]), int(entry[1])) for entry in value["inputs"])
        _check_entries(nodes, inputs, number)
        attributes = value.get("attrs", {})
        written = tensors[firsts[number] : firsts[number + 1]]
        kernel, checks = _kernel(value, inputs, written), str(attributes.get(_CHECKS_INDEX, ""))
        results = len(written) - int(attributes.get(_SCRATCH, 0))
        if not 0 <= results <= len(written):
            raise ValueError(f"the node `{value['name']}` has no {len(written) - results} outputs to work in")
        outputs, scratch = tuple(written[:results]), tuple(written[results:])
        if checks and [(each.shape, each.dtype) for each in outputs] != [((2,), DType.INT64)]:
            raise ValueError(f"the node `{value['name']}` gives no index and extent")
        nodes.append(GraphNode(str(value["name"]), kernel, inputs, outputs, checks, scratch))
    if len({node.name for node in nodes}) != len(nodes):
        raise ValueError("two nodes have one name")
    return tuple(nodes)


def _kernel(node: Any, inputs: Sequence[Entry], outputs: Sequence[GraphTensor]) -> str:
    if node["op"] == "null":
        if inputs or len(outputs) != 1:
            raise ValueError(f"the input `{node['name']}` has inputs, or not one output")
        return ""
    attributes = node["attrs"]
    counts = (int(attributes["num_inputs"]), int(attributes["num_outputs"]))
    if node["op"] != "tvm_op" or not attributes["func_name"] or counts != (len(inputs), len(outputs)):
        raise ValueError(f"the node `{node['name']}` is no call of a kernel with its inputs and outputs")
    return str(attributes["func_name"])


def _check_entries(nodes: Sequence[GraphNode], entries: Sequence[Entry], before: int) -> None:
    for node, output in entries:
        if not (0 <= node < before and 0 <= output < len(nodes[node].outputs)):
            raise ValueError(f"output {output} of node {node}, which is not there yet")


def _tensors_from_json(attributes: Any, count: int) -> list[GraphTensor]:
    def column(name: str) -> list[Any]:
        values = list(attributes[name][1])
        if len(values) != count:
            raise ValueError(f"{name} has {len(values)} values for {count} outputs")
        return values

    offsets = column("storage_offset") if "storage_offset" in attributes else [APART] * count
    tensors = [
        GraphTensor(tuple(map(int, shape)), DType(dtype), int(storage), int(offset))
        for shape, dtype, storage, offset in zip(
            column("shape"), column("dltype"), column("storage_id"), offsets, strict=True
        )
    ]
    for tensor in tensors:
        if min(tensor.shape, default=0) < 0 or not 0 <= tensor.storage < count or tensor.offset_bytes < APART:
            raise ValueError(f"an output of shape {tensor.shape} in storage {tensor.storage}")
    return tensors
