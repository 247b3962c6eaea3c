"""Which arrays and lists are held by one name alone.

`y += 1` and `xs.append(x)` change an array or list in Python, for all who hold it; in a program they make a new one
for one name. Both mean the same where that name is the only way to it: a value is *owned* when an operation made it and
nothing but one name has got it since. What two names, a list, a view or a caller may hold is refused, with what to
write instead.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from enum import IntEnum
from typing import Any, TypeVar, cast

import numpy as np

from relay.base.frozen import mutable
from relay.base.identity import IdentityMap
from relay.base.span import Span
from relay.frontend.python.syntax.source import refusal
from relay.ir.expr import ExprBase
from relay.ir.types import TensorType, TupleType, Type, TypeCall

Way = TypeVar("Way")


class Held(IntEnum):
    """How much of a value one name alone holds."""

    SHARED = 0
    ALONE = 1
    WITH_PARTS = 2
    """The arrays and lists inside, too."""


@mutable
class Seen:
    """What a way through the program has seen so far. `held` is how values are held that are not shared. `views` are
    those that show a part of another, with how that one may still be held when something gets hold of them; `parted`
    are the lists of which something has a part."""

    held: IdentityMap[Any, Held] = field(default_factory=IdentityMap[Any, Held])
    views: IdentityMap[Any, tuple[Any, Held]] = field(default_factory=IdentityMap[Any, tuple[Any, Held]])
    parted: IdentityMap[Any, None] = field(default_factory=IdentityMap[Any, None])

    def copy(self) -> Seen:
        return Seen(self.held.copy(), self.views.copy(), self.parted.copy())


@mutable
class Ownership:
    """`_seen` is what the way that is being read has seen. Of the whole program are `_limits`, how much a loop's
    variable is held at most, whichever turn it is of, and `_changed`, how much of a value was changed in place, and
    where. `_of_callers` are, for each function whose body is being put in place, the values that its callers have."""

    _seen: Seen = field(default_factory=Seen)
    _of_callers: list[frozenset[int]] = field(default_factory=lambda: [frozenset()])
    _limits: IdentityMap[Any, Held] = field(default_factory=IdentityMap[Any, Held])
    _changed: IdentityMap[Any, tuple[Held, Span]] = field(default_factory=IdentityMap[Any, tuple[Held, Span]])

    @contextmanager
    def trial(self) -> Generator[None]:
        """What is seen inside is forgotten behind."""
        seen, limits, changed = self._seen.copy(), self._limits.copy(), self._changed.copy()
        try:
            yield
        finally:
            self._seen, self._limits, self._changed = seen, limits, changed

    def seen(self) -> Seen:
        """What this way has seen, to `meet` with what others have."""
        return self._seen.copy()

    def each_way(self, ways: Iterable[Way]) -> Iterator[Way]:
        """The ways of a branch: each goes on from here, and behind the last they meet."""
        begin, ends = self._seen, list[Seen]()
        for way in ways:
            self._seen = begin.copy()
            yield way
            ends.append(self._seen)
        self.meet(ends)

    def meet(self, ways: Sequence[Seen]) -> None:
        """Here several ways meet: a value is held as on that way where it is held least."""
        first, *others = ways
        made = first.copy()
        for each in others:
            for value, held in list(made.held.items()):
                if value not in each.held:
                    del made.held[value]
                else:
                    made.held[value] = min(held, each.held[value])
            for value, shown in each.views.items():
                made.views.setdefault(value, shown)
            made.parted.update(each.parted)
        self._seen = made

    @contextmanager
    def call(self, names: Iterable[Any]) -> Generator[None]:
        """The body of a function, in place of a call where these are the values of names. They are the caller's: in
        the body, other names have them, too."""
        found, waiting = set(self._of_callers[-1]), list(names)
        while waiting:
            value = waiting.pop()
            if changes_in_place(value) or isinstance(value, ExprBase):
                found.add(id(value))
            waiting.extend(cast("tuple[Any, ...]", value) if isinstance(value, tuple) else parts_of(value))
        self._of_callers.append(frozenset(found))
        try:
            yield
        finally:
            self._of_callers.pop()

    def _is_of_caller(self, value: Any) -> bool:
        return id(value) in self._of_callers[-1]

    def give_back(self, value: Any) -> Held:
        """A function gives a value to its caller, who may have it already. How it is held by who is given it."""
        if isinstance(value, tuple):
            return min(map(self.give_back, cast("tuple[Any, ...]", value)), default=Held.WITH_PARTS)
        if self._is_of_caller(value):
            self.share(value)
        return Held.WITH_PARTS if self.is_alone(value) else self.held(value)

    def own(self, value: Any, held: Held = Held.ALONE) -> Any:
        """A value that was just made."""
        if held is not Held.SHARED:
            self._seen.held[value] = held
        return value

    def held(self, value: Any) -> Held:
        found = self.held_at_most(value, self._seen.held.get(value, Held.SHARED))
        if found is Held.SHARED:
            return found
        if isinstance(value, list | dict):
            inside = value not in self._seen.parted and all(map(self.is_alone, parts_of(value)))
            return Held.WITH_PARTS if inside else Held.ALONE
        return Held.WITH_PARTS if _holds_numbers(value) else found

    def is_alone(self, value: Any) -> bool:
        """Whether nothing besides holds what may change in place of a value that something is to hold."""
        if isinstance(value, tuple):
            return all(map(self.is_alone, cast("tuple[Any, ...]", value)))
        if isinstance(value, ExprBase):
            type_ = cast("Any", value).checked_type
            is_number = isinstance(type_, TensorType) and type_.shape == ()
            return is_number or self.held(value) is Held.WITH_PARTS
        return not changes_in_place(value) or self.held(value) is Held.WITH_PARTS

    def meets(self, value: Any) -> Held:
        """How a value is held that is one of several behind a branch or a loop."""
        if self._is_of_caller(value):
            self.share(value)
        return self.held(value)

    def hand_on(self, value: Any, result: Any) -> Any:
        """`result` is what `value` was: a variable for it, or the same in another form."""
        self.own(result, self.meets(value))
        if value in self._seen.views:
            self._seen.views[result] = self._seen.views[value]
        return result

    def view(self, owner: Any, result: Any) -> Any:
        """`result` may show a part of `owner`: of its memory, or an element of a list or dict."""
        self._seen.held.pop(result, None)
        root, limit = self._seen.views.get(owner, (owner, Held.SHARED))
        self._seen.views[result] = (root, limit if _is_array(owner) else Held.ALONE)
        return result

    def share(self, value: Any) -> None:
        """Something besides one name gets hold of a value, and so of what it is a view of."""
        if isinstance(value, tuple):
            for each in cast("tuple[Any, ...]", value):
                self.share(each)
        self._seen.held.pop(value, None)
        if value in self._seen.views:
            owner, limit = self._seen.views[value]
            held = min(limit, self.held(owner))
            self._seen.held.pop(owner, None)
            self.own(owner, held)
            if held is Held.ALONE:
                self._seen.parted[owner] = None

    def share_parts(self, value: Any) -> None:
        """Something besides a list or dict gets hold of what is in it."""
        for each in parts_of(value):
            self.share(each)

    def share_view(self, value: Any) -> None:
        """A name gets hold of a value: it is shared where it is a view."""
        if value in self._seen.views:
            self.share(value)

    def change(
        self, value: Any, what: str, remedy: str, span: Span, wanted: Held = Held.ALONE, held: Held | None = None
    ) -> None:
        """A value, which was `held` so (None: is held so now), is changed in place. Raises `RelayError` (rule
        `python-subset`) unless it is held as is `wanted`."""
        if (self.held(value) if held is None else held) < wanted or self._is_of_caller(value):
            raise refusal(span, f"{what} of what something else may hold too", remedy)
        self._changed[value] = (wanted, span)

    def begin_loop(self, start: Any, state: Any) -> None:
        """A loop's variable takes the place of what it starts with."""
        self._limits[state] = self.meets(start)
        self.begin_turn(state)

    def begin_turn(self, state: Any) -> None:
        """A loop's variable is what it was where the loop began, or what a turn left."""
        self.own(state, self._limits[state])

    def end_turn(self, state: Any, value: Any) -> None:
        """A loop's variable is `value` in the next turn. Raises `RelayError` where a turn changes
        what an earlier one shares."""
        self._limits[state] = held = min(self.meets(value), self._limits[state])
        wanted, span = self._changed.get(state, (Held.SHARED, None))
        if span is not None and held < wanted:
            raise refusal(
                span, "a change of what an earlier turn of the loop may have handed on",
                "make a new value: y = y + ..., xs = xs + [...]",
            )  # fmt: skip

    def held_at_most(self, value: Any, held: Held) -> Held:
        """How a value is held of which a way has seen that it is held so, now that all turns are known."""
        return min(held, self._limits.get(value, held))


def changes_in_place(value: Any) -> bool:
    """Whether a value that is known now is an array, a list or a dict, which `+=` and assignments to parts change."""
    return isinstance(value, list | dict) or (isinstance(value, np.ndarray) and value.ndim > 0)


def parts_of(value: Any) -> Iterable[Any]:
    """What a list or dict of Python's holds."""
    return cast(
        "Iterable[Any]", value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    )


def _is_array(value: Any) -> bool:
    """Whether parts of a value show its memory."""
    return isinstance(value, np.ndarray) or isinstance(getattr(value, "checked_type", None), TensorType)


def _holds_numbers(value: Any) -> bool:
    """Whether a value of the program is a tensor, or a list of what never changes."""
    match getattr(value, "checked_type", None):
        case TensorType():
            return True
        case TypeCall(args=(element,)):
            return _never_changes(element)
        case _:
            return isinstance(value, np.ndarray)


def _never_changes(type_: Type) -> bool:
    """Whether values are numbers, or tuples of such, which nothing changes in place."""
    match type_:
        case TensorType(shape=shape):
            return shape == ()
        case TupleType(fields):
            return all(map(_never_changes, fields))
        case _:
            return False
