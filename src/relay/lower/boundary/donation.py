"""What callers of `@main` give away, so that its results may take the memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from relay.lower.program.program import Entry, Parameter, ValueParameter
from relay.runtime.arguments.donation import donated_inputs
from relay.runtime.artefact.manifest import Donation
from relay.runtime.artefact.value_types import DataSpec, is_plain_data


def donated_positions(entry: Entry, names: Sequence[str]) -> list[int]:
    """The positions of the inputs of these names. Raises `RelayError` (rule `bad-donation`)."""
    return donated_inputs([each.name for each in entry.inputs], names, entry.name) if entry.name == "main" else []


def with_donations(entry: Entry, donated: Collection[int], data: Mapping[str, DataSpec]) -> Entry:
    """An entry that works on a heap, for callers who give some inputs away: those of functions and refs aside, which
    may hold any array.

    Where results are tensors, and so is all that is given away, there is an output for each, of the same type, as far
    as there are such. Else callers find the results on the heap.
    """
    if entry.result is not None or not all(_is_data(each, data) for each in entry.inputs):
        return entry
    values = any(isinstance(entry.inputs[position], ValueParameter) for position in donated)
    if entry.copied is None or values:
        found = tuple(Donation(None, position) for position in donated)
        return replace(entry, outputs=(), copied=None, donations=found) if found else entry
    return replace(entry, donations=_outputs_of_type(entry, donated))


def _is_data(given: Parameter | ValueParameter, data: Mapping[str, DataSpec]) -> bool:
    return isinstance(given, Parameter) or is_plain_data(given.type, data)


def _outputs_of_type(entry: Entry, donated: Collection[int]) -> tuple[Donation, ...]:
    free = dict(enumerate(entry.outputs))
    found: list[Donation] = []
    for position in donated:
        given = entry.inputs[position].type
        output = next((number for number, each in free.items() if each.type == given), None)
        if output is not None:
            found.append(Donation(output, position))
            del free[output]
    return tuple(found)
