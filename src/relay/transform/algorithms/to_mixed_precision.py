"""Compute products in 16-bit floats, and what loses by it in 32 bits: ToMixedPrecision.

    before: nn.softmax(nn.relu(add(nn.dense(%x, W), B)))                                            all float32
    after:  %0 = nn.relu(add(nn.dense(cast(%x, "bfloat16"), W'), B'))              W' and B' are bfloat16 constants
            nn.softmax(cast(%0, "float32"))

Which operators become narrow, follow their inputs or stay wide is a fact of their records (`PrecisionRule`). One that
follows becomes narrow when an input is narrow already and all others are, or are constants or variables, or small, and
made without a product: the scales of a normalisation, of parameters that are not known yet. Types of
functions stay as they are: casts stand where narrow values meet wide users, one for each value and type; a product
whose one user is wide gives its 32-bit sum instead. Sums are kept in float32 in any case. Constants out of the range of
the narrow type keep their operators wide. Wants graph normal form, and batch_norm written as arithmetic
(SimplifyInference). Floating point: other element types, so no level has it: users ask for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType, dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import mutable
from relay.ir.expr import Call, Constant, Expr, Function, Op, Tuple, TupleGetItem, Var
from relay.ir.module import IRModule
from relay.ir.rewriting import rebuild_typed, typed_as, with_body
from relay.ir.traversal import body_nodes, children, rebuild
from relay.ir.types import TensorType, TupleType, Type
from relay.ops.elementwise.convert import CastAttributes, cast
from relay.ops.framework.build import call, with_known_type
from relay.ops.framework.record import OperatorRecord, PrecisionRule
from relay.ops.framework.rounding import to_dtype
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import Pass, function_pass, pass_factory

_WIDE = DType.FLOAT32
_NARROW = (DType.FLOAT16, DType.BFLOAT16)
_FAR_FEWER = 8  # times


@pass_factory
def ToMixedPrecision(mixed_precision_type: str | DType = DType.FLOAT16) -> Pass:
    """Compute products in 16-bit floats, and what loses by it in 32 bits.

    For `float16` or `bfloat16`.

    Raises `RelayError` (rule `mixed-precision-type`) for other types.
    """
    narrow = dtype_of(mixed_precision_type)
    if narrow not in _NARROW:
        raise RelayError(
            rule="mixed-precision-type", message="mixed precision needs a 16-bit floating-point type",
            expected=" or ".join(_NARROW), found=narrow,
        )  # fmt: skip

    @function_pass(level=0, floating_point=FloatingPointClass.ROUNDING)
    def run(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
        if function.attrs.get("Primitive"):
            return function
        versions = _Versions(narrow)
        order = body_nodes(function)
        versions.count_uses(order, function.body)
        for expr in order:
            versions.visit(expr)
        return with_body(function, versions.wide(function.body))

    return run


@mutable(eq=True)
class _Versions:
    """Each old expression's new one (`made`), and its casts to the type it had (`widened`) and to the narrow type.
    `before_products` are the old ones that no product led to."""

    dtype: DType
    uses: dict[Expr, int] = field(default_factory=dict)
    made: dict[Expr, Expr] = field(default_factory=dict)
    widened: dict[Expr, Expr] = field(default_factory=dict)
    narrowed: dict[Expr, Expr] = field(default_factory=dict)
    before_products: set[Expr] = field(default_factory=set)

    def count_uses(self, order: Sequence[Expr], body: Expr) -> None:
        for expr in (*(child for node in order for child in children(node)), body):
            self.uses[expr] = self.uses.get(expr, 0) + 1

    def visit(self, expr: Expr) -> None:
        """Make the new version of an expression whose parts have theirs."""
        self._visit(expr)
        parts = children(expr)
        if all(part in self.before_products for part in parts) and not self._is_made_narrow(expr):
            self.before_products.add(expr)

    def _visit(self, expr: Expr) -> None:
        match expr:
            case Call(op=Op(operator=OperatorRecord() as record)):
                self.made[expr] = self._operator(expr, record)
            case TupleGetItem(tuple_value=value) if not isinstance(value, Tuple) and self._is_made_narrow(value):
                self.made[expr] = with_known_type(rebuild(expr, (self.made[value],)))
            case Tuple():
                pass  # its users take its fields, or the whole by `wide`
            case _:
                self.made[expr] = rebuild_typed(expr, [self.wide(part) for part in children(expr)])

    def wide(self, expr: Expr) -> Expr:
        """The new version in the type that the expression had."""
        if expr not in self.widened:
            self.widened[expr] = typed_as(self._wide(expr), expr)
        return self.widened[expr]

    def _wide(self, expr: Expr) -> Expr:
        if isinstance(expr, Tuple):
            return rebuild_typed(expr, [self.wide(each) for each in expr.fields])
        made = self.made[expr]
        if not self._is_made_narrow(expr):
            return made
        if isinstance(made.checked_type, TupleType):
            count = len(made.checked_type.fields)
            return Tuple(tuple(cast(with_known_type(TupleGetItem(made, at)), _WIDE) for at in range(count)))
        match made:
            case Call(op=Op(operator=OperatorRecord(precision=PrecisionRule.NARROW) as record), attrs=attrs) if (
                self.uses[expr] == 1 and getattr(attrs, "out_dtype", self) is None
            ):
                return call(record, made.args, _giving(attrs, _WIDE))
            case _:
                return cast(made, _WIDE)

    def narrow(self, expr: Expr) -> Expr:
        """The new version in the narrow type; of what is no 32-bit float, as it is."""
        if expr not in self.narrowed:
            self.narrowed[expr] = self._narrow(expr)
        return self.narrowed[expr]

    def _narrow(self, expr: Expr) -> Expr:
        if isinstance(expr, Tuple):
            return with_known_type(rebuild(expr, [self.narrow(each) for each in expr.fields]))
        made = self.made[expr]
        if _dtypes(made.checked_type) != {_WIDE} or not isinstance(made.checked_type, TensorType):
            return made
        if isinstance(made, Constant):
            return with_known_type(Constant(to_dtype(made.data, self.dtype), span=made.span))
        return self._before_widening(made) or cast(made, self.dtype)

    def _before_widening(self, expr: Expr) -> Expr | None:
        """What a cast to 32 bits widens, if that is of the narrow type."""
        match expr:
            case Call(args=(data,), attrs=CastAttributes(dtype=dtype)) if dtype is _WIDE:
                return data if _dtypes(data.checked_type) == {self.dtype} else None
            case _:
                return None

    def _is_made_narrow(self, expr: Expr) -> bool:
        """Whether the new version of a 32-bit expression is narrow."""
        made = self.made.get(expr, expr)
        return _WIDE in _dtypes(expr.checked_type) and self.dtype in _dtypes(made.checked_type)

    def _is_ready(self, operand: Expr, user: Expr) -> bool:
        """Whether a narrow version costs nothing worth speaking of: it is there, or of a constant or variable, or of a
        few numbers that no product led to."""
        if isinstance(self.made[operand], (Constant, Var)) or self._comes_narrow(operand):
            return True
        return operand in self.before_products and _is_small(operand.checked_type, user.checked_type)

    def _comes_narrow(self, expr: Expr) -> bool:
        return self._is_made_narrow(expr) or self._before_widening(self.made[expr]) is not None

    def _fits(self, expr: Expr) -> bool:
        """Whether no number of a constant is out of the narrow range."""
        if not isinstance(expr, Constant) or expr.dtype is not _WIDE:
            return True
        wide = expr.data.astype(np.float32, copy=False)
        rounded = to_dtype(wide, self.dtype).astype(np.float32)
        return bool((np.isfinite(rounded) == np.isfinite(wide)).all())

    def _operator(self, expr: Call, record: OperatorRecord) -> Expr:
        if isinstance(expr.attrs, CastAttributes):
            return self._cast(expr, expr.attrs.dtype)
        if self._becomes_narrow(expr, record):
            return call(record, [self.narrow(argument) for argument in expr.args], expr.attrs)
        return rebuild_typed(expr, (expr.op, *map(self.wide, expr.args)))

    def _cast(self, expr: Call, dtype: DType) -> Expr:
        (data,) = expr.args
        if dtype is self.dtype and _dtypes(data.checked_type) == {_WIDE}:
            return self.narrow(data)
        return rebuild_typed(expr, (expr.op, self.made[data]))

    def _becomes_narrow(self, expr: Call, record: OperatorRecord) -> bool:
        operands = [operand for operand in _operands(expr) if _is_float(operand)]
        floats = {dtype for operand in operands for dtype in _dtypes(operand.checked_type)}
        if floats != {_WIDE} or expr.checked_type is None or not all(self._fits(operand) for operand in operands):
            return False
        match record.precision:
            case PrecisionRule.NARROW:
                return True
            case PrecisionRule.FOLLOW:
                ready = all(self._is_ready(operand, expr) for operand in operands)
                return ready and any(map(self._comes_narrow, operands))
            case PrecisionRule.WIDE:
                return False


def _operands(expr: Call) -> Iterable[Expr]:
    """What an operator reads, tuples opened."""
    for argument in expr.args:
        yield from argument.fields if isinstance(argument, Tuple) else (argument,)


def _is_float(expr: Expr) -> bool:
    return any(dtype.is_float for dtype in _dtypes(expr.checked_type))


def _is_small(operand: Type | None, result: Type | None) -> bool:
    """Whether a tensor has far fewer numbers than a result that it is broadcast to."""
    if not isinstance(operand, TensorType) or not isinstance(result, TensorType):
        return False
    few = math.prod(extent if isinstance(extent, int) else math.inf for extent in operand.shape)
    return few * _FAR_FEWER <= math.prod(extent for extent in result.shape if isinstance(extent, int))


def _dtypes(type_: Type | None) -> set[DType]:
    """The element types in a tensor or a tuple of tensors."""
    match type_:
        case TensorType(_, dtype):
            return {dtype}
        case TupleType(fields):
            return set().union(*map(_dtypes, fields))
        case _:
            return set()


def _giving(attributes: Any, dtype: DType) -> Any:
    return replace(attributes, out_dtype=dtype)
