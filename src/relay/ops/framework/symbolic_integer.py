"""Integers of a tensor that are expressions of extents, as elements of NumPy arrays of dtype object.

NumPy asks its elements for their arithmetic and their order, so an operator's own meaning runs on such arrays. Sums,
products, quotients and remainders are expressions again. A comparison is decided for all extents, which are 0 or more;
where it depends on them it is `Undecided`, and so is all that would follow from it. What no integer here does (bits,
powers, functions of floats) is a `TypeError`, as of any Python object.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import index
from typing import Any, SupportsIndex, TypeAlias, Union, cast

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import Atom, Comparison, IntExpr, Symbol, children, floor_divide, floor_modulo, linear_parts
from relay.arith.expr import maximum as larger_of
from relay.arith.expr import minimum as smaller_of
from relay.arith.prove import Proof
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ops.framework.dimensions import decide, simplest
from relay.te.reducers import highest, lowest

Array: TypeAlias = NDArray[Any]
LARGEST_EXPRESSION = 256
"""Parts of the largest expression that is worth following: extents are small sums and products."""


class Undecided(Exception):
    """The answer depends on extents that only the run knows."""


@frozen(eq=False)
class SymbolicInteger:
    """An element of an integer tensor. What depends on extents is taken to be in the range of its type, as extents are;
    plain numbers that are not are `Undecided`.

    >>> from relay.arith.expr import Symbol
    >>> n = integer(Symbol("n"), DType.INT64)
    >>> print((2 * n + 6) // 2, n >= 0)
    n + 3 True
    >>> n == 4
    Traceback (most recent call last):
        ...
    relay.ops.framework.symbolic_integer.Undecided: n == 4
    """

    expr: IntExpr
    element_type: DType

    __hash__ = None  # pyright: ignore[reportAssignmentType] # equality may be undecided

    def __str__(self) -> str:
        return str(self.expr)

    def __index__(self) -> int:
        if isinstance(self.expr, int):
            return self.expr
        raise Undecided(str(self.expr))

    __int__ = __index__

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __neg__(self) -> SymbolicInteger:
        return integer(-self.expr, self.element_type)

    def __abs__(self) -> SymbolicInteger:
        return self if self >= 0 else -self

    def __add__(self, other: Operand) -> SymbolicInteger:
        return integer(self.expr + expr_of(other), self.element_type)

    def __sub__(self, other: Operand) -> SymbolicInteger:
        return integer(self.expr - expr_of(other), self.element_type)

    def __rsub__(self, other: Operand) -> SymbolicInteger:
        return integer(expr_of(other) - self.expr, self.element_type)

    def __mul__(self, other: Operand) -> SymbolicInteger:
        return integer(self.expr * expr_of(other), self.element_type)

    __radd__, __rmul__ = __add__, __mul__

    def __floordiv__(self, other: Operand) -> SymbolicInteger:
        return integer(floor_divide(self.expr, _divisor(other)), self.element_type)

    def __rfloordiv__(self, other: Operand) -> SymbolicInteger:
        return integer(floor_divide(expr_of(other), _divisor(self)), self.element_type)

    def __mod__(self, other: Operand) -> SymbolicInteger:
        return integer(floor_modulo(self.expr, _divisor(other)), self.element_type)

    def __rmod__(self, other: Operand) -> SymbolicInteger:
        return integer(floor_modulo(expr_of(other), _divisor(self)), self.element_type)

    def fmod(self, other: Operand) -> SymbolicInteger:
        """The remainder with the sign of self: what NumPy calls for `np.fmod`."""
        rest = abs(self) % abs(integer(expr_of(other), self.element_type))
        return rest if self >= 0 else -rest

    def __lt__(self, other: Operand) -> np.bool:
        return _decided(Comparison(self.expr, "<", expr_of(other)))

    def __le__(self, other: Operand) -> np.bool:
        return _decided(Comparison(self.expr, "<=", expr_of(other)))

    def __gt__(self, other: Operand) -> np.bool:
        return _decided(Comparison(expr_of(other), "<", self.expr))

    def __ge__(self, other: Operand) -> np.bool:
        return _decided(Comparison(expr_of(other), "<=", self.expr))

    def __eq__(self, other: Operand) -> np.bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _decided(Comparison(self.expr, "==", expr_of(other)))

    def __ne__(self, other: Operand) -> np.bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _decided(Comparison(self.expr, "!=", expr_of(other)))


Operand: TypeAlias = Union[SymbolicInteger, SupportsIndex]


def integer(expr: IntExpr, dtype: DType) -> SymbolicInteger:
    """An element. Raises `Undecided` where an extent is not known (`?`), a number is none of `dtype`, or the expression
    has too many parts."""
    low, high = _limits(dtype)
    if isinstance(expr, Symbol) or (isinstance(expr, int) and low <= expr <= high):
        return SymbolicInteger(expr, dtype)
    waiting: list[IntExpr] = [expr]
    for _ in range(LARGEST_EXPRESSION):
        if not waiting:
            return SymbolicInteger(simplest(expr), dtype)
        part = waiting.pop()
        constant, terms = linear_parts(part)
        numbers = (constant, *(coefficient for _, coefficient in terms))
        if isinstance(part, Atom) or not all(low <= number <= high for number in numbers):
            break
        waiting += [inner for term, _ in terms for inner in (children(term) or (term,)) if inner is not part]
    raise Undecided(str(expr))


@cache
def _limits(dtype: DType) -> tuple[float, float]:
    return lowest(dtype), highest(dtype)


def expr_of(value: Operand) -> IntExpr:
    """The expression that an element is; a number is one."""
    return value.expr if isinstance(value, SymbolicInteger) else index(value)


def _divisor(value: Operand) -> IntExpr:
    divisor = expr_of(value)
    if decide(Comparison(divisor, "!=", 0)) is not Proof.YES:
        raise Undecided(f"{divisor} != 0")
    return divisor


def _decided(comparison: Comparison) -> np.bool:
    match decide(comparison):
        case Proof.YES:
            return np.True_
        case Proof.NO:
            return np.False_
        case Proof.UNKNOWN:
            raise Undecided(str(comparison))


# Arrays


def is_symbolic(array: Array) -> bool:
    """Whether the elements of an array are symbolic integers."""
    return array.dtype == object


def machine_numbers(array: Array) -> Array:
    """The array, whose elements must be numbers: sorts and searches of NumPy do not stop where a comparison is
    undecided."""
    if is_symbolic(array):
        raise Undecided(f"the order of {array}")
    return array


def symbolic_array(elements: Array, dtype: DType) -> Array:
    """Numbers, expressions of extents or symbolic integers as symbolic integers of `dtype`."""
    result = np.empty(elements.shape, object)
    result.ravel()[:] = [_as_integer(element, dtype) for element in elements.ravel().tolist()]
    return result


def _as_integer(element: Any, dtype: DType) -> SymbolicInteger:
    if not isinstance(element, SymbolicInteger):
        return integer(cast(IntExpr, element), dtype)
    return element if element.element_type is dtype else integer(element.expr, dtype)


def known_array(elements: Array, dtype: DType) -> Array:
    """An array of the elements that symbolic integers are: numbers of `dtype` where all are numbers, else expressions
    (an array of dtype object). Raises `Undecided` as `integer` does."""
    checked = [_as_integer(element, dtype).expr for element in elements.ravel().tolist()]
    if all(isinstance(element, int) for element in checked):
        return np.asarray(checked, dtype.numpy).reshape(elements.shape)
    result = np.empty(elements.shape, object)
    result.ravel()[:] = checked
    return result


def _choice(numbers: Callable[[Array, Array], Array], symbols: Callable[[IntExpr, IntExpr], IntExpr]) -> Any:
    """A ufunc of numbers that would compare symbolic integers, and what it is of these."""

    def choose(lhs: Any, rhs: Any) -> SymbolicInteger:
        dtype = (lhs if isinstance(lhs, SymbolicInteger) else rhs).element_type
        return integer(symbols(expr_of(lhs), expr_of(rhs)), dtype)

    symbolic = np.frompyfunc(choose, 2, 1)
    return lambda lhs, rhs: symbolic(lhs, rhs) if is_symbolic(lhs) else numbers(lhs, rhs)


larger: Callable[[Array, Array], Array] = _choice(np.maximum, larger_of)
"""The larger of each pair. Of symbolic integers it is an expression, decided or not."""
smaller: Callable[[Array, Array], Array] = _choice(np.minimum, smaller_of)
"""The smaller of each pair, likewise."""
