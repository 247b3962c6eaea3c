"""Program: what the machine will do. Functions of flat blocks, kernels called in destination-passing style.

    program     ::= functions, kernels, constants
    function    ::= parameters, results, workspace, blocks
    instruction ::= CallKernel | CheckExtents
    place       ::= InputPlace | OutputPlace | ConstantPlace | WorkspacePlace

Places are decided before anything is emitted: a value lives in an input, in an output, in the constants, or at an
offset of the workspace, which one call owns. Nothing allocates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import Comparison, IntExpr, Symbol
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.ir.types import TensorType
from relay.runtime.manifest import ResultSpec


@dataclass(frozen=True, slots=True)
class InputPlace:
    """The caller's array number `index`."""

    index: int

    def __str__(self) -> str:
        return f"input[{self.index}]"


@dataclass(frozen=True, slots=True)
class OutputPlace:
    """The array number `index` that the caller made for a result."""

    index: int

    def __str__(self) -> str:
        return f"output[{self.index}]"


@dataclass(frozen=True, slots=True)
class ConstantPlace:
    """The bytes at `offset_bytes` of the program's constants."""

    offset_bytes: int

    def __str__(self) -> str:
        return f"constant[{self.offset_bytes}]"


@dataclass(frozen=True, slots=True)
class WorkspacePlace:
    """The bytes at `offset_bytes` of the call's workspace."""

    offset_bytes: IntExpr

    def __str__(self) -> str:
        return f"workspace[{self.offset_bytes}]"


Place: TypeAlias = Union[InputPlace, OutputPlace, ConstantPlace, WorkspacePlace]


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class CopyBytes:
    """The contents of `source` also stand in `destination`: a result that is an input, a constant or another result."""

    source: Place
    destination: Place
    size_bytes: IntExpr

    def __str__(self) -> str:
        return f"{self.destination} = copy({self.source}, {self.size_bytes} bytes)"


@dataclass(frozen=True, slots=True)
class CheckExtents:
    """Return failure number `failure` unless `condition` holds."""

    condition: Comparison
    failure: int

    def __str__(self) -> str:
        return f"check {self.condition} else fail {self.failure}"


Instruction: TypeAlias = Union[CallKernel, CopyBytes, CheckExtents]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A tensor that the caller hands in, or a result that it made room for."""

    name: str
    type: TensorType

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


@dataclass(frozen=True, slots=True, eq=False)
class ProgramFunction:
    """One entry. Its instructions run in order; a failed check ends it."""

    name: str
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    result: ResultSpec
    symbols: tuple[Symbol, ...]
    workspace_bytes: IntExpr
    instructions: tuple[Instruction, ...]
    failures: tuple[str, ...] = ()

    def __str__(self) -> str:
        head = f"function {self.name}({', '.join(map(str, self.inputs))}) -> ({', '.join(map(str, self.outputs))})"
        lines = [head, f"  workspace {self.workspace_bytes} bytes"]
        lines += [f"  {instruction}" for instruction in self.instructions]
        lines += [f"  failure {number}: {text}" for number, text in enumerate(self.failures, start=1)]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, eq=False)
class ConstantData:
    """A constant tensor at its place among the program's constants."""

    offset_bytes: int
    array: NDArray[np.generic]

    @property
    def dtype(self) -> DType:
        return DType(self.array.dtype.name)


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Functions by name, and the constants they read. Kernels are named here and made by the backend."""

    functions: tuple[ProgramFunction, ...]
    constants: tuple[ConstantData, ...]
    constant_bytes: int

    def function(self, name: str) -> ProgramFunction:
        """The function called `name`. Raises `RelayError` (rule `unknown-global`)."""
        for function in self.functions:
            if function.name == name:
                return function
        raise RelayError(
            rule="unknown-global",
            message=f"the program has no function `{name}`",
            expected="one of " + ", ".join(function.name for function in self.functions),
            found=name,
        )

    def __str__(self) -> str:
        lines = [str(function) for function in self.functions]
        lines.append(f"constants: {len(self.constants)}, {self.constant_bytes} bytes")
        return "\n\n".join(lines)
