"""How a program says what it is run on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Definition = TypeVar("Definition", bound=Callable[..., Any])


def runs(*inputs: tuple[Any, ...]) -> Callable[[Definition], Definition]:
    """Have a program run on each of the inputs: its arguments."""

    def marked(definition: Definition) -> Definition:
        definition.inputs = inputs  # type: ignore[attr-defined]
        return definition

    return marked
