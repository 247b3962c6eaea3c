"""How the outputs of a call nest in its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

from relay.runtime.artefact.manifest import EntrySpec, HeapResult, ResultSpec

Nesting: TypeAlias = Callable[[Sequence[Any]], Any]


def nesting(result: ResultSpec) -> Nesting:
    """What makes a result of the outputs.

    >>> from relay.runtime.artefact.manifest import TupleSpec
    >>> nesting(TupleSpec((0, TupleSpec((1, 2)))))(("a", "b", "c"))
    ('a', ('b', 'c'))
    """
    if isinstance(result, int):
        return itemgetter(result)
    if len(result.fields) > 1 and all(isinstance(each, int) for each in result.fields):
        return itemgetter(*result.fields)
    fields = tuple(map(nesting, result.fields))
    return lambda outputs: tuple([field(outputs) for field in fields])


def shown_result(entry: EntrySpec) -> str:
    """The type of what an entry gives, as people write it."""
    if entry.copied is not None:
        return str(nesting(entry.copied)([each.shown_type for each in entry.outputs])).replace("'", "")
    type_ = entry.result.type if isinstance(entry.result, HeapResult) else None
    return "a value" if type_ is None else str(type_)


def shown_entry(entry: EntrySpec) -> str:
    """What an entry takes and gives."""
    given = ", ".join(map(str, entry.outputs)) if entry.outputs else shown_result(entry)
    return f"({', '.join(map(str, entry.inputs))}) -> ({given})"
