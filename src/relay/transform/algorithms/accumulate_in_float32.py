"""Products of bfloat16 give their sums in float32, in which what follows is computed: a rule that targets hand in.

    before: nn.relu(add(nn.dense(%x, W), B))                                         all bfloat16
    after:  cast(nn.relu(add(nn.dense(%x, W, out_dtype="float32"), B')), "bfloat16")

B' is B in float32. Where the target multiplies bfloat16, numbers are that where they are stored, between kernels: the
casts fuse with the product, and what more than one operator takes, or an operator that fuses with another product, is
rounded.

Where it does not, numbers stay in float32 until an operator needs them narrow: on such machines each conversion costs
as much as an operator, and saves no time but that of weights on their way from memory. So weights that are used for a
few rows stay bfloat16; those used for many, and of convolutions, are float32 too, and take twice the memory:

    after:  %0 = nn.relu(add(nn.dense(cast(%x, "float32"), W', out_dtype="float32"), B'))

Numbers were rounded after each operator, and are no more: ROUNDING. Casts of the program's own round as they did.
"""

from __future__ import annotations

import math
from dataclasses import field, replace

from relay.base.dtypes import DType
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import mutable
from relay.ir.expr import Call, Constant, Expr, Function, Op, Tuple
from relay.ir.module import IRModule
from relay.ir.rewriting import Uses, rewrite_with_uses
from relay.ir.types import TensorType
from relay.ops.elementwise.convert import CAST, CastAttributes, cast
from relay.ops.framework.build import call, with_known_type
from relay.ops.framework.record import FusionKind, OperatorRecord, PrecisionRule
from relay.ops.framework.rounding import to_dtype
from relay.ops.nn.attention import ATTENTION
from relay.ops.nn.conv import CONVOLUTIONS
from relay.ops.nn.matmul import BATCH_MATMUL, DENSE, MATMUL
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import Pass, function_pass, pass_factory

_PRODUCTS = (DENSE, MATMUL, BATCH_MATMUL)
_NARROW = DType.BFLOAT16


@pass_factory
def AccumulateInFloat32(few_rows: int | None = None) -> Pass:
    """Sum up products of bfloat16 in float32, and keep what follows in it.

    `few_rows` is for a target that does not multiply bfloat16, and computes with float32 instead: constants by which
    more rows than this (or nobody knows how many) are multiplied are widened when they are compiled. None: it does.
    """

    @function_pass(level=2, floating_point=FloatingPointClass.ROUNDING)
    def accumulate(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
        return rewrite_with_uses(function, _Widening(few_rows).step)

    return accumulate


@mutable(eq=True)
class _Widening:
    """`wide` are the values that stand behind casts made here, by these casts; `casts` the casts of narrow values."""

    few_rows: int | None
    wide: dict[Expr, Expr] = field(default_factory=dict)
    casts: dict[Expr, Expr] = field(default_factory=dict)

    @property
    def _stays_wide(self) -> bool:
        """Whether numbers stay in float32 as long as they can."""
        return self.few_rows is not None

    def step(self, expr: Expr, uses: Uses) -> Expr:
        match expr:
            case Call(op=Op(operator=OperatorRecord() as record)) if self._is_product(expr, record):
                return self._product(expr, record, uses)
            case Call(op=Op(operator=OperatorRecord() as record)) if self._follows(expr, record, uses):
                return self._narrowed(call(record, self._operands(expr, uses), expr.attrs))
            case Call(args=(data,), attrs=CastAttributes(dtype=DType.FLOAT32)) if data in self.wide:
                return self._operand(data, uses)
            case _:
                return expr

    def _is_product(self, product: Call, record: OperatorRecord) -> bool:
        known = record in _PRODUCTS or record in CONVOLUTIONS
        if not known or not all(map(_is_narrow, product.args)):
            return False
        return isinstance(product.args[1], Constant) or any(each in self.wide for each in product.args)

    def _product(self, product: Call, record: OperatorRecord, uses: Uses) -> Expr:
        data, weight = product.args
        if self._stays_wide and isinstance(weight, Constant) and self._has_many_rows(product, record):
            data, weight = self._operand(data, uses), self._as_float32(weight)
        elif self._stays_wide:
            data, weight = (self.wide.get(each, each) for each in (data, weight))
        attributes = replace(product.attrs, out_dtype=DType.FLOAT32)  # pyright: ignore[reportArgumentType, reportCallIssue]
        sums = call(record, (data, weight), attributes)
        return self._narrowed(sums) if _is_narrow(product) else sums

    def _has_many_rows(self, product: Call, record: OperatorRecord) -> bool:
        return _rows(product, record) > (self.few_rows or 0)

    def _follows(self, expr: Call, record: OperatorRecord, uses: Uses) -> bool:
        """Whether an operator may take what was wide, and give what is."""
        follows = record.precision is PrecisionRule.FOLLOW or record is ATTENTION
        if record is CAST or not follows or not _is_narrow(expr):
            return False
        operands = [part for each in expr.args for part in (each.fields if isinstance(each, Tuple) else (each,))]
        if not all(map(_is_narrow, operands)):
            return False
        if self._stays_wide:
            return any(each in self.wide for each in operands)
        single = record.fusion in (FusionKind.ELEMWISE, FusionKind.BROADCAST)
        return single and any(each in self.wide and uses.of(each) == 1 for each in operands)

    def _operands(self, expr: Call, uses: Uses) -> list[Expr]:
        """The operands of an operator in float32. Where numbers are bfloat16 between kernels, it fuses with one of the
        products that it takes, the first, and the results of others are stored."""
        found: list[Expr] = []
        for operand in expr.args:
            is_stored = not self._stays_wide and any(self._is_free(each, uses) for each in expr.args[: len(found)])
            found.append(self._as_float32(operand) if is_stored else self._operand(operand, uses))
        return found

    def _is_free(self, expr: Expr, uses: Uses) -> bool:
        """Whether an operand need not be rounded."""
        return expr in self.wide and (self._stays_wide or uses.of(expr) == 1)

    def _operand(self, expr: Expr, uses: Uses) -> Expr:
        """An operand in float32: not rounded if it can be had so."""
        if isinstance(expr, Tuple):
            return with_known_type(Tuple(tuple(self._operand(each, uses) for each in expr.fields), span=expr.span))
        return self.wide[expr] if self._is_free(expr, uses) else self._as_float32(expr)

    def _as_float32(self, expr: Expr) -> Expr:
        if isinstance(expr, Constant):
            return with_known_type(Constant(to_dtype(expr.data, DType.FLOAT32), span=expr.span))
        if expr not in self.casts:
            self.casts[expr] = cast(expr, DType.FLOAT32)
        return self.casts[expr]

    def _narrowed(self, wide: Expr) -> Expr:
        result = cast(wide, _NARROW)
        self.wide[result] = wide
        return result


def _is_narrow(expr: Expr) -> bool:
    return isinstance(expr.checked_type, TensorType) and expr.checked_type.dtype is _NARROW


def _rows(product: Call, record: OperatorRecord) -> float:
    """How many results each weight has a part in."""
    type_ = product.checked_type
    if record in CONVOLUTIONS or not isinstance(type_, TensorType):
        return math.inf
    rows = type_.shape[-2:-1] if record is BATCH_MATMUL else type_.shape[:-1]
    return math.prod(extent if isinstance(extent, int) else math.inf for extent in rows)
