"""Walks an ONNX graph node by node and builds the expression of its outputs."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from relay.base.span import Source, Span
from relay.frontend.onnx.attributes import Schema, find_schema, read_attributes
from relay.frontend.onnx.functions import body_of, called_function, function_table
from relay.frontend.onnx.listing import listing, node_label, node_span
from relay.frontend.onnx.malformed import malformed
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.onnx.reading import OnnxModel
from relay.frontend.onnx.weights import read_tensor
from relay.frontend.shared.building import ProgramBuilder
from relay.frontend.shared.names import printable
from relay.frontend.shared.value import Value

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, NodeProto, TensorProto

STANDARD_DOMAINS = ("", "ai.onnx")
OLDEST_OPSET = 13
NEWEST_OPSET = 28
_LARGEST_RANK = 32
_DEEPEST = 60


class GraphImporter:
    """Builds expressions for the nodes of one graph."""

    def __init__(
        self, model: OnnxModel, opset: int, converters: Mapping[str, Converter], inputs: Sequence[Value],
        builder: ProgramBuilder,
    ) -> None:  # fmt: skip
        graph = model.proto.graph
        self.graph = graph
        self._functions = function_table(model.proto)
        self._depth = 0
        self.opset = opset
        self.source: Source = listing(graph, model.name)
        self.converters = converters
        self.findings = builder.findings
        self._builder = builder
        self._schemas: dict[tuple[str, int], Schema | None] = {}
        self._folder = model.folder
        self._raw_weights = model.raw_weights
        # None: its node cannot be imported, which `findings` tells. The first map is of the innermost graph.
        self._values: ChainMap[str, Value | None] = ChainMap()
        for value in inputs:
            self._define(value.name, value, None)

    # Names

    def _define(self, name: str, value: Value | None, span: Span | None) -> None:
        if name in self._values:
            raise malformed(f"the name {printable(name)!r} is given twice", span=span)
        self._values[name] = value

    def _lookup(self, name: str, span: Span | None, what: str) -> Value | None:
        if name not in self._values:
            later = any(name in node.output for node in self.graph.node)
            reason = (
                "which is made later: the nodes are not in order, or form a cycle" if later else "which nothing makes"
            )
            raise malformed(f"{what} {printable(name)!r}, {reason}", span=span)
        return self._values[name]

    # Weights

    def _read_weights(self, graph: GraphProto, raw_weights: Iterable[memoryview | None]) -> None:
        """Define every initialiser. Those that the program uses become parameters, the others leave no trace."""
        for tensor, raw in zip(graph.initializer, raw_weights, strict=False):
            self._define(tensor.name, self._builder.weight(tensor.name, self._read(tensor, raw)), None)
        for sparse in graph.sparse_initializer:
            name = printable(sparse.values.name)
            self.findings.add("a sparse initialiser: weights must be dense", name)
            self._define(sparse.values.name, None, None)

    def _read(self, tensor: TensorProto, raw: memoryview | None) -> NDArray[Any]:
        what = f"the initialiser {printable(tensor.name)!r}"
        if len(tensor.dims) > _LARGEST_RANK:
            raise malformed(f"{what} has {len(tensor.dims)} axes", expected=f"at most {_LARGEST_RANK}")
        return read_tensor(tensor, self._folder, what, raw)

    # Nodes

    def run(self) -> list[Value] | None:
        """The graph's outputs; None if some node could not be imported."""
        self._read_weights(self.graph, self._raw_weights)
        for index, node in enumerate(self.graph.node):
            self._import_node(node, node_label(node, index), node_span(self.source, index))
        outputs = [self._lookup(output.name, None, "the graph gives out") for output in self.graph.output]
        kept = [value for value in outputs if value is not None]
        if self.findings or len(kept) < len(outputs):
            return None
        return kept

    @contextmanager
    def _scope(self, names: ChainMap[str, Value | None], opset: int, span: Span) -> Generator[None, None, None]:
        """Inside a node: the names that its graph or function sees, and the opset that it means."""
        if self._depth == _DEEPEST:
            raise malformed(f"graphs and functions lie more than {_DEEPEST} deep in each other", span=span)
        outer = self._values, self.opset
        self._values, self.opset = names, opset
        self._depth += 1
        try:
            yield
        finally:
            self._values, self.opset = outer
            self._depth -= 1

    def _subgraph(self, graph: GraphProto, span: Span) -> tuple[Value, ...] | None:
        """The outputs of a graph inside a node, whose nodes see the names around it; None if one cannot be imported."""
        with self._scope(self._values.new_child(), self.opset, span):
            self._read_weights(graph, repeat(None))
            for index, node in enumerate(graph.node):
                self._import_node(node, node_label(node, index), span)
            outputs = [self._lookup(output.name, span, "the graph gives out") for output in graph.output]
        kept = tuple(value for value in outputs if value is not None)
        return kept if len(kept) == len(outputs) else None

    def _call(
        self, function: FunctionProto, node: NodeProto, inputs: Sequence[Value | None], label: str, span: Span
    ) -> tuple[Value | None, ...]:
        """What the outputs of a call are worth: the nodes of the function see its inputs alone, and have its opset."""
        if len(node.input) > len(function.input) or len(node.output) > len(function.output):
            raise malformed(f"{label} calls {printable(function.name)} with too many inputs or outputs", span=span)
        opsets = [entry.version for entry in function.opset_import if entry.domain in STANDARD_DOMAINS]
        if opsets and not OLDEST_OPSET <= opsets[0] <= NEWEST_OPSET:
            self.findings.add(f"opset {opsets[0]} of the function {printable(function.name)}", label)
            return (None,) * len(node.output)
        names: ChainMap[str, Value | None] = ChainMap(dict(zip(function.input, inputs, strict=False)))
        with self._scope(names, opsets[0] if opsets else self.opset, span):
            for index, inner in enumerate(body_of(function, node)):
                self._import_node(inner, f"{label}/{node_label(inner, index)}", span)
            what = f"{printable(function.name)} gives out"
            return tuple(self._lookup(name, span, what) for name in function.output[: len(node.output)])

    def _import_node(self, node: NodeProto, label: str, span: Span) -> None:
        what = f"{printable(node.op_type)} ({label}) needs"
        inputs = tuple(self._lookup(name, span, what) if name else None for name in node.input)
        usable = all(value is not None or not name for name, value in zip(node.input, inputs, strict=True))
        made: tuple[Value | None, ...] = (None,) * len(node.output)
        function = called_function(node, self._functions)
        if function is not None:
            made = self._call(function, node, inputs, label, span)
            self._define_all(node, made, span)
            return
        read = self._read_node(node, label, inputs, span)
        if read is not None and usable:
            made = self._builder.convert(self.converters[node.op_type], read, node.output, span)
        self._define_all(node, made, span)

    def _define_all(self, node: NodeProto, made: Sequence[Value | None], span: Span) -> None:
        for name, value in zip(node.output, made, strict=True):
            if name:
                self._define(name, value, span)

    def _schema(self, operator: str) -> Schema | None:
        """What ONNX says of an operator, asked once in an import."""
        key = operator, self.opset
        if key not in self._schemas:
            self._schemas[key] = find_schema(*key)
        return self._schemas[key]

    def _read_node(self, node: NodeProto, label: str, inputs: tuple[Value | None, ...], span: Span) -> OnnxNode | None:
        """The node as converters see it; None when it cannot be imported, with the reasons among the findings."""
        if node.domain not in STANDARD_DOMAINS:
            self.findings.add(f"operator {printable(node.op_type)} of the domain {printable(node.domain)}", label)
            return None
        schema = self._schema(node.op_type)
        if schema is None:
            self.findings.add(f"operator {printable(node.op_type)}, which opset {self.opset} does not have", label)
            return None
        found = self.converters.get(node.op_type)
        if found is None:
            self.findings.add(f"operator {node.op_type}", label)
            return None
        attributes, problems = read_attributes(node, schema, found.attributes)
        if not schema.inputs[0] <= len(inputs) <= schema.inputs[1]:
            problems.append(f"{node.op_type} with {len(inputs)} inputs")
        if not schema.outputs[0] <= len(node.output) <= schema.outputs[1]:
            problems.append(f"{node.op_type} with {len(node.output)} outputs")
        for problem in problems:
            self.findings.add(problem, label)
        if problems:
            return None
        count = sum(1 for name in node.output if name)

        def subgraph(graph: GraphProto) -> tuple[Value, ...] | None:
            return self._subgraph(graph, span)

        return OnnxNode(node.op_type, label, inputs, attributes, count, self.opset, subgraph)
