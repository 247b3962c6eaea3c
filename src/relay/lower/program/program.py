"""Program: what the machine will do. Flat blocks, kernels called in destination-passing style.

    program ::= procedures, entries, device regions, labels, kernels, constants

All code is procedures (`procedure.py`), which run kernels in regions (`region.py`); an entry lets a caller run one.
Most live on a heap that the call owns, and are given words. A flat one is given the addresses of the caller's arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import Symbol
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.base.named import find_named
from relay.ir.types import TensorType
from relay.lower.program.device_region import DeviceRegion
from relay.lower.program.place import CheckExtents
from relay.lower.program.procedure import ComputeScalar, Procedure
from relay.runtime.artefact.manifest import Label, ResultSpec
from relay.runtime.artefact.value_types import DataSpec, ValueType
from relay.runtime.values.heap import arena_offset_bytes
from relay.tir.stmt import PrimFunc


@frozen
class Parameter:
    """A tensor that the caller hands in, or a result that it made room for."""

    name: str
    type: TensorType

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


@frozen
class ValueParameter:
    """A value that is no tensor, which the caller hands in as a word."""

    name: str
    type: ValueType

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


@frozen(eq=False)
class Entry:
    """What lets a caller run a procedure, once `checks` hold: with the addresses of inputs and outputs (`is_flat`), or
    with words. Then it makes a heap, wraps the caller's arrays, and leaves the result there.

    Of words `arguments` says how inputs nest, `labels` what each is (None for a value, which is a word already).
    `deep`: it may need more stack than callers have. `result`: the type of what it gives, where that holds functions or
    refs. `copied`: how `outputs` nest in it, where callers can make room for them: a second entry copies what is on a
    heap there."""

    name: str
    procedure: str
    inputs: tuple[Parameter | ValueParameter, ...]
    symbols: tuple[Symbol, ...] = ()
    checks: tuple[CheckExtents, ...] = ()
    labels: tuple[int | None, ...] = ()
    arguments: tuple[ResultSpec, ...] = ()
    is_flat: bool = False
    deep: bool = False
    failures: tuple[str, ...] = ()
    result: ValueType | None = None
    outputs: tuple[Parameter, ...] = ()
    copied: ResultSpec | None = None

    def __str__(self) -> str:
        outputs = "" if self.copied is None else f" -> ({', '.join(map(str, self.outputs))})"
        lines = [f"entry {self.name}({', '.join(map(str, self.inputs))}){outputs} runs @{self.procedure}"]
        lines += [f"  {check}" for check in self.checks]
        lines += [f"  failure {number}: {text}" for number, text in enumerate(self.failures, start=1)]
        return "\n".join(lines)


@frozen(eq=False)
class ConstantData:
    """A constant tensor at its place among the program's constants."""

    offset_bytes: int
    array: NDArray[np.generic]

    @property
    def dtype(self) -> DType:
        return DType(self.array.dtype.name)


@frozen(eq=False)
class Program:
    """Procedures by name, and the constants they read. Kernels are named here and made by kernel targets; those of
    scalars, which procedures compute in place, are given as loops. `applying` are entries that call functions which
    came out."""

    procedures: tuple[Procedure, ...]
    entries: tuple[Entry, ...]
    constants: tuple[ConstantData, ...]
    constant_bytes: int
    labels: tuple[Label, ...] = ()
    data: tuple[DataSpec, ...] = ()
    scalar_kernels: tuple[PrimFunc, ...] = ()
    device_regions: tuple[DeviceRegion, ...] = ()
    applying: tuple[Entry, ...] = ()

    def procedure(self, name: str) -> Procedure:
        """The procedure called `name`. Raises `RelayError` (rule `unknown-global`)."""
        message = f"the program has no procedure `{name}`"
        return find_named(self.procedures, name, rule="unknown-global", message=message)

    def entry(self, name: str) -> Entry:
        """The entry called `name`. Raises `RelayError` (rule `unknown-entry`)."""
        message = f"the program has no entry `{name}`"
        return find_named(self.entries, name, rule="unknown-entry", message=message)

    @property
    def uses_heap(self) -> bool:
        return not all(each.is_flat for each in self.procedures)

    @property
    def arena_offset_bytes(self) -> int:
        """Where the arena begins behind the heap of a call."""
        return arena_offset_bytes(
            max((len(each.parameters) for each in self.procedures if not each.is_flat), default=0)
        )

    @property
    def arena_bytes(self) -> int:
        """The largest arena behind a heap whose size is known; others are made when they are needed."""
        behind = (each for each in self.procedures if not each.is_flat)
        arenas = (region.arena_bytes for procedure in behind for region in procedure.regions())
        return max((bytes_ for bytes_ in arenas if isinstance(bytes_, int)), default=0)

    def __str__(self) -> str:
        lines = [*map(str, self.entries), *map(str, self.applying), *map(str, self.procedures)]
        lines += map(str, self.device_regions)
        if self.labels:
            lines.append("\n".join(f"label #{number}: {label}" for number, label in enumerate(self.labels)))
        lines.append(f"constants: {len(self.constants)}, {self.constant_bytes} bytes")
        return "\n\n".join(lines)


def called_kernels(program: Program) -> dict[str, None]:
    """The kernels that the host calls, in the order of their calls: those that need an object."""
    found: dict[str, None] = {}
    for procedure in program.procedures:
        calls = (each for region in procedure.regions() for each in region.calls)
        found.update((each.kernel, None) for each in calls if not each.on_device)
    return found


def scalar_kernels(program: Program) -> dict[str, None]:
    """The kernels that procedures compute in place, in the order in which they do."""
    return {
        each.kernel: None
        for procedure in program.procedures
        for each in procedure.instructions()
        if isinstance(each, ComputeScalar)
    }
