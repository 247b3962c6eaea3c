"""What a name of an ONNX graph stands for while the graph is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import ml_dtypes

from relay.arith.expr import IntExpr, Node, children, linear_parts
from relay.base.dtypes import DType
from relay.ir.expr import Expr
from relay.ir.types import ANY, TensorType

if TYPE_CHECKING:
    from numpy.typing import NDArray

KnownArray = "NDArray[Any]"
"""A value that is known at import: numbers, or, of dtype object, dimension expressions such as `n` and `2*n + 1`."""


@dataclass(slots=True, eq=False)
class Value:
    """A tensor of the graph: its type, its expression, and its elements where they are known.

    The expression is made when first asked for: shape arithmetic that only feeds attributes leaves no trace in the
    program. `from_shapes` marks what was computed from shapes and constants of the graph, not from weights.
    """

    name: str
    type: TensorType
    make: Callable[[], Expr]
    known: NDArray[Any] | None = None
    from_shapes: bool = False
    _expr: Expr | None = field(default=None, init=False)

    @property
    def expr(self) -> Expr:
        if self._expr is None:
            self._expr = self.make()
        return self._expr

    @property
    def shape(self) -> tuple[IntExpr, ...]:
        return self.type.shape

    @property
    def rank(self) -> int:
        return len(self.type.shape)

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @staticmethod
    def of(name: str, expr: Expr, type_: TensorType) -> Value:
        """A value whose expression is there already."""
        value = Value(name, type_, lambda: expr)
        value._expr = expr
        return value


def is_symbolic(known: NDArray[Any]) -> bool:
    """Whether some elements are expressions of dimensions."""
    return known.dtype == object


def settled(known: NDArray[Any], dtype: DType) -> NDArray[Any] | None:
    """`known` with plain numbers where all elements are; None when an element is an extent that nobody knows (`?`), or
    a number that `dtype` does not have.

    >>> import numpy as np
    >>> settled(np.array([2, 3], dtype=object), DType.INT64).dtype.name
    'int64'
    """
    if known.dtype != object:
        return known
    elements = known.ravel().tolist()
    if any(element is ANY or not _has(dtype, element) for element in elements):
        return None
    if all(isinstance(element, (int, float)) for element in elements):
        return known.astype(dtype.numpy)
    return known


def _has(dtype: DType, element: object) -> bool:
    """Whether a type has a number, or all numbers that an extent is made of."""
    if not dtype.is_integer or not isinstance(element, (int, Node)):
        return True
    limits = ml_dtypes.iinfo(dtype.numpy)
    waiting: list[IntExpr] = [element]
    while waiting:
        constant, terms = linear_parts(waiting.pop())
        if not all(limits.min <= number <= limits.max for number in (constant, *(count for _, count in terms))):
            return False
        waiting += [part for term, _ in terms for part in children(term)]
    return True
