"""What text, inference and analysis need to know of an operator. `ops/` extends this to the full record.

A *type relation* answers one of three things about a call:

- `Solved`: the result's type, what it implies for inputs that were open, and the checks that only the run can make;
- `Waiting`: which inputs must be known better first;
- `Conflict`: why no types make the call right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeAlias, Union

from relay.arith.expr import Comparison, IntExpr
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes, NoAttributes
from relay.ir.types import Type


class Effect(Enum):
    """What evaluating a call can do besides giving a value."""

    PURE = "pure"
    MAY_FAIL = "may fail"  # the run may end there: not to be dropped, and to be moved only where it ran before
    STATEFUL = "stateful"  # reads or changes what others see: runs once, where and when the program says


@frozen
class Check:
    """A statement about extents that the prover could not decide; `message` says what it means to the user, and
    `stated` the condition in words, where one comparison says more than one thing."""

    condition: Comparison
    message: str
    stated: str = ""

    @property
    def text(self) -> str:
        """The condition as users read it."""
        return self.stated or str(self.condition)


@frozen
class Solved:
    """`inputs`, when given, has one entry an input: its type as the relation implies it, or None for nothing new."""

    result: Type
    checks: tuple[Check, ...] = ()
    inputs: tuple[Type | None, ...] = ()


@frozen
class Waiting:
    """`on`: positions of the inputs that are too open; `needs`: what must be known of them (`the rank of data`)."""

    on: tuple[int, ...]
    needs: str


@frozen
class Conflict:
    """Why the call is wrong. `rule` is a stable kebab-case identifier, `inputs` the positions that disagree."""

    rule: str
    message: str
    expected: str = ""
    found: str = ""
    remedy: str = ""
    inputs: tuple[int, ...] = ()


RelationOutcome: TypeAlias = Union[Solved, Waiting, Conflict]
Relation: TypeAlias = Callable[[tuple[Type, ...], Any], RelationOutcome]
MultiplyAdds: TypeAlias = Callable[[Any, tuple[Type, ...], Type], IntExpr]
"""`multiply_adds(attributes, input types, result type)`: how many products a call adds up."""


@frozen(eq=False)
class Operator:
    """The declaration of an operator. `inputs` names the arguments; a tuple of tensors is one argument, as in Relay.

    `input_defaults`: last inputs that text may leave out, or write as attributes, which they once were.
    """

    name: str
    inputs: tuple[str, ...]
    relation: Relation
    attributes: type[Attributes] = NoAttributes
    effect: Effect = Effect.PURE
    description: str = ""
    multiply_adds: MultiplyAdds | None = None  # None: it is no sum of products
    input_defaults: tuple[tuple[str, float], ...] = ()

    def __repr__(self) -> str:
        return f"Operator({self.name})"


OperatorTable: TypeAlias = Mapping[str, Operator]
"""Operators by name: an argument of whatever reads programs. Users extend the language with a larger table."""
