"""Walks an ONNX graph node by node and builds the expression of its outputs."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.base.span import Source, Span
from relay.frontend.onnx.attributes import read_attributes
from relay.frontend.onnx.extent_values import array_of_extents, symbol_origins
from relay.frontend.onnx.findings import Findings, malformed
from relay.frontend.onnx.folding import fold_node
from relay.frontend.onnx.functions import body_of, called_function, function_table
from relay.frontend.onnx.listing import listing, node_label, node_span, printable
from relay.frontend.onnx.node import Converter, OnnxNode, Output, Result, Unsupported
from relay.frontend.onnx.package import onnx_package
from relay.frontend.onnx.placing import Placer
from relay.frontend.onnx.reading import OnnxModel
from relay.frontend.onnx.value import Value, is_symbolic
from relay.frontend.onnx.weights import read_tensor
from relay.ir.expr import Constant, Expr, ExprBase, Var
from relay.ir.types import TensorType
from relay.ops.build import TupleWrapper, with_known_type

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, NodeProto, TensorProto

STANDARD_DOMAINS = ("", "ai.onnx")
OLDEST_OPSET = 13
NEWEST_OPSET = 28
_LARGEST_RANK = 32
_DEEPEST = 60


class GraphImporter:
    """Builds expressions for the nodes of one graph. `parameters` gathers the weights that the program uses."""

    def __init__(
        self, model: OnnxModel, opset: int, converters: Mapping[str, Converter], inputs: Sequence[Var], frozen: bool,
        findings: Findings,
    ) -> None:  # fmt: skip
        graph = model.proto.graph
        self.graph = graph
        self._functions = function_table(model.proto)
        self._depth = 0
        self.opset = opset
        self.source: Source = listing(graph, model.name)
        self.converters = converters
        self.findings = findings
        self.parameters: dict[str, tuple[Var, NDArray[Any]]] = {}
        self._frozen = frozen
        self._folder = model.folder
        self._raw_weights = model.raw_weights
        self._origins = symbol_origins(inputs)
        self._placer = Placer()
        # None: its node cannot be imported, which `findings` tells. The first map is of the innermost graph.
        self._values: ChainMap[str, Value | None] = ChainMap()
        for var in inputs:
            self._define(var.name_hint, self._input_value(var), None)

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

    # Leaves

    def _input_value(self, var: Var) -> Value:
        placed = self._placer.keep(with_known_type(var))
        if not isinstance(var.type_annotation, TensorType):
            raise malformed(f"the input {printable(var.name_hint)!r} is not a tensor")
        return Value.of(var.name_hint, placed, var.type_annotation)

    def _read_weights(self, graph: GraphProto, raw_weights: Iterable[memoryview | None]) -> None:
        """Define every initialiser. Those that the program uses become parameters, the others leave no trace."""
        for tensor, raw in zip(graph.initializer, raw_weights, strict=False):
            self._define(tensor.name, self._weight_value(tensor.name, self._read(tensor, raw)), None)
        for sparse in graph.sparse_initializer:
            name = printable(sparse.values.name)
            self.findings.add("a sparse initialiser: weights must be dense", name)
            self._define(sparse.values.name, None, None)

    def _read(self, tensor: TensorProto, raw: memoryview | None) -> NDArray[Any]:
        what = f"the initialiser {printable(tensor.name)!r}"
        if len(tensor.dims) > _LARGEST_RANK:
            raise malformed(f"{what} has {len(tensor.dims)} axes", expected=f"at most {_LARGEST_RANK}")
        return read_tensor(tensor, self._folder, what, raw)

    def _weight_value(self, name: str, array: NDArray[Any]) -> Value:
        constant = Constant(array)
        type_ = TensorType(array.shape, constant.dtype)

        def make() -> Expr:
            if self._frozen:
                return self._placer.keep(with_known_type(constant))
            var = with_known_type(Var(name, type_))
            self.parameters[name] = (var, array)
            return self._placer.keep(var)

        return Value(name, type_, make, known=array)

    def _known_value(self, name: str, known: NDArray[Any], dtype: Any, span: Span) -> Value:
        """A value computed from shapes and constants of the graph."""

        def make() -> Expr:
            if is_symbolic(known):
                return self._placer.place([array_of_extents(known, dtype, self._origins)], span)[0]
            return self._placer.place([with_known_type(Constant(known, span=span))], span)[0]

        return Value(name, TensorType(known.shape, dtype), make, known=known, from_shapes=True)

    # Nodes

    def run(self) -> list[Expr] | None:
        """The expressions of the graph's outputs; None if some node could not be imported."""
        self._read_weights(self.graph, self._raw_weights)
        for index, node in enumerate(self.graph.node):
            self._import_node(node, node_label(node, index), node_span(self.source, index))
        outputs = [self._lookup(output.name, None, "the graph gives out") for output in self.graph.output]
        kept = [value for value in outputs if value is not None]
        if self.findings or len(kept) < len(outputs):
            return None
        return [value.expr for value in kept]

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
            try:
                made = self._convert(read, node, span)
            except Unsupported as missing:
                self.findings.add(missing.reason, label)
            except RelayError as error:
                raise _at_node(error, span) from None
        self._define_all(node, made, span)

    def _define_all(self, node: NodeProto, made: Sequence[Value | None], span: Span) -> None:
        for name, value in zip(node.output, made, strict=True):
            if name:
                self._define(name, value, span)

    def _read_node(self, node: NodeProto, label: str, inputs: tuple[Value | None, ...], span: Span) -> OnnxNode | None:
        """The node as converters see it; None when it cannot be imported, with the reasons among the findings."""
        if node.domain not in STANDARD_DOMAINS:
            self.findings.add(f"operator {printable(node.op_type)} of the domain {printable(node.domain)}", label)
            return None
        schema = find_schema(node.op_type, self.opset)
        if schema is None:
            self.findings.add(f"operator {printable(node.op_type)}, which opset {self.opset} does not have", label)
            return None
        found = self.converters.get(node.op_type)
        if found is None:
            self.findings.add(f"operator {node.op_type}", label)
            return None
        attributes, problems = read_attributes(node, schema, found.attributes)
        if not schema.min_input <= len(inputs) <= schema.max_input:
            problems.append(f"{node.op_type} with {len(inputs)} inputs")
        if not schema.min_output <= len(node.output) <= schema.max_output:
            problems.append(f"{node.op_type} with {len(node.output)} outputs")
        for problem in problems:
            self.findings.add(problem, label)
        if problems:
            return None
        count = sum(1 for name in node.output if name)

        def subgraph(graph: GraphProto) -> tuple[Value, ...] | None:
            return self._subgraph(graph, span)

        return OnnxNode(node.op_type, label, inputs, attributes, self.opset, count, subgraph)

    def _convert(self, node: OnnxNode, proto: NodeProto, span: Span) -> tuple[Value | None, ...]:
        folded = fold_node(node)
        if folded is not None and len(folded) == len(proto.output):
            return tuple(
                self._known_value(name, known, dtype, span)
                for name, (known, dtype) in zip(proto.output, folded, strict=True)
            )
        results = _as_results(self.converters[node.operator].convert(node))
        if len(results) < len(proto.output):
            node.unsupported(f"with {len(proto.output)} outputs")
        return self._values_of(node, results, proto, span)

    def _values_of(
        self, node: OnnxNode, results: Sequence[Output | None], proto: NodeProto, span: Span
    ) -> tuple[Value | None, ...]:
        exprs = [result for result in results if isinstance(result, ExprBase)]
        placed = iter(self._placer.place(exprs, span))
        values: list[Value | None] = []
        for position, name in enumerate(proto.output):
            result = results[position]
            match result:
                case Value():
                    values.append(result)
                case ExprBase():
                    expr = next(placed)
                    values.append(Value.of(name, expr, _tensor_type(expr, node)))
                case None:
                    if name:
                        node.unsupported(f"with its output {position} in use")
                    values.append(None)
                case _:
                    values.append(self._known_value(name, result, Constant(result).dtype, span))
        return tuple(values)


def _as_results(result: Result) -> Sequence[Output | None]:
    if isinstance(result, TupleWrapper):
        return list(result)
    return result if isinstance(result, tuple) else (result,)


def _tensor_type(expr: Expr, node: OnnxNode) -> TensorType:
    type_ = expr.checked_type
    if not isinstance(type_, TensorType):
        node.unsupported("whose result has no shape before the program runs")
    return type_


def _at_node(error: RelayError, span: Span) -> RelayError:
    """The error of an operator's type relation, placed at the node of the model instead of the line that imports it."""
    return RelayError(
        rule=error.rule, message=error.message, span=span, expected=error.expected, found=error.found,
        origins=error.origins, remedy=error.remedy,
    )  # fmt: skip


def find_schema(operator: str, opset: int) -> Any:
    """What ONNX says of an operator at an opset, or None when it did not have it yet."""
    defs = onnx_package("onnx.defs")
    if not defs.has(operator, ""):
        return None
    try:
        return defs.get_schema(operator, opset, "")
    except defs.SchemaError:
        return None
