"""Write attention, where it stands as products and a softmax, as one operator: RecognizeAttention.

    before: %0 = multiply(nn.batch_matmul(%q, %k, transpose_b=True), 0.125f)
            nn.batch_matmul(nn.softmax(add(%0, %mask)), %v)
    after:  nn.attention(%q, %k, %v, %mask, scale=0.125f)

The scale is a constant that scores are multiplied with or divided by, or queries or keys before the product, or none.
The mask is added, or chooses by `where` between scores and a constant, or there is none. Batches may be split and
joined by reshapes on the way, and either product may have its second matrix transposed. Products that are used
elsewhere too, and a softmax along other axes, stay; so do fewer than 16 rows of queries, as in generating words one by
one. Floating point: ROUNDING.
"""

from __future__ import annotations

import math

import numpy as np

from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.dataflow.builders import is_constant, is_op, wildcard
from relay.dataflow.matching import Match, Matcher
from relay.dataflow.patterns import Pattern
from relay.ir.expr import Call, Constant, Expr, Function, Op, const
from relay.ir.module import IRModule
from relay.ir.rewriting import Uses, rewrite_with_uses
from relay.ir.types import Dimension, TensorType
from relay.ops.elementwise.elementwise_unary import logical_not
from relay.ops.manipulation.shape import reshape
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.attention import attention
from relay.ops.nn.matmul import BatchMatmulAttributes
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass

# The kernel of attention turns all keys first, so that lanes lie along them. Products of few rows do not: against those
# and a softmax it has 0.25 of the speed for 1 row, 0.75 for 4, 0.87 for 7, and 1.04 for 16.
_FEWEST_ROWS = 16


def _reshaped(pattern: Pattern) -> Pattern:
    return pattern | is_op("reshape")(pattern)


_query, _key, _value, _mask = wildcard(), wildcard(), wildcard(), wildcard()
_factor, _divisor, _fill = is_constant(), is_constant(), is_constant()
_products = is_op("nn.batch_matmul")(_query, _key)
_rank_of_scores = _reshaped(_products)
_scores = _reshaped(_rank_of_scores | _rank_of_scores * _factor | _rank_of_scores / _divisor)
_added = _scores + _mask
_kept = is_op("where")(_mask, _scores, _fill)
_dropped = is_op("where")(_mask, _fill, _scores)
_softmax = is_op("nn.softmax")(_scores | _added | _kept | _dropped)
_weights = _reshaped(_softmax)
_attention = is_op("nn.batch_matmul")(_weights, _value)
_ENDS = (_query, _key, _value, _mask, _factor, _divisor, _fill, _attention)


@function_pass(level=2, floating_point=FloatingPointClass.ROUNDING)
def RecognizeAttention(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Replace products with a softmax between them by nn.attention."""
    matcher = Matcher()

    def step(expr: Expr, uses: Uses) -> Expr:
        if not isinstance(expr, Call) or not isinstance(expr.attrs, BatchMatmulAttributes):
            return expr
        found = matcher.match(_attention, expr)
        return expr if found is None else _recognized(expr, found, uses) or expr

    return rewrite_with_uses(function, step)


@frozen
class _Mask:
    value: Expr
    masked: float


def _recognized(expr: Call, match: Match, uses: Uses) -> Expr | None:
    ends = {match.expr(end) for end in _ENDS if end in match}
    inner = {part for pattern in match for part in match[pattern] if isinstance(part, Call)}
    if any(uses.of(part) > 1 for part in inner - ends):
        return None
    whole, scores, products = (_type(each) for each in (expr, match.expr(_softmax), match.expr(_products)))
    if whole is None or scores is None or products is None or not _are_plain(match, scores, products):
        return None
    mask, scale = _mask_of(match, scores), _scale_of(match)
    if mask is None or scale is None:
        return None
    query, by_query = _unscaled(match.expr(_query))
    key, by_key = _unscaled(match.expr(_key))
    value = match.expr(_value)
    keys = key if _transposes(match.expr(_products)) else _transposed(key)
    values = _transposed(value) if _transposes(expr) else value
    matrices = [_in_batches(each, products.shape[0], scores.shape[:-2]) for each in (query, keys, values)]
    first, second, third = matrices
    if first is None or second is None or third is None:
        return None
    result = attention(first, second, third, mask.value, scale * by_query * by_key, mask.masked)
    return result if len(scores.shape) == len(whole.shape) else reshape(result, whole.shape)


def _are_plain(match: Match, scores: TensorType, products: TensorType) -> bool:
    """Whether the products and the softmax are over the last axes, in one element type, and reshapes leave rows, of
    which there are enough."""
    softmax, weights = match.expr(_softmax), _type(match.expr(_weights))
    calls = (match.expr(_products), match.expr(_attention))
    attributes = [call.attrs for call in calls if isinstance(call, Call)]
    if not all(isinstance(a, BatchMatmulAttributes) and not a.transpose_a and a.out_dtype is None for a in attributes):
        return False
    along = getattr(getattr(softmax, "attrs", None), "axis", None)
    if not isinstance(along, int) or along % len(scores.shape) != len(scores.shape) - 1 or weights is None:
        return False
    rows = scores.shape[-2]
    if isinstance(rows, int) and rows < _FEWEST_ROWS:
        return False
    same_rows = scores.shape[-2:] == products.shape[-2:] == weights.shape[-2:]
    kept = _type(match.expr(_scores))
    return same_rows and weights.shape == products.shape and kept == scores and scores.dtype is products.dtype


def _mask_of(match: Match, scores: TensorType) -> _Mask | None:
    if _added in match:
        return _Mask(match.expr(_mask), -math.inf)
    if _kept not in match and _dropped not in match:
        return _Mask(const(0.0, scores.dtype), -math.inf)
    chosen, fill = _type(match.expr(_mask)), _number(match.expr(_fill))
    if chosen is None or not chosen.dtype.is_bool or fill is None:
        return None
    mask = match.expr(_mask)
    return _Mask(mask if _kept in match else logical_not(mask), fill)


def _scale_of(match: Match) -> float | None:
    if _factor in match:
        return _finite(match.expr(_factor))
    if _divisor in match:
        divisor = _finite(match.expr(_divisor))
        return 1 / divisor if divisor else None
    return 1.0


def _unscaled(matrices: Expr) -> tuple[Expr, float]:
    """What is multiplied with a constant, and the constant; 1 where nothing is."""
    match matrices:
        case (
            Call(op=Op(name="multiply"), args=(data, Constant() as scale))
            | Call(op=Op(name="multiply"), args=(Constant() as scale, data))
        ):
            factor = _finite(scale)
        case Call(op=Op(name="divide"), args=(data, Constant() as scale)):
            divisor = _finite(scale)
            factor = 1 / divisor if divisor else None
        case _:
            return matrices, 1.0
    same = _type(data) == _type(matrices)
    return (data, factor) if factor is not None and same else (matrices, 1.0)


def _transposes(product: Expr) -> bool:
    """Whether the second matrices of a product come with a row for each of its columns."""
    return isinstance(product, Call) and isinstance(product.attrs, BatchMatmulAttributes) and product.attrs.transpose_b


def _in_batches(matrices: Expr, count: Dimension, batch: tuple[Dimension, ...]) -> Expr | None:
    """Matrices with the batch axes of the scores; None where one matrix serves several batches."""
    type_ = _type(matrices)
    if type_ is None or type_.shape[0] != count:
        return None
    return matrices if len(batch) == 1 else reshape(matrices, (*batch, *type_.shape[1:]))


def _transposed(matrices: Expr) -> Expr:
    return transpose(matrices, (0, 2, 1))


def _number(expr: Expr) -> float | None:
    """The number that a constant of one element is."""
    if not isinstance(expr, Constant) or expr.data.size != 1:
        return None
    number = float(expr.data.reshape(-1)[0])
    return None if np.isnan(number) else number


def _finite(expr: Expr) -> float | None:
    number = _number(expr)
    return number if number is not None and math.isfinite(number) else None


def _type(expr: Expr) -> TensorType | None:
    return expr.checked_type if isinstance(expr.checked_type, TensorType) else None
