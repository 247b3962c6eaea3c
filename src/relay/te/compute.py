"""Making tensors: `placeholder`, `compute`, `reduce_axis`, `scan`, `extern`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias, TypeVar, overload

from relay.arith.expr import IntExpr
from relay.base.arguments import CALLABLE, Kind, expect
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.te.body_check import BodyPart, check_body
from relay.te.operation import Compute, Extern, Placeholder, Reduced, Reduction, Scan
from relay.te.precision import rounded_once
from relay.te.tensor import Axis, Tensor
from relay.tir.buffer import Buffer
from relay.tir.expr import Cast
from relay.tir.stmt import Stmt

Attributes: TypeAlias = tuple[tuple[str, str | int], ...]
Part = TypeVar("Part")
_SHAPE = Kind((tuple, list), "a tuple of extents", lambda value: f"write ({value},)" if isinstance(value, int) else "")


def placeholder(shape: Sequence[IntExpr], dtype: DType | str = DType.FLOAT32, name: str = "input") -> Tensor:
    """A tensor that comes from outside."""
    return Tensor(name, tuple(shape), DType(dtype), operation=Placeholder(name))


def reduce_axis(extent: IntExpr, name: str = "k") -> Axis:
    """What a reduction runs over: `range(extent)`. It is a symbol, so it stands in indices as it is."""
    return Axis(name, extent)


@overload
def compute(
    shape: Sequence[IntExpr], body: Callable[..., BodyPart], name: str = ..., attributes: Attributes = ...
) -> Tensor: ...
@overload
def compute(
    shape: Sequence[IntExpr],
    body: Callable[..., tuple[BodyPart, ...]],
    name: str = ...,
    attributes: Attributes = ...,
    ranks: Sequence[int] = ...,
) -> tuple[Tensor, ...]: ...
def compute(
    shape: Sequence[IntExpr],
    body: Callable[..., BodyPart | tuple[BodyPart, ...]],
    name: str = "compute",
    attributes: Attributes = (),
    ranks: Sequence[int] = (),
) -> Tensor | tuple[Tensor, ...]:
    """The tensor whose element at `indices` is `body(*indices)`; a body that gives a tuple makes a tuple of tensors.

    The parameters of `body` name the axes (`*indices` names them i0, i1, …). Arithmetic on floats narrower than 32
    bits is done in float32 and rounded once. `ranks`, for a body that gives the components of one reduction, says how
    many leading axes each result has: attention's running maximum and sum have one axis less than its output, and are
    updated once for a whole row of it. Raises `RelayError` (`compute-body`, `compute-rank`, `compute-mixed-body`,
    `compute-ranks`, `compute-inside-reduction`, `compute-reduce-axis`).

    >>> from relay import te
    >>> a, k = te.placeholder((4, 8), "float32", "a"), te.reduce_axis(8, "k")
    >>> te.compute((4,), lambda i: te.sum(a[i, k], axis=k), name="row_sum")
    row_sum[4]
    """
    expect(shape, _SHAPE, f"the shape of compute `{name}`")
    expect(body, CALLABLE, f"the body of compute `{name}`")
    axes = tuple(Axis(axis, extent) for axis, extent in zip(_axis_names(body, len(shape), name), shape, strict=True))
    result = body(*axes)
    check_body(result if isinstance(result, tuple) else (result,), axes, name)
    if not isinstance(result, tuple):
        return _computed((result,), axes, name, attributes)[0]
    if ranks:
        return _computed_ranks(result, axes, name, attributes, tuple(ranks))
    return _computed(result, axes, name, attributes)


def _computed_ranks(
    parts: tuple[BodyPart, ...], axes: tuple[Axis, ...], name: str, attributes: Attributes, ranks: tuple[int, ...]
) -> tuple[Tensor, ...]:
    """The components of one reduction, some with fewer axes."""
    first = parts[0]
    reduction = first.reduction if isinstance(first, Reduced) else None
    given = [part.component if isinstance(part, Reduced) and part.reduction is reduction else None for part in parts]
    whole = reduction is not None and given == list(range(len(reduction.sources))) and len(ranks) == len(given)
    if reduction is None or not whole or set(ranks) - {min(ranks), len(axes)} or min(ranks) < 0:
        raise RelayError(
            rule="compute-ranks",
            message=f"the results of compute `{name}` cannot have these ranks",
            expected="all components of one reduction, each with all axes or the same smaller number of them",
            found=f"ranks {ranks} of {len(axes)} axes",
            remedy="compute results of other shapes in computes of their own",
        )
    operation = Compute(name, axes, reduction, attributes, ranks)
    return tuple(_output(operation, component) for component in range(len(parts)))


def _axis_names(body: Callable[..., object], rank: int, name: str) -> list[str]:
    parameters = list(inspect.signature(body).parameters.values())
    variadic = [parameter for parameter in parameters if parameter.kind is inspect.Parameter.VAR_POSITIONAL]
    named = [
        p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    if len(named) > rank or (len(named) < rank and not variadic):
        raise RelayError(
            rule="compute-rank",
            message=f"compute `{name}` has {rank} axes, and its body takes {len(named)} indices",
            expected=f"a body of {rank} parameters, or `*indices`",
            found=f"({', '.join(named)})",
            remedy="give the body one parameter for each axis of the shape",
        )
    return named + [f"i{position}" for position in range(len(named), rank)]


def _computed(
    parts: tuple[BodyPart, ...], axes: tuple[Axis, ...], name: str, attributes: Attributes
) -> tuple[Tensor, ...]:
    reduced = [part for part in parts if isinstance(part, Reduced)]
    if not reduced:
        values = tuple(rounded_once(part) for part in parts if not isinstance(part, Reduced))
        operation = Compute(name, axes, values, attributes)
        return tuple(_output(operation, component) for component in range(len(values)))
    if len(reduced) != len(parts):
        raise RelayError(
            rule="compute-mixed-body",
            message=f"compute `{name}` gives reductions and plain values together",
            remedy="compute the plain values in a compute of their own",
        )
    return _computed_reduction(reduced, axes, name, attributes)


def _computed_reduction(
    parts: list[Reduced], axes: tuple[Axis, ...], name: str, attributes: Attributes
) -> tuple[Tensor, ...]:
    reductions = list(dict.fromkeys(part.reduction for part in parts))
    first_component = dict.fromkeys(reductions, 0)
    for before, reduction in pairwise(reductions):
        first_component[reduction] = first_component[before] + len(before.sources)
    merged = side_by_side(reductions, name)
    wide = any(part.dtype != part.reduction.dtypes[part.component] for part in parts)
    operation = Compute(f"{name}.wide" if wide else name, axes, merged, attributes)
    outputs = tuple(_output(operation, first_component[part.reduction] + part.component) for part in parts)
    if not wide:
        return outputs
    # Narrow results are rounded from the wide accumulators in a compute of their own.
    fresh = tuple(Axis(axis.name, axis.extent) for axis in axes)
    loads = tuple(output[fresh] for output in outputs)
    values = tuple(
        load if load.dtype == part.dtype else Cast(load, part.dtype) for load, part in zip(loads, parts, strict=True)
    )
    rounding = Compute(name, fresh, values, attributes)
    return tuple(_output(rounding, component) for component in range(len(values)))


def side_by_side(reductions: list[Reduction], name: str) -> Reduction:
    """Several reductions over the same axes as one."""
    first = reductions[0]
    if len(reductions) == 1:
        return first
    for other in reductions[1:]:
        if other.axes != first.axes or other.where != first.where:
            raise RelayError(
                rule="compute-mixed-body",
                message=f"compute `{name}` gives reductions over different axes",
                expected=f"all over ({', '.join(map(str, first.axes))})",
                found=f"one over ({', '.join(map(str, other.axes))})",
                remedy="use the same axes and the same condition in all of them, or one compute each",
            )
    starts = [reduction.initial or reduction.identity() for reduction in reductions]
    custom = any(reduction.initial is not None for reduction in reductions)
    return Reduction(
        tuple(reducer for reduction in reductions for reducer in reduction.reducers),
        tuple(source for reduction in reductions for source in reduction.sources),
        first.axes,
        first.where,
        tuple(value for start in starts for value in start) if custom else None,
    )


def _output(operation: Compute, component: int) -> Tensor:
    many = len(operation.dtypes) > 1
    name = f"{operation.name}.{component}" if many else operation.name
    shape = tuple(axis.extent for axis in operation.axes[: operation.rank(component)])
    return Tensor(name, shape, operation.dtypes[component], operation=operation, component=component)


@overload
def scan(init: Tensor, update: Tensor, state: Tensor, name: str = ...) -> Tensor: ...
@overload
def scan(
    init: Sequence[Tensor], update: Sequence[Tensor], state: Sequence[Tensor], name: str = ...
) -> tuple[Tensor, ...]: ...
def scan(
    init: Tensor | Sequence[Tensor],
    update: Tensor | Sequence[Tensor],
    state: Tensor | Sequence[Tensor],
    name: str = "scan",
) -> Tensor | tuple[Tensor, ...]:
    """A recurrence along axis 0, the time.

    `state[time, ..]` is a placeholder that stands for the result; `init[rows, ..]` gives its first rows; `update[time,
    ..]` gives each later row from rows of `state` before it. The result has the shape of `state`.

    Parts of an update may read each other in the same row. Raises `RelayError` (`scan-shape`) when the three disagree;
    lowering raises `scan-update` when something outside reads an update.
    """
    single = isinstance(init, Tensor)
    inits, updates, states = ((part,) if isinstance(part, Tensor) else tuple(part) for part in (init, update, state))
    for first, each, whole in zip(inits, updates, states, strict=True):
        _check_scan(first, each, whole, name)
    operation = Scan(name, inits, updates, states)
    names = [name if single else f"{name}.{component}" for component in range(len(states))]
    outputs = tuple(
        Tensor(label, whole.shape, whole.dtype, operation=operation, component=component)
        for component, (label, whole) in enumerate(zip(names, states, strict=True))
    )
    return outputs[0] if single else outputs


def _check_scan(init: Tensor, update: Tensor, state: Tensor, name: str) -> None:
    shapes_agree = update.shape == state.shape and init.shape[1:] == state.shape[1:]
    if not shapes_agree or not init.dtype == update.dtype == state.dtype:
        raise RelayError(
            rule="scan-shape",
            message=f"the parts of scan `{name}` do not fit together",
            expected=f"update {state.dtype}[{', '.join(map(str, state.shape))}] and init alike but for its first axis",
            found=f"init {init.dtype} {init!r}, update {update.dtype} {update!r}",
            remedy="give update the shape of state, and init the same but for fewer rows",
        )


def extern(
    shapes: Sequence[Sequence[IntExpr]],
    dtypes: Sequence[DType | str],
    inputs: Sequence[Tensor],
    emit: Callable[[tuple[Buffer, ...], tuple[Buffer, ...]], Stmt],
    name: str = "extern",
) -> tuple[Tensor, ...]:
    """Tensors filled by the statement that `emit(input buffers, output buffers)` builds, one for each shape."""
    kept = tuple(tuple(shape) for shape in shapes)
    operation = Extern(name, tuple(inputs), kept, tuple(map(DType, dtypes)), emit)
    names = [name if len(kept) == 1 else f"{name}.{component}" for component in range(len(kept))]
    return tuple(
        Tensor(names[component], shape, operation.dtypes[component], operation=operation, component=component)
        for component, shape in enumerate(kept)
    )
