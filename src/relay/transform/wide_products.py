"""Products of bfloat16 give their sums in float32, in which what follows is computed, and where the target multiplies
nothing narrower take their data so too: what AlterOpLayout writes before it lays out.

    before: nn.relu(add(nn.dense(%x, W), B))                                         all bfloat16
    after:  cast(nn.relu(add(nn.dense(%x, W, out_dtype="float32"), B')), "bfloat16")
    or:     cast(nn.relu(add(nn.dense(cast(%x, "float32"), W'), B')), "bfloat16")    W' and B' are W and B in float32

Numbers are bfloat16 where they are stored, between kernels: the casts fuse with the product. In between they were
rounded after each operator, and are no more: ROUNDING. What more than one operator takes is rounded, since it is stored.

W' takes twice the memory of W, so that it is worth it only where each weight is used for many rows; for a few, weights
are widened on their way from memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from relay.base.dtypes import DType
from relay.ir.expr import Call, Constant, Expr, Function, Op
from relay.ir.types import TensorType
from relay.ops.build import call, with_known_type
from relay.ops.conv import CONVOLUTIONS
from relay.ops.convert import CAST, cast
from relay.ops.matmul import BATCH_MATMUL, DENSE, MATMUL
from relay.ops.record import FusionKind, OperatorRecord
from relay.ops.rounding import to_dtype
from relay.transform.context import LayoutPreferences
from relay.transform.rewriting import Uses, rewrite_typed
from relay.transform.word_products import takes_words

_PRODUCTS = (DENSE, MATMUL, BATCH_MATMUL)
_NARROW = DType.BFLOAT16


def widened(function: Function, preferences: LayoutPreferences) -> Function:
    """A function with its products of bfloat16 by constants as `preferences` want them."""
    words = preferences.words
    if preferences.bfloat16_rows is None and (words is None or _NARROW not in words.dtypes):
        return function
    return rewrite_typed(function, _Widening(preferences).step)


@dataclass(slots=True)
class _Widening:
    """`wide` are the values that stand behind casts made here, by these casts."""

    preferences: LayoutPreferences
    wide: dict[int, Expr] = field(default_factory=dict)

    def step(self, expr: Expr, uses: Uses) -> Expr:
        match expr:
            case Call(op=Op(operator=OperatorRecord() as record), args=(_, Constant())) if _is_product(expr, record):
                return self._product(expr, record)
            case Call(op=Op(operator=OperatorRecord() as record)) if self._follows(expr, record, uses):
                return self._narrowed(call(record, [self._operand(each, uses) for each in expr.args], expr.attrs))
            case _:
                return expr

    def _product(self, product: Call, record: OperatorRecord) -> Expr:
        most_rows, arguments = self.preferences.bfloat16_rows, product.args
        if most_rows is not None and _rows(product, record) > most_rows and not takes_words(self.preferences, product):
            arguments = tuple(map(_as_float32, arguments))
        attributes = replace(product.attrs, out_dtype=DType.FLOAT32)  # pyright: ignore[reportArgumentType, reportCallIssue]
        sums = call(record, arguments, attributes)
        return self._narrowed(sums) if _is_narrow(product) else sums

    def _follows(self, expr: Call, record: OperatorRecord, uses: Uses) -> bool:
        """Whether an operator on single elements is the only one to take what was wide, and is narrow itself."""
        single = record.fusion in (FusionKind.ELEMWISE, FusionKind.BROADCAST) and record is not CAST
        if not single or not all(map(_is_narrow, (expr, *expr.args))):
            return False
        return any(id(each) in self.wide and uses.of(each) == 1 for each in expr.args)

    def _operand(self, expr: Expr, uses: Uses) -> Expr:
        """An operand in float32: not rounded where nothing else takes it."""
        return self.wide[id(expr)] if id(expr) in self.wide and uses.of(expr) == 1 else _as_float32(expr)

    def _narrowed(self, wide: Expr) -> Expr:
        result = cast(wide, _NARROW)
        self.wide[id(result)] = wide
        return result


def _as_float32(expr: Expr) -> Expr:
    if isinstance(expr, Constant):
        return with_known_type(Constant(to_dtype(expr.data, DType.FLOAT32), span=expr.span))
    return cast(expr, DType.FLOAT32)


def _is_product(product: Call, record: OperatorRecord) -> bool:
    return (record in _PRODUCTS or record in CONVOLUTIONS) and all(map(_is_narrow, product.args))


def _is_narrow(expr: Expr) -> bool:
    return isinstance(expr.checked_type, TensorType) and expr.checked_type.dtype is _NARROW


def _rows(product: Call, record: OperatorRecord) -> float:
    """How many results each weight has a part in."""
    type_ = product.checked_type
    if record in CONVOLUTIONS or not isinstance(type_, TensorType):
        return math.inf
    rows = type_.shape[-2:-1] if record is BATCH_MATMUL else type_.shape[:-1]
    return math.prod(extent if isinstance(extent, int) else math.inf for extent in rows)
