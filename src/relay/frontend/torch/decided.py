"""Extents and whole numbers that data decide: those of `nonzero`, `x[mask]`, `unique`, …, and what `.item()` gives.

An operator that decides extents has them as new symbols in PyTorch's types of its outputs. Here they are symbols of the
parameters of a local function, which the rest of the program is the body of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from relay.arith.expr import IntExpr, Symbol, add, multiply
from relay.base.dtypes import DType
from relay.frontend.shared.building import ProgramBuilder
from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.frontend.shared.value import Item, Value
from relay.frontend.torch.extents.symbols import Extents, is_symbol, symbols_of
from relay.frontend.torch.package import torch_package
from relay.ir.expr import Expr, const
from relay.ir.types import TensorType
from relay.ops.elementwise.elementwise_binary import maximum
from relay.ops.elementwise.elementwise_unary import negative

if TYPE_CHECKING:
    import torch
    from torch import fx


def outputs_of(node: fx.Node) -> Sequence[Any]:
    value = node.meta.get("val")
    return value if isinstance(value, (tuple, list)) else (value,)


def is_tensor(value: object) -> bool:
    return isinstance(value, torch_package().Tensor)


def decides_extents(name: str, graph: fx.Graph) -> bool:
    """Whether the symbol `name` is in an extent of a tensor of the graph."""
    tensors = [value for node in graph.nodes for value in outputs_of(node) if is_tensor(value)]
    return any(name in symbols_of(extent) for tensor in tensors for extent in tensor.shape)


def decided_extents(node: fx.Node, extents: Extents) -> frozenset[IntExpr]:
    """New symbols for the extents that an operator decides, each called after the first axis that has it."""
    found: list[Symbol] = []
    for axis, extent in ((axis, each) for value in outputs_of(node) if is_tensor(value) for axis, each in _axes(value)):
        if is_symbol(extent) and str(extent.node.expr) not in extents.symbols:
            found.append(extents.decided(str(extent.node.expr), f"{node.name}_{axis}"))
    return frozenset[IntExpr](found)


def _axes(tensor: torch.Tensor) -> Sequence[tuple[int, Any]]:
    return list(enumerate(tensor.shape))


def with_decided(
    items: Sequence[Item | None], types: Sequence[TensorType | None], decided: frozenset[IntExpr],
    builder: ProgramBuilder,
) -> tuple[Item | None, ...]:  # fmt: skip
    """The outputs of an operator, where those that have `decided` extents are of types that say so."""
    places: list[int] = []
    made: dict[str, tuple[Expr, TensorType]] = {}
    for place, (item, type_) in enumerate(zip(items, types, strict=True)):
        if isinstance(item, Value) and type_ is not None and not decided.isdisjoint(type_.shape):
            shape = tuple(
                theirs if theirs in decided else mine for mine, theirs in zip(item.shape, type_.shape, strict=True)
            )
            places.append(place)
            made[item.name] = item.expr, TensorType(shape, item.dtype)
    bound: Mapping[int, Value] = dict(zip(places, builder.bound(made), strict=True))
    return tuple(bound.get(place, item) for place, item in enumerate(items))


def know_number(node: fx.Node, number: Value, extents: Extents, builder: ProgramBuilder) -> None:
    """What a node calls the one element of an integer tensor, int64[], is known to arithmetic and to extents."""
    name, given = str(node.meta["val"].node.expr), as_dtype(number.expr, DType.INT64)
    if _least(node.meta["val"]) >= 0:
        is_extent = decides_extents(name, node.graph)
        builder.number(node.name, given, extents.decided(name, node.name), is_extent=is_extent)
        return
    # Symbols stand for what is at least 0: one for what is above it, one for what is below.
    zero = const(0, DType.INT64)
    above, below = (extents.decided(name, f"{node.name}_{side}") for side in ("above", "below"))
    builder.number(node.name, maximum(given, zero), above, is_extent=False)
    builder.number(node.name, maximum(negative(given), zero), below, is_extent=False)
    extents.symbols[name] = add(above, multiply(below, -1))


def _least(number: torch.SymInt) -> Any:
    """The lower end of the range that PyTorch knows of a number."""
    return number.node.shape_env.bound_sympy(number.node.expr).lower
