"""Python's operators on numbers and tensors.

A tensor without axes is a Python number, wherever it comes from: an int (32 bits, wrapping), a float or a bool. So `/`
of ints is a float, `True + True` is 2, and what raises in Python (a division by zero, a negative shift) ends the run. A
tensor with axes is an array of NumPy: numbers beside it take its element type unless they are of a wider kind, and a
division by zero is what NumPy makes of it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from relay import nn, op
from relay.arith.expr import free_symbols
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.span import Span, caller_span
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.facts.ranges import UNKNOWN, range_of_result
from relay.frontend.python.library.options import when_there
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import as_expr, is_option, number
from relay.ir.expr import Call, Expr, Function, Let, Var, const
from relay.ir.types import ANY, TensorType

BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide",
    ast.Mod: "floor_mod", ast.Pow: "power", ast.LShift: "left_shift", ast.RShift: "right_shift",
    ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or", ast.BitXor: "bitwise_xor",
}  # fmt: skip
COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "equal", ast.NotEq: "not_equal", ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater",
    ast.GtE: "greater_equal",
}  # fmt: skip
_OF_BOOLS = {
    "bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor", "add": "logical_or",
    "multiply": "logical_and",
}  # fmt: skip
_ON_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
_DIVISIONS = ("divide", "floor_divide", "floor_mod")


def binary(block: Block, operator: ast.operator, left: Any, right: Any, span: Span) -> Expr:
    """An operator of Python on two operands, of which one is an expression. Raises `RelayError` (rules `bad-operand`,
    `python-subset`)."""
    if isinstance(operator, ast.MatMult):
        return product(block, left, right, span)
    name = BINARY[type(operator)]
    left, right = (as_operand(block, each, span) for each in (left, right))
    if not any(map(_has_axes, (left, right))):
        left, right = _as_numbers(name, left, right)
        if name in _DIVISIONS:
            right = _not_zero(block, right, span)
        elif name in ("left_shift", "right_shift"):
            right = _not_negative(block, right, "a shift by a negative number", span)
        elif name == "power":
            return _power(block, left, right, span)
    elif name == "power":
        right = _whole_power(block, left, right, span)
    result = combined(name, left, right, span)
    known = range_of_result(operator, block.range_of(left), right)
    if known is not UNKNOWN:
        block.session.ranges[result] = known
    return result


def combined(name: str, left: Any, right: Any, span: Span | None = None) -> Expr:
    """An operator on numbers and tensors brought to their common element type, as NumPy does; nothing is checked."""
    dtype = common_dtype((left, right))
    if dtype.is_float and name in _ON_BITS:
        raise RelayError(
            rule="bad-operand", message=f"`{name}` takes integers", span=span, found=str(dtype),
            remedy="convert them: int(x), or x.astype('int32')",
        )  # fmt: skip
    if name == "divide" and not dtype.is_float:
        dtype = DType.FLOAT32
    elif dtype.is_bool and name in _OF_BOOLS:
        name = _OF_BOOLS[name]
    elif dtype.is_bool and name == "subtract":
        raise RelayError(rule="bad-operand", message="NumPy does not subtract bools", span=span, remedy="use `^`")
    elif dtype.is_bool:
        dtype = DType.INT32
    return getattr(op, name)(*(converted(each, dtype) for each in (left, right)))


def compared(block: Block, operator: ast.cmpop, left: Any, right: Any, span: Span) -> Expr:
    """One comparison, one side of which is an expression."""
    if type(operator) not in COMPARISONS:
        raise refusal(span, f"`{type(operator).__name__.lower()}` of values of the program",
                      "compare numbers or tensors, or use `match`")  # fmt: skip
    left, right = (as_operand(block, each, span) for each in (left, right))
    return equated(COMPARISONS[type(operator)], left, right)


def equated(name: str, left: Any, right: Any) -> Expr:
    """A comparison in the common element type."""
    dtype = common_dtype((left, right))
    dtype = DType.INT32 if dtype.is_bool else dtype
    return getattr(op, name)(converted(left, dtype), converted(right, dtype))


def unary(block: Block, operator: ast.unaryop, value: Any, span: Span) -> Expr:
    """`-x`, `+x`, `~x` of an expression."""
    value = as_operand(block, value, span)
    dtype, has_axes = _dtype_of(value), _has_axes(value)
    if isinstance(operator, ast.Invert):
        if dtype.is_float or (dtype.is_bool and not has_axes):
            raise refusal(span, f"`~` of a {_PYTHON_NAMES[kind_of(dtype)]}", "write `not x` for a bool; an int has `~`")
        return op.logical_not(value) if dtype.is_bool else op.bitwise_not(value)
    if dtype.is_bool and has_axes:
        raise RelayError(rule="bad-operand", message="NumPy does not negate bools", span=span, remedy="write ~x")
    value = converted(value, DType.INT32) if dtype.is_bool else value
    return op.negative(value) if isinstance(operator, ast.USub) else value


def product(block: Block, left: Any, right: Any, span: Span) -> Expr:
    """`left @ right`, as NumPy multiplies matrices, vectors and batches of matrices."""
    sides = [as_operand(block, each, span) for each in (left, right)]
    sides = [as_expr(block, each, span) for each in sides]
    dtype = common_dtype(sides)
    if dtype.is_bool:
        raise RelayError(rule="bad-operand", message="`@` multiplies numbers", span=span, found="bool",
                         remedy="convert them: x.astype('int32')")  # fmt: skip
    left, right = (converted(each, dtype) for each in sides)
    match len(_type(left).shape), len(_type(right).shape):
        case 2, 2:
            return nn.matmul(left, right)
        case 1, 2:
            return op.squeeze(nn.matmul(op.expand_dims(left, 0), right), 0)
        case 2, 1:
            return op.squeeze(nn.matmul(left, op.expand_dims(right, 1)), 1)
        case 1, 1:
            return vector_product(left, right)
        case 3, 3:
            return nn.batch_matmul(left, right, transpose_b=False)
        case first, 1 | 2 if first > 2:  # the rows of all matrices on the left are one matrix
            rows = block.bind("rows", _merged(left, 1), span)
            found = block.bind("product", product(block, rows, right, span), span)
            return _split_again(block, found, left, 1, len(_type(found).shape) - 1)
        case first, second if first == second:
            merged = [block.bind("matrices", _merged(each, 2), span) for each in (left, right)]
            found = block.bind("product", product(block, merged[0], merged[1], span), span)
            return _split_again(block, found, left, 2, 2)
        case ranks:
            raise RelayError(
                rule="bad-product", message="`@` multiplies matrices, vectors, or batches of matrices", span=span,
                found=f"a product of {ranks[0]} and {ranks[1]} axes", remedy="reshape the operands",
            )  # fmt: skip


def vector_product(left: Expr, right: Expr) -> Expr:
    """The sum of the products of the elements of two vectors. One element is not taken for many, as operators of
    elements do: extents that may differ are those of a matrix product, which are checked."""
    if _type(left).shape == _type(right).shape:
        return op.sum(op.multiply(left, right))
    return op.squeeze(nn.matmul(op.expand_dims(left, 0), op.expand_dims(right, 1)), (0, 1))


def _merged(value: Expr, kept: int) -> Expr:
    """All axes but the last `kept` as one."""
    for _ in range(len(_type(value).shape) - kept - 1):
        value = op.reshape(value, (-3, -2))
    return value


def _split_again(block: Block, value: Expr, whole: Expr, without: int, kept: int) -> Expr:
    """The first axis as those of `whole`, but for its last ones."""
    extents = _type(value).shape[len(_type(value).shape) - kept :]
    shape = (*_type(whole).shape[:-without], *extents)
    if all(each is not ANY and free_symbols(each) <= block.definition.extents for each in shape):
        return op.reshape(value, shape, allowzero=True)
    leading = op.strided_slice(op.shape_of(whole), begin=(0,), end=(-without,), strides=(1,))
    behind = op.strided_slice(op.shape_of(value), begin=(1,), end=(1 + kept,), strides=(1,))
    return op.reshape(value, op.concatenate([leading, behind], 0) if kept else leading, allowzero=True)


# ------------------------------------------------------------------------------------------------ element types

_KINDS = {"bool": DType.BOOL, "int": DType.INT32, "float": DType.FLOAT32}
_PYTHON_NAMES = ("bool", "int", "float")


def kind_of(dtype: DType) -> int:
    """0 for bool, 1 for integers, 2 for floats: the wider kind takes the narrower in."""
    return 0 if dtype.is_bool else 2 if dtype.is_float else 1


def common_dtype(values: Sequence[Any]) -> DType:
    """The element type that NumPy computes in, where tensors without axes, like numbers, count by their kind beside
    those with axes. What would be float64 is float32, unless it was float64 before."""
    strong = [_dtype_of(each) for each in values if _has_axes(each)]
    known = strong or [_dtype_of(each) for each in values if is_expr(each)]
    widest = max((_dtype_of(each) for each in values), key=kind_of)
    found = reduce(promoted, known) if known else widest
    if kind_of(widest) > kind_of(found):
        return _KINDS[_PYTHON_NAMES[kind_of(widest)]]
    return found


def promoted(left: DType, right: DType) -> DType:
    """
    >>> promoted(DType.INT8, DType.UINT8), promoted(DType.INT32, DType.FLOAT32)
    (<DType.INT16: 'int16'>, <DType.FLOAT32: 'float32'>)
    """
    if left is right:
        return left
    if kind_of(left) != kind_of(right) and DType.FLOAT64 not in (left, right):
        wider = max(left, right, key=kind_of)
        return DType.FLOAT32 if wider.is_float else wider
    try:
        return DType(np.promote_types(left.numpy, right.numpy).name)
    except (TypeError, ValueError):
        return DType.FLOAT32


def converted(value: Any, dtype: DType) -> Expr:
    """A number or tensor in an element type."""
    if not is_expr(value):
        return number(value, dtype)
    return value if _dtype_of(value) is dtype else op.cast(value, dtype)


def as_operand(block: Block, value: Any, span: Span) -> Any:
    """A Python number, or an expression worth a tensor. Raises `RelayError` (rule `bad-operand`) for anything else."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        value = value.astype(np.float32)
    found = as_expr(block, value, span)
    type_ = block.type_of(found)
    if is_option(type_):
        return as_operand(block, there(block, found, span), span)
    if not isinstance(type_, TensorType):
        raise RelayError(rule="bad-operand", message="operators compute with numbers and tensors", span=span,
                         found=f"a value of type {type_}", remedy="take it apart first")  # fmt: skip
    return found


def _type(value: Expr) -> TensorType:
    assert isinstance(value.checked_type, TensorType)
    return value.checked_type


def _dtype_of(value: Any) -> DType:
    if is_expr(value):
        return _type(value).dtype
    if type(value).__name__ in _KINDS:
        return _KINDS[type(value).__name__]
    raise RelayError(rule="bad-operand", message="operators compute with numbers and tensors", span=caller_span(),
                     found=type(value).__name__, remedy="make a tensor of it: np.array(...)")  # fmt: skip


def _has_axes(value: Any) -> bool:
    return is_expr(value) and _type(value).shape != ()


# ------------------------------------------------------------------------------------------- what Python raises


def require(block: Block, value: Expr, holds: Expr | bool, message: str, span: Span) -> Expr:
    """The value, if a statement about it holds; else the run ends. One that is known to hold is not checked."""
    if holds is True:
        return value
    return block.bind("checked", op.checked(value, holds, message), span)


def ended(block: Block, message: str, span: Span) -> Expr:
    """All of a block, behind which the run ends with a message. It stands for a value of any type: it calls itself."""
    block.bind("asserted", op.checked(const(True), const(False), message), span)
    never = Var("never")
    return block.closed(Let(never, Function((), Call(never, ())), Call(never, (), span=span), span=span))


def there(block: Block, value: Any, span: Span) -> Any:
    """A value that is used as if it were there. Where it is None, the run ends, as Python raises."""
    if not is_expr(value) or not is_option(block.type_of(value)):
        return value
    missing = ended(block.inside(), "None is used as a value", span)
    return block.bind("there", when_there(block, value, span, lambda: missing, lambda found: found), span)


def _as_numbers(name: str, left: Any, right: Any) -> tuple[Any, Any]:
    """Two numbers: bools count, but for `&`, `|` and `^` of two."""
    if name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        return left, right
    if common_dtype((left, right)).is_bool:
        return converted(left, DType.INT32), converted(right, DType.INT32)
    return left, right


def _not_zero(block: Block, divisor: Any, span: Span) -> Any:
    if not is_expr(divisor):
        return divisor if divisor != 0 else require(block, _expr(divisor), op.cast(0, "bool"), "division by zero", span)
    if not block.range_of(divisor).may_be(0):
        return divisor
    divisor = block.bind("divisor", divisor, span)
    return require(block, divisor, equated("not_equal", divisor, 0), "division by zero", span)


def _not_negative(block: Block, value: Any, what: str, span: Span) -> Any:
    if not is_expr(value):
        return value if value >= 0 else require(block, _expr(value), op.cast(0, "bool"), what, span)
    if block.range_of(value).is_not_negative:
        return value
    value = block.bind("count", value, span)
    holds = equated("greater_equal", value, 0)
    return require(block, value, op.all(holds) if _has_axes(value) else holds, what, span)


def _expr(value: Any) -> Expr:
    return converted(value, _dtype_of(value))


_NEGATIVE_POWER = "an int to a negative power, which is a float in Python: write float(x) ** y"


def _whole_power(block: Block, base: Any, exponent: Any, span: Span) -> Any:
    """The exponent of a power of tensors: NumPy has no negative powers of integers."""
    if common_dtype((base, exponent)).is_float:
        return exponent
    return _not_negative(block, exponent, _NEGATIVE_POWER, span)


def _power(block: Block, base: Any, exponent: Any, span: Span) -> Expr:
    """`base ** exponent` of numbers."""
    whole = not common_dtype((base, exponent)).is_float
    if whole and (is_expr(exponent) or exponent >= 0):
        return combined("power", base, _not_negative(block, exponent, _NEGATIVE_POWER, span))
    if not is_expr(exponent) and float(exponent).is_integer() and exponent >= 0:
        return combined("power", converted(base, DType.FLOAT32), exponent)
    if is_expr(base) or base <= 0:
        base = block.bind("base", _expr(base), span)
        exponent = block.bind("exponent", _expr(exponent), span) if is_expr(exponent) else exponent
        base = require(block, base, _has_power(base, exponent), "a power that is no number (0 to a negative power) or "
                       "is complex in Python (a negative number to a broken one)", span)  # fmt: skip
    dtype = common_dtype((base, exponent))
    return combined("power", converted(base, dtype if dtype.is_float else DType.FLOAT32), exponent)


def _has_power(base: Expr, exponent: Any) -> Expr:
    positive = equated("greater", base, 0)
    if not is_expr(exponent):
        if float(exponent).is_integer():
            return equated("not_equal", base, 0)
        return positive if exponent < 0 else equated("greater_equal", base, 0)
    power = converted(exponent, DType.FLOAT32)
    is_zero = op.logical_and(equated("equal", base, 0), equated("greater_equal", exponent, 0))
    is_whole = op.logical_and(equated("not_equal", base, 0), op.equal(op.floor(power), power))
    return op.logical_or(positive, op.logical_or(is_zero, is_whole))
