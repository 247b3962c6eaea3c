"""Products of bfloat16 in float32, where the target multiplies nothing narrower: what AlterOpLayout writes them as.

    before: nn.dense(%x, W)                                                          %x and W bfloat16
    after:  cast(nn.dense(cast(%x, "float32"), W'), "bfloat16")                      W' is W in float32

The sums are the same, and are rounded once, as before. Numbers are bfloat16 where they are stored, between kernels: the
casts fuse with the product. W' takes twice the memory of W, so that it is worth it only where each weight is used for
many rows; for a few, weights are widened on their way from memory.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from relay.base.dtypes import DType
from relay.ir.expr import Call, Constant, Expr, Function, Op
from relay.ir.types import TensorType
from relay.ops.build import call, with_known_type
from relay.ops.conv import CONVOLUTIONS
from relay.ops.convert import cast
from relay.ops.matmul import BATCH_MATMUL, DENSE, MATMUL
from relay.ops.record import OperatorRecord
from relay.ops.rounding import to_dtype
from relay.transform.context import LayoutPreferences
from relay.transform.rewriting import Uses, rewrite_typed
from relay.transform.word_products import takes_words

_PRODUCTS = (DENSE, MATMUL, BATCH_MATMUL)


def widened(function: Function, preferences: LayoutPreferences) -> Function:
    """A function with its products of bfloat16 by constants in float32, as far as `preferences` want that."""
    most_rows = preferences.bfloat16_rows
    if most_rows is None:
        return function

    def on_call(expr: Expr, _: Uses) -> Expr:
        match expr:
            case Call(op=Op(operator=OperatorRecord() as record), args=(data, Constant() as weight), attrs=attrs) if (
                _is_narrow(expr, record) and _rows(expr, record) > most_rows and not takes_words(preferences, expr)
            ):
                return _in_float32(record, data, weight, attrs)
            case _:
                return expr

    return rewrite_typed(function, on_call)


def _is_narrow(product: Call, record: OperatorRecord) -> bool:
    types = [argument.checked_type for argument in product.args]
    known = record in _PRODUCTS or record in CONVOLUTIONS
    return known and all(isinstance(type_, TensorType) and type_.dtype is DType.BFLOAT16 for type_ in types)


def _rows(product: Call, record: OperatorRecord) -> float:
    """How many results each weight has a part in."""
    type_ = product.checked_type
    if record in CONVOLUTIONS or not isinstance(type_, TensorType):
        return math.inf
    rows = type_.shape[-2:-1] if record is BATCH_MATMUL else type_.shape[:-1]
    return math.prod(extent if isinstance(extent, int) else math.inf for extent in rows)


def _in_float32(record: OperatorRecord, data: Expr, weight: Constant, attributes: Any) -> Expr:
    constant = with_known_type(Constant(to_dtype(weight.data, DType.FLOAT32), span=weight.span))
    product = call(record, (cast(data, DType.FLOAT32), constant), replace(attributes, out_dtype=DType.FLOAT32))
    wanted = attributes.out_dtype or DType.BFLOAT16
    return product if wanted is DType.FLOAT32 else cast(product, wanted)
