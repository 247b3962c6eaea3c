"""Which arrays and lists are held by one name alone.

`y += 1` and `xs.append(x)` change an array or list in Python, for all who hold it; in a program they make a new one
for one name. Both mean the same where that name is the only way to it: a value is *owned* when an operation made it and
nothing but one name has got it since. What two names, a list, a view or a caller may hold is refused, with what to
write instead.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import field
from enum import IntEnum
from typing import Any, cast

import numpy as np

from relay.base.frozen import mutable
from relay.base.identity import IdentityMap
from relay.base.span import Span
from relay.frontend.python.syntax.source import refusal
from relay.ir.expr import ExprBase
from relay.ir.types import TensorType, TypeCall


class Held(IntEnum):
    """How much of a value one name alone holds."""

    SHARED = 0
    ALONE = 1
    WITH_PARTS = 2
    """The arrays and lists inside, too."""


@mutable
class Ownership:
    """`_held` is how values are held that are not shared. `_views` are those that show a part of another, with how that
    one may still be held when something gets hold of them; `_parted` are the lists of which something has a part.
    `_changed` is how much of a value was changed in place, and where."""

    _held: IdentityMap[Any, Held] = field(default_factory=IdentityMap[Any, Held])
    _views: IdentityMap[Any, tuple[Any, Held]] = field(default_factory=IdentityMap[Any, tuple[Any, Held]])
    _parted: IdentityMap[Any, None] = field(default_factory=IdentityMap[Any, None])
    _changed: IdentityMap[Any, tuple[Held, Span]] = field(default_factory=IdentityMap[Any, tuple[Held, Span]])

    @contextmanager
    def trial(self) -> Generator[None]:
        """What is seen inside is forgotten behind."""
        held, views = self._held.copy(), self._views.copy()
        parted, changed = self._parted.copy(), self._changed.copy()
        try:
            yield
        finally:
            self._held, self._views, self._parted, self._changed = held, views, parted, changed

    def own(self, value: Any, held: Held = Held.ALONE) -> Any:
        """A value that was just made."""
        if held is not Held.SHARED:
            self._held[value] = held
        return value

    def held(self, value: Any) -> Held:
        found = self._held.get(value, Held.SHARED)
        if found is Held.SHARED:
            return found
        if isinstance(value, list | dict):
            inside = value not in self._parted and all(map(self.is_alone, parts_of(value)))
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

    def hand_on(self, value: Any, result: Any) -> Any:
        """`result` is what `value` was: a variable for it, or the same in another form."""
        self.own(result, self.held(value))
        if value in self._views:
            self._views[result] = self._views[value]
        return result

    def view(self, owner: Any, result: Any) -> Any:
        """`result` may show a part of `owner`: of its memory, or an element of a list or dict."""
        self._held.pop(result, None)
        root, limit = self._views.get(owner, (owner, Held.SHARED))
        self._views[result] = (root, limit if _is_array(owner) else Held.ALONE)
        return result

    def share(self, value: Any) -> None:
        """Something besides one name gets hold of a value, and so of what it is a view of."""
        if isinstance(value, tuple):
            for each in cast("tuple[Any, ...]", value):
                self.share(each)
        self._held.pop(value, None)
        if value in self._views:
            owner, limit = self._views[value]
            held = min(limit, self.held(owner))
            self._held.pop(owner, None)
            self.own(owner, held)
            if held is Held.ALONE:
                self._parted[owner] = None

    def share_parts(self, value: Any) -> None:
        """Something besides a list or dict gets hold of what is in it."""
        for each in parts_of(value):
            self.share(each)

    def share_view(self, value: Any) -> None:
        """A name gets hold of a value: it is shared where it is a view."""
        if value in self._views:
            self.share(value)

    def change(
        self, value: Any, what: str, remedy: str, span: Span, wanted: Held = Held.ALONE, held: Held | None = None
    ) -> None:
        """A value, which was `held` so (None: is held so now), is changed in place. Raises `RelayError` (rule
        `python-subset`) unless it is held as is `wanted`."""
        if (self.held(value) if held is None else held) < wanted:
            raise refusal(span, f"{what} of what something else may hold too", remedy)
        self._changed[value] = (wanted, span)

    def begin_loop(self, start: Any, state: Any) -> None:
        """A loop's variable takes the place of what it starts with."""
        self.own(state, self.held(start))

    def lower(self, state: Any, value: Any) -> None:
        """A variable that may be `value` is held no more than that is."""
        held = self.held(value)
        if held < self.held(state):
            self.share(state)
            self.own(state, held)

    def turn(self, state: Any, value: Any) -> None:
        """A loop's variable is `value` in the next turn. Raises `RelayError` where a turn changes what it shares."""
        if state is value:
            return
        self.lower(state, value)
        wanted, span = self._changed.get(state, (Held.SHARED, None))
        if span is not None and self.held(value) < wanted:
            raise refusal(
                span, "a change of what an earlier turn of the loop may have handed on",
                "make a new value: y = y + ..., xs = xs + [...]",
            )  # fmt: skip


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
    """Whether a value of the program is a tensor, or a list of numbers."""
    match getattr(value, "checked_type", None):
        case TensorType():
            return True
        case TypeCall(args=(TensorType(shape=()),)):
            return True
        case _:
            return isinstance(value, np.ndarray)
