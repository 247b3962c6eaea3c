"""Tensors out of numbers: full, arange, eye, tril, …."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from relay.frontend.shared.formulas.triangles import LARGEST_CONSTANT, triangle
from relay.frontend.shared.node import Result
from relay.frontend.torch.node import Converter, TorchNode, converters, in_type
from relay.ir.expr import const
from relay.ops.creation import create
from relay.ops.manipulation.tile import broadcast_to


def _full(node: TorchNode) -> Result:
    return create.full(node.operand(len(node.inputs) - 1), node.shape)


def _arange(node: TorchNode) -> Result:
    """Numbers where all three are known; else computed by the run."""
    start, end, step = (None, 0, None) if len(node.inputs) == 1 else (0, 1, 2 if len(node.inputs) == 3 else None)
    numbers = [
        default if index is None else node.known_scalar(index)
        for index, default in ((start, 0), (end, None), (step, 1))
    ]
    known = [number for number in numbers if number is not None]
    extent = node.shape[0]
    if len(known) == 3 and isinstance(extent, int) and extent <= LARGEST_CONSTANT:
        exact = np.float64 if node.dtype.is_float else np.int64
        return (np.asarray(known[0], exact) + np.asarray(known[2], exact) * np.arange(extent)).astype(node.dtype.numpy)
    first, stop, by = (
        const(default, node.dtype) if index is None else in_type(node.value(index), node.dtype)
        for index, default in ((start, 0), (end, 0), (step, 1))
    )
    return create.arange(first, stop, by, dtype=node.dtype)


def _linspace(node: TorchNode) -> Result:
    return np.linspace(node.number(0, 0), node.number(1, 0), node.int("steps")).astype(node.dtype.numpy)


def _eye(node: TorchNode) -> Result:
    rows, columns = node.shape
    if not isinstance(rows, int) or not isinstance(columns, int) or rows * columns > LARGEST_CONSTANT:
        node.unsupported(f"of {node.type}")
    return np.eye(rows, columns).astype(node.dtype.numpy)


def _copy(node: TorchNode) -> Result:
    """The second tensor in the shape and type of the first."""
    source = node.operand(1)
    return source if node.value(1).shape == node.shape else broadcast_to(source, node.shape)


def _zeros(node: TorchNode) -> Result:
    return create.zeros(node.shape, node.dtype)


def _ones(node: TorchNode) -> Result:
    return create.ones(node.shape, node.dtype)


def _each(names: Sequence[str], convert: Callable[[TorchNode], Result], *attributes: str) -> tuple[Converter, ...]:
    """Records of several operators, by name and overload."""
    return tuple(
        record
        for name, _, overload in (each.partition(".") for each in names)
        for record in converters(name, convert, *attributes, overloads=(overload or "default",))
    )


CREATION: tuple[Converter, ...] = (
    *_each(("full", "full_like", "new_full", "fill.Scalar", "fill.Tensor"), _full, "size", "dtype"),
    *_each(("zeros", "new_zeros", "zeros_like"), _zeros, "size", "dtype"),
    *_each(("empty.memory_format", "new_empty", "empty_like"), _zeros, "size", "dtype"),
    *_each(("ones", "new_ones", "ones_like"), _ones, "size", "dtype"),
    *converters("arange", _arange, "dtype", overloads=("default", "start", "start_step")),
    *converters("linspace", _linspace, "steps", "dtype"),
    *converters("eye", _eye, "n", "m", "dtype", overloads=("default", "m")),
    *converters("tril", lambda node: triangle(node.value(0), node.int("diagonal", 0), upper=False), "diagonal"),
    *converters("triu", lambda node: triangle(node.value(0), node.int("diagonal", 0), upper=True), "diagonal"),
    *converters("scalar_tensor", lambda node: node.operand(), "dtype"),
    *converters("copy", _copy),
)
