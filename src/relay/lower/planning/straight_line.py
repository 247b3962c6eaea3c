"""What a region does, before its values have places: kernel calls, and the memory that they use."""

from __future__ import annotations

from typing import TypeAlias, Union

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.ir.expr import Function
from relay.ir.types import TensorType
from relay.lower.program.place import Place
from relay.te.tensor import Gap


@frozen(eq=False)
class Storage:
    """Memory of one tensor, of this shape, before it has a place; `fixed` is the place of what was there before."""

    size_bytes: IntExpr
    fixed: Place | None = None
    shape: tuple[IntExpr, ...] = ()


@frozen(eq=False)
class StoredTensor:
    """A tensor in some storage; the views of one tensor share it."""

    type: TensorType
    storage: Storage


StoredValue: TypeAlias = Union[StoredTensor, "tuple[StoredValue, ...]"]


@frozen(eq=False)
class KernelStep:
    """A call of a primitive function. `gap`: its one result goes into something larger. `failure`: its one result is an
    index, and how many entries the axis has; the failure number if the index lies outside."""

    function: Function
    inputs: tuple[StoredTensor, ...]
    outputs: tuple[Storage, ...]
    gap: Gap | None = None
    failure: int = 0


@frozen
class Part:
    """That a storage is a part of `whole`: runs of `run` bytes, the first at byte `offset`, their starts `distance`
    bytes apart. What lies together is one run, as far from the next as it is long."""

    whole: Storage
    offset: int
    run: int
    distance: int

    @property
    def lies_together(self) -> bool:
        return self.run == self.distance

    def holds(self, inner: Part, size: int) -> Part | None:
        """Where a part of this part is, of `size` bytes in all, in what this one is a part of; None where that is no
        runs at one distance.

        >>> whole = Storage(64)
        >>> Part(whole, 8, 4, 16).holds(Part(whole, 2, 1, 4), 4) == Part(whole, 10, 1, 16)
        True
        """
        number, behind = divmod(inner.offset, self.run)  # the run that it begins in, and where in that
        start = self.offset + number * self.distance + behind
        reach = (size // inner.run - 1) * inner.distance + inner.run
        if self.lies_together or behind + reach <= self.run:
            return Part(self.whole, start, inner.run, inner.distance)
        if inner.lies_together and behind == size % self.run == 0:
            return Part(self.whole, start, self.run, self.distance)
        if inner.distance == self.run and behind + inner.run <= self.run:
            return Part(self.whole, start, inner.run, self.distance)
        return None
