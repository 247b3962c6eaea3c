"""From the nodes of a model to a module: inputs, weights, what each node gives, and at last the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.base.names.fresh_names import FreshNames
from relay.base.span import Span, reading
from relay.frontend.shared.extent_values import Origin, Origins, array_of_extents, decided_extents, symbol_origins
from relay.frontend.shared.findings import Findings
from relay.frontend.shared.node import AnyNode, Converter, Node, Result, Unsupported, results_of
from relay.frontend.shared.placing import Placer
from relay.frontend.shared.structures import data_types, expr_of, item_of
from relay.frontend.shared.value import Item, Structure, Value, is_symbolic, known_value
from relay.infer.infer_type import infer_type
from relay.ir.expr import Call, Constant, Constructor, Expr, ExprBase, Function, Let, Tuple, Var, const
from relay.ir.module import IRModule
from relay.ir.traversal import post_order
from relay.ir.types import TensorType, Type, TypeCall
from relay.ir.variables import free_vars, substitute
from relay.ops.checked import checked
from relay.ops.creation.create import full
from relay.ops.elementwise.comparison import greater_equal
from relay.ops.framework.build import with_known_type
from relay.ops.framework.known_elements import LARGEST_KNOWN, Known, known_elements
from relay.ops.manipulation.shape import reshape


@frozen(eq=False)
class _Extents:
    """What a variable stands for until the program turns out to need it."""

    elements: NDArray[Any]
    dtype: DType
    span: Span


class ProgramBuilder:
    """Makes values, and of those that the outputs reach a program. With `freeze_params` weights are constants of it,
    else its parameters after the inputs. For `training`, what is computed of weights does not count as known. What
    cannot be converted is told to `findings`."""

    def __init__(self, findings: Findings, freeze_params: bool = False, training: bool = False) -> None:
        self.findings = findings
        self._freeze_params = freeze_params
        self._training = training
        self._names = FreshNames(separator="_", first=1)
        self._placer = Placer()
        self._inputs: list[Var] = []
        self._weights: dict[Var, NDArray[Any]] = {}
        self._numbers: dict[Symbol, Origin] = {}
        self._extents: dict[Var, _Extents] = {}
        self._decided: dict[Symbol, Origin] = {}
        self._bound: list[tuple[tuple[Var, ...], tuple[Expr, ...]]] = []

    # Leaves

    def input(self, name: str, type_: TensorType) -> Value:
        return Value(name, self._parameter(name, type_), type_)

    def structure_input(self, name: str, type_: TypeCall) -> Structure:
        """An input that is a list or an optional."""
        return Structure(name, type_, self._parameter(name, type_))

    def _parameter(self, name: str, type_: Type) -> Expr:
        var = with_known_type(Var(self._names.take(name), type_))
        self._inputs.append(var)
        return self._placer.keep(var)

    def number(self, what: str, given: Expr, symbol: Symbol, *, is_extent: bool) -> None:
        """A whole number, int64[] and at least 0 as extents are, whose arithmetic calls it `symbol`. Tensors may have
        extents of it if it `is_extent`."""
        holds = greater_equal(given, const(0, DType.INT64))
        entries = checked(given, holds, f"`{what}` is a whole number of at least 0")
        if is_extent:
            carrier = full(const(0, DType.UINT8), reshape(entries, (1,)), DType.UINT8)
            self.bound({f"{what}_entries": (carrier, TensorType((symbol,), DType.UINT8))})
        else:
            self._numbers[symbol] = Origin(entries, None)

    def bound(self, made: Mapping[str, tuple[Expr, TensorType]]) -> list[Value]:
        """Tensors with extents that data decide, as values of types that call these extents by symbols: what follows is
        the body of a function of them."""
        variables = tuple(with_known_type(Var(self._names.take(name), type_)) for name, (_, type_) in made.items())
        self._bound.append((variables, tuple(expr for expr, _ in made.values())))
        types = [type_ for _, type_ in made.values()]
        return [
            Value(var.name_hint, self._placer.keep(var), type_) for var, type_ in zip(variables, types, strict=True)
        ]

    def made(self, expr: Expr, type_: TensorType) -> Value:
        """What a converter has made, as a value that a graph inside its node can take; it has its place."""
        return Value("", self._placer.keep(expr), type_)

    def weight(self, name: str, array: NDArray[Any]) -> Value:
        """A weight, which becomes a parameter called `name` (or that with a number, if the name is taken)."""
        constant = with_known_type(Constant(array))
        type_ = TensorType(array.shape, constant.dtype)
        leaf: Expr = constant
        if not self._freeze_params:
            leaf = with_known_type(Var(self._names.take(name), type_))
            self._weights[leaf] = array
        return Value(name, self._placer.keep(leaf), type_, array)

    def constant(self, name: str, array: NDArray[Any]) -> Value:
        """What users fix: numbers of the program, with which shape arithmetic counts."""
        value = known_value(name, array)
        self._placer.keep(value.expr)
        return value

    def known(self, name: str, elements: NDArray[Any], span: Span, dtype: DType = DType.INT64) -> Value:
        """Elements computed from shapes and constants of the model: numbers, or extents, which are of type `dtype`."""
        if is_symbolic(elements):
            leaf: Expr = Var(name, TensorType(elements.shape, dtype))
            self._extents[leaf] = _Extents(elements, dtype, span)
        else:
            leaf = Constant(elements, span=span)
            dtype = leaf.dtype
        expr = self._placer.keep(with_known_type(leaf))
        return Value(name, expr, TensorType(elements.shape, dtype), elements, from_shapes=True)

    # Nodes

    def convert(
        self, converter: Converter[AnyNode], node: AnyNode, names: Sequence[str], span: Span
    ) -> tuple[Item | None, ...]:
        """What `converted` gives; None for all outputs if the node cannot be converted, which is told to `findings`."""
        try:
            return self.converted(converter, node, names, span)
        except Unsupported as missing:
            self.findings.add(missing.reason, node.name)
            return (None,) * len(names)

    def converted(
        self, converter: Converter[AnyNode], node: AnyNode, names: Sequence[str], span: Span
    ) -> tuple[Item | None, ...]:
        """What the outputs of a node, called `names`, stand for; None for one that has no name and is not computed. New
        expressions get the place `span`, as does the error of an operator that refuses its inputs. What is known of the
        inputs is known of the results. Raises `Unsupported` if the node cannot be converted."""
        try:
            with reading(span):
                return self._values(node, converter.convert(node), names, span)
        except RelayError as error:
            raise error.moved_to(span) from None

    def _values(self, node: Node, result: Result, names: Sequence[str], span: Span) -> tuple[Item | None, ...]:
        results = results_of(result)
        if len(results) < len(names):
            node.unsupported(f"with {len(names)} outputs")
        exprs = [each for each in results[: len(names)] if isinstance(each, ExprBase)]
        known = dict(zip(exprs, _known_results(node, exprs, self._training), strict=True))
        unknown = [expr for expr in exprs if known[expr] is None]
        placed = dict(zip(unknown, self._placer.place(unknown, span), strict=True))
        values: list[Item | None] = []
        for position, name in enumerate(names):
            made = results[position]
            match made:
                case Value() | Structure():
                    values.append(made)
                case None:
                    if name:
                        node.unsupported(f"with its output {position} in use")
                    values.append(None)
                case ExprBase():
                    elements = known[made]
                    if elements is None:
                        item = _item(node, placed[made], name)
                        self.note_extents(item)
                        values.append(item)
                    else:
                        values.append(self.known(name, elements, span, node.type_of(made).dtype))
                case _:
                    values.append(self.known(name, made, span))
        return tuple(values)

    def note_extents(self, item: Item) -> None:
        """Where the run finds the extents that what makes an item decides."""
        if isinstance(item, Value):
            for symbol, origin in decided_extents(item.expr, item.type):
                self._decided.setdefault(symbol, origin)

    # The whole

    def finish(self, outputs: Sequence[Item], checks: Sequence[Expr] = ()) -> tuple[IRModule, dict[str, NDArray[Any]]]:
        """The module whose `@main` gives the outputs (a tuple, unless there is one), after the `checks`, which end the
        run; and its parameters by name."""
        exprs = tuple(expr_of(output) for output in outputs)
        body: Expr = exprs[0] if len(exprs) == 1 else with_known_type(Tuple(exprs))
        for check in reversed(checks):
            body = Let(with_known_type(Var("checked", check.checked_type)), check, body)
        for variables, exprs in reversed(self._bound):
            body = Call(Function(variables, body), exprs)
        bound = [var for variables, _ in self._bound for var in variables]
        origins = {**self._numbers, **self._decided, **symbol_origins([*self._inputs, *bound])}
        # What decides an extent may itself need extents, of what was made before it.
        while needed := [var for var in free_vars(body) if var in self._extents]:
            body = substitute(body, {var: self._extent_values(self._extents[var], origins) for var in needed})
        reached = set(free_vars(body))
        used = {var: array for var, array in self._weights.items() if var in reached}
        module = IRModule.from_expr(Function((*self._inputs, *used), body))
        if _has_structures(self._inputs, body):
            module = module.with_module(data_types())
        return infer_type(module), {var.name_hint: array for var, array in used.items()}

    def _extent_values(self, extents: _Extents, origins: Origins) -> Expr:
        return self._placer.place([array_of_extents(extents.elements, extents.dtype, origins)], extents.span)[0]


def _known_results(node: Node, exprs: Sequence[Expr], training: bool) -> Sequence[NDArray[Any] | None]:
    """The elements of results of a node, where they follow from known elements of its inputs. Weights stay what they
    are: floats are computed only together with something that comes from shapes, and in training of that alone."""
    values = [value for value in node.inputs if isinstance(value, Value)]
    are_numbers = (all if training else any)(value.from_shapes for value in values)
    if not are_numbers and any(value.dtype.is_float for value in values):
        return [None] * len(exprs)
    given: dict[Expr, Known | None] = {value.expr: _if_small(value.known) for value in values}
    return [each if not isinstance(each, tuple) else None for each in known_elements(exprs, given)]


def _if_small(known: NDArray[Any] | None) -> NDArray[Any] | None:
    return known if known is not None and known.size <= LARGEST_KNOWN else None


def _has_structures(inputs: Sequence[Var], body: Expr) -> bool:
    """Whether a program has values of the prelude's data types: it is given them, or makes them."""
    given = any(isinstance(var.type_annotation, TypeCall) for var in inputs)
    return given or any(isinstance(node, Constructor) for node in post_order(body))


def _item(node: Node, expr: Expr, name: str) -> Item:
    item = item_of(expr, name)
    if item is None:
        node.unsupported("whose result has no shape before the program runs")
    return item
