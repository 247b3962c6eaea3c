"""The arrays that callers of `@main` give away, so that its results may take their memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from relay.lower.program.program import Entry, Parameter
from relay.runtime.arguments.donation import donated_inputs
from relay.runtime.artefact.manifest import Donation


def donated_tensors(entry: Entry, names: Sequence[str]) -> list[int]:
    """The positions of the inputs of these names. Raises `RelayError` (rule `bad-donation`)."""
    if entry.name != "main":
        return []
    tensors = [position for position, each in enumerate(entry.inputs) if isinstance(each, Parameter)]
    found = donated_inputs([entry.inputs[position].name for position in tensors], names, entry.name)
    return [tensors[position] for position in found]


def outputs_of_type(entry: Entry, donated: Collection[int]) -> tuple[Donation, ...]:
    """An output for each donated input, of the same type, as far as there are such. None where an input is a value of
    another kind, which may hold any array."""
    tensors = all(isinstance(each, Parameter) for each in entry.inputs)
    free = dict(enumerate(entry.outputs)) if tensors else {}
    found: list[Donation] = []
    for position in donated:
        given = entry.inputs[position].type
        output = next((number for number, each in free.items() if each.type == given), None)
        if output is not None:
            found.append(Donation(output, position))
            del free[output]
    return tuple(found)
