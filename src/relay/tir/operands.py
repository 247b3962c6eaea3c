"""Python numbers and indices beside machine numbers: which element types hold them, and what errors say."""

from __future__ import annotations

from typing import TypeAlias, Union

from relay.arith.expr import Node
from relay.base.arguments import described
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType

Untyped: TypeAlias = Union[int, float, Node]
"""An operand that has no element type of its own."""


def holds(dtype: DType, operand: Untyped) -> bool:
    """Whether `operand` can stand beside a number of `dtype`. Floats hold all. Integers hold the whole numbers of their
    range, and indices where they are signed and have 32 bits or more; a bool holds True and False.

    >>> holds(DType.INT8, 127), holds(DType.INT8, 128), holds(DType.INT8, 0.5), holds(DType.FLOAT16, 0.5)
    (True, False, False, True)
    """
    if dtype.is_float:
        return True
    if isinstance(operand, Node):
        return dtype.is_signed_integer and dtype.bits >= 32
    if dtype.is_bool:
        return operand in {0, 1}
    lowest = 0 if dtype.is_unsigned_integer else -(1 << (dtype.bits - 1))
    return operand == operand // 1 and lowest <= operand < lowest + (1 << dtype.bits)


def not_held(dtype: DType, operand: Untyped) -> RelayError:
    """The error that `dtype` does not hold an operand (`operand-dtype`)."""
    wider = "float32" if isinstance(operand, float) else "int32" if dtype.bits < 32 else "int64"
    what = f"all that the index `{operand}` may be" if isinstance(operand, Node) else f"the number {operand}"
    return RelayError(
        rule="operand-dtype",
        message=f"{dtype} does not hold {what}",
        expected=f"a number of {dtype} on both sides",
        found=str(operand),
        remedy=f'convert the other side, for example te.cast(value, "{wider}")',
    )


def without_dtype(operand: Untyped) -> RelayError:
    """The error that nothing gives an operand an element type (`operand-dtype`)."""
    kind, make = ("an index", "te.cast") if isinstance(operand, Node) else ("a number of Python", "te.const")
    choice = "" if isinstance(operand, float) else ', or "int32"'
    return RelayError(
        rule="operand-dtype",
        message=f"`{operand}` is {kind}, which has no element type",
        expected="a machine number, or one beside it whose element type it takes",
        found=str(operand),
        remedy=f'say its element type: {make}({operand}, "float32"){choice}',
    )


def two_dtypes(left: DType, right: DType) -> RelayError:
    """The error that the sides of an operation have different element types (`operand-dtypes`)."""
    return RelayError(
        rule="operand-dtypes",
        message="the two sides of an operation have different element types",
        expected=f"{left} on both sides",
        found=f"{left} and {right}",
        remedy=f'convert one of them: te.cast(value, "{left}")',
    )


def no_condition(found: str) -> RelayError:
    """The error that a number is where a condition must be (`condition-dtype`)."""
    return RelayError(
        rule="condition-dtype",
        message="a condition is neither true nor false",
        expected="bool",
        found=found,
        remedy="compare it: te.not_equal(value, 0)",
    )


def no_operand(operand: object) -> RelayError:
    """The error that something is neither a machine number, nor a Python number, nor an index (`operand`)."""
    return RelayError(
        rule="operand",
        message="this cannot be computed with in a tensor expression",
        expected="an element of a tensor, a number or an index",
        found=described(operand),
        remedy="read an element of a tensor: a[i, j]",
    )
