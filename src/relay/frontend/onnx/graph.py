"""Walks an ONNX graph node by node and builds the expression of its outputs."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from relay.base.span import Source, Span
from relay.frontend.onnx.attributes import AttributeData, Schema, find_schema, not_understood, read_attributes
from relay.frontend.onnx.captures import names_from_outside
from relay.frontend.onnx.definitions import definition_of, has_definition
from relay.frontend.onnx.functions import LARGEST_EXPANSION, body_of, called_function, function_table
from relay.frontend.onnx.listing import listing, node_label, node_span
from relay.frontend.onnx.malformed import malformed
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.onnx.older_forms import in_newest_form, newest_name, older_forms
from relay.frontend.onnx.opsets import NEWEST, Opsets, domain_of, named_opsets, qualified, supported, version_of
from relay.frontend.onnx.reading import OnnxModel
from relay.frontend.onnx.weights import read_tensor
from relay.frontend.shared.building import ProgramBuilder
from relay.frontend.shared.names import printable
from relay.frontend.shared.node import Unsupported
from relay.frontend.shared.value import Item

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, NodeProto, TensorProto

_LARGEST_RANK = 32
_DEEPEST = 60
_DEEPEST_LOOPS = 6


class GraphImporter:
    """Builds expressions for the nodes of one graph."""

    def __init__(
        self, model: OnnxModel, opsets: Opsets, converters: Mapping[str, Converter], inputs: Sequence[Item],
        builder: ProgramBuilder,
    ) -> None:  # fmt: skip
        graph = model.proto.graph
        self.graph = graph
        self._functions = function_table(model.proto)
        self._depth = self._loops = self._imported = 0
        self.opsets = opsets
        self.source: Source = listing(graph, model.name)
        self.converters = converters
        self.findings = builder.findings
        self._builder = builder
        self._schemas: dict[tuple[str, str, int], Schema | None] = {}
        self._folder = model.folder
        self._raw_weights = model.raw_weights
        # None: its node cannot be imported, which `findings` tells. The first map is of the innermost graph.
        self._values: ChainMap[str, Item | None] = ChainMap()
        for value in inputs:
            self._define(value.name, value, None)

    # Names

    def _define(self, name: str, value: Item | None, span: Span | None) -> None:
        if name in self._values:
            raise malformed(f"the name {printable(name)!r} is given twice", span=span)
        self._values[name] = value

    def _lookup(self, name: str, span: Span | None, what: str) -> Item | None:
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

    def run(self) -> list[Item] | None:
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
    def _scope(self, names: ChainMap[str, Item | None], opsets: Opsets, span: Span) -> Generator[None, None, None]:
        """Inside a node: the names that its graph or function sees, and the opsets that it means."""
        if self._depth == _DEEPEST:
            raise malformed(f"graphs and functions lie more than {_DEEPEST} deep in each other", span=span)
        outer = self._values, self.opsets
        self._values, self.opsets = names, opsets
        self._depth += 1
        try:
            yield
        finally:
            self._values, self.opsets = outer
            self._depth -= 1

    @contextmanager
    def _loop(self, is_body: bool) -> Generator[None, None, None]:
        """Inside the body of a loop, which may have to be imported again for wider types, with all that is in it."""
        if is_body and self._loops == _DEEPEST_LOOPS:
            raise Unsupported(f"more than {_DEEPEST_LOOPS} loops deep in each other")
        self._loops += is_body
        try:
            yield
        finally:
            self._loops -= is_body

    def _subgraph(
        self, graph: GraphProto, inputs: Sequence[Item], around: Mapping[str, Item], span: Span
    ) -> tuple[Item, ...] | None:
        """The outputs of a graph inside a node, whose nodes see the names around it, those in `around` as these values;
        None if one cannot be imported."""
        for item in (*inputs, *around.values()):
            self._builder.note_extents(item)
        names = self._values.new_child(dict(around)).new_child()
        with self._scope(names, self.opsets, span), self._loop(bool(inputs)):
            for info, item in zip(graph.input, inputs, strict=True):
                self._define(info.name, item, span)
            self._read_weights(graph, repeat(None))
            for index, node in enumerate(graph.node):
                self._import_node(node, node_label(node, index), span)
            outputs = [self._lookup(output.name, span, "the graph gives out") for output in graph.output]
        kept = tuple(value for value in outputs if value is not None)
        return kept if len(kept) == len(outputs) else None

    def _around(self, graph: GraphProto) -> dict[str, Item]:
        """The values around a graph inside a node that it uses."""
        found = {name: self._values.get(name) for name in names_from_outside(graph)}
        return {name: item for name, item in found.items() if item is not None}

    def _call(
        self, function: FunctionProto, node: NodeProto, inputs: Sequence[Item | None], label: str, span: Span
    ) -> tuple[Item | None, ...]:
        """What the outputs of a call are worth: the nodes of the function see its inputs alone, and have its opset."""
        if len(node.input) > len(function.input) or len(node.output) > len(function.output):
            raise malformed(f"{label} calls {printable(function.name)} with too many inputs or outputs", span=span)
        own = named_opsets(function.opset_import)
        opsets = supported({**self.opsets, **own}, self.findings, label)
        names: ChainMap[str, Item | None] = ChainMap(dict(zip(function.input, inputs, strict=False)))
        with self._scope(names, opsets, span):
            for index, inner in enumerate(body_of(function, node)):
                self._import_node(inner, f"{label}/{node_label(inner, index)}", span)
            what = f"{printable(function.name)} gives out"
            asked = zip(node.output, function.output, strict=False)
            return tuple(self._lookup(made, span, what) if name else None for name, made in asked)

    def _import_node(self, node: NodeProto, label: str, span: Span) -> None:
        self._imported += 1
        if self._imported > LARGEST_EXPANSION:
            raise malformed("the graph stands for too many nodes", expected=f"at most {LARGEST_EXPANSION:,}")
        what = f"{printable(node.op_type)} ({label}) needs"
        inputs = tuple(self._lookup(name, span, what) if name else None for name in node.input)
        for name, value in zip(node.output, self._outputs(node, label, inputs, span), strict=True):
            if name:
                self._define(name, value, span)

    def _outputs(
        self, node: NodeProto, label: str, inputs: tuple[Item | None, ...], span: Span
    ) -> tuple[Item | None, ...]:
        """What the outputs of a node stand for: what its converter makes, or else the function that defines it. None
        for those of a node that cannot be imported, with the reasons among the findings."""
        function = called_function(node, self._functions)
        if function is not None:
            return self._call(function, node, inputs, label, span)
        nothing = (None,) * len(node.output)
        schema = self._schema(node, label)
        if schema is None:
            return nothing
        attributes, reasons = read_attributes(node, schema)
        reasons += _wrong_counts(node, schema)
        if reasons:
            self._refuse(reasons, label)
            return nothing
        usable = all(value is not None or not name for name, value in zip(node.input, inputs, strict=True))
        try:
            read, converter = self._read_node(node, label, schema, inputs, attributes, span)
            if usable:
                return self._builder.converted(converter, read, node.output, span)
            return nothing
        except Unsupported as missing:
            reasons.append(missing.reason)
        if has_definition(schema) and not usable:
            return nothing
        body = definition_of(node, schema, inputs, self._version(node))
        if body is not None:
            return self._call(body, node, inputs, label, span)
        self._refuse(reasons, label)
        return nothing

    def _refuse(self, reasons: Iterable[str], label: str) -> None:
        for reason in reasons:
            self.findings.add(reason, label)

    def _version(self, node: NodeProto) -> int:
        return version_of(self.opsets, domain_of(node.domain), node.op_type)

    def _schema(self, node: NodeProto, label: str) -> Schema | None:
        """What ONNX says of the operator of a node; None, which is told, where it says nothing."""
        domain, operator = domain_of(node.domain), printable(node.op_type)
        if domain not in NEWEST:
            self.findings.add(f"operator {operator} of the domain {printable(domain)}", label)
            return None
        version = self._version(node)
        found = self._schema_at(domain, node.op_type, version)
        if found is None:
            self.findings.add(f"operator {operator}, which opset {version} does not have", label)
        return found

    def _schema_at(self, domain: str, operator: str, version: int) -> Schema | None:
        """Asked once in an import."""
        key = domain, operator, version
        if key not in self._schemas:
            self._schemas[key] = find_schema(*key)
        return self._schemas[key]

    def _read_node(
        self, node: NodeProto, label: str, schema: Schema, inputs: tuple[Item | None, ...],
        attributes: Mapping[str, AttributeData], span: Span,
    ) -> tuple[OnnxNode, Converter]:  # fmt: skip
        """The node as its converter sees it. Raises `Unsupported` where it has none, or does not know what it says."""
        domain, name = domain_of(node.domain), qualified(node.domain, node.op_type)
        converter = self.converters.get(newest_name(name))
        if converter is None:
            raise Unsupported(f"operator {name}")
        forms = older_forms(name, schema.since_version)
        strange = not_understood(attributes, schema, converter.attributes.union(*(form.attributes for form in forms)))
        if strange:
            raise Unsupported(f"{node.op_type} with the attribute{'s' * (len(strange) > 1)} `{'`, `'.join(strange)}`")

        def subgraph(graph: GraphProto, given: Sequence[Item], around: Mapping[str, Item]) -> tuple[Item, ...] | None:
            return self._subgraph(graph, given, around, span)

        count = sum(1 for name in node.output if name)
        read = OnnxNode(
            name, label, inputs, attributes, count, self._version(node), tuple(node.output), subgraph, self._around
        )
        newest = self._schema_at(domain, newest_name(node.op_type), NEWEST[domain])
        added = {} if newest is None else {n: d for n, d in newest.defaults.items() if n not in schema.declared}
        return in_newest_form(read, forms, added), converter


def _wrong_counts(node: NodeProto, schema: Schema) -> list[str]:
    counts = (len(node.input), schema.inputs, "inputs"), (len(node.output), schema.outputs, "outputs")
    return [
        f"{node.op_type} with {count} {what}" for count, (least, most), what in counts if not least <= count <= most
    ]
