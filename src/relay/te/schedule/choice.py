"""What is decided about a kernel before a step of its schedule is made: values that print, are stored and replayed.

A target's schedules come in families. Each has fields to be decided, such as the rows of a register tile; a `Choice` is
what they are for one kernel on one machine, each with a reason. Where extents are symbols, it may have variants: other
choices, for some extents.
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
class Condition:
    """An extent, by its symbol, and what it is compared with.

    >>> print(Condition.parse("n <= 4"), Condition.parse("n ~ 4"))
    n <= 4 None
    """

    symbol: str
    comparison: str
    number: int

    @staticmethod
    def parse(text: str) -> Condition | None:
        """What `str` gives; None for anything else."""
        match text.split():
            case [symbol, "<" | "<=" | "==" | "!=" as comparison, number] if number.isdecimal():
                return Condition(symbol, comparison, int(number))
            case _:
                return None

    def __str__(self) -> str:
        return f"{self.symbol} {self.comparison} {self.number}"


@frozen
class Variant:
    """The choice for calls whose extents are so."""

    when: Condition
    choice: Choice


@frozen
class Choice:
    """A family of schedules, why it is that one, and its decisions in the order in which they are made. Of `variants`
    the first counts whose condition holds; where none does, the choice itself.

    >>> rows = Decision("rows", 14, "28 accumulators, 2 vectors a row, leave 4 of 32 registers to what they multiply")
    >>> few = Variant(Condition("n", "<=", 4), Choice("matmul", (Decision("rows", 1, "a row at a time"),)))
    >>> print(Choice("matmul", (rows,), "a product that reads a matrix along columns", (few,)))
    matmul: a product that reads a matrix along columns
      rows = 14: 28 accumulators, 2 vectors a row, leave 4 of 32 registers to what they multiply
      where n <= 4: matmul
        rows = 1: a row at a time
    """

    family: str
    decisions: tuple[Decision, ...] = ()
    reason: str = ""
    variants: tuple[Variant, ...] = ()

    @property
    def values(self) -> Mapping[str, Value]:
        """What was decided, by field."""
        return {decision.field: decision.value for decision in self.decisions}

    def __str__(self) -> str:
        fields = [f"{each.field} = {each.value}" + (each.reason and f": {each.reason}") for each in self.decisions]
        for variant in self.variants:
            fields += f"where {variant.when}: {variant.choice}".splitlines()
        return "\n  ".join((self.family + (self.reason and f": {self.reason}"), *fields))
