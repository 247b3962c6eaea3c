"""Finding what has a name among others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from relay.base.diagnostics import RelayError
from relay.base.names.near_names import near_names


class Named(Protocol):
    @property
    def name(self) -> str: ...


Found = TypeVar("Found", bound=Named)


def find_named(
    things: Sequence[Found],
    name: str,
    *,
    rule: str,
    message: str,
    remedy: str = "",
    expected_of_none: str = "",
    suggests: bool = False,
) -> Found:
    """The one called `name`. Raises `RelayError` of this rule, which lists the names that there are, or says
    `expected_of_none` where there are none. If it `suggests`, names that are near come before the remedy.

    >>> from relay.base.dtypes import DType
    >>> find_named((DType.INT8, DType.INT64), "INT64", rule="unknown-dtype", message="there is no such type").value
    'int64'
    """
    for thing in things:
        if thing.name == name:
            return thing
    names = [thing.name for thing in things]
    raise RelayError(
        rule=rule,
        message=message,
        expected=f"one of {', '.join(names)}" if names else expected_of_none,
        found=name,
        remedy=(near_names(name, names) if suggests else "") or remedy,
    )
