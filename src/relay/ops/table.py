"""All operators by name, put together from the families."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from relay.base.names.loading import LoadedRows
from relay.ops.framework.record import OperatorRecord

FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        "elementwise.elementwise_unary:UNARY": (
            "abs negative sign exp log log2 log10 sqrt rsqrt tanh sigmoid erf sin cos tan asin acos atan sinh cosh "
            "asinh acosh atanh floor ceil trunc round logical_not bitwise_not copy stop_gradient"
        ),
        "elementwise.elementwise_binary:BINARY": (
            "add subtract multiply divide mod floor_divide floor_mod trunc_divide trunc_mod power minimum maximum "
            "left_shift right_shift bitwise_and bitwise_or bitwise_xor logical_and logical_or logical_xor"
        ),
        "elementwise.comparison:COMPARISONS": (
            "equal not_equal less less_equal greater greater_equal isnan isinf isfinite where"
        ),
        "elementwise.convert:CONVERSIONS": "cast cast_like reinterpret",
        "elementwise.activation:ACTIVATIONS": "nn.relu nn.leaky_relu nn.prelu clip nn.bias_add nn.dropout",
        "nn.matmul:MATRIX_PRODUCTS": "nn.dense nn.matmul nn.batch_matmul nn.contrib_dense_pack",
        "nn.conv:CONVOLUTIONS": "nn.conv1d nn.conv2d nn.conv3d",
        "nn.conv_transpose:TRANSPOSED_CONVOLUTIONS": "nn.conv1d_transpose nn.conv2d_transpose nn.conv3d_transpose",
        "nn.conv_backward_weight:WEIGHT_GRADIENTS": (
            "nn.conv1d_backward_weight nn.conv2d_backward_weight nn.conv3d_backward_weight"
        ),
        "nn.pool:POOLS": "nn.max_pool1d nn.max_pool2d nn.max_pool3d nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d",
        "nn.pool_backward:POOL_GRADIENTS": (
            "nn.contrib_max_pool1d_taps nn.contrib_max_pool2d_taps nn.contrib_max_pool3d_taps nn.contrib_max_pool_grad "
            "nn.contrib_avg_pool_grad"
        ),
        "nn.pool_adaptive:ADAPTIVE_POOLS": (
            "nn.global_max_pool2d nn.global_avg_pool2d nn.adaptive_max_pool2d nn.adaptive_avg_pool2d"
        ),
        "nn.norm:NORMS": "nn.batch_norm nn.layer_norm nn.instance_norm nn.group_norm",
        "nn.norm_vector:VECTOR_NORMS": "nn.l2_normalize nn.lrn",
        "nn.softmax:SOFTMAXES": "nn.softmax nn.log_softmax",
        "reduction.reduce:REDUCTIONS": "sum prod max min all any mean",
        "reduction.variance:VARIANCES": "variance",
        "reduction.reduce_index:INDEX_REDUCTIONS": "argmax argmin",
        "manipulation.shape:RESHAPES": "reshape reshape_like nn.batch_flatten squeeze expand_dims",
        "manipulation.transpose:TRANSPOSES": "transpose reverse",
        "reduction.scan:SCANS": "cumsum cumprod",
        "sorting.sort:SORTS": "argsort sort topk dyn.topk",
        "manipulation.combine:COMBINATIONS": "concatenate stack split",
        "manipulation.slice:SLICES": "strided_slice slice_like",
        "manipulation.tile:REPETITIONS": "tile repeat broadcast_to broadcast_to_like",
        "indexing.index:INDEXING": "take gather gather_nd one_hot",
        "indexing.check_indices:INDEX_CHECKS": "check_indices",
        "creation.create:CREATIONS": "full full_like zeros ones zeros_like ones_like arange shape_of ndarray_size",
        "manipulation.pad:PADDINGS": "nn.pad nn.mirror_pad",
        "nn.resize:RESIZES": "image.resize2d nn.upsampling nn.upsampling3d",
        "nn.space_depth:SPACE_DEPTH": "nn.depth_to_space nn.space_to_depth",
        "manipulation.layout_transform:LAYOUT_TRANSFORMS": "layout_transform",
        "indexing.argwhere:PLACES": "argwhere",
        "sorting.unique:DISTINCT": "unique",
        "dyn:DYNAMIC": (
            "dyn.reshape dyn.broadcast_to dyn.full dyn.zeros dyn.ones dyn.strided_slice dyn.transpose dyn.tile "
            "dyn.nn.pad dyn.one_hot"
        ),
        "nn.attention:ATTENTIONS": "nn.attention",
        "device:DEVICES": "on_device device_copy",
        "nn.words:WORDS": "nn.contrib_pack_words nn.contrib_dense_words nn.contrib_conv2d_words",
        "nn.winograd:WINOGRADS": (
            "nn.contrib_conv2d_winograd_weight_transform nn.contrib_conv2d_winograd_without_weight_transform"
        ),
        "checked:CHECKS": "checked checked_extent",
        "creation.random:RANDOM": "random.threefry_generate random.threefry_split random.uniform random.normal",
        "indexing.strided_set:UPDATES": "strided_set",
        "indexing.scatter:SCATTERS": "scatter scatter_add scatter_elements scatter_nd",
        "indexing.coordinates:COORDINATES": "adv_index meshgrid unravel_index",
        "indexing.sequence:SEQUENCES": "reverse_sequence sequence_mask",
        "sorting.search:SEARCHES": "searchsorted",
        "creation.triangle:TRIANGLES": "trilu",
        "vision.nms:SUPPRESSIONS": "vision.all_class_non_max_suppression",
        "vision.grid_sample:GRID_SAMPLES": "image.grid_sample",
        "vision.affine_grid:AFFINE_GRIDS": "image.affine_grid",
        "vision.roi_align:REGION_POOLS": "vision.roi_align",
        "vision.crop_and_resize:CROPS": "image.crop_and_resize",
    }
)
"""The operators of each family, by where their records stand."""

OPERATORS: Mapping[str, OperatorRecord] = LoadedRows("relay.ops", FAMILIES, name=lambda record: record.name)
"""Every operator that comes with relay; a family is loaded when one of its operators is met. `relay.ops.registry` adds
those of users."""
