"""All operators by name, put together from the families."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from relay.ops.activation import ACTIVATIONS
from relay.ops.argwhere import PLACES
from relay.ops.attention import ATTENTIONS
from relay.ops.check_indices import INDEX_CHECKS
from relay.ops.checked import CHECKS
from relay.ops.combine import COMBINATIONS
from relay.ops.comparison import COMPARISONS
from relay.ops.conv import CONVOLUTIONS
from relay.ops.conv_transpose import TRANSPOSED_CONVOLUTIONS
from relay.ops.convert import CONVERSIONS
from relay.ops.coordinates import COORDINATES
from relay.ops.create import CREATIONS
from relay.ops.device import DEVICES
from relay.ops.dyn import DYNAMIC
from relay.ops.elementwise_binary import BINARY
from relay.ops.elementwise_unary import UNARY
from relay.ops.index import INDEXING
from relay.ops.layout_transform import LAYOUT_TRANSFORMS
from relay.ops.matmul import MATRIX_PRODUCTS
from relay.ops.norm import NORMS
from relay.ops.norm_vector import VECTOR_NORMS
from relay.ops.pad import PADDINGS
from relay.ops.pool import POOLS
from relay.ops.pool_adaptive import ADAPTIVE_POOLS
from relay.ops.random import RANDOM
from relay.ops.record import OperatorRecord
from relay.ops.reduce import REDUCTIONS
from relay.ops.reduce_index import INDEX_REDUCTIONS
from relay.ops.resize import RESIZES
from relay.ops.scan import SCANS
from relay.ops.scatter import SCATTERS
from relay.ops.search import SEARCHES
from relay.ops.sequence import SEQUENCES
from relay.ops.shape import RESHAPES
from relay.ops.slice import SLICES
from relay.ops.softmax import SOFTMAXES
from relay.ops.sort import SORTS
from relay.ops.space_depth import SPACE_DEPTH
from relay.ops.strided_set import UPDATES
from relay.ops.tile import REPETITIONS
from relay.ops.transpose import TRANSPOSES
from relay.ops.triangle import TRIANGLES
from relay.ops.unique import DISTINCT
from relay.ops.variance import VARIANCES
from relay.ops.winograd import WINOGRADS
from relay.ops.words import WORDS

OPERATORS: Mapping[str, OperatorRecord] = MappingProxyType({
    record.name: record
    for family in (
        UNARY, BINARY, COMPARISONS, CONVERSIONS, ACTIVATIONS, MATRIX_PRODUCTS, CONVOLUTIONS,
        TRANSPOSED_CONVOLUTIONS, POOLS, ADAPTIVE_POOLS, NORMS, VECTOR_NORMS, SOFTMAXES, REDUCTIONS,
        VARIANCES, INDEX_REDUCTIONS, RESHAPES, TRANSPOSES, SCANS, SORTS, COMBINATIONS, SLICES, REPETITIONS, INDEXING,
        INDEX_CHECKS, CREATIONS, PADDINGS, RESIZES, SPACE_DEPTH, LAYOUT_TRANSFORMS, PLACES, DISTINCT, DYNAMIC,
        ATTENTIONS, DEVICES, WORDS, WINOGRADS, CHECKS, RANDOM, UPDATES, SCATTERS,
        COORDINATES, SEQUENCES, SEARCHES, TRIANGLES,
    )
    for record in family
})  # fmt: skip
"""Every operator that comes with relay. `relay.ops.registry` adds those of users."""
