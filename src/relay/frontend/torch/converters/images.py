"""Images read and written at places: grid_sampler, max_unpool, col2im, places of maxima.   x[batch, channels, ..]"""

from __future__ import annotations

from collections.abc import Mapping

from relay.frontend.shared.node import Result
from relay.frontend.shared.places.computed_axes import numbers
from relay.frontend.shared.places.folding import put_together
from relay.frontend.shared.places.sampling import sampled_by_grid, unit_grid
from relay.frontend.shared.places.window_places import Windows, places_of_maxima
from relay.frontend.shared.value import Value
from relay.frontend.torch.node import Converter, TorchNode, converters
from relay.ir.expr import Expr
from relay.ir.types import TensorType
from relay.ops.creation.create import zeros
from relay.ops.framework.dimensions import product
from relay.ops.indexing.check_indices import check_indices
from relay.ops.indexing.scatter import scatter_elements
from relay.ops.manipulation.shape import reshape
from relay.ops.vision.taps import PADDINGS

_METHODS = ("bilinear", "nearest", "bicubic")
"""By the numbers that PyTorch gives them, as it does to `PADDINGS`."""


def _grid_sampler(node: TorchNode) -> Result:
    """grid[batch, .., axes] names places from the last axis to the first."""
    data, grid = node.value(0), node.value(1)
    method, padding = _METHODS[node.int("interpolation_mode")], PADDINGS[node.int("padding_mode")]
    return sampled_by_grid(data, grid.expr, method, padding, align_corners=node.flag("align_corners"))


def _affine_grid(node: TorchNode) -> Result:
    """theta[batch, axes, axes + 1] × size → grid[batch, .., axes]"""
    size = node.extents_of("size")
    return unit_grid(node.expr(0), size[2:], align_corners=node.flag("align_corners"))


def places_of_pool(node: TorchNode, pooled: Expr, window: Mapping[str, tuple[int, ...]]) -> Expr:
    """Where the maxima of a pooling are, in each image."""
    spatial = len(window["pool_size"])
    x, y = _as_images(node.value(0), spatial), _as_images(Value("", pooled, node.type_of(pooled)), spatial)
    windows = Windows(window["pool_size"], window["strides"], window["dilation"], window["padding"][:spatial])
    return reshape(places_of_maxima(x, y, windows), node.shape, allowzero=True)


def _as_images(value: Value, spatial: int) -> Value:
    """With a batch of one, if there is none."""
    if value.rank > spatial + 1:
        return value
    shape = (1, *value.shape)
    return Value("", reshape(value.expr, shape, allowzero=True), TensorType(shape, value.dtype))


def _max_unpool(spatial: int, node: TorchNode) -> Result:
    """Zeros, but for elements where a max_pool found them in their image."""
    value, shape = node.value(0), node.shape
    size = product(shape[-spatial:])
    images = product(shape[:-spatial])
    flat = (images, product(value.shape[-spatial:]))
    places = check_indices(reshape(node.expr(1), flat, allowzero=True), (size,), f"{node.operator} {node.name}")
    empty = zeros((images, size), value.dtype)
    found = scatter_elements(empty, places, reshape(value.expr, flat, allowzero=True), 1)
    return reshape(found, shape, allowzero=True)


def _col2im(node: TorchNode) -> Result:
    value, size, kernel = node.value(0), node.per_axis("output_size", 2), node.per_axis("kernel_size", 2)
    result = put_together(
        _as_images(value, 1), numbers(*size), numbers(*kernel), 2, node.per_axis("stride", 2),
        node.per_axis("dilation", 2), node.per_axis("padding", 2) * 2,
    )  # fmt: skip
    return reshape(result, node.shape, allowzero=True)


_GRID = ("interpolation_mode", "padding_mode", "align_corners")

IMAGES: tuple[Converter, ...] = (
    *(record for name in ("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
      for record in converters(name, _grid_sampler, *_GRID)),
    *converters("affine_grid_generator", _affine_grid, "size", "align_corners"),
    *converters("max_unpool2d", lambda node: _max_unpool(2, node), "output_size"),
    *converters("max_unpool3d", lambda node: _max_unpool(3, node), "output_size", "stride", "padding"),
    *converters("col2im", _col2im, "output_size", "kernel_size", "dilation", "padding", "stride"),
)  # fmt: skip
