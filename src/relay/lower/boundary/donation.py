"""What callers of `@main` give away, so that its results may take the memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from relay.base.frozen import frozen
from relay.ir.types import TensorType
from relay.lower.program.program import Entry, Parameter, ValueParameter
from relay.runtime.arguments.donation import donated_names, part_name
from relay.runtime.artefact.manifest import Donation
from relay.runtime.artefact.value_types import DataSpec, TupleOf, ValueType, is_plain_data


@frozen
class DonatedPart:
    """An input that is given away, or what stands in nested tuples of it. No result takes it yet."""

    name: str
    type: TensorType | ValueType
    donation: Donation

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


def donated_parts(entry: Entry, names: Sequence[str]) -> list[DonatedPart]:
    """What has these names, in the order of the inputs. Raises `RelayError` (rule `bad-donation`)."""
    if entry.name != "main":
        return []
    parts = list(_parts(entry))
    named = [parts[i] for i in sorted(donated_names([each.name for each in parts], names, entry.name))]
    given = {(each.donation.input, each.donation.fields) for each in named}

    def is_outermost(part: DonatedPart) -> bool:
        fields = part.donation.fields
        return not any((part.donation.input, fields[:depth]) in given for depth in range(len(fields)))

    return list(filter(is_outermost, named))


def _parts(entry: Entry) -> Iterator[DonatedPart]:
    inputs = [each.name for each in entry.inputs]
    stack: list[tuple[Donation, TensorType | ValueType]]
    stack = [(Donation(None, position), each.type) for position, each in reversed(list(enumerate(entry.inputs)))]
    while stack:
        given, type_ = stack.pop()
        yield DonatedPart(part_name(given, inputs), type_, given)
        if isinstance(type_, TupleOf):
            fields = reversed(list(enumerate(type_.fields)))
            stack += [(replace(given, fields=(*given.fields, place)), each) for place, each in fields]


def with_donations(entry: Entry, donated: Sequence[DonatedPart], data: Mapping[str, DataSpec]) -> Entry:
    """An entry that works on a heap, for callers who give some inputs away: those of functions and refs aside, which
    may hold any array.

    Where results are tensors, and so is all that is given away, there is an output for each, of the same type, as far
    as there are such. Else callers find the results on the heap.
    """
    gives_data = entry.result is None or is_plain_data(entry.result, data)
    if not (gives_data and all(_is_data(each, data) for each in entry.inputs)):
        return entry
    values = any(isinstance(entry.inputs[each.donation.input], ValueParameter) for each in donated)
    if entry.copied is None or values:
        found = tuple(each.donation for each in donated)
        return replace(entry, outputs=(), copied=None, donations=found) if found else entry
    return replace(entry, donations=_outputs_of_type(entry, donated))


def _is_data(given: Parameter | ValueParameter, data: Mapping[str, DataSpec]) -> bool:
    return isinstance(given, Parameter) or is_plain_data(given.type, data)


def _outputs_of_type(entry: Entry, donated: Sequence[DonatedPart]) -> tuple[Donation, ...]:
    free = dict(enumerate(entry.outputs))
    found: list[Donation] = []
    for part in donated:
        output = next((number for number, each in free.items() if each.type == part.type), None)
        if output is not None:
            found.append(replace(part.donation, output=output))
            del free[output]
    return tuple(found)
