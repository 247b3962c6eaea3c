"""Places in arguments, through tuples: where two calls of one function know different things."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeAlias

from relay.transform.functions.known_values.values import KnownTuple, PartialValue, is_known

Place: TypeAlias = tuple[int, ...]
"""The position of an argument, then of a field in it, and so on."""


def forgotten_places(old: PartialValue, new: PartialValue, place: Place) -> Iterator[Place]:
    """Where something of `old` was known of which nothing is known in `new`."""
    if not is_known(new):
        if is_known(old):
            yield place
    elif isinstance(old.static, KnownTuple) and isinstance(new.static, KnownTuple):
        for index, (before, after) in enumerate(zip(old.static.fields, new.static.fields, strict=True)):
            yield from forgotten_places(before, after, (*place, index))


def differing_places(
    values: Sequence[PartialValue], key_of: Callable[[PartialValue], Hashable], place: Place
) -> Iterator[Place]:
    """The innermost places where what is known of `values` is not the same."""
    if len({key_of(each) for each in values}) == 1:
        return
    fields = [each.static.fields for each in values if isinstance(each.static, KnownTuple)]
    inner = [
        found
        for index, parts in enumerate(zip(*fields, strict=True))
        for found in differing_places(parts, key_of, (*place, index))
    ]
    if len(fields) == len(values) and inner:
        yield from inner
    else:
        yield place
