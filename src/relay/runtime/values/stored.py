"""Values as programs store them, told by the heap's labels alone: what functions take along, and what is in refs of
which no type was told. Nobody but the program that stored them looks inside.

    stored  ::= int (a word that is no address) | array | StoredCell | RefValue | HostFunction
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from relay.base.frozen import frozen, mutable
from relay.runtime.arguments.extents import Extents
from relay.runtime.artefact.value_types import FunctionOf, ValueType
from relay.runtime.values.plans import FunctionPlan


@mutable
class StoredCell:
    """A tuple, a value of a data type, or a closure, whose first field is its code. Filled after it is made, since
    closures may hold refs that hold them."""

    label: int
    fields: tuple[Any, ...] = ()


@frozen(eq=False)
class Told:
    """The type of a ref's value, and what symbols in it stand for."""

    type: ValueType
    extents: Mapping[str, int]


@frozen(eq=False)
class Untold:
    """What a ref holds that only functions know of: a stored value."""


UNTOLD = Untold()


@frozen(eq=False)
class HostFunction:
    """A Python function where a program takes one; what it is given and gives is checked against the type."""

    function: Callable[..., Any]
    plan: FunctionPlan
    extents: Extents


class Program(Protocol):
    """The program that a function came out of."""

    def apply(self, function: NativeFunction, arguments: tuple[Any, ...]) -> Any:
        """The result of a call."""
        ...


@frozen(eq=False, repr=False)
class NativeFunction:
    """A function that a compiled program gave out, with the values of its free variables. It can be called from any
    thread, given to the program that it came from, and where another program takes a function.

    It owns a copy of what it took along, except for refs, which stay those they were.
    """

    program: Program
    plan: FunctionPlan
    extents: Mapping[str, int]
    closure: StoredCell

    @property
    def type(self) -> FunctionOf:
        """What it takes and gives."""
        return self.plan.type

    def __call__(self, *arguments: Any) -> Any:
        """The result for these arguments. Raises `RelayError` when one does not fit, and as the program does."""
        return self.program.apply(self, arguments)

    def __repr__(self) -> str:
        return f"<relay function: {self.type}>"
