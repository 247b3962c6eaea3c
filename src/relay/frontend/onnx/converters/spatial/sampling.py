"""Images read at places that data compute: GridSample, AffineGrid, RoiAlign, DeformConv."""

from __future__ import annotations

from relay.frontend.onnx.converters.shaping.computed import is_computed
from relay.frontend.onnx.converters.spatial.windows import read_window
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.frontend.shared.formulas.triangles import positions
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.places.computed_axes import LONG, entries
from relay.frontend.shared.places.resampling import Sampling, steps
from relay.frontend.shared.places.sampling import (
    sampled,
    sampled_by_grid,
    unit_grid,
    unit_places,
)
from relay.frontend.shared.places.told import with_extents
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ir.types import ANY, TensorType
from relay.ops.elementwise.activation import bias_add
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add, multiply, subtract
from relay.ops.framework.dimensions import product
from relay.ops.indexing.check_indices import check_indices
from relay.ops.indexing.index import take
from relay.ops.manipulation.combine import concatenate
from relay.ops.manipulation.shape import expand_dims, reshape
from relay.ops.manipulation.tile import broadcast_to
from relay.ops.nn.matmul import batch_matmul
from relay.ops.vision.roi_align import roi_align
from relay.ops.vision.taps import PADDINGS

_METHODS = {
    "nearest": "nearest", "bilinear": "bilinear", "linear": "bilinear", "bicubic": "bicubic", "cubic": "bicubic",
}  # fmt: skip


def _grid_sample(node: OnnxNode) -> Result:
    """grid[batch, .., axes] names places from the last axis to the first."""
    data, grid = node.value(0), node.value(1)
    method, padding = _METHODS.get(node.text("mode")), node.text("padding_mode")
    spatial = data.rank - 2
    if method is None or padding not in PADDINGS:
        node.unsupported(f"with mode {node.text('mode')!r} and padding_mode {padding!r}")
    if not 1 <= spatial <= 3 or grid.rank != data.rank or not data.dtype.is_float:
        node.unsupported(f"of {data.type} and {grid.type}")
    places = as_dtype(with_extents(node, grid, {grid.rank - 1: spatial}), data.dtype)
    return sampled_by_grid(data, places, method, padding, align_corners=bool(node.int("align_corners")))


def _affine_grid(node: OnnxNode) -> Result:
    """theta[batch, axes, axes + 1] × size → grid[batch, .., axes]: places of the result as theta moves them."""
    theta, aligned = node.value(0), bool(node.int("align_corners"))
    size, count = entries(node, 1, "a size")
    spatial = count - 2
    if theta.rank != 3 or theta.shape[1:] != (spatial, spatial + 1):
        node.unsupported(f"with {theta.type} for {count} sizes")
    if not is_computed(node, 1):
        return unit_grid(theta.expr, node.extents(1, "a size")[2:], align_corners=aligned)
    return _grid_of_computed_size(theta, size, spatial, align_corners=aligned)


def _grid_of_computed_size(theta: Value, size: Expr, spatial: int, *, align_corners: bool) -> Expr:
    """The same where only the run knows the extents of the grid."""
    dtype = theta.dtype

    def column(at: int) -> Expr:
        part = take(theta.expr, const(at, LONG), axis=2)  # [batch, axes]
        return reshape(part, (theta.shape[0], *(1,) * spatial, spatial), allowzero=True)

    total = column(spatial)
    for axis in range(spatial):
        extent = take(size, const(2 + axis, LONG), axis=0)
        line = unit_places(cast(extent, dtype), cast(steps(extent), dtype), dtype, align_corners=align_corners)
        line = expand_dims(line, 1, spatial - axis)  # [e, 1, ..]: its axis among those of the grid
        total = add(total, multiply(column(spatial - 1 - axis), line))
    return total


def _roi_align(node: OnnxNode) -> Result:
    """Each region in bins, each bin the mean of its samples, or the greatest of what elements count in them.

    How many samples a bin has, `sampling_ratio` says, or the run: one for each element that it covers."""
    data, regions, batch = node.value(0), node.value(1), node.value(2)
    if data.rank != 4 or regions.rank != 2 or batch.rank != 1:
        node.unsupported(f"of {data.type}, {regions.type} and {batch.type}")
    mode, coordinates = node.text("mode"), node.text("coordinate_transformation_mode", "output_half_pixel")
    if mode not in ("avg", "max"):
        node.unsupported(f"with mode {mode!r}")
    if coordinates not in ("half_pixel", "output_half_pixel"):
        node.unsupported(f"with coordinate_transformation_mode {coordinates!r}")
    number = regions.dtype.computation  # which knows the numbers of more instances
    corners = as_dtype(with_extents(node, regions, {1: 4}), number)
    which = check_indices(as_dtype(batch.expr, LONG), (data.shape[0],), f"{node.operator} {node.name}")
    rois = concatenate((cast(expand_dims(which, 1), number), corners), 1)
    return roi_align(
        data.expr, rois, (node.int("output_height"), node.int("output_width")), node.float("spatial_scale"),
        node.int("sampling_ratio"), mode="avg" if mode == "avg" else "max_taps", aligned=coordinates == "half_pixel",
    )  # fmt: skip


def _deform_conv(node: OnnxNode) -> Result:
    """A convolution whose taps lie elsewhere by offsets, with a factor each (Dai et al., 2017; Zhu et al., 2019)."""
    data, weight, offset, mask = node.value(0), node.value(1), node.value(2), node.optional_value(4)
    if data.rank != 4 or weight.rank != 4 or ANY in (*data.shape, *weight.shape, *offset.shape):
        node.unsupported(f"of {data.type} with a weight of type {weight.type} and offsets of type {offset.type}")
    batch, channels, height, width = data.shape
    kernel, outer_extents = weight.shape[2:], offset.shape[2:]
    window = read_window(node, kernel)
    groups, offset_groups, taps = node.int("group"), node.int("offset_group"), product(kernel)
    for count, of in ((channels, offset_groups), (channels, groups), (offset.shape[1], offset_groups * 2)):
        if isinstance(count, int) and count % of:
            node.unsupported(f"with {offset_groups} groups of offsets of type {offset.type}")
    dtype, outer, area = data.dtype, batch * offset_groups, product(outer_extents)
    moved = reshape(offset.expr, (outer, taps, 2, *outer_extents), allowzero=True)

    def place(axis: int) -> Expr:
        tap = multiply(cast(positions((weight, axis + 2)), dtype), const(window.dilations[axis], dtype))
        grid = broadcast_to(expand_dims(tap, 1) if axis == 0 else tap, kernel)
        tap = expand_dims(reshape(grid, (taps,), allowzero=True), 1, 2)  # [taps, 1, 1]
        start = multiply(cast(positions((offset, axis + 2)), dtype), const(window.strides[axis], dtype))
        start = subtract(expand_dims(start, 1) if axis == 0 else start, const(window.padding[axis], dtype))
        return add(take(moved, const(axis, LONG), axis=2), add(tap, start))  # [outer, taps, out rows, out columns]

    grouped = (outer, channels // offset_groups, height, width)
    parts = Value("", reshape(data.expr, grouped, allowzero=True), TensorType(grouped, dtype))
    found = sampled(parts, (place(0), place(1)), Sampling("linear"), "zeros", align_corners=True)
    if mask is not None:
        found = multiply(found, reshape(mask.expr, (outer, 1, taps, *outer_extents), allowzero=True))
    of_group = (weight.shape[0] // groups, channels // groups * taps)
    columns = reshape(found, (batch * groups, of_group[1], area), allowzero=True)
    weights = broadcast_to(reshape(weight.expr, (1, groups, *of_group), allowzero=True), (batch, groups, *of_group))
    weights = reshape(weights, (batch * groups, *of_group), allowzero=True)
    result = batch_matmul(weights, columns, transpose_b=False)
    result = reshape(result, (batch, weight.shape[0], *outer_extents), allowzero=True)
    bias = node.optional_value(3)
    return result if bias is None else bias_add(result, bias.expr, axis=1)


SAMPLING: tuple[Converter, ...] = (
    converter("GridSample", _grid_sample, "align_corners", "mode", "padding_mode", changes=(20,)),
    converter("AffineGrid", _affine_grid, "align_corners"),
    converter(
        "RoiAlign", _roi_align, "coordinate_transformation_mode", "mode", "output_height", "output_width",
        "sampling_ratio", "spatial_scale",
    ),
    converter(
        "DeformConv", _deform_conv, "dilations", "group", "kernel_shape", "offset_group", "pads", "strides",
    ),
)  # fmt: skip
