"""What a name of a model stands for while the model is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.expr import Constant, Expr
from relay.ir.types import TensorType, TypeCall
from relay.ops.framework.build import with_known_type
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


@frozen(eq=False)
class Structure:
    """A list or an optional of the model, `List[…]` or `Option[…]` of the prelude: its expression, or the `parts` that
    it is made of, as long as these are known, and nobody has needed it as one value. An optional has one part or none.

    Of what an empty list would hold nothing may be known: its type has an `IncompleteType` there.
    """

    name: str
    type: TypeCall
    expr: Expr | None = None
    parts: tuple[Item, ...] | None = None


Item: TypeAlias = Union[Value, Structure]
"""What a name of a model may stand for."""


def known_value(name: str, elements: NDArray[Any]) -> Value:
    """Numbers that the model says, where an operator takes a tensor."""
    constant = with_known_type(Constant(elements))
    return Value(name, constant, TensorType(elements.shape, constant.dtype), elements, from_shapes=True)


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
