"""Poolings and images in another size.   x[batch, channels, ..] → [batch, channels, ..]"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from relay.arith.expr import IntExpr
from relay.frontend.shared.node import Result
from relay.frontend.torch.converters.images import places_of_pool
from relay.frontend.torch.converters.resampling import resampled
from relay.frontend.torch.node import Converter, TorchNode, converters
from relay.ir.expr import Expr
from relay.ops.manipulation.shape import expand_dims, squeeze
from relay.ops.nn import pool
from relay.ops.nn.pool_adaptive import adaptive_avg_pool2d, adaptive_max_pool2d, global_avg_pool2d, global_max_pool2d
from relay.ops.nn.resize import resize2d
from relay.ops.reduction import reduce

_MAXIMA = {1: pool.max_pool1d, 2: pool.max_pool2d, 3: pool.max_pool3d}
_MEANS = {1: pool.avg_pool1d, 2: pool.avg_pool2d, 3: pool.avg_pool3d}
"""By the number of spatial axes."""


def _batched(node: TorchNode, spatial: int, pooling: Callable[[Expr], Expr]) -> Expr:
    """A pooling, of one image too, which has no axis for batches."""
    alone = node.value(0).rank == spatial + 1
    result = pooling(expand_dims(node.expr(), 0) if alone else node.expr())
    return squeeze(result, [0]) if alone else result


def _window(node: TorchNode, spatial: int) -> dict[str, Any]:
    kernel = node.per_axis("kernel_size", spatial)
    strides = node.ints("stride", ())
    return {
        "pool_size": kernel,
        "strides": (strides if len(strides) == spatial else strides * spatial) or kernel,
        "padding": node.per_axis("padding", spatial, (0,)) * 2,
        "ceil_mode": node.flag("ceil_mode"),
    }


def _maximum(spatial: int) -> Callable[[TorchNode], Expr]:
    def convert(node: TorchNode) -> Expr:
        dilation = node.per_axis("dilation", spatial, (1,))
        window = _window(node, spatial)
        return _batched(node, spatial, lambda x: _MAXIMA[spatial](x, dilation=dilation, **window))

    return convert


def _maximum_with_places(spatial: int) -> Callable[[TorchNode], Result]:
    def convert(node: TorchNode) -> Result:
        pooled = _maximum(spatial)(node)
        if node.output_count < 2:
            return (pooled, None)
        dilation = node.per_axis("dilation", spatial, (1,))
        return (pooled, places_of_pool(node, pooled, {**_window(node, spatial), "dilation": dilation}))

    return convert


def _without_places(pooling: Callable[[TorchNode], Expr]) -> Callable[[TorchNode], Result]:
    """The places of the maxima, the second output, are not computed."""
    return lambda node: (pooling(node), None)


def _average(spatial: int) -> Callable[[TorchNode], Result]:
    def convert(node: TorchNode) -> Result:
        if node.has("divisor_override"):
            node.unsupported("with a divisor of its own")
        window, padded = _window(node, spatial), node.flag("count_include_pad", True)
        return _batched(node, spatial, lambda x: _MEANS[spatial](x, count_include_pad=padded, **window))

    return convert


def _adaptive(
    spatial: int, over_2d: Callable[..., Expr], whole: Callable[[Any], Expr], over_any: Callable[..., Expr]
) -> Callable[[TorchNode], Expr]:
    """To a given number of windows along each axis."""

    def of_batch(node: TorchNode, x: Expr) -> Expr:
        size = node.shape[-spatial:]
        rows = tuple(extent for extent in size if isinstance(extent, int))
        if size == (1,) * spatial:
            return whole(x) if spatial == 2 else over_any(x, tuple(range(2, 2 + spatial)), keepdims=True)
        if len(rows) != spatial or spatial == 3:
            node.unsupported(f"of {node.value(0).type} to {size}")
        return over_2d(x, rows) if spatial == 2 else squeeze(over_2d(expand_dims(x, 2), (1, *rows)), [2])

    return lambda node: _batched(node, spatial, lambda x: of_batch(node, x))


def _adaptive_mean(spatial: int) -> Callable[[TorchNode], Expr]:
    return _adaptive(spatial, adaptive_avg_pool2d, global_avg_pool2d, reduce.mean)


def _adaptive_maximum(spatial: int) -> Callable[[TorchNode], Expr]:
    return _adaptive(spatial, adaptive_max_pool2d, global_max_pool2d, reduce.max)


def _resize(name: str, method: str, coordinates: str, rounding: str = "") -> Callable[[TorchNode], Result]:
    """To the extents that PyTorch gives, or by the factors where these are not exact."""

    def convert(node: TorchNode) -> Result:
        value, spatial = node.value(0), node.value(0).rank - 2
        factors = node.attributes.get("scale_factors", ())
        assert isinstance(factors, tuple)
        if not all(map(_is_exact, factors, value.shape[2:], node.shape[2:])) and not node.flag("align_corners"):
            return _by_factors(node, name, factors)
        mode = "align_corners" if node.flag("align_corners") else coordinates
        x = value.expr if spatial == 2 else expand_dims(value.expr, 2)
        size = node.shape[2:] if spatial == 2 else (1, *node.shape[2:])
        result = resize2d(
            x, size, method=method, coordinate_transformation_mode=mode, rounding_method=rounding, cubic_alpha=-0.75
        )
        return result if spatial == 2 else squeeze(result, [2])

    return convert


def _is_exact(factor: float, old: IntExpr, new: IntExpr) -> bool:
    return old * factor == new if isinstance(old, int) else factor == int(factor)


def _by_factors(node: TorchNode, name: str, factors: Sequence[float]) -> Expr:
    result = node.expr()
    for axis, factor in enumerate(factors, 2):
        old, new = node.value(0).shape[axis], node.shape[axis]
        if not isinstance(old, int) or not isinstance(new, int):
            node.unsupported(f"of {node.value(0).type} by {factors}, to no whole number of elements")
        result = resampled(result, axis, old, new, factor, name)
    return result


_POOL = ("kernel_size", "stride", "padding", "ceil_mode")
_NEAREST = _resize("nearest", "nearest_neighbor", "asymmetric", "floor")
_NEAREST_EXACT = _resize("nearest_exact", "nearest_neighbor", "half_pixel", "round_prefer_ceil")
_LINEAR = _resize("linear", "linear", "half_pixel")
_RESIZES: Mapping[str, Callable[[TorchNode], Result]] = {
    "upsample_nearest1d": _NEAREST, "upsample_nearest2d": _NEAREST, "_upsample_nearest_exact1d": _NEAREST_EXACT,
    "_upsample_nearest_exact2d": _NEAREST_EXACT, "upsample_linear1d": _LINEAR, "upsample_bilinear2d": _LINEAR,
    "upsample_bicubic2d": _resize("cubic", "cubic", "half_pixel"),
}  # fmt: skip

POOLINGS: tuple[Converter, ...] = (
    *(record for rank in (1, 2, 3) for record in (
        *converters(f"max_pool{rank}d", _maximum(rank), *_POOL, "dilation"),
        *converters(f"max_pool{rank}d_with_indices", _maximum_with_places(rank), *_POOL, "dilation"),
        *converters(f"avg_pool{rank}d", _average(rank), *_POOL, "count_include_pad", "divisor_override"),
        *converters(f"adaptive_avg_pool{rank}d", _adaptive_mean(rank), "output_size"),
        *converters(f"adaptive_max_pool{rank}d", _without_places(_adaptive_maximum(rank)), "output_size"),
    )),
    *converters("_adaptive_avg_pool2d", _adaptive_mean(2), "output_size"),
    *converters("_adaptive_avg_pool3d", _adaptive_mean(3), "output_size"),
    *(
        record
        for name, resize in _RESIZES.items()
        for record in converters(name, resize, "output_size", "scale_factors", "align_corners", overloads=("vec",))
    ),
)  # fmt: skip
