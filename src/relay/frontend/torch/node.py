"""One call in a graph of PyTorch, as a converter sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.frontend.shared import node as shared
from relay.frontend.shared.value import Value
from relay.ir.expr import Constant, Expr, const
from relay.ir.types import TensorType
from relay.ops.elementwise import convert
from relay.ops.framework.build import TupleWrapper

if TYPE_CHECKING:
    from torch.fx import GraphModule


@frozen(eq=False)
class TorchNode(shared.Node):
    """`inputs` are all tensors and numbers that the operator computes with, in the order of its schema, those of lists
    among them; None for one left out. `attributes` has its other arguments, defaults filled in, None left out.

    `types` are those that PyTorch gives the outputs. `common_dtype` is the type that PyTorch brings the first two
    inputs to. `import_graph` imports a graph that stands among the arguments, `made` gives it what the converter made.
    `tensor_of` makes extents a tensor, int64[k]. `drawn` gives random numbers: what a function gives for a key.
    """

    types: tuple[TensorType | None, ...]
    common_dtype: Callable[[], DType]
    import_graph: Callable[[GraphModule, Sequence[Value]], tuple[Value, ...] | None]
    made: Callable[[Expr, TensorType], Value]
    tensor_of: Callable[[Sequence[IntExpr]], Expr]
    drawn: Callable[[Callable[[Expr], TupleWrapper]], Expr]

    # Outputs

    @property
    def type(self) -> TensorType:
        """The type of the first output."""
        type_ = self.types[0]
        if type_ is None:
            self.unsupported("whose result is no tensor")
        return type_

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def shape(self) -> tuple[IntExpr, ...]:
        return self.type.shape

    # Inputs

    def operand(self, index: int = 0, dtype: DType | None = None) -> Expr:
        """An input in another element type, that of the first output unless given."""
        return in_type(self.value(index), self.dtype if dtype is None else dtype)

    def number(self, index: int, default: float) -> float:
        """An input that is a number of the program, or `default` where it is left out."""
        return default if self.optional_value(index) is None else float(self.scalar(index, "a number"))

    # Attributes

    def extents_of(self, name: str) -> tuple[IntExpr, ...]:
        """The attribute `name`: extents, which may be symbolic."""
        return tuple(self._attribute(name, tuple, None))

    def extent(self, name: str, default: IntExpr | None = None) -> IntExpr:
        """The attribute `name`: a whole number, which may be symbolic."""
        value = self.attributes.get(name, default)
        if value is None:
            self.unsupported(f"without the argument `{name}`")
        return cast("IntExpr", value)

    def ints(self, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
        values = self._attribute(name, (tuple, int), default)
        values = values if isinstance(values, tuple) else (values,)
        if not all(isinstance(each, int) for each in values):
            self.unsupported(f"with a symbolic `{name}`")
        return cast("tuple[int, ...]", values)

    def per_axis(self, name: str, rank: int, default: Sequence[int] | None = None) -> tuple[int, ...]:
        """The attribute `name`: one number for each of `rank` axes, where one alone stands for all."""
        values = self.ints(name, default)
        if len(values) not in (1, rank):
            self.unsupported(f"with {len(values)} numbers in `{name}`")
        return values if len(values) == rank else values * rank

    def flag(self, name: str, default: bool = False) -> bool:
        return bool(self._attribute(name, bool, default))

    def axes(self, name: str = "dim", rank: int | None = None) -> tuple[int, ...]:
        """The attribute `name` as axes counted from the front, in order; all of them where it is left out or empty."""
        rank = self.value(0).rank if rank is None else rank
        given = self.ints(name) if self.has(name) else ()
        return tuple(sorted({self.wrapped_axis(axis, rank) for axis in given})) if given else tuple(range(rank))

    def has(self, name: str) -> bool:
        return name in self.attributes


def in_type(value: Value, dtype: DType) -> Expr:
    """A value in another element type: numbers of the program at once, tensors by a cast."""
    if value.dtype is dtype:
        return value.expr
    if isinstance(value.expr, Constant) and value.rank == 0:
        return const(np.asarray(value.expr.data).astype(dtype.numpy))
    return convert.cast(value.expr, dtype)


Converter: TypeAlias = shared.Converter[TorchNode]


def converters(
    operator: str,
    convert: Callable[[TorchNode], shared.Result],
    *attributes: str,
    overloads: Sequence[str] = ("default",),
) -> tuple[Converter, ...]:
    """A record for each overload of an ATen operator, with the arguments that it honours."""
    return tuple(shared.converter(f"aten.{operator}.{each}", convert, *attributes) for each in overloads)
