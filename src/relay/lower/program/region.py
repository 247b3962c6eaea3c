"""Region: kernel calls, one after another, every place decided before anything is emitted.

    region      ::= instructions, arena
    instruction ::= CallKernel | CopyBytes | CheckIndex
    place       ::= AddressPlace | ConstantPlace | ArenaPlace | DataPlace | Scalar

Nothing in a region allocates, counts or calls procedures. What outlives it is allocated before it, and kernels write
straight into that; all else is in the *arena*, which the next region writes over. So one arena, as large as the largest
region, serves a call at any depth of recursion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, Union

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.lower.program.place import Place, Scalar
from relay.runtime.artefact.work import ArenaBuffer


@frozen
class CallKernel:
    """`kernel(arguments…, extents…)`; the last `output_count` arguments are written. `on_device`: it is no function,
    but a region that runs on a device (`device_region.py`), and may fail."""

    kernel: str
    arguments: tuple[Place, ...]
    output_count: int
    extents: tuple[IntExpr, ...] = ()
    on_device: bool = False

    @property
    def inputs(self) -> tuple[Place, ...]:
        return self.arguments[: len(self.arguments) - self.output_count]

    @property
    def outputs(self) -> tuple[Place, ...]:
        return self.arguments[len(self.arguments) - self.output_count :]

    def __str__(self) -> str:
        inputs, outputs = (", ".join(map(str, part)) for part in (self.inputs, self.outputs))
        extents = f" [{', '.join(map(str, self.extents))}]" if self.extents else ""
        kernel = f"device region @{self.kernel}" if self.on_device else self.kernel
        return f"{outputs} = {kernel}({inputs}){extents}"


@frozen
class CopyBytes:
    """The contents of `source` also stand in `destination`: a result that is an input, a constant or another result."""

    source: Place
    destination: Place
    size_bytes: IntExpr

    def __str__(self) -> str:
        return f"{self.destination} = copy({self.source}, {self.size_bytes} bytes)"


@frozen
class CheckIndex:
    """End the entry's call with failure number `failure` unless the first int64 at `place` is an index of an axis of as
    many entries as the second says. Then the call tells both."""

    place: Place
    failure: int

    def __str__(self) -> str:
        return f"check index {self.place} else fail {self.failure}"


RegionInstruction: TypeAlias = Union[CallKernel, CopyBytes, CheckIndex]


@frozen(eq=False)
class RunRegion:
    """Its instructions run in order. `arena`: who has what of `arena_bytes`; `shapes`: those of its values whose bytes
    the run computes."""

    instructions: tuple[RegionInstruction, ...]
    arena_bytes: IntExpr = 0
    arena: tuple[ArenaBuffer, ...] = ()
    shapes: tuple[tuple[IntExpr, ...], ...] = ()

    @property
    def calls(self) -> Iterator[CallKernel]:
        return (each for each in self.instructions if isinstance(each, CallKernel))

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        """What it writes to registers."""
        written = (place for call in self.calls for place in call.outputs)
        return tuple(place for place in written if isinstance(place, Scalar))

    def __str__(self) -> str:
        head = f"region, arena {self.arena_bytes} bytes" if self.arena_bytes else "region"
        return "\n".join([head, *(f"  {each}" for each in self.instructions)])
