"""Tensors of tensor expressions: what a `compute` reads and gives."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias, Union

from relay.arith.expr import IntExpr, Node, Symbol
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.tir.buffer import Buffer
from relay.tir.expr import Load, Value, machine_number
from relay.tir.traversal import ValueIndex

if TYPE_CHECKING:
    from relay.te.operation import Operation

TensorIndex: TypeAlias = Union[IntExpr, Value]
"""A symbolic integer, or a machine integer (a gather)."""


@frozen(eq=False, repr=False)
class Axis(Symbol):
    """A symbol that runs over `range(extent)`: one dimension of a compute, or what a reduction sums over."""

    extent: IntExpr

    @property
    def symbol(self) -> Symbol:
        return self


@frozen
class Gap:
    """Room behind each stretch of a tensor along `axis`, counted from the last, for `elements` more along it.

    >>> Gap(-1, 16).around((8, 1024))
    (8, 1040)
    """

    axis: int
    elements: int

    def around(self, shape: tuple[IntExpr, ...]) -> tuple[IntExpr, ...]:
        """The extents of what the tensor lies in."""
        extents = list(shape)
        extents[self.axis] = extents[self.axis] + self.elements
        return tuple(extents)


@frozen(eq=False, repr=False)
class Tensor(Buffer):
    """The buffer that one output of an operation fills. Indexing it gives a `tir.Load`, so bodies are `tir` values.

    `gap`: as a result it is part of a larger array, which the caller has; it begins where its first element goes.

    >>> from relay.te.compute import placeholder
    >>> a = placeholder((4, 8), "float32", "a")
    >>> a[1, 2].indices
    (1, 2)
    """

    operation: Operation = field(kw_only=True)
    component: int = field(default=0, kw_only=True)  # which output of the operation this is
    gap: Gap | None = field(default=None, kw_only=True)

    def __getitem__(self, indices: TensorIndex | tuple[TensorIndex, ...]) -> Load:
        given = indices if isinstance(indices, tuple) else (indices,)
        if len(given) != len(self.shape):
            raise RelayError(
                rule="tensor-rank",
                message=f"tensor `{self.name}` is indexed with {len(given)} indices",
                expected=f"{len(self.shape)} indices, one for each axis of {self!r}",
                found=f"{len(given)} indices",
                remedy="give one index for each axis",
            )
        return Load(self, tuple(map(as_index, given)))


def as_index(index: TensorIndex) -> IntExpr:
    """An index of either kind as a symbolic integer: machine integers become `ValueIndex` atoms. Raises `RelayError`
    (`tensor-index`) for a machine number that is no integer."""
    if isinstance(index, (int, Node)):
        return index
    value = machine_number(index)
    if not value.dtype.is_integer:
        raise RelayError(
            rule="tensor-index",
            message="an element is read at a place that is no integer",
            expected="an index, or a machine integer",
            found=str(value.dtype),
            remedy='say which integer it is: te.cast(te.floor(value), "int64")',
        )
    return ValueIndex(value)
