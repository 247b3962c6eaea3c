"""Program: what the machine will do. Functions of flat blocks, kernels called in destination-passing style.

    program     ::= functions, procedures, entries, labels, kernels, constants
    function    ::= parameters, results, arena, (region instruction | CheckExtents)*

There are two forms of code. A *function* is straight-line: one region (`lower.region`) behind the checks of its inputs'
extents; its arena is the workspace, which one call owns. Nothing allocates. What branches, calls or holds other values
than tensors is a *procedure* (`lower.procedure`), whose values live on a heap that one call owns, and which runs
regions; an *entry* lets a caller run one.
"""

from __future__ import annotations

from typing import TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import IntExpr, Symbol
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.types import TensorType
from relay.lower.place import CheckExtents
from relay.lower.procedure import ComputeScalar, Procedure
from relay.lower.region import CallKernel, RegionInstruction
from relay.runtime.heap import arena_offset_bytes
from relay.runtime.manifest import Label, ResultSpec
from relay.runtime.value_types import DataSpec, ValueType
from relay.runtime.work import ArenaBuffer
from relay.tir.stmt import PrimFunc

Instruction: TypeAlias = Union[RegionInstruction, CheckExtents]


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
class ProgramFunction:
    """One entry. Its instructions run in order; a failed check ends it. `arena`: who has what of the workspace."""

    name: str
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    result: ResultSpec
    symbols: tuple[Symbol, ...]
    workspace_bytes: IntExpr
    instructions: tuple[Instruction, ...]
    failures: tuple[str, ...] = ()
    arena: tuple[ArenaBuffer, ...] = ()

    def __str__(self) -> str:
        head = f"function {self.name}({', '.join(map(str, self.inputs))}) -> ({', '.join(map(str, self.outputs))})"
        lines = [head, f"  workspace {self.workspace_bytes} bytes"]
        lines += [f"  {instruction}" for instruction in self.instructions]
        lines += [f"  failure {number}: {text}" for number, text in enumerate(self.failures, start=1)]
        return "\n".join(lines)


@frozen(eq=False)
class ProcedureEntry:
    """What lets a caller run a procedure: it makes a heap, wraps the caller's arrays, and leaves the result there.

    `arguments` says how inputs nest, `labels` what each is (None for a value, which is a word already). `deep`: it may
    need more stack than callers have. `result`: the type of what it gives, where that holds functions or refs.
    `copied`: how `outputs` nest in it, where callers can make room for them: then a second entry copies them there."""

    name: str
    procedure: str
    inputs: tuple[Parameter | ValueParameter, ...]
    labels: tuple[int | None, ...]
    arguments: tuple[ResultSpec, ...]
    symbols: tuple[Symbol, ...]
    checks: tuple[CheckExtents, ...]
    deep: bool
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
    """Functions by name, and the constants they read. Kernels are named here and made by the backend; those of scalars,
    which procedures compute in place, are given as loops. `applying` are entries that call functions which came out."""

    functions: tuple[ProgramFunction, ...]
    constants: tuple[ConstantData, ...]
    constant_bytes: int
    procedures: tuple[Procedure, ...] = ()
    entries: tuple[ProcedureEntry, ...] = ()
    labels: tuple[Label, ...] = ()
    data: tuple[DataSpec, ...] = ()
    scalar_kernels: tuple[PrimFunc, ...] = ()
    applying: tuple[ProcedureEntry, ...] = ()

    def function(self, name: str) -> ProgramFunction | Procedure:
        """The function called `name`, in whichever form it has. Raises `RelayError` (rule `unknown-global`)."""
        named = (*self.functions, *self.procedures)
        for function in named:
            if function.name == name:
                return function
        raise RelayError(
            rule="unknown-global",
            message=f"the program has no function `{name}`",
            expected="one of " + ", ".join(function.name for function in named),
            found=name,
        )

    @property
    def arena_offset_bytes(self) -> int:
        """Where the arena begins behind the heap of a call."""
        return arena_offset_bytes(max((len(each.parameters) for each in self.procedures), default=0))

    @property
    def arena_bytes(self) -> int:
        """The largest arena of a region whose size is known; others are made when they are needed."""
        arenas = (region.arena_bytes for procedure in self.procedures for region in procedure.regions())
        return max((bytes_ for bytes_ in arenas if isinstance(bytes_, int)), default=0)

    def __str__(self) -> str:
        lines = [str(function) for function in self.functions]
        lines += [*map(str, self.entries), *map(str, self.applying), *map(str, self.procedures)]
        if self.labels:
            lines.append("\n".join(f"label #{number}: {label}" for number, label in enumerate(self.labels)))
        lines.append(f"constants: {len(self.constants)}, {self.constant_bytes} bytes")
        return "\n\n".join(lines)


def called_kernels(program: Program) -> dict[str, None]:
    """The kernels that are called, in the order of their calls: those that need an object."""
    found: dict[str, None] = {}
    for function in program.functions:
        found.update((each.kernel, None) for each in function.instructions if isinstance(each, CallKernel))
    for procedure in program.procedures:
        found.update((each.kernel, None) for region in procedure.regions() for each in region.calls)
    return found


def scalar_kernels(program: Program) -> dict[str, None]:
    """The kernels that procedures compute in place, in the order in which they do."""
    return {
        each.kernel: None
        for procedure in program.procedures
        for each in procedure.instructions()
        if isinstance(each, ComputeScalar)
    }
