"""`relay.op`: the operators that need no name space; `relay` hands them on."""

from relay.base.diagnostics import RelayError
from relay.base.names.near_names import near_names
from relay.base.span import caller_span
from relay.ir.expr import Op
from relay.ops.checked import checked, checked_extent
from relay.ops.creation.create import (
    arange,
    full,
    full_like,
    ndarray_size,
    ones,
    ones_like,
    shape_of,
    zeros,
    zeros_like,
)
from relay.ops.creation.triangle import trilu
from relay.ops.device import device_copy, on_device
from relay.ops.elementwise.activation import clip
from relay.ops.elementwise.comparison import (
    equal,
    greater,
    greater_equal,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    not_equal,
    where,
)
from relay.ops.elementwise.convert import cast, cast_like, reinterpret
from relay.ops.elementwise.elementwise_binary import (
    add,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    divide,
    floor_divide,
    floor_mod,
    left_shift,
    logical_and,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    mod,
    multiply,
    power,
    right_shift,
    subtract,
    trunc_divide,
    trunc_mod,
)
from relay.ops.elementwise.elementwise_unary import (
    abs,  # noqa: A004
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atanh,
    bitwise_not,
    ceil,
    copy,
    cos,
    cosh,
    erf,
    exp,
    floor,
    log,
    log2,
    log10,
    logical_not,
    negative,
    round,  # noqa: A004
    rsqrt,
    sigmoid,
    sign,
    sin,
    sinh,
    sqrt,
    stop_gradient,
    tan,
    tanh,
    trunc,
)
from relay.ops.framework.build import TupleWrapper, symbol, var
from relay.ops.indexing.argwhere import argwhere
from relay.ops.indexing.check_indices import check_indices
from relay.ops.indexing.coordinates import adv_index, meshgrid, unravel_index
from relay.ops.indexing.index import gather, gather_nd, one_hot, take
from relay.ops.indexing.scatter import scatter, scatter_add, scatter_elements, scatter_nd
from relay.ops.indexing.segment import segment_sum
from relay.ops.indexing.sequence import reverse_sequence, sequence_mask
from relay.ops.indexing.strided_set import strided_set
from relay.ops.manipulation.combine import concatenate, split, stack
from relay.ops.manipulation.layout_transform import layout_transform
from relay.ops.manipulation.shape import expand_dims, reshape, reshape_like, squeeze
from relay.ops.manipulation.slice import slice_like, strided_slice
from relay.ops.manipulation.tile import broadcast_to, broadcast_to_like, repeat, tile
from relay.ops.manipulation.transpose import reverse, transpose
from relay.ops.reduction.reduce import (
    all,  # noqa: A004
    any,  # noqa: A004
    logsumexp,
    max,  # noqa: A004
    mean,
    min,  # noqa: A004
    prod,
    sum,  # noqa: A004
)
from relay.ops.reduction.reduce_index import argmax, argmin
from relay.ops.reduction.scan import cumprod, cumsum
from relay.ops.reduction.variance import mean_std, mean_variance, std, variance
from relay.ops.registry import known_operators
from relay.ops.sorting.search import searchsorted
from relay.ops.sorting.sort import argsort, sort, topk
from relay.ops.sorting.unique import unique
from relay.ops.table import OPERATORS

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "adv_index",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "broadcast_to",
    "broadcast_to_like",
    "cast",
    "cast_like",
    "checked",
    "checked_extent",
    "ceil",
    "check_indices",
    "clip",
    "concatenate",
    "copy",
    "cos",
    "cosh",
    "cumprod",
    "cumsum",
    "device_copy",
    "divide",
    "equal",
    "erf",
    "exp",
    "expand_dims",
    "floor",
    "floor_divide",
    "floor_mod",
    "full",
    "full_like",
    "gather",
    "gather_nd",
    "greater",
    "greater_equal",
    "isfinite",
    "isinf",
    "isnan",
    "layout_transform",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log10",
    "log2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsumexp",
    "max",
    "maximum",
    "mean",
    "mean_std",
    "mean_variance",
    "meshgrid",
    "min",
    "minimum",
    "mod",
    "multiply",
    "ndarray_size",
    "negative",
    "not_equal",
    "on_device",
    "one_hot",
    "ones",
    "ones_like",
    "OPERATORS",
    "power",
    "prod",
    "reinterpret",
    "repeat",
    "reshape",
    "reshape_like",
    "reverse",
    "reverse_sequence",
    "right_shift",
    "round",
    "rsqrt",
    "scatter",
    "scatter_add",
    "scatter_elements",
    "scatter_nd",
    "searchsorted",
    "segment_sum",
    "sequence_mask",
    "shape_of",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "slice_like",
    "sort",
    "split",
    "sqrt",
    "squeeze",
    "stack",
    "stop_gradient",
    "std",
    "strided_set",
    "strided_slice",
    "subtract",
    "sum",
    "symbol",
    "take",
    "tan",
    "tanh",
    "tile",
    "topk",
    "transpose",
    "trilu",
    "trunc",
    "trunc_divide",
    "trunc_mod",
    "unique",
    "TupleWrapper",
    "unravel_index",
    "var",
    "variance",
    "where",
    "zeros",
    "zeros_like",
]


def get(name: str) -> Op:
    """The operator of a name, as a value that can be called. Raises `RelayError` (rule `unknown-operator`).

    >>> get("add") == get("add"), get("nn.relu").name
    (True, 'nn.relu')
    """
    known = known_operators()
    if name not in known:
        raise RelayError(
            rule="unknown-operator", message=f"there is no operator `{name}`", remedy=near_names(name, known),
            span=caller_span(),
        )  # fmt: skip
    return Op(known[name])
