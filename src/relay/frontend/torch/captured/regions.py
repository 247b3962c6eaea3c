"""A captured graph, divided: what Relay takes becomes regions, each a module; PyTorch runs the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.frontend.shared.building import ProgramBuilder
from relay.frontend.shared.findings import Findings
from relay.frontend.shared.node import Unsupported
from relay.frontend.shared.value import Value
from relay.frontend.torch.captured.parts import parts_of
from relay.frontend.torch.captured.survey import is_operator, unconverted
from relay.frontend.torch.decided import is_tensor, outputs_of
from relay.frontend.torch.extents.symbols import Extents, is_symbol, named_symbols, symbols_of
from relay.frontend.torch.graph import GraphImporter, Made
from relay.frontend.torch.keys import RandomKey
from relay.frontend.torch.package import torch_package
from relay.frontend.torch.table import CONVERTERS
from relay.ir.module import IRModule
from relay.ir.types import TensorType

if TYPE_CHECKING:
    import torch
    from torch import fx

_PREFIX = "relay_region_"


@frozen(eq=False)
class Region:
    """`@main` takes the `inputs`, places among the arguments of the region's submodule, and gives its outputs. Those at
    `numbers` are whole numbers, handed in as the first extent of an array without elements: so they are symbols of the
    program, whether it computes with them or has extents of them. `orders` tells for each
    output the order of its axes in memory, from the outermost, where it is not theirs. `operators` counts what it
    computes. A region that `is_random` takes a key after its inputs."""

    module: IRModule
    inputs: Sequence[int]
    numbers: frozenset[int]
    orders: Sequence[Sequence[int] | None]
    operators: int
    is_random: bool


@frozen(eq=False)
class Divided:
    """A graph that calls its regions as submodules of these names. `eager` counts the operators that are left to
    PyTorch, by operator and reason."""

    graph: fx.GraphModule
    regions: Mapping[str, Region]
    eager: Mapping[tuple[str, str], int]


def divided(graph: fx.GraphModule) -> Divided:
    """The graph, which is changed, in as few regions as the operators between them allow."""
    refused = unconverted(graph)
    eager = Counter((str(node.target), reason) for node, reason in refused.items())
    parts = [dict.fromkeys(part) for part in parts_of(graph, refused)]
    fuse = torch_package("torch.fx.passes.utils.fuser_utils").fuse_by_partitions
    graph = fuse(graph, parts, _PREFIX, always_return_tuple=True)
    regions: dict[str, Region] = {}
    for number in range(len(parts)):
        name = f"{_PREFIX}{number}"
        _hand_in_symbols(graph, name)
        try:
            regions[name] = _region(name, getattr(graph, name))
        except (Unsupported, RelayError) as refusal:
            eager.update(operators_of(getattr(graph, name), str(refusal).partition("\n")[0]))
    return Divided(graph, regions, eager)


def _hand_in_symbols(graph: fx.GraphModule, name: str) -> None:
    """Let a region be given the numbers of the graph that its extents are of, where no axis of its inputs tells."""
    region: fx.GraphModule = getattr(graph, name)
    (call,) = graph.graph.find_nodes(op="call_module", target=name)
    inputs = list(region.graph.find_nodes(op="placeholder"))
    known = _alone(inputs) | {str(node.meta["val"].node.expr) for node in inputs if is_symbol(node.meta["val"])}
    needed = {
        each
        for node in region.graph.nodes for value in outputs_of(node)
        for extent in (value.shape if is_tensor(value) else (value,)) for each in symbols_of(extent)
    }  # fmt: skip
    for number in graph.graph.find_nodes(op="placeholder"):
        if is_symbol(number.meta["val"]) and str(number.meta["val"].node.expr) in needed - known:
            with region.graph.inserting_after(inputs[-1]):
                inputs.append(region.graph.placeholder(number.name))
            inputs[-1].meta = dict(number.meta)
            call.args = (*call.args, number)
    region.recompile()


def operators_of(graph: fx.GraphModule, reason: str) -> Counter[tuple[str, str]]:
    """The operators of a graph that is left to PyTorch as a whole."""
    return Counter((str(node.target), reason) for node in graph.graph.nodes if is_operator(node))


def _region(name: str, graph: fx.GraphModule) -> Region:
    """Raises `Unsupported` and `RelayError`."""
    findings = Findings("unsupported-pytorch")
    builder = ProgramBuilder(findings)
    placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
    symbols = named_symbols(placeholders)
    key = RandomKey(builder)
    importer = GraphImporter(name, builder, Extents(symbols), CONVERTERS, key)
    numbers = _numbers(placeholders)
    inputs: list[int] = []
    given: list[Made] = []
    for place, node in enumerate(placeholders):
        value, made = node.meta["val"], None
        if is_tensor(value):
            made = builder.input(node.name, importer.type_of(value))
        elif place in numbers:
            builder.input(node.name, TensorType((symbols[numbers[place]], 0), DType.BOOL))
        if made is not None or place in numbers:
            inputs.append(place)
        given.append(made)
    made = importer.run(graph, given)
    outputs = [each for each in made if isinstance(each, Value)]
    if findings or len(outputs) < len(made):
        raise findings.error(name)
    module, _ = builder.finish(outputs)
    results: Any = graph.graph.output_node().args[0]
    orders = [_order(each.meta["val"]) for each in results]
    return Region(module, inputs, frozenset(numbers), orders, sum(map(is_operator, graph.graph.nodes)), key.is_used)


def _order(tensor: torch.Tensor) -> Sequence[int] | None:
    """The axes of a tensor from the outermost in memory, for the extents that it was captured with. None if that is
    their order, and where it is of no one: entries that lie in one place, strides that nobody knows."""
    given: list[Any] = list(tensor.stride())
    strides = [each if isinstance(each, int) else each.node.hint for each in given]
    if None in strides or 0 in strides:
        return None
    order = sorted(range(len(strides)), key=lambda axis: -strides[axis])
    return None if order == list(range(len(strides))) else order


def _numbers(placeholders: Sequence[fx.Node]) -> dict[int, str]:
    """The places of numbers that are symbols which no axis of a tensor is alone, and those."""
    found = {place: node.meta["val"] for place, node in enumerate(placeholders) if is_symbol(node.meta["val"])}
    told = _alone(placeholders)
    return {place: str(value.node.expr) for place, value in found.items() if str(value.node.expr) not in told}


def _alone(placeholders: Sequence[fx.Node]) -> set[str]:
    """The symbols that an axis of a tensor is alone."""
    return {
        str(extent.node.expr)
        for node in placeholders if is_tensor(node.meta["val"])
        for extent in node.meta["val"].shape if is_symbol(extent)
    }  # fmt: skip
