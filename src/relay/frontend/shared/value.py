"""What a name of a model stands for while the model is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.expr import Expr
from relay.ir.types import TensorType
from relay.ops.framework.symbolic_integer import Undecided, known_array


@frozen(eq=False)
class Value:
    """A tensor of the model: its expression, its type, and its elements where they are known: numbers, or (an array of
    dtype object) expressions of extents such as `n` and `2*n + 1`.

    What the program does not reach leaves no trace in it, so shape arithmetic that only feeds attributes is gone when
    it has been read. `from_shapes` marks what was computed from shapes and constants of the graph, not from weights.
    """

    name: str
    expr: Expr
    type: TensorType
    known: NDArray[Any] | None = None
    from_shapes: bool = False

    @property
    def shape(self) -> tuple[IntExpr, ...]:
        return self.type.shape

    @property
    def rank(self) -> int:
        return len(self.type.shape)

    @property
    def dtype(self) -> DType:
        return self.type.dtype


def is_symbolic(known: NDArray[Any]) -> bool:
    """Whether some elements are expressions of extents."""
    return known.dtype == object


def array_of(extents: Sequence[IntExpr]) -> NDArray[Any] | None:
    """Extents as the known elements of a tensor [k] of int64; None where one is not known (`?`) or too large.

    >>> from relay.arith.expr import Symbol
    >>> array_of((2, 3)), array_of((Symbol("n"), 3))
    (array([2, 3]), array([n, 3], dtype=object))
    """
    elements = np.empty(len(extents), object)
    elements[:] = extents
    try:
        return known_array(elements, DType.INT64)
    except Undecided:
        return None
