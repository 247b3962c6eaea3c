"""Functions and methods of `torch` that differ from those of NumPy: in their arguments, or in what they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from relay import nn, op
from relay.base.dtypes import DType
from relay.base.span import caller_span
from relay.frontend.python.block import is_expr
from relay.frontend.python.library.arithmetic import combined, common_dtype, converted, equated
from relay.frontend.python.library.arrays.grids import GRIDS_OF_NUMPY
from relay.frontend.python.library.arrays.products import PRODUCTS_OF_NUMPY, norm
from relay.frontend.python.library.arrays.splitting import array_split, chunks, parts, rows
from relay.frontend.python.library.arrays.statistics import sliced
from relay.frontend.python.library.numpy_arrays import along_axis
from relay.frontend.python.library.numpy_functions import (
    METHODS,
    NUMPY,
    REDUCTIONS,
    computed_shape,
    dtype_of_value,
    element_type,
    extent_along,
    flat,
    floating,
    rank_of,
    truth_of,
)
from relay.frontend.python.syntax.source import refusal
from relay.ir.expr import Expr

Function = Callable[..., Any]


class Found(NamedTuple):
    """What torch gives that looks for elements."""

    values: Any
    indices: Any


def _reduction(name: str) -> Function:
    def reduction(x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Expr:
        x = x if dtype is None else converted(x, element_type(dtype))
        return REDUCTIONS[name](x, _axes(dim), keepdims=keepdim)

    return reduction


def _axes(dim: Any) -> Any:
    return tuple(cast("Sequence[int]", dim)) or None if isinstance(dim, tuple | list) else dim


def _scan(name: str) -> Function:
    return lambda x, dim, *, dtype=None: REDUCTIONS[name](x, dim, dtype)


def _extreme(name: str) -> Function:
    """`torch.max`: of all elements; along an axis, with the places; or of two tensors, element by element."""

    def extreme(x: Any, dim: Any = None, keepdim: bool = False, *, y: Any = None) -> Any:
        y = dim if is_expr(dim) else y
        if y is not None:
            return NUMPY[np.maximum if name == "max" else np.minimum](x, y)
        values = REDUCTIONS[name](x, dim, keepdims=keepdim)
        return values if dim is None else Found(values, REDUCTIONS[f"arg{name}"](x, dim, keepdims=keepdim))

    return extreme


def _spread(name: str) -> Function:
    """Divided by one less than there are, unless `correction` or `unbiased` says otherwise."""

    def spread(
        x: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: float | None = None
    ) -> Expr:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        less = correction if correction is not None else int(unbiased)
        return REDUCTIONS[name](x, _axes(dim), ddof=less, keepdims=keepdim)

    return spread


def _spread_and_mean(name: str) -> Function:
    """Both, by the same arguments."""
    spread, mean = _spread(name), _reduction("mean")

    def both(x: Any, dim: Any = None, *how: bool, keepdim: bool = False, **less: Any) -> tuple[Expr, Expr]:
        keeps = how[1] if len(how) > 1 else keepdim
        return spread(x, dim, *how[:1], keepdim=keeps, **less), mean(x, None if isinstance(dim, bool) else dim, keeps)

    return both


def _without_nan(x: Any, what: str, where: bool = True) -> Any:
    """What torch orders with NaN as the largest number: the run ends where there are some."""
    if not where or not dtype_of_value(x).is_float:
        return x
    return op.checked(x, op.logical_not(op.any(op.isnan(x))), f"{what} with NaN, which torch puts first")


def _sort(x: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Found:  # noqa: ARG001
    x = _without_nan(x, "`torch.sort` in descending order", descending)
    return Found(op.sort(x, dim, not descending), op.argsort(x, dim, not descending))


def _argsort(x: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Expr:  # noqa: ARG001
    x = _without_nan(x, "`torch.argsort` in descending order", descending)
    return op.argsort(x, dim, not descending)


def _topk(x: Any, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True) -> Found:  # noqa: A002, ARG001
    x = _without_nan(x, "`torch.topk`", largest)
    found: Any = op.topk(x, k, dim, "both", not largest)
    return Found(found[0], found[1])


def _median(x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower of the two in the middle; along an axis, with its place."""
    given, axis = (flat(x), 0) if dim is None else (x, dim)
    middle = combined("floor_divide", combined("subtract", extent_along(given, axis), 1), 2)
    place = op.take(op.argsort(given, axis), converted(middle, DType.INT32), axis=axis)
    kept = op.expand_dims(place, axis % rank_of(given))
    values = op.gather(given, axis, kept)
    if dtype_of_value(given).is_float:
        any_nan = op.any(op.isnan(given), axis=axis, keepdims=True)
        if dim is not None:
            values = op.checked(values, op.logical_not(op.any(any_nan)), "`torch.median` along an axis with NaN")
        values = op.where(any_nan, converted(float("nan"), dtype_of_value(given)), values)
    if dim is None:
        return op.squeeze(values, axis)
    return Found(values, kept) if keepdim else Found(op.squeeze(values, axis), place)


def _tensor_split(x: Expr, indices_or_sections: Any, dim: int = 0) -> tuple[Expr, ...]:
    return tuple(array_split(x, indices_or_sections, dim))


def _divide(x: Any, y: Any, *, rounding_mode: str | None = None) -> Expr:
    if rounding_mode == "floor":
        return combined("floor_divide", x, y)
    if rounding_mode == "trunc":
        dtype = common_dtype((x, y))
        if not dtype.is_float:
            return op.trunc_divide(converted(x, dtype), converted(y, dtype))
        return op.trunc(combined("divide", x, y))
    return combined("divide", x, y)


def _scaled(name: str) -> Function:
    """`torch.add(x, y, alpha=2)`"""
    return lambda x, y, *, alpha=1: combined(name, x, y if alpha == 1 else combined("multiply", y, alpha))


def _flat(x: Expr, start_dim: int = 0, end_dim: int = -1) -> Expr:
    """Some axes as one."""
    rank = rank_of(x)
    if rank == 0:
        return flat(x)
    start, end = start_dim % rank, end_dim % rank
    made, merged = x, end - start
    for _ in range(merged):
        made = op.reshape(made, [*(0,) * start, -3, -2] if rank_of(made) > start + 2 else [*(0,) * start, -3])
    return made


def _squeezed(x: Expr, dim: Any = None) -> Expr:
    if dim is None:
        return op.squeeze(x, None)
    axes = [each % rank_of(x) for each in (dim if isinstance(dim, tuple | list) else (dim,))]
    if not all(isinstance(extent_along(x, each), int) for each in axes):
        raise refusal(caller_span(), "`squeeze` of an axis whose extent is not known now", "write x[:, 0]")
    kept = [each for each in axes if extent_along(x, each) == 1]  # others stay, in torch
    return op.squeeze(x, kept) if kept else x


def _gathered(x: Expr, dim: int, index: Expr) -> Expr:
    return along_axis(x, index, dim)


def _masked(x: Any, mask: Any, value: Any) -> Expr:
    dtype = dtype_of_value(x)
    return op.where(truth_of(mask), converted(value, dtype), converted(x, dtype))


def _norm(x: Any, p: Any = 2, dim: Any = None, keepdim: bool = False) -> Expr:
    if p in (2, "fro") or dim is not None or rank_of(x) == 1:
        return norm(x, None if p in (2, "fro") else p, _axes(dim), keepdims=keepdim)
    return norm(flat(x), p)


def _logsumexp(x: Any, dim: Any, keepdim: bool = False) -> Expr:
    return op.logsumexp(floating(x), _axes(dim), keepdim)


def _repeated(x: Expr, *shape: Any) -> Expr:
    """`x.repeat(2, 3)`: the whole, so many times along each axis."""
    return op.tile(x, shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape)


def _repeat_interleaved(x: Expr, repeats: Any, dim: int | None = None) -> Expr:
    return NUMPY[np.repeat](x, repeats, dim)


def _expanded(x: Expr, *shape: Any) -> Expr:
    """To a shape, in which -1 stands for the extent that there is."""
    wanted = list(shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape)
    added = len(wanted) - rank_of(x)
    for place, each in enumerate(wanted):
        if isinstance(each, int) and each == -1:
            wanted[place] = extent_along(x, place - added)
    return op.broadcast_to(x, computed_shape(wanted))


def _permuted(x: Expr, *dims: Any) -> Expr:
    return op.transpose(x, dims[0] if len(dims) == 1 and isinstance(dims[0], tuple | list) else dims)


def _to(x: Expr, *targets: Any, dtype: Any = None, **others: Any) -> Expr:  # noqa: ARG001
    """`x.to(torch.float32)`, `x.to(device)`: devices are no part of programs."""
    for each in targets:
        if hasattr(each, "dtype"):
            dtype = each.dtype
        elif str(each).startswith("torch.") and not isinstance(each, str):
            dtype = each
    return x if dtype is None else converted(x, element_type(dtype))


def _cast(dtype: str) -> Function:
    return lambda x: converted(x, DType(dtype)) if dtype != "bool" else truth_of(x)


def _count(x: Expr) -> Any:
    extents = [extent_along(x, axis) for axis in range(rank_of(x))]
    known = int(np.prod([each for each in extents if isinstance(each, int)], dtype=np.int64))
    made: Any = known
    for each in extents:
        made = made if isinstance(each, int) else combined("multiply", made, each)
    return made


def _between(x: Any, y: Any, weight: Any) -> Expr:
    """`torch.lerp`"""
    return combined("add", x, combined("multiply", combined("subtract", y, x), weight))


def _grid(*arrays: Any, indexing: str = "ij") -> list[Expr]:
    return GRIDS_OF_NUMPY[np.meshgrid](*arrays, indexing=indexing)


def _chosen(x: Any, mask: Any) -> Expr:
    """`torch.masked_select`"""
    return op.take(flat(x), op.squeeze(op.argwhere(flat(truth_of(mask))), 1), axis=0)


def _same(x: Any, *_: Any, **__: Any) -> Any:
    """`x.detach()` and the like are no part of values."""
    return x


def _narrow(x: Expr, dim: int, start: Any, length: Any) -> Expr:
    if is_expr(start) or is_expr(length) or start < 0:
        raise refusal(caller_span(), "`narrow` to what the program computes", "write a slice: x[i : i + n]")
    return sliced(
        op.checked_extent(x, dim % rank_of(x), start + length, "the slice is out of range"), start, start + length, dim
    )


def _index_select(x: Expr, dim: int, index: Expr) -> Expr:
    extent = extent_along(x, dim)
    inside = op.logical_and(equated("less", index, extent), equated("greater_equal", index, 0))
    return op.take(x, op.checked(index, op.all(inside), "the index is out of range"), axis=dim)


def _turned(x: Expr) -> Expr:
    """`x.t()`"""
    return op.transpose(x, (1, 0)) if rank_of(x) == 2 else x


def _filled_like(name: str) -> Function:
    return lambda x, *, dtype=None, device=None, requires_grad=False: NUMPY[getattr(np, name)](x, dtype)  # noqa: ARG005


def _arange(*bounds: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Expr:  # noqa: ARG001
    return GRIDS_OF_NUMPY[np.arange](*bounds, dtype=dtype)


def _linspace(start: Any, end: Any, steps: Any, *, dtype: Any = None, device: Any = None) -> Expr:  # noqa: ARG001
    return GRIDS_OF_NUMPY[np.linspace](start, end, steps, dtype=dtype)


def _added_product(x: Any, left: Any, right: Any, *, beta: Any = 1, alpha: Any = 1) -> Expr:
    """`torch.addmm`"""
    dtype = common_dtype((left, right))
    product = nn.matmul(converted(left, dtype), converted(right, dtype))
    left, right = (each if by == 1 else combined("multiply", each, by) for each, by in ((x, beta), (product, alpha)))
    return combined("add", left, right)


FUNCTIONS_OF_TORCH: Mapping[str, Function] = {
    **{name: _reduction(name) for name in ("all", "any", "argmax", "argmin", "mean", "prod", "sum")},
    "amax": _reduction("max"), "amin": _reduction("min"), "cumsum": _scan("cumsum"), "cumprod": _scan("cumprod"),
    "max": _extreme("max"), "min": _extreme("min"), "std": _spread("std"), "var": _spread("var"),
    "std_mean": _spread_and_mean("std"), "var_mean": _spread_and_mean("var"), "sort": _sort, "argsort": _argsort,
    "topk": _topk, "median": _median, "split": parts, "chunk": chunks, "unbind": rows,
    "tensor_split": _tensor_split, "div": _divide,
    "divide": _divide, "add": _scaled("add"), "sub": _scaled("subtract"), "subtract": _scaled("subtract"),
    "flatten": _flat, "squeeze": _squeezed, "gather": _gathered, "masked_fill": _masked, "norm": _norm,
    "logsumexp": _logsumexp, "repeat_interleave": _repeat_interleaved, "narrow": _narrow, "index_select": _index_select,
    "zeros_like": _filled_like("zeros_like"), "ones_like": _filled_like("ones_like"), "arange": _arange,
    "empty_like": _filled_like("zeros_like"), "linspace": _linspace, "t": _turned, "numel": _count,
    "detach": _same, "addmm": _added_product, "lerp": _between,
    "tensordot": lambda x, y, dims=2: PRODUCTS_OF_NUMPY[np.tensordot](x, y, dims), "meshgrid": _grid,
    "masked_select": _chosen, "take_along_dim": lambda x, indices, dim=None: along_axis(x, indices, dim),
    "nonzero": lambda x: op.argwhere(truth_of(x)),
}  # fmt: skip
"""Functions, which are methods as well. Their first argument is a tensor."""

METHODS_OF_TORCH: Mapping[str, Function] = {
    **FUNCTIONS_OF_TORCH,
    "dim": rank_of, "view": METHODS["reshape"], "reshape": METHODS["reshape"], "permute": _permuted,
    "expand": _expanded, "repeat": _repeated, "to": _to, "contiguous": _same, "cpu": _same, "cuda": _same,
    "numpy": _same, "requires_grad_": _same, "float": _cast("float32"), "double": _cast("float64"),
    "half": _cast("float16"), "int": _cast("int32"), "long": _cast("int64"), "short": _cast("int16"),
    "bool": _cast("bool"), "view_as": lambda x, y: op.reshape_like(x, y),
    "expand_as": lambda x, y: op.broadcast_to_like(x, y), "type_as": lambda x, y: converted(x, dtype_of_value(y)),
    "transpose": METHODS["swapaxes"], "where": lambda x, condition, y: NUMPY[np.where](condition, x, y),
}  # fmt: skip
"""What tensors of torch have as methods."""

VIEWS_OF_TORCH: frozenset[Function] = frozenset({
    METHODS["reshape"], METHODS["swapaxes"], METHODS_OF_TORCH["view_as"], METHODS_OF_TORCH["expand_as"],
    chunks, parts, rows, _expanded, _flat, _narrow, _permuted, _squeezed, _tensor_split, _turned,
})  # fmt: skip
"""What may give the same memory."""
