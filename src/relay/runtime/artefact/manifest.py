"""What an artefact says of itself: its entry points, with the names, types and memory they need.

Extents are written as in `extent_json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias, Union

from relay.arith.expr import IntExpr, Symbol
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.base.names.named import find_named
from relay.runtime.artefact.device_spec import DeviceSpec, device_from_json, device_to_json
from relay.runtime.artefact.extent_json import extent_from_json, extent_to_json
from relay.runtime.artefact.failures import Failure, FailureKind
from relay.runtime.artefact.machine import RequiredMachine
from relay.runtime.artefact.value_types import (
    DataSpec,
    TupleOf,
    ValueType,
    data_from_json,
    data_to_json,
    type_from_json,
    type_to_json,
)
from relay.runtime.artefact.work import (
    KernelWork,
    RegionSpec,
    region_from_json,
    region_to_json,
    work_from_json,
    work_to_json,
)

FORMAT_VERSION = 6
_MAX_DEPTH = 64


@frozen
class TensorSpec:
    """A tensor that an entry takes or gives."""

    name: str
    shape: tuple[IntExpr, ...]
    dtype: DType

    def __str__(self) -> str:
        return f"{self.name}: {self.shown_type}"

    @property
    def shown_type(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


@frozen
class ValueSpec:
    """A value that is no tensor, that an entry takes."""

    name: str
    type: ValueType

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


InputSpec: TypeAlias = Union[TensorSpec, ValueSpec]


@frozen
class TupleSpec:
    """The nesting of results: what stands in each place is a leaf (its position among the outputs) or a tuple."""

    fields: tuple[ResultSpec, ...]


ResultSpec: TypeAlias = Union[int, TupleSpec]


@frozen
class HeapResult:
    """The result, of a `type`, is left on the heap of the call: `Manifest.labels` tell what its objects are. They do
    not suffice where it holds functions or refs (`has_functions`).

    `copied`: how outputs nest in it, where it is tensors of extents that the inputs tell and only data crosses over.
    Then that is an entry of its own (`EntrySpec.heap_symbol`), and another copies its result to the outputs."""

    type: ValueType | None = None
    copied: ResultSpec | None = None
    has_functions: bool = False


@frozen
class TensorLabel:
    """A tensor on the heap."""

    dtype: DType
    rank: int

    def __str__(self) -> str:
        return f"tensor of {self.dtype}, {self.rank} axes"


@frozen
class CellLabel:
    """An object of words on the heap: a `tuple`, `data` (made by the constructor `name`), a `closure` or a `ref`."""

    kind: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()


Label: TypeAlias = Union[TensorLabel, CellLabel]
CELL_KINDS = ("tuple", "data", "closure", "ref")


def entry_symbol(name: str) -> str:
    """The native function of an entry."""
    return f"relay_entry_{name}"


def heap_entry_symbol(name: str, copied: ResultSpec | None) -> str:
    """That of an entry which leaves its result on the heap; `copied` where another copies it from there."""
    return entry_symbol(name) if copied is None else f"relay_heap_entry_{name}"


@frozen
class Donation:
    """Callers of an entry give away its input number `input`: output number `output` is in its memory; None where
    results are found on a heap, some of them in its memory. Then it may be a part of that input: what stands in nested
    tuples at these `fields`, from the outermost."""

    output: int | None
    input: int
    fields: tuple[int, ...] = ()


@frozen
class EntrySpec:
    """One callable of the artefact.

    `symbols` are the dimension symbols that inputs determine, in the order in which the native entry takes them.
    `failures[k]` is what went wrong when the native entry returns `k + 1`. `regions`: what is where in the
    workspace while each runs.
    """

    name: str
    inputs: tuple[InputSpec, ...]
    outputs: tuple[TensorSpec, ...]
    result: ResultSpec | HeapResult
    symbols: tuple[Symbol, ...]
    workspace_bytes: IntExpr
    failures: tuple[Failure, ...] = ()
    regions: tuple[RegionSpec, ...] = ()
    donations: tuple[Donation, ...] = ()

    @property
    def native_symbol(self) -> str:
        return entry_symbol(self.name)

    @property
    def heap_symbol(self) -> str:
        """The native entry that leaves its result on the heap."""
        return heap_entry_symbol(self.name, self.copied)

    @property
    def copied(self) -> ResultSpec | None:
        """How outputs nest in the result; None where the result must be read off the heap."""
        return self.result.copied if isinstance(self.result, HeapResult) else self.result

    @property
    def input_shapes(self) -> tuple[tuple[IntExpr, ...], ...]:
        """The shapes of the inputs, in order; that of a value is empty."""
        return tuple(each.shape if isinstance(each, TensorSpec) else () for each in self.inputs)


@frozen
class Manifest:
    """`provenance` says what made the artefact (compiler version, target, options): for people. `machine` is what its
    code needs to run. `labels` are the kinds of objects on the heaps of its calls, by number; `data` the data types of
    its inputs. `arities` are the numbers of arguments of functions that cross its boundary, which
    `relay_entry_apply$N` calls. `kernels` tell the work of each kernel that is called. `checks_heap`: heaps find who
    uses what was freed. `devices` are those that its regions run on."""

    entries: tuple[EntrySpec, ...]
    provenance: Mapping[str, str]
    machine: RequiredMachine = field(default_factory=RequiredMachine)
    labels: tuple[Label, ...] = ()
    data: tuple[DataSpec, ...] = ()
    arities: tuple[int, ...] = ()
    kernels: tuple[KernelWork, ...] = ()
    checks_heap: bool = False
    devices: tuple[DeviceSpec, ...] = ()

    def entry(self, name: str) -> EntrySpec:
        message = f"the artefact has no function `{name}`"
        return find_named(self.entries, name, rule="unknown-entry", message=message)

    def to_json(self) -> str:
        """One line of JSON with sorted keys, so that equal manifests are equal bytes."""
        entries = [
            {
                "name": entry.name,
                "inputs": [_input_to_json(spec) for spec in entry.inputs],
                "outputs": [_tensor_to_json(spec) for spec in entry.outputs],
                "result": result_to_json(entry.result),
                "symbols": [symbol.name for symbol in entry.symbols],
                "workspace_bytes": extent_to_json(entry.workspace_bytes),
                "failures": [[each.kind.value, each.text] for each in entry.failures],
                **({"regions": list(map(region_to_json, entry.regions))} if entry.regions else {}),
                **({"donations": list(map(_donation_to_json, entry.donations))} if entry.donations else {}),
            }
            for entry in self.entries
        ]
        document: dict[str, Any] = {
            "format": FORMAT_VERSION,
            "entries": entries,
            "provenance": dict(self.provenance),
            "machine": self.machine.to_json(),
        }
        if self.checks_heap:
            document["checks_heap"] = True
        if self.labels:
            document["labels"] = list(map(_label_to_json, self.labels))
        if self.data:
            document["data"] = list(map(data_to_json, self.data))
        if self.arities:
            document["arities"] = list(self.arities)
        if self.kernels:
            document["kernels"] = list(map(work_to_json, self.kernels))
        if self.devices:
            document["devices"] = list(map(device_to_json, self.devices))
        return json.dumps(document, sort_keys=True, separators=(",", ":"))

    @staticmethod
    def from_json(text: str | bytes) -> Manifest:
        """Raises `RelayError` (rule `bad-manifest`) for anything that `to_json` would not write."""
        try:
            document = json.loads(text)
            if document["format"] != FORMAT_VERSION:
                raise RelayError(
                    rule="artefact-version",
                    message="the artefact was written by another version of the format",
                    expected=f"format {FORMAT_VERSION}",
                    found=f"format {document['format']}",
                    remedy="compile the model again with this version",
                )
            entries = tuple(_entry_from_json(entry) for entry in document["entries"])
            provenance = {str(key): str(value) for key, value in document["provenance"].items()}
            machine = RequiredMachine.from_json(document["machine"])
            labels = tuple(map(_label_from_json, document.get("labels", [])))
            data = tuple(map(data_from_json, document.get("data", [])))
            arities = tuple(map(int, document.get("arities", [])))
            kernels = tuple(map(work_from_json, document.get("kernels", [])))
            checks_heap = bool(document.get("checks_heap", False))
            devices = tuple(map(device_from_json, document.get("devices", [])))
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise RelayError(
                rule="bad-manifest",
                message="the manifest of the artefact cannot be read",
                found=f"{type(error).__name__}: {error}",
                remedy="the file is damaged or is not an artefact; compile the model again",
            ) from error
        return Manifest(entries, provenance, machine, labels, data, arities, kernels, checks_heap, devices)


def _size_from_json(value: Any, symbols: Mapping[str, Symbol]) -> IntExpr:
    size = extent_from_json(value, symbols)
    if isinstance(size, int) and size < 0:
        raise ValueError(f"a size of {size}")
    return size


def _tensor_to_json(spec: TensorSpec) -> Any:
    return {"name": spec.name, "shape": [extent_to_json(extent) for extent in spec.shape], "dtype": str(spec.dtype)}


def _tensor_from_json(value: Any, symbols: Mapping[str, Symbol]) -> TensorSpec:
    shape = tuple(_size_from_json(extent, symbols) for extent in value["shape"])
    return TensorSpec(str(value["name"]), shape, DType(value["dtype"]))


def _input_to_json(spec: InputSpec) -> Any:
    if isinstance(spec, TensorSpec):
        return _tensor_to_json(spec)
    return {"name": spec.name, "type": type_to_json(spec.type)}


def _input_from_json(value: Any, symbols: Mapping[str, Symbol]) -> InputSpec:
    if "type" in value:
        return ValueSpec(str(value["name"]), type_from_json(value["type"]))
    return _tensor_from_json(value, symbols)


def _label_to_json(label: Label) -> Any:
    if isinstance(label, TensorLabel):
        return {"dtype": str(label.dtype), "rank": label.rank}
    return {"kind": label.kind, "name": label.name}


def _label_from_json(value: Any) -> Label:
    if "dtype" in value:
        return TensorLabel(DType(value["dtype"]), int(value["rank"]))
    if value["kind"] not in CELL_KINDS:
        raise ValueError(f"an object of the kind {value['kind']}")
    return CellLabel(str(value["kind"]), str(value["name"]))


def result_to_json(result: ResultSpec | HeapResult) -> Any:
    if isinstance(result, HeapResult):
        if result.copied is not None:
            return {"copied": result_to_json(result.copied)}
        type_ = None if result.type is None else type_to_json(result.type)
        return {"heap": type_, **({"functions": True} if result.has_functions else {})}
    return result if isinstance(result, int) else [result_to_json(field) for field in result.fields]


def result_from_json(value: Any, outputs: int, depth: int = 0) -> ResultSpec:
    if isinstance(value, int):
        if not 0 <= value < outputs:
            raise ValueError(f"output {value} of {outputs}")
        return value
    if depth > _MAX_DEPTH:
        raise ValueError("the result is nested too deeply")
    return TupleSpec(tuple(result_from_json(field, outputs, depth + 1) for field in list(value)))


def _heap_result(value: Any, outputs: int) -> HeapResult | None:
    if isinstance(value, dict):
        if "copied" in value:
            return HeapResult(copied=result_from_json(value["copied"], outputs))
        type_ = None if value["heap"] is None else type_from_json(value["heap"])
        return HeapResult(type_, has_functions=bool(value.get("functions", False)))
    return None


def _donation_to_json(donation: Donation) -> list[int | None]:
    return [donation.output, donation.input, *donation.fields]


def _donation_from_json(value: Any, inputs: Sequence[InputSpec], outputs: Sequence[TensorSpec]) -> Donation:
    output, donated, fields = value[0], int(value[1]), tuple(map(int, value[2:]))
    if min(output or 0, donated, *fields) < 0:
        raise ValueError(f"output {output} in the memory of input {donated}")
    given = inputs[donated]
    if output is None:
        part = given.type if isinstance(given, ValueSpec) else None
        for field_ in fields:
            if not isinstance(part, TupleOf):
                raise ValueError(f"fields {fields} of {given}")
            part = part.fields[field_]
        return Donation(None, donated, fields)
    made = outputs[int(output)]
    if fields or not isinstance(given, TensorSpec) or (given.shape, given.dtype) != (made.shape, made.dtype):
        raise ValueError(f"{made} is to be in the memory of {given}")
    return Donation(int(output), donated)


def _entry_from_json(value: Any) -> EntrySpec:
    symbols = {str(name): Symbol(str(name)) for name in value["symbols"]}
    inputs = tuple(_input_from_json(spec, symbols) for spec in value["inputs"])
    outputs = tuple(_tensor_from_json(spec, symbols) for spec in value["outputs"])
    return EntrySpec(
        name=str(value["name"]),
        inputs=inputs,
        outputs=outputs,
        result=_heap_result(value["result"], len(outputs)) or result_from_json(value["result"], len(outputs)),
        symbols=tuple(symbols.values()),
        workspace_bytes=_size_from_json(value["workspace_bytes"], symbols),
        failures=tuple(Failure(FailureKind(kind), str(text)) for kind, text in value["failures"]),
        regions=tuple(region_from_json(each, symbols) for each in value.get("regions", [])),
        donations=tuple(_donation_from_json(each, inputs, outputs) for each in value.get("donations", [])),
    )
