"""Which arrays and lists are held by one name alone.

`y += 1` and `xs.append(x)` change an array or list in Python, for all who hold it; in a program they make a new one
for one name. Both mean the same where that name is the only way to it: a value is *owned* when an operation made it and
nothing but one name has got it since. What two names, a list, a view or a caller may hold is refused, with what to
write instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from relay.base.identity import IdentityMap
from relay.base.span import Span
from relay.frontend.python.source import refusal


@dataclass(slots=True, eq=False)
class Ownership:
    """`_owned` values, `_views` with what they show a part of, and `_changed`: those that were changed in place, with
    where."""

    _owned: IdentityMap[Any, None] = field(default_factory=IdentityMap[Any, None])
    _views: IdentityMap[Any, Any] = field(default_factory=IdentityMap[Any, Any])
    _changed: IdentityMap[Any, Span] = field(default_factory=IdentityMap[Any, Span])

    def own(self, value: Any) -> Any:
        """A value that was just made."""
        self._owned[value] = None
        return value

    def owns(self, value: Any) -> bool:
        return value in self._owned

    def hand_on(self, value: Any, result: Any) -> Any:
        """`result` is what `value` was: a variable for it, or the same in another form."""
        if self.owns(value):
            self.own(result)
        if value in self._views:
            self._views[result] = self._views[value]
        return result

    def view(self, owner: Any, result: Any) -> Any:
        """`result` may show a part of `owner`."""
        self._owned.pop(result, None)
        self._views[result] = self._views.get(owner, owner)
        return result

    def share(self, value: Any) -> None:
        """Something besides one name gets hold of a value, and so of what it is a view of."""
        self._owned.pop(value, None)
        if value in self._views:
            self._owned.pop(self._views[value], None)

    def share_view(self, value: Any) -> None:
        """A name gets hold of a value: it is shared where it is a view."""
        if value in self._views:
            self.share(value)

    def change(self, value: Any, what: str, remedy: str, span: Span) -> None:
        """A value is changed in place. Raises `RelayError` (rule `python-subset`) unless it is owned."""
        if not self.owns(value):
            raise refusal(span, f"{what} of what something else may hold too", remedy)
        self._changed[value] = span

    def begin_loop(self, start: Any, state: Any) -> None:
        """A loop's variable takes the place of what it starts with."""
        if self.owns(start):
            self.own(state)

    def turn(self, state: Any, value: Any) -> None:
        """A loop's variable is `value` in the next turn. Raises `RelayError` where a turn changes what it shares."""
        if state is value or self.owns(value):
            return
        self.share(state)
        if state in self._changed:
            raise refusal(
                self._changed[state], "a change of what an earlier turn of the loop may have handed on",
                "make a new value: y = y + ..., xs = xs + [...]",
            )  # fmt: skip


def changes_in_place(value: Any) -> bool:
    """Whether a value that is known now is an array or list, which `+=` changes."""
    return isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim > 0)
