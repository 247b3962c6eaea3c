"""Program: what the machine will do. Functions of flat blocks, kernels called in destination-passing style.

    program     ::= functions, procedures, entries, labels, kernels, constants
    function    ::= parameters, results, workspace, instructions
    instruction ::= CallKernel | CopyBytes | CheckExtents | CheckIndex
    place       ::= InputPlace | OutputPlace | ConstantPlace | WorkspacePlace

There are two forms of code. A *function* is straight-line and its places are decided before anything is emitted: a
value lives in an input, in an output, in the constants, or at an offset of the workspace, which one call owns; some are
parts of others. Nothing allocates. What branches, calls or holds other values than tensors is a *procedure*
(`lower.procedure`), whose values live on a heap that one call owns; an *entry* lets a caller run one.
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
from relay.lower.place import CheckExtents, Place
from relay.lower.procedure import ComputeScalar, Procedure, RunKernel
from relay.runtime.manifest import Label, ResultSpec
from relay.runtime.value_types import DataSpec, ValueType
from relay.runtime.work import ArenaBuffer
from relay.tir.stmt import PrimFunc


@frozen
class CallKernel:
    """`kernel(arguments…, extents…)`; the last `output_count` arguments are written."""

    kernel: str
    arguments: tuple[Place, ...]
    output_count: int
    extents: tuple[IntExpr, ...] = ()

    def __str__(self) -> str:
        split = len(self.arguments) - self.output_count
        inputs, outputs = (", ".join(map(str, part)) for part in (self.arguments[:split], self.arguments[split:]))
        extents = f" [{', '.join(map(str, self.extents))}]" if self.extents else ""
        return f"{outputs} = {self.kernel}({inputs}){extents}"


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
    """Return failure number `failure` unless the first int64 at `place` is an index of an axis of as many entries as
    the second says. Then both also stand at the beginning of the workspace, for whoever asks."""

    place: Place
    failure: int

    def __str__(self) -> str:
        return f"check index {self.place} else fail {self.failure}"


Instruction: TypeAlias = Union[CallKernel, CopyBytes, CheckExtents, CheckIndex]


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
        found.update((each.kernel, None) for each in procedure.instructions() if isinstance(each, RunKernel))
    return found


def scalar_kernels(program: Program) -> dict[str, None]:
    """The kernels that procedures compute in place, in the order in which they do."""
    return {
        each.kernel: None
        for procedure in program.procedures
        for each in procedure.instructions()
        if isinstance(each, ComputeScalar)
    }
