"""The entry: a PyTorch model in, a module of Relay and its parameters out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import NDArray

from relay.arith.expr import IntExpr, Symbol
from relay.base.arguments import MAPPING, Kind, takes
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.span import Source, Span
from relay.frontend.shared.building import ProgramBuilder
from relay.frontend.shared.findings import Findings
from relay.frontend.shared.names import printable
from relay.frontend.shared.node import Unsupported
from relay.frontend.shared.value import Value
from relay.frontend.torch.decided import decides_extents
from relay.frontend.torch.exporting import FunctionalProgram, Model, functional_program
from relay.frontend.torch.extents.symbols import Extents, is_symbol, named_symbols, symbols_of
from relay.frontend.torch.graph import GraphImporter, Made
from relay.frontend.torch.guards import checks_of, guards_of
from relay.frontend.torch.keys import RandomKey
from relay.frontend.torch.package import torch_package
from relay.frontend.torch.table import CONVERTERS
from relay.frontend.torch.tensors import array_of_tensor, storage_key
from relay.ir.expr import Var
from relay.ir.module import UPDATES, IRModule
from relay.ir.types import TensorType

if TYPE_CHECKING:
    import torch
    from torch import fx


_EXAMPLES = Kind((tuple, list), "a tuple of inputs", lambda value: "write (x,)")  # noqa: ARG005


@takes(example_args=_EXAMPLES, example_kwargs=MAPPING)
def from_pytorch(
    model: Model,
    example_args: Sequence[Any] = (),
    example_kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    freeze_params: bool = False,
    training: bool = False,
) -> tuple[IRModule, dict[str, NDArray[Any]]]:
    """Import a PyTorch model: `(module, parameters by name)`.

    `model` is a `torch.nn.Module`, which is exported with the example inputs and `dynamic_shapes` (as
    `torch.export.export` takes them), a `torch.export.ExportedProgram`, or the path or bytes of a `.pt2` file.

    `@main` takes the tensors among the inputs, in their order, then the parameters and buffers that are used, by their
    qualified names; tied weights are one parameter. Its value is the tensors and numbers among the outputs, in their
    order, then what the model makes of the buffers and inputs that it changes; a tuple, unless there is one. Containers
    are taken apart and `None` is left out. Numbers and texts among the inputs are what they were in the example,
    but whole numbers that `dynamic_shapes` lets vary, which are int64 inputs.
    Dynamic dimensions are symbols, and what the export took for granted about them is checked by the run. With
    `freeze_params` the weights become constants of the program, and the parameters are empty. With `training` the model
    may drop elements at random: if it does, the last input is a `key`, as `relay.random.threefry_key` makes it.

    Raises `RelayError`: `unsupported-pytorch` (all that cannot be imported at once, with the user's lines),
    `cannot-export`, `not-a-pytorch-model`, `cannot-read`, `wrong-argument`, `missing-package`, and the rules of the
    operators' type relations, placed at the user's line.
    """
    program = functional_program(model, example_args, example_kwargs, dynamic_shapes, CONVERTERS)
    return _ProgramImporter(program, _name(model), freeze_params, training).run()


def _name(model: Model) -> str:
    return printable(str(model) if isinstance(model, str) else type(model).__name__)


class _ProgramImporter:
    """Makes a module of a functional program."""

    def __init__(self, functional: FunctionalProgram, name: str, freeze_params: bool, training: bool) -> None:
        self._program = program = functional.program
        self._statements = functional.guards
        self._name = name
        self._findings = Findings("unsupported-pytorch")
        self._builder = ProgramBuilder(self._findings, freeze_params)
        placeholders = [node for node in program.graph.nodes if node.op == "placeholder"]
        self._extents = Extents(named_symbols(placeholders))
        key = RandomKey(self._builder) if training else None
        self._graph = GraphImporter(name, self._builder, self._extents, CONVERTERS, key)
        self._stored: dict[tuple[object, ...], Value] = {}
        self._numbers: dict[str, IntExpr] = {}
        self._placeholders = placeholders

    def run(self) -> tuple[IRModule, dict[str, NDArray[Any]]]:
        specs = self._program.graph_signature.input_specs
        given = [self._input(spec, node) for spec, node in zip(specs, self._placeholders, strict=True)]
        outputs = self._outputs(self._graph.run(self._program.graph_module, given))
        inputs = {node.name: value for node, value in zip(self._placeholders, given, strict=True) if value is not None}
        guards = self._guards(inputs)
        if self._findings:
            raise self._findings.error(self._name)
        if not outputs:
            raise RelayError(
                rule="not-a-pytorch-model", message=f"{self._name} has no outputs that are tensors or numbers",
                expected="one or more", found="none",
            )  # fmt: skip
        module, params = self._builder.finish(outputs, checks_of(guards, self._builder))
        updates = self._updates(given)
        return (module.with_function("main", module["main"].with_attr(UPDATES, updates)) if updates else module), params

    def _input(self, spec: Any, node: fx.Node) -> Value | None:
        """What a placeholder stands for: an input, a weight or a constant; None for numbers, which the graph has."""
        value, torch = node.meta["val"], torch_package()
        if not isinstance(value, torch.Tensor):
            if is_symbol(value):
                self._number(node, self._extents.of(value))
            elif isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
                self._findings.add("an input that is a number and may vary", node.name)
            return None
        try:
            type_ = self._graph.type_of(value)
        except Unsupported as missing:
            self._findings.add(missing.reason, spec.target or node.name)
            return None
        if spec.target is None:
            return self._builder.input(node.name, type_)
        return self._weight(spec)

    def _number(self, node: fx.Node, number: IntExpr) -> None:
        """An input that is a whole number and may vary."""
        assert isinstance(number, Symbol)
        (name,) = symbols_of(node.meta["val"])
        self._numbers[node.name] = number
        given = self._builder.input(node.name, TensorType((), DType.INT64))
        self._builder.number(node.name, given.expr, number, is_extent=decides_extents(name, self._program.graph))

    def _weight(self, spec: Any) -> Value:
        program = self._program
        stored = program.state_dict if spec.target in program.state_dict else program.constants
        tensor = cast("torch.Tensor", stored[spec.target])
        if spec.kind.name == "CONSTANT_TENSOR":
            return self._builder.known(spec.target, array_of_tensor(tensor), Span(Source(self._name, spec.target), 1))
        key = storage_key(tensor)
        if key not in self._stored:
            value = self._builder.weight(spec.target, array_of_tensor(tensor))
            # What a parameter holds is not known: the program may be given another, such as the state after a call.
            self._stored[key] = Value(value.name, value.expr, value.type)
        return self._stored[key]

    def _outputs(self, made: Sequence[Made]) -> list[Value]:
        """What the model gives, then what it makes of what it changes."""
        specs = self._program.graph_signature.output_specs
        pairs = list(zip(specs, made, strict=False))
        results = [value for spec, value in pairs if spec.kind.name == "USER_OUTPUT" and isinstance(value, Value)]
        changed = [value for spec, value in pairs if "MUTATION" in spec.kind.name and isinstance(value, Value)]
        return results + changed

    def _updates(self, given: Sequence[Value | None]) -> tuple[str, ...]:
        """What the model changes, as `@main` calls it where it takes that."""
        signature = self._program.graph_signature
        names = {
            spec.target or node.name: value.expr.name_hint
            for spec, node, value in zip(signature.input_specs, self._placeholders, given, strict=True)
            if value is not None and isinstance(value.expr, Var)
        }
        changed = (str(spec.target) for spec in signature.output_specs if "MUTATION" in spec.kind.name)
        return tuple(names.get(each, each) for each in changed)

    def _guards(self, inputs: Mapping[str, Value]) -> list[Any]:
        try:
            return [
                *guards_of(self._program, self._statements, inputs, self._numbers, self._extents),
                *self._graph.guards,
            ]
        except Unsupported as missing:
            self._findings.add(missing.reason, "the guards of the export")
            return []
