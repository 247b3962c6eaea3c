"""What is decided about a kernel before a step of its schedule is made: values that print, are stored and replayed.

A target's schedules come in families. Each has fields to be decided, such as the rows of a register tile; a `Choice` is
what they are for one kernel on one machine, each with a reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, Union

from relay.base.frozen import frozen

Value: TypeAlias = Union[int, str]
"""Of a decision. What is or is not done is `True` or `False`."""


@frozen
class Decision:
    """The value of one field of a choice, and why it is that."""

    field: str
    value: Value
    reason: str = ""


@frozen
class Choice:
    """A family of schedules, why it is that one, and its decisions in the order in which they are made.

    >>> rows = Decision("rows", 14, "28 accumulators, 2 vectors a row, leave 4 of 32 registers to what they multiply")
    >>> print(Choice("matmul", (rows,), "a product that reads a matrix along columns"))
    matmul: a product that reads a matrix along columns
      rows = 14: 28 accumulators, 2 vectors a row, leave 4 of 32 registers to what they multiply
    """

    family: str
    decisions: tuple[Decision, ...] = ()
    reason: str = ""

    @property
    def values(self) -> Mapping[str, Value]:
        """What was decided, by field."""
        return {decision.field: decision.value for decision in self.decisions}

    def with_values(self, values: Mapping[str, Value], reason: str) -> Choice:
        """The fields of `values` replaced, for a reason that they share."""
        changed = (Decision(each.field, values[each.field], reason) if each.field in values else each
                   for each in self.decisions)  # fmt: skip
        return Choice(self.family, tuple(changed), self.reason)

    def __str__(self) -> str:
        fields = (f"\n  {each.field} = {each.value}" + (each.reason and f": {each.reason}") for each in self.decisions)
        return self.family + (self.reason and f": {self.reason}") + "".join(fields)
