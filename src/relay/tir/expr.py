"""The values of the loop language: machine numbers, scalar or vector.

    value ::= Imm | ValueVar | IndexValue | Holds | Load | Unary | Binary | Compare | Select | Cast | Call
            | Broadcast | RampValue
    index ::= arith.IntExpr | Ramp

Two kinds of integers meet here and are never mixed: *indices* are the mathematical integers of `arith`; *values* are
machine numbers that wrap and round as their dtype says. `IndexValue` and `Holds` lift an index or a comparison of
indices to a value; `ValueIndex` lowers a value to an index (what `take` needs).

Every value has `dtype` and `lanes` (1 for a scalar).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias, Union, cast, get_args

import numpy as np

from relay.arith.expr import Comparison, IntExpr, Node, Unordered
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.tir.buffer import Buffer
from relay.tir.operands import Untyped, holds, no_operand, not_held, two_dtypes, without_dtype


class ValueBase(Unordered):
    """Operators of every value form, so that compute functions read as formulas; `matched` says what they may meet."""

    __slots__ = ()

    def __add__(self, other: ValueLike) -> Value:
        return binary(BinaryOp.ADD, cast(Value, self), other)

    def __radd__(self, other: ValueLike) -> Value:
        return binary(BinaryOp.ADD, other, cast(Value, self))

    def __sub__(self, other: ValueLike) -> Value:
        return binary(BinaryOp.SUBTRACT, cast(Value, self), other)

    def __rsub__(self, other: ValueLike) -> Value:
        return binary(BinaryOp.SUBTRACT, other, cast(Value, self))

    def __mul__(self, other: ValueLike) -> Value:
        return binary(BinaryOp.MULTIPLY, cast(Value, self), other)

    def __rmul__(self, other: ValueLike) -> Value:
        return binary(BinaryOp.MULTIPLY, other, cast(Value, self))

    def __truediv__(self, other: ValueLike) -> Value:
        return binary(BinaryOp.DIVIDE, cast(Value, self), other)

    def __rtruediv__(self, other: ValueLike) -> Value:
        return binary(BinaryOp.DIVIDE, other, cast(Value, self))

    def __floordiv__(self, other: ValueLike) -> Value:
        return binary(BinaryOp.FLOOR_DIVIDE, cast(Value, self), other)

    def __rfloordiv__(self, other: ValueLike) -> Value:
        return binary(BinaryOp.FLOOR_DIVIDE, other, cast(Value, self))

    def __mod__(self, other: ValueLike) -> Value:
        return binary(BinaryOp.FLOOR_MOD, cast(Value, self), other)

    def __rmod__(self, other: ValueLike) -> Value:
        return binary(BinaryOp.FLOOR_MOD, other, cast(Value, self))

    def __pow__(self, other: ValueLike) -> Value:
        return binary(BinaryOp.POWER, cast(Value, self), other)

    def __rpow__(self, other: ValueLike) -> Value:
        return binary(BinaryOp.POWER, other, cast(Value, self))

    def __neg__(self) -> Value:
        return Unary(UnaryOp.NEGATIVE, cast(Value, self))

    def __abs__(self) -> Value:
        return Unary(UnaryOp.ABS, cast(Value, self))


class UnaryOp(StrEnum):
    """Functions of one number. The transcendental ones are emitted as polynomials by the targets."""

    NEGATIVE = "negative"
    ABS = "abs"
    SIGN = "sign"
    EXP = "exp"
    LOG = "log"
    LOG2 = "log2"
    LOG10 = "log10"
    SQRT = "sqrt"
    RSQRT = "rsqrt"
    TANH = "tanh"
    SIGMOID = "sigmoid"
    ERF = "erf"
    SIN = "sin"
    COS = "cos"
    TAN = "tan"
    ASIN = "asin"
    ACOS = "acos"
    ATAN = "atan"
    SINH = "sinh"
    COSH = "cosh"
    ASINH = "asinh"
    ACOSH = "acosh"
    ATANH = "atanh"
    FLOOR = "floor"
    CEIL = "ceil"
    TRUNC = "trunc"
    ROUND = "round"  # half away from zero
    NOT = "not"  # logical for bool, bitwise for integers
    IS_NAN = "is_nan"
    IS_INF = "is_inf"
    IS_FINITE = "is_finite"


PREDICATES = frozenset({UnaryOp.IS_NAN, UnaryOp.IS_INF, UnaryOp.IS_FINITE})


class BinaryOp(StrEnum):
    """Functions of two numbers of one dtype. Integer division and shifts are total."""

    ADD = "add"
    SUBTRACT = "subtract"
    MULTIPLY = "multiply"
    DIVIDE = "divide"  # truncates for integers
    MOD = "mod"  # sign of the dividend (C's fmod)
    FLOOR_DIVIDE = "floor_divide"
    FLOOR_MOD = "floor_mod"
    POWER = "power"
    MINIMUM = "minimum"  # NaN wins
    MAXIMUM = "maximum"  # NaN wins
    AND = "and"  # logical for bool, bitwise for integers
    OR = "or"
    XOR = "xor"
    LEFT_SHIFT = "left_shift"
    RIGHT_SHIFT = "right_shift"


class CompareOp(StrEnum):
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="
    EQUAL = "=="
    NOT_EQUAL = "!="


@frozen
class Imm(ValueBase):
    """A constant."""

    value: int | float | bool
    dtype: DType
    lanes: int = 1


@frozen(eq=False)
class ValueVar(ValueBase):
    """A scalar or vector name bound by `LetValue`, or a scalar parameter of a PrimFunc."""

    name: str
    dtype: DType
    lanes: int = 1


@frozen
class IndexValue(ValueBase):
    """An index as a machine number (`arange`, `one_hot`); wraps to `dtype`."""

    index: IntExpr
    dtype: DType
    lanes: int = 1


@frozen
class Holds(ValueBase):
    """A comparison of indices as a bool (padding, masks); what the partitioning of loops can see through."""

    condition: Comparison
    lanes: int = 1

    @property
    def dtype(self) -> DType:
        return DType.BOOL


@frozen
class Ramp:
    """The index vector `base, base + stride, …` of `lanes` entries; stands in an index of Load or Store.

    Where the indices right before it are the number 0 it may run over the end of its axis, and goes on in the next row
    of the axis before: `a[0, ramp(8, 1, 16)]` are 16 elements in row-major order (`joined`).
    """

    base: IntExpr
    stride: int
    lanes: int


@frozen
class Load(ValueBase):
    """`buffer[indices]`. At most one index is a Ramp, and `lanes` is its length; masked-off lanes are zero, but of one
    element that all lanes read targets may give these too."""

    buffer: Buffer
    indices: tuple[Index, ...]
    mask: Value | None = None

    @property
    def is_uniform(self) -> bool:
        """Whether all lanes read the same element."""
        return not any(isinstance(index, Ramp) and index.stride != 0 for index in self.indices)

    @property
    def dtype(self) -> DType:
        return self.buffer.dtype

    @property
    def lanes(self) -> int:
        return index_lanes(self.indices)


@frozen
class Unary(ValueBase):
    op: UnaryOp
    operand: Value

    @property
    def dtype(self) -> DType:
        return DType.BOOL if self.op in PREDICATES else self.operand.dtype

    @property
    def lanes(self) -> int:
        return self.operand.lanes


@frozen
class Binary(ValueBase):
    """Both sides have one dtype and one number of lanes."""

    op: BinaryOp
    left: Value
    right: Value

    @property
    def dtype(self) -> DType:
        return self.left.dtype

    @property
    def lanes(self) -> int:
        return self.left.lanes


@frozen
class Compare(ValueBase):
    op: CompareOp
    left: Value
    right: Value

    @property
    def dtype(self) -> DType:
        return DType.BOOL

    @property
    def lanes(self) -> int:
        return self.left.lanes


@frozen
class Select(ValueBase):
    """`then` where `condition`, else `otherwise`. A load on the side not taken is never executed.

    The condition of vectors may be a scalar, which decides for all lanes; where it is a vector both sides are executed,
    and loads carry masks.
    """

    condition: Value
    then: Value
    otherwise: Value

    @property
    def dtype(self) -> DType:
        return self.then.dtype

    @property
    def lanes(self) -> int:
        return self.then.lanes


@frozen
class Cast(ValueBase):
    """Conversion by value; float to integer truncates and is total (NaN gives 0, out of range saturates)."""

    operand: Value
    dtype: DType

    @property
    def lanes(self) -> int:
        return self.operand.lanes


@frozen
class Call(ValueBase):
    """A target intrinsic or an external function by name (`fma`, `dot4`, `reinterpret`)."""

    name: str
    arguments: tuple[Value, ...]
    dtype: DType
    lanes: int = 1


@frozen
class Broadcast(ValueBase):
    """A scalar copied to every lane; a vector whose lanes are each copied as often as `lanes` asks for: 0, 0, 1, 1."""

    operand: Value
    lanes: int

    @property
    def dtype(self) -> DType:
        return self.operand.dtype


@frozen
class RampValue(ValueBase):
    """The lanes `base + stride * lane` as machine numbers: what `IndexValue` of a vectorised loop becomes."""

    base: IntExpr
    stride: int
    dtype: DType
    lanes: int


Index: TypeAlias = Union[IntExpr, Ramp]
Value: TypeAlias = Union[
    Imm, ValueVar, IndexValue, Holds, Load, Unary, Binary, Compare, Select, Cast, Call, Broadcast, RampValue
]
ValueLike: TypeAlias = Union[Value, IntExpr, float, bool]
"""A machine number, an index, or a Python number: the latter two take an element type from a machine number."""


def index_lanes(indices: tuple[Index, ...]) -> int:
    """How many elements these indices name: the length of the one Ramp among them, or 1."""
    for index in indices:
        if isinstance(index, Ramp):
            return index.lanes
    return 1


def imm(value: float | bool, dtype: DType | str, lanes: int = 1) -> Imm:
    """A constant of `dtype`, stored as that dtype's kind of Python number."""
    dtype = DType(dtype)
    if dtype.is_float:
        return Imm(float(value), dtype, lanes)
    return Imm(bool(value) if dtype.is_bool else int(value), dtype, lanes)


def same_lanes(value: Value, lanes: int) -> Value:
    """`value` with `lanes` lanes: itself, or a scalar broadcast."""
    return value if value.lanes == lanes else Broadcast(value, lanes)


def binary(op: BinaryOp, left: ValueLike, right: ValueLike) -> Value:
    """`op` on two values of one dtype, as `matched` makes them; scalars are broadcast."""
    left, right = matched(left, right)
    lanes = max(left.lanes, right.lanes)
    return Binary(op, same_lanes(left, lanes), same_lanes(right, lanes))


def compare(op: CompareOp, left: ValueLike, right: ValueLike) -> Value:
    left, right = matched(left, right)
    lanes = max(left.lanes, right.lanes)
    return Compare(op, same_lanes(left, lanes), same_lanes(right, lanes))


def matched(left: ValueLike, right: ValueLike) -> tuple[Value, Value]:
    """Two operands as machine numbers of one dtype: Python numbers and indices take that of the other side.

    Raises `RelayError`: `operand-dtype` where neither side has a dtype, or one that does not hold the other side;
    `operand-dtypes` where they have two; `operand` where one is no operand.
    """
    if isinstance(left, ValueBase):
        other = machine_number(right, left.dtype)
        if other.dtype != left.dtype:
            raise two_dtypes(left.dtype, other.dtype)
        return left, other
    if not isinstance(right, ValueBase):
        left = machine_number(left)
    second, first = matched(right, left)
    return first, second


def machine_number(operand: ValueLike, dtype: DType | None = None) -> Value:
    """An operand as a machine number: one that has no dtype of its own takes `dtype`, if that `holds` it."""
    if isinstance(operand, ValueBase):
        return operand
    if isinstance(operand, np.generic) and not isinstance(operand, float):
        return imm(operand.item(), operand.dtype.name)
    if not isinstance(operand, get_args(Untyped)):
        raise no_operand(operand)
    if dtype is None:
        raise without_dtype(operand)
    if not holds(dtype, operand):
        raise not_held(dtype, operand)
    return IndexValue(operand, dtype) if isinstance(operand, Node) else imm(operand, dtype)
