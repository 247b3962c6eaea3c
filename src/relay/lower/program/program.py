"""Program: what the machine will do. Flat blocks, kernels called in destination-passing style.

    program ::= procedures, entries, device regions, labels, kernels, constants

All code is procedures (`procedure.py`), which run kernels in regions (`region.py`); an entry lets a caller run one.
Most live on a heap that the call owns, and are given words. A flat one is given the addresses of the caller's arrays.
"""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import Symbol
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.base.names.named import find_named
from relay.ir.types import TensorType
from relay.lower.program.device_region import DeviceRegion
from relay.lower.program.form import Form, shown
from relay.lower.program.place import CheckExtents
from relay.lower.program.procedure import ComputeScalar, Procedure
from relay.runtime.artefact.failures import Failure
from relay.runtime.artefact.manifest import Donation, Label, ResultSpec, TensorLabel
from relay.runtime.artefact.value_types import DataSpec, ValueType, data_to_json
from relay.runtime.values.heap import arena_offset_bytes
from relay.text.lexer import METADATA_MARK
from relay.text.names import sigil_name
from relay.text.types import TypeNames
from relay.tir.stmt import PrimFunc
from relay.tir.text.printer import print_primfunc


@frozen
class Parameter(Form):
    """A tensor that the caller hands in, or a result that it made room for."""

    form = "{name}: {type}"

    name: str
    type: TensorType

    @property
    def label(self) -> TensorLabel:
        """What it is on a heap."""
        return TensorLabel(self.type.dtype, len(self.type.shape))


@frozen
class ValueParameter(Form):
    """A value that is no tensor, which the caller hands in as a word."""

    form = "value {name}: {type}"

    name: str
    type: ValueType


@frozen(eq=False)
class Entry(Form):
    """What lets a caller run a procedure, once `checks` hold: with the addresses of inputs and outputs (`is_flat`), or
    with words. Then it makes a heap, wraps the caller's arrays, and leaves the result there.

    Of words `arguments` says how inputs nest. `deep`: it may need more stack than callers have. `copied`: how
    `outputs` nest in the result, where callers can make room for them: a second entry copies what is on a heap there.
    `result`: its type, which the text says where they cannot. `donations`: the inputs that callers give away, and
    which of that room is their memory."""

    name: str
    procedure: str
    inputs: tuple[Parameter | ValueParameter, ...]
    symbols: tuple[Symbol, ...] = ()
    checks: tuple[CheckExtents, ...] = ()
    arguments: tuple[ResultSpec, ...] = ()
    is_flat: bool = False
    deep: bool = False
    result: ValueType | None = None
    outputs: tuple[Parameter, ...] = ()
    copied: ResultSpec | None = None
    donations: tuple[Donation, ...] = ()

    def written(self, names: TypeNames) -> str:
        words = ["flat"] * self.is_flat + ["deep"] * self.deep + ["entry", sigil_name("", self.name)]
        text = f"{' '.join(words)}({shown(self.inputs, names)})"
        if self.symbols:
            text += f" [{shown(self.symbols, names)}]"
        if self.arguments:
            text += f" takes ({', '.join(map(_nested, self.arguments))})"
        if self.copied is not None:
            text += f" -> ({shown(self.outputs, names)}) as {_nested(self.copied)}"
        if self.donations:
            text += f" donating ({', '.join(map(_given_away, self.donations))})"
        if self.result is not None and self.copied is None:
            text += f" gives {shown(self.result, names)}"
        text += f" runs {sigil_name('@', self.procedure)}"
        return "\n".join([text, *(f"  {shown(each, names)}" for each in self.checks)])


def _given_away(donation: Donation) -> str:
    part = "".join(f" field {each}" for each in donation.fields)
    return f"{donation.input}{part}" + ("" if donation.output is None else f" as {donation.output}")


def _nested(spec: ResultSpec) -> str:
    return str(spec) if isinstance(spec, int) else f"({', '.join(map(_nested, spec.fields))})"


@frozen(eq=False)
class ConstantData(Form):
    """A constant tensor at its place among the program's constants."""

    form = "constant[{offset_bytes}]: {type}"

    offset_bytes: int
    array: NDArray[np.generic]

    @property
    def dtype(self) -> DType:
        return DType(self.array.dtype.name)

    @property
    def type(self) -> TensorType:
        return TensorType(self.array.shape, self.dtype)


@frozen(eq=False)
class Program:
    """Procedures by name, and the constants they read. Kernels are named here and made by kernel targets; those of
    scalars, which procedures compute in place, are given as loops. `applying` are entries that call functions which
    came out. `failures[k]` is what went wrong where a call ends with failure `k + 1`."""

    procedures: tuple[Procedure, ...]
    entries: tuple[Entry, ...]
    constants: tuple[ConstantData, ...]
    constant_bytes: int
    labels: tuple[Label, ...] = ()
    data: tuple[DataSpec, ...] = ()
    scalar_kernels: tuple[PrimFunc, ...] = ()
    device_regions: tuple[DeviceRegion, ...] = ()
    applying: tuple[Entry, ...] = ()
    failures: tuple[Failure, ...] = ()

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
    def is_straight(self) -> bool:
        """Whether its code runs kernels one after another, and does nothing else."""
        return all(each.is_flat and len(each.blocks) == 1 for each in self.procedures)

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
        """All that it is, but for the data of its constants: `parser.parse_program` reads it back."""
        sections = [*map(str, self.entries), *(f"applying {each}" for each in self.applying)]
        sections += map(str, (*self.procedures, *self.device_regions))
        tables = [
            [f"label{number}: {_label(label)}" for number, label in enumerate(self.labels)],
            [
                f"failure {number}: {each.kind.value} {json.dumps(each.text)}"
                for number, each in enumerate(self.failures, start=1)
            ],
            [f"data {json.dumps(data_to_json(each))}" for each in self.data],
            [*map(str, self.constants), f"constants {self.constant_bytes} bytes"],
        ]
        text = "\n\n".join([*sections, *("\n".join(table) for table in tables if table)])
        if self.scalar_kernels:
            text += "\n\n".join((f"\n\n{METADATA_MARK}", *map(print_primfunc, self.scalar_kernels)))
        return text


def _label(label: Label) -> str:
    if isinstance(label, TensorLabel):
        return f"tensor {label.dtype}, {label.rank} axes"
    return f"{label.kind} {sigil_name('', label.name)}" if label.name else label.kind


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
