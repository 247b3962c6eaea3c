"""Elements where a mask is set, and others put in their place.   x[.., ..] × mask[..] → [k, ..]"""

from __future__ import annotations

from relay.base.dtypes import DType
from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ops.checked import checked
from relay.ops.creation.create import shape_of, zeros
from relay.ops.elementwise.comparison import equal, less_equal, where
from relay.ops.elementwise.elementwise_binary import maximum, subtract
from relay.ops.framework.dimensions import product
from relay.ops.indexing.argwhere import argwhere
from relay.ops.indexing.index import gather_nd, take
from relay.ops.manipulation.combine import concatenate
from relay.ops.manipulation.shape import reshape
from relay.ops.manipulation.transpose import transpose
from relay.ops.reduction import reduce
from relay.ops.reduction.scan import cumsum

_LONG = DType.INT64


def chosen_by(mask: Expr, rank: int, data: Expr) -> Expr:
    """The entries of the first `rank` axes where the mask over these is set, in their order."""
    return gather_nd(data, transpose(argwhere(mask), (1, 0)), index_rank=rank)


def put_where(mask: Value, data: Value, entries: Expr, what: str, *, may_be_more: bool = False) -> Expr:
    """x with the entries[k, ..], one after another, where the mask over its leading axes is set. The run ends where
    they are not as many as these places (`what` is given them), or fewer if there `may_be_more`."""
    inner = data.shape[mask.rank :]
    places = as_dtype(reshape(mask.expr, (product(mask.shape),), allowzero=True), _LONG)
    count, given = reduce.sum(places, (0,)), take(shape_of(entries, _LONG), const(0, _LONG))
    fits = less_equal(count, given) if may_be_more else equal(count, given)
    order = subtract(cumsum(checked(places, fits, f"{what} has a value for each place of the mask")), const(1, _LONG))
    # Before the first place the order is -1; where there are no entries, there is the one behind them.
    rows = concatenate([entries, zeros((1, *inner), data.dtype)], 0)
    found = take(rows, maximum(order, const(0, _LONG)), axis=0)
    chosen = reshape(as_dtype(mask.expr, DType.BOOL), (*mask.shape, *(1,) * len(inner)), allowzero=True)
    return where(chosen, reshape(found, data.shape, allowzero=True), data.expr)
