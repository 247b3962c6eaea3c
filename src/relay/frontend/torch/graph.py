"""Walks a functional graph of PyTorch call by call and makes the values of its outputs."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np

from relay.arith.expr import IntExpr
from relay.arith.prove import Proof
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.base.span import Source, Span
from relay.frontend.shared.building import ProgramBuilder
from relay.frontend.shared.node import Node, Output, Result, Unsupported, results_of
from relay.frontend.shared.node import converter as record_of
from relay.frontend.shared.value import Item, Value
from relay.frontend.torch.arguments import Arguments, bound
from relay.frontend.torch.decided import decided_extents, is_tensor, know_number, outputs_of, with_decided
from relay.frontend.torch.extents.numbers import float_of
from relay.frontend.torch.extents.symbols import Condition, Extents, condition_of, is_symbol, parsed, printed
from relay.frontend.torch.keys import RandomKey
from relay.frontend.torch.node import Converter, TorchNode
from relay.frontend.torch.package import torch_package
from relay.frontend.torch.tensors import element_type
from relay.ir.expr import Constant, Expr, ExprBase
from relay.ir.types import TensorType
from relay.ops.framework.build import TupleWrapper
from relay.ops.framework.dimensions import decide_equal
from relay.ops.manipulation.shape import reshape

if TYPE_CHECKING:
    import torch
    from torch import fx

Made: TypeAlias = Union[Item, "tuple[Item | None, ...]", "fx.GraphModule", None]
"""What a node of a graph stands for: a tensor, several, a graph; None for numbers, which their own node tells, and for
what could not be converted, which the findings tell."""

_ITEMS = ("aten.item.default", "aten._local_scalar_dense.default")
"""The one element of a tensor as a number: to compute with, a tensor without axes serves as well."""
_ITEM = record_of("item", lambda node: reshape(node.expr(), ()))
_PLACE = re.compile(r'File "([^"]+)", line (\d+)')


@frozen
class Guard:
    """What the export took for granted: `text` is the statement in PyTorch's words."""

    condition: Condition
    text: str


class GraphImporter:
    """Makes values for the nodes of graphs. `guards` are the statements about extents that were met on the way. What
    draws random numbers is refused where there is no `key`."""

    def __init__(
        self, name: str, builder: ProgramBuilder, extents: Extents, converters: Mapping[str, Converter],
        key: RandomKey | None = None,
    ) -> None:  # fmt: skip
        self.name = name
        self.guards: list[Guard] = []
        self._builder = builder
        self._extents = extents
        self._converters = converters
        self._key = key
        self._depth = 0

    def run(self, module: fx.GraphModule, inputs: Sequence[Made]) -> list[Made]:
        """What the outputs of a graph stand for, one for each, given what its placeholders do."""
        values: dict[fx.Node, Made] = {}
        given = iter(inputs)
        for node in module.graph.nodes:
            match node.op:
                case "placeholder":
                    values[node] = next(given)
                case "get_attr":
                    values[node] = self._attribute(module, node)
                case "call_function":
                    values[node] = self._call(node, values)
                case "output":
                    results = node.args[0] if isinstance(node.args[0], (tuple, list)) else (node.args[0],)
                    return [self.value_of(each, values, node) for each in results]
                case kind:
                    self._builder.findings.add(f"a {kind}", _label(node))
        return []

    def value_of(self, argument: Any, values: Mapping[fx.Node, Made], node: fx.Node) -> Made:
        """What an output stands for: numbers become tensors."""
        if argument is None or isinstance(argument, str):
            return None
        try:
            return self._input(argument, values, _span(self.name, node))
        except Unsupported as missing:
            self._builder.findings.add(missing.reason, _label(node))
            return None

    # Nodes

    def _attribute(self, module: fx.GraphModule, node: fx.Node) -> Made:
        found = operator.attrgetter(str(node.target))(module)
        if isinstance(found, torch_package("torch.fx").GraphModule):
            return found
        self._builder.findings.add(f"an attribute that is a {type(found).__name__}", _label(node))
        return None

    def _call(self, node: fx.Node, values: Mapping[fx.Node, Made]) -> Made:
        try:
            return self.made(node, values)
        except Unsupported as missing:
            self._builder.findings.add(missing.reason, _label(node))
            return None

    def made(self, node: fx.Node, values: Mapping[fx.Node, Made]) -> Made:
        """What a call stands for: None for a number, and for what uses what could not be converted.

        Raises `Unsupported`, and the `RelayError` of an operator that refuses its inputs."""
        name = str(node.target)
        if node.target is operator.getitem:
            whole: Any = values[node.args[0]]  # pyright: ignore[reportArgumentType]
            return None if whole is None else whole[node.args[1]]
        if name == "aten._assert_scalar.default":
            self._guard(node)
        if name in _ITEMS:
            return self._item(node, values)
        if not any(map(is_tensor, outputs_of(node))):
            return None  # a number, which its node tells to whoever uses it, or nothing
        record = self._converters.get(name)
        if record is None:
            raise Unsupported(f"operator {name}")
        span = _span(self.name, node)
        decided = decided_extents(node, self._extents)
        if decided and self._depth:
            raise Unsupported(f"operator {name}, whose data decide extents, in a function of another operator")
        read = self._read(node, record, values, span)
        if read is None:
            return None
        held = record_of(name, partial(_held, record, decided))
        made = self._builder.converted(held, read, _names(node), span)
        if decided:
            made = with_decided(made, read.types, decided, self._builder)
        return made if isinstance(node.meta["val"], (tuple, list)) else made[0]

    def _item(self, node: fx.Node, values: Mapping[fx.Node, Made]) -> Made:
        """The one element of a tensor, a number that the run alone knows, as a tensor without axes."""
        number: Any = values[node.args[0]]  # pyright: ignore[reportArgumentType]
        if isinstance(number, Value) and number.rank > 0:
            read = Node(str(node.target), _label(node), (number,), {}, 1)
            number = self._builder.converted(_ITEM, read, [node.name], _span(self.name, node))[0]
        if isinstance(number, Value) and is_symbol(node.meta["val"]):
            know_number(node, number, self._extents, self._builder)
        return number

    def _guard(self, node: fx.Node) -> None:
        statement = _number(node.args[0])
        if isinstance(statement, torch_package().SymBool):
            text = printed(statement)
            self.guards.append(Guard(condition_of(parsed(text), self._extents.named), text))

    def _read(self, node: fx.Node, record: Converter, values: Mapping[fx.Node, Made], span: Span) -> TorchNode | None:
        """The call as converters see it; None if it uses what could not be converted. Raises `Unsupported`."""
        arguments = bound(node, record.attributes)
        inputs: list[Value | None] = []
        for each in arguments.inputs:
            made = None if each is None else self._input(each, values, span)
            if each is not None and not isinstance(made, Value):
                return None
            inputs.append(made if isinstance(made, Value) else None)
        attributes = {name: self._plain(each, values) for name, each in arguments.attributes.items()}
        types = tuple(self.type_of(each) if is_tensor(each) else None for each in outputs_of(node))
        common = partial(_common_dtype, arguments)
        return TorchNode(
            str(node.target),
            _label(node),
            tuple(inputs),
            attributes,
            len(types),
            types,
            common,
            self._graph,
            self._builder.made,
            lambda extents: self._builder.known("extents", _elements(extents), span).expr,
            partial(self._drawn, str(node.target)),
        )

    def _drawn(self, operator: str, numbers: Callable[[Expr], TupleWrapper]) -> Expr:
        if self._key is None:
            raise Unsupported(f"{operator} in training: call model.eval() before it is exported, or give training=True")
        if self._depth:
            raise Unsupported(f"{operator}, which draws random numbers, in a function of another operator")
        return self._key.drawn(numbers)

    def _graph(self, module: fx.GraphModule, inputs: Sequence[Value]) -> tuple[Value, ...] | None:
        self._depth += 1
        try:
            outputs = self.run(module, inputs)
        finally:
            self._depth -= 1
        kept = tuple(each for each in outputs if isinstance(each, Value))
        return kept if len(kept) == len(outputs) else None

    # Arguments

    def _input(self, argument: Any, values: Mapping[fx.Node, Made], span: Span) -> Made:
        """A tensor, or a number as one. Raises `Unsupported`."""
        torch = torch_package()
        made = values.get(argument) if isinstance(argument, torch.fx.Node) else None
        if made is not None:
            return made
        number = _number(argument)
        match number:
            case bool() | int() | float():
                array = np.asarray(number)
                return number_value(array)
            case torch.SymInt():
                return self._extent(number, span)
            case torch.SymFloat():
                expr = float_of(argument, lambda extent: self._extent(extent, span).expr)
                return Value(argument.name, expr, TensorType((), DType.FLOAT64))
            case torch.SymBool():
                raise Unsupported("a truth computed from extents")
            case complex():
                raise Unsupported("a complex number")
            case _:
                return None  # it could not be converted, which the findings tell

    def _extent(self, number: torch.SymInt, span: Span) -> Value:
        return self._builder.known(printed(number), np.array(self._extents.of(number), object), span)

    def _plain(self, argument: Any, values: Mapping[fx.Node, Made]) -> object:
        """An argument that is no input: numbers and extents as they are, element types as ours."""
        torch = torch_package()
        number = _number(argument)
        match number:
            case torch.SymInt():
                return self._extents.of(number)
            case torch.SymFloat() | torch.SymBool():
                raise Unsupported("a number computed from extents that is no integer")
            case list() | tuple():
                return tuple(self._plain(each, values) for each in number)
            case torch.dtype():
                return _known_type(number)
            case torch.fx.Node():
                return values[number]
            case _:
                return number

    def type_of(self, tensor: torch.Tensor) -> TensorType:
        """The type of a tensor. Raises `Unsupported`."""
        if str(tensor.layout) != "torch.strided":
            raise Unsupported(f"a tensor of layout {tensor.layout}")
        return TensorType(tuple(self._extents.of(each) for each in tensor.shape), _known_type(tensor.dtype))


def _elements(extents: Sequence[IntExpr]) -> np.ndarray[Any, Any]:
    return np.array(extents, np.int64 if all(isinstance(each, int) for each in extents) else object)


def number_value(array: np.ndarray[Any, Any]) -> Value:
    """A number of the program as a tensor without axes."""
    expr = Constant(array)
    return Value("", expr, TensorType(array.shape, expr.dtype), array)


def _known_type(dtype: torch.dtype) -> DType:
    known = element_type(dtype)
    if known is None:
        raise Unsupported(f"the element type {str(dtype).removeprefix('torch.')}")
    return known


def _number(argument: Any) -> Any:
    """A node that stands for a number, as that number; all else as it is."""
    if isinstance(argument, torch_package("torch.fx").Node):
        value = argument.meta.get("val")
        return argument if value is None or not _is_number(value) else value
    return argument


def _is_number(value: object) -> bool:
    torch = torch_package()
    return isinstance(value, (bool, int, float, torch.SymInt, torch.SymFloat, torch.SymBool))


def _names(node: fx.Node) -> list[str]:
    """A name for each output that something uses, else the empty one."""
    count = len(outputs_of(node))
    if not isinstance(node.meta["val"], (tuple, list)):
        return [node.name]
    taken: list[Any] = [user.args[1] for user in node.users if user.target is operator.getitem]
    whole = any(user.target is not operator.getitem for user in node.users)
    return [f"{node.name}_{index}" if whole or index in taken else "" for index in range(count)]


def _common_dtype(arguments: Arguments) -> DType:
    """What PyTorch brings the first two inputs to: numbers give way to tensors, tensors without axes to others."""
    left, right = (_meta(each) for each in arguments.inputs[:2])
    return _known_type(torch_package().result_type(left, right))


def _meta(argument: Any) -> Any:
    return argument.meta["val"] if isinstance(argument, torch_package("torch.fx").Node) else argument


# Places


def _place(node: fx.Node) -> tuple[str, int] | None:
    """The line that a node comes from: the innermost that is not PyTorch's own, where there is one."""
    found = _PLACE.findall(node.meta.get("stack_trace") or "")
    own = str(Path(torch_package().__file__ or "").parent)
    users = [each for each in found if not each[0].startswith(own)] or found
    return (users[-1][0], int(users[-1][1])) if users else None


def _span(name: str, node: fx.Node) -> Span:
    """The user's line, or, where the program does not tell it, the node itself."""
    place = _place(node)
    if place is None:
        return Span(Source(name, str(node.format_node())), 1)
    return Span(Source(place[0]), place[1])


def _label(node: fx.Node) -> str:
    place = _place(node)
    return node.name if place is None else f"{node.name} ({place[0].rpartition('/')[2]}:{place[1]})"


# What converters give is held against what PyTorch says


def _held(record: Converter, decided: Set[IntExpr], node: TorchNode) -> Result:
    """The outputs of a converter, in the shapes that PyTorch gives them where ours say less, but for the extents that
    it `decided`.

    Raises `RelayError` (rule `types-disagree`)."""
    made = results_of(record.convert(node))
    return tuple(
        each if each is None or type_ is None else _of_type(node, each, type_, decided)
        for each, type_ in zip(made, node.types, strict=False)
    )


def _of_type(node: TorchNode, output: Output, expected: TensorType, decided: Set[IntExpr]) -> Output:
    match output:
        case Value(type=found):
            pass
        case ExprBase():
            found = output.checked_type
        case _:
            return output
    if not isinstance(found, TensorType) or len(found.shape) != len(expected.shape):
        raise _disagreement(node, found, expected)
    pairs = list(zip(found.shape, expected.shape, strict=True))
    shape = tuple(mine if theirs in decided else theirs for mine, theirs in pairs)
    proofs = [decide_equal(mine, theirs) for mine, theirs in zip(found.shape, shape, strict=True)]
    if found.dtype is not expected.dtype or Proof.NO in proofs:
        raise _disagreement(node, found, expected)
    if Proof.UNKNOWN not in proofs:
        return output
    return reshape(output.expr if isinstance(output, Value) else output, shape, allowzero=True)


def _disagreement(node: TorchNode, found: object, expected: TensorType) -> RelayError:
    return RelayError(
        rule="types-disagree", message=f"{node.operator} ({node.name}) is converted to what PyTorch does not say it is",
        expected=str(expected), found=str(found),
        remedy="this is a mistake of the importer: please report it with the operator and its inputs",
    )  # fmt: skip
