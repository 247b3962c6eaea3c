"""All operators by name, put together from the families."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from relay.ops.checked import CHECKS
from relay.ops.creation.create import CREATIONS
from relay.ops.creation.random import RANDOM
from relay.ops.creation.triangle import TRIANGLES
from relay.ops.device import DEVICES
from relay.ops.dyn import DYNAMIC
from relay.ops.elementwise.activation import ACTIVATIONS
from relay.ops.elementwise.comparison import COMPARISONS
from relay.ops.elementwise.convert import CONVERSIONS
from relay.ops.elementwise.elementwise_binary import BINARY
from relay.ops.elementwise.elementwise_unary import UNARY
from relay.ops.framework.record import OperatorRecord
from relay.ops.indexing.argwhere import PLACES
from relay.ops.indexing.check_indices import INDEX_CHECKS
from relay.ops.indexing.coordinates import COORDINATES
from relay.ops.indexing.index import INDEXING
from relay.ops.indexing.scatter import SCATTERS
from relay.ops.indexing.sequence import SEQUENCES
from relay.ops.indexing.strided_set import UPDATES
from relay.ops.manipulation.combine import COMBINATIONS
from relay.ops.manipulation.layout_transform import LAYOUT_TRANSFORMS
from relay.ops.manipulation.pad import PADDINGS
from relay.ops.manipulation.shape import RESHAPES
from relay.ops.manipulation.slice import SLICES
from relay.ops.manipulation.tile import REPETITIONS
from relay.ops.manipulation.transpose import TRANSPOSES
from relay.ops.nn.attention import ATTENTIONS
from relay.ops.nn.conv import CONVOLUTIONS
from relay.ops.nn.conv_backward_weight import WEIGHT_GRADIENTS
from relay.ops.nn.conv_transpose import TRANSPOSED_CONVOLUTIONS
from relay.ops.nn.matmul import MATRIX_PRODUCTS
from relay.ops.nn.norm import NORMS
from relay.ops.nn.norm_vector import VECTOR_NORMS
from relay.ops.nn.pool import POOLS
from relay.ops.nn.pool_adaptive import ADAPTIVE_POOLS
from relay.ops.nn.pool_backward import POOL_GRADIENTS
from relay.ops.nn.resize import RESIZES
from relay.ops.nn.softmax import SOFTMAXES
from relay.ops.nn.space_depth import SPACE_DEPTH
from relay.ops.nn.winograd import WINOGRADS
from relay.ops.nn.words import WORDS
from relay.ops.reduction.reduce import REDUCTIONS
from relay.ops.reduction.reduce_index import INDEX_REDUCTIONS
from relay.ops.reduction.scan import SCANS
from relay.ops.reduction.variance import VARIANCES
from relay.ops.sorting.search import SEARCHES
from relay.ops.sorting.sort import SORTS
from relay.ops.sorting.unique import DISTINCT
from relay.ops.vision.affine_grid import AFFINE_GRIDS
from relay.ops.vision.crop_and_resize import CROPS
from relay.ops.vision.grid_sample import GRID_SAMPLES
from relay.ops.vision.nms import SUPPRESSIONS
from relay.ops.vision.roi_align import REGION_POOLS

OPERATORS: Mapping[str, OperatorRecord] = MappingProxyType({
    record.name: record
    for family in (
        UNARY, BINARY, COMPARISONS, CONVERSIONS, ACTIVATIONS, MATRIX_PRODUCTS, CONVOLUTIONS,
        TRANSPOSED_CONVOLUTIONS, WEIGHT_GRADIENTS, POOLS, POOL_GRADIENTS, ADAPTIVE_POOLS, NORMS, VECTOR_NORMS,
        SOFTMAXES, REDUCTIONS, VARIANCES, INDEX_REDUCTIONS, RESHAPES, TRANSPOSES, SCANS, SORTS, COMBINATIONS,
        SLICES, REPETITIONS, INDEXING, INDEX_CHECKS, CREATIONS, PADDINGS, RESIZES, SPACE_DEPTH,
        LAYOUT_TRANSFORMS, PLACES, DISTINCT, DYNAMIC, ATTENTIONS, DEVICES, WORDS, WINOGRADS, CHECKS, RANDOM,
        UPDATES, SCATTERS, COORDINATES, SEQUENCES, SEARCHES, TRIANGLES, SUPPRESSIONS, GRID_SAMPLES,
        AFFINE_GRIDS, CROPS, REGION_POOLS,
    )
    for record in family
})  # fmt: skip
"""Every operator that comes with relay. `relay.ops.registry` adds those of users."""
