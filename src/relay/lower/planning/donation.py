"""Which results take the memory of an array that the caller gives away, where a function only runs kernels.

    def @main(%w, %m, %g) { (%w - %m, 0.9f * %m + %g, %w) }    donated: %w, %m

The second result is written over %m, by the kernel that reads it last. %w is the third, as it is; so the first is
written to new memory. A result of the same type that is made while the array is still read is copied there at the end.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import Enum

from relay.base.frozen import frozen
from relay.lower.planning.kernel_calls import KernelOf
from relay.lower.planning.placing import overwritten
from relay.lower.planning.straight_line import KernelStep, Part, Storage, StoredTensor


class Taking(Enum):
    """How a result comes to be in the memory of an input: it is that input, it is written over it, or copied there when
    all else has run."""

    AS_IT_IS = "as it is"
    OVER = "over"
    LATE = "late"


@frozen
class Taken:
    """Result number `output` is in the memory of input number `input`."""

    output: int
    input: int
    how: Taking


def memory_taken(
    steps: Sequence[KernelStep], parts: Mapping[Storage, Part], given: Sequence[StoredTensor],
    made: Sequence[StoredTensor], kernel_of: KernelOf, donated: Collection[int],
) -> list[Taken]:  # fmt: skip
    """What becomes of the donated inputs, `given` being all inputs and `made` the results. One whose type no result
    has, or of which another result is a copy or a part, is not taken."""
    found: list[Taken] = []
    results = dict(enumerate(made))
    inputs = {position: given[position] for position in donated}

    def take(output: int, donated: int, how: Taking) -> None:
        found.append(Taken(output, donated, how))
        del results[output], inputs[donated]

    for position, tensor in list(inputs.items()):
        same = (i for i, each in results.items() if each.storage is tensor.storage and each.type == tensor.type)
        output = next(same, None)
        if output is not None:
            take(output, position, Taking.AS_IT_IS)
    kept = {_whole(each.storage, parts) for each in results.values()}
    for position in [position for position, each in inputs.items() if each.storage in kept]:
        del inputs[position]
    for type_ in dict.fromkeys(each.type for each in inputs.values()):
        places = {each.storage.fixed: i for i, each in inputs.items() if each.type == type_}
        wanted = {each.storage: i for i, each in reversed(results.items()) if each.type == type_}
        dying = [place for place in places if place is not None]
        over = overwritten(steps, parts, list(reversed(wanted)), kernel_of, dying)
        for storage, place in over.items():
            take(wanted[storage], places[place], Taking.OVER)
        late = [i for i, each in results.items() if each.type == type_]
        for output, position in zip(late, [i for i, each in inputs.items() if each.type == type_], strict=False):
            take(output, position, Taking.LATE)
    return found


def _whole(storage: Storage, parts: Mapping[Storage, Part]) -> Storage:
    while storage in parts:
        storage = parts[storage].whole
    return storage
