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
from relay.lower.program.form import Form, shown
from relay.lower.program.place import ArenaPlace, Place, Scalar
from relay.runtime.artefact.work import ArenaBuffer
from relay.text.types import TypeNames

BROUGHT = "copy"
"""What is said to write those values of an arena that copies bring there before the first call."""

SCRATCH = "scratch"
"""What has the room of an arena in which a call of a kernel works."""


@frozen
class CallKernel(Form):
    """`kernel(inputs…, outputs…, extents…)`. `on_device`: it is no function, but a region that runs on a device
    (`device_region.py`), and may fail.

    `updates`: it writes only a part of its output. That holds the `updated_bytes` of input number `updates` before:
    they are copied there, unless they are there. `scratch`: what it works in."""

    form = (
        "{outputs} = {kernel}({inputs}){ [extents?]}{ on_device?}{ updating updates?}{ (updated_bytes?)}"
        "{ using scratch?}"
    )

    kernel: str
    inputs: tuple[Place, ...]
    outputs: tuple[Place, ...]
    extents: tuple[IntExpr, ...] = ()
    on_device: bool = False
    updates: int | None = None
    updated_bytes: IntExpr = 0
    scratch: tuple[ArenaPlace, ...] = ()

    @property
    def arguments(self) -> tuple[Place, ...]:
        return (*self.inputs, *self.outputs, *self.scratch)


@frozen
class CopyBytes(Form):
    """The contents of `source` also stand in `destination`: a result that is an input, a constant or another result."""

    form = "{destination} = copy({source}, {size_bytes} bytes)"

    source: Place
    destination: Place
    size_bytes: IntExpr


@frozen
class CheckIndex(Form):
    """End the entry's call with failure number `failure` unless the first int64 at `place` is an index of an axis of as
    many entries as the second says. Then the call tells both."""

    form = "check index {place} else fail {failure}"

    place: Place
    failure: int


RegionInstruction: TypeAlias = Union[CallKernel, CopyBytes, CheckIndex]


@frozen
class Room(Form):
    """What a value has of the arena, from the call that writes it to the last that reads it; or a call to work in."""

    form = "arena[{offset_bytes}] {size_bytes} bytes of {kernel}, calls {first} to {last}"

    kernel: str
    offset_bytes: IntExpr
    size_bytes: IntExpr
    first: int
    last: int


@frozen(eq=False)
class RunRegion(Form):
    """Its instructions run in order. `arena`: who has what of `arena_bytes`; `shapes`: those of its values whose bytes
    the run computes."""

    instructions: tuple[RegionInstruction, ...]
    arena_bytes: IntExpr = 0
    arena: tuple[ArenaBuffer, ...] = ()
    shapes: tuple[tuple[IntExpr, ...], ...] = ()

    @property
    def calls(self) -> Iterator[CallKernel]:
        return (each for each in self.instructions if isinstance(each, CallKernel))

    def rooms_of_call(self, number: int) -> tuple[ArenaBuffer, ...]:
        """What call number `number` works in."""
        return tuple(each for each in self.arena if each.kernel == SCRATCH and each.first == number)

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        """What it writes to registers."""
        written = (place for call in self.calls for place in call.outputs)
        return tuple(place for place in written if isinstance(place, Scalar))

    def written(self, names: TypeNames) -> str:
        head = f"region, arena {shown(self.arena_bytes, names)} bytes" if self.arena_bytes != 0 else "region"
        if self.shapes:
            head += f", shapes {', '.join(f'[{shown(shape, names)}]' for shape in self.shapes)}"
        rooms = (Room(each.kernel, each.offset_bytes, each.size_bytes, each.first, each.last) for each in self.arena)
        return "\n".join([head, *(f"  {shown(each, names)}" for each in (*rooms, *self.instructions))])
