"""What was compared when a program was verified, and how far it was off."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from textwrap import wrap
from typing import Any

from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.base.shown.markup import element, escaped, table

NARROW_COLUMNS = 80
_MEANINGS = {
    FloatingPointClass.EXACT: "bit for bit",
    FloatingPointClass.ROUNDING: "as rounding may",
    FloatingPointClass.NONFINITE_MAY_SPREAD: "inf may spread",
    FloatingPointClass.FAST_MATH: "fast math",
}


class Part(StrEnum):
    """What may be wrong: a pass, a kernel, or the program that calls the kernels."""

    PASS = "pass"
    KERNEL = "kernel"
    PROGRAM = "program"


@frozen
class Comparison:
    """One part of a compilation, compared with what it means on `inputs` sets of inputs.

    `floating_point`: how far it may be off, as it says itself. How far it was off at most: `absolute`, the difference
    of two elements; `relative`, that as part of the largest magnitude in the tensor; `ulp`, that in units in the last
    place. `allowed`: the absolute difference that the class allowed there. `reason`: why it was not compared, or not
    on all inputs.
    """

    part: Part
    name: str
    floating_point: FloatingPointClass
    inputs: int = 0
    absolute: float = 0.0
    relative: float = 0.0
    ulp: float = 0.0
    allowed: float = 0.0
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "part": self.part.value, "name": self.name, "class": self.floating_point.name, "inputs": self.inputs,
            "absolute": self.absolute, "relative": self.relative, "ulp": self.ulp, "allowed": self.allowed,
            "reason": self.reason,
        }  # fmt: skip


@frozen
class Verification:
    """A compilation whose passes, kernels and program did what they mean, as far as each was compared. It prints as a
    table, in notebooks too.

    `inputs` tells what it was compared on, in words: extents of symbols, and the seed.

    >>> row = Comparison(Part.PASS, "FoldConstant", FloatingPointClass.EXACT, inputs=2)
    >>> print(Verification(("n = 3, seed 0", "n = 37, seed 1"), (row,)))
    verified on 2 sets of inputs (n = 3, seed 0; n = 37, seed 1)
    1 of 1 pass, 0 of 0 kernels, 0 of 0 programs compared: all equal
    <BLANKLINE>
    part     name                           may differ      inputs  abs off     ulp
    pass     FoldConstant                   bit for bit          2        0       0
    """

    inputs: tuple[str, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def compared(self) -> tuple[Comparison, ...]:
        """What was compared, on one set of inputs at least."""
        return tuple(each for each in self.comparisons if each.inputs)

    @property
    def not_compared(self) -> tuple[Comparison, ...]:
        """What was not; `reason` says why."""
        return tuple(each for each in self.comparisons if not each.inputs)

    @property
    def worst(self) -> Comparison | None:
        """What was farthest off, as part of what it gives; None where all was equal."""
        off = [each for each in self.compared if each.absolute]
        return max(off, key=lambda each: each.relative, default=None)

    def to_json(self) -> dict[str, Any]:
        return {"inputs": list(self.inputs), "comparisons": [each.to_json() for each in self.comparisons]}

    def __str__(self) -> str:
        return self.text(NARROW_COLUMNS)

    def text(self, columns: int) -> str:
        """The table in lines of so many columns, at least 80; long names are cut in the middle."""
        name_columns = 30 + max(0, columns - NARROW_COLUMNS)
        header = _line("part", "name", "may differ", "inputs", "abs off", "ulp", name_columns)
        lines = [*wrap(self._inputs, columns), *wrap(self._counts, columns), "", header]
        lines += [_row(each, name_columns) for each in self.compared]
        if self.not_compared:
            lines += ["", "not compared:"]
            lines += _reasons(self.not_compared, columns)
        partly = [each for each in self.compared if each.reason]
        if partly:
            lines += ["", "not on all inputs, or not decided:"]
            lines += _reasons(partly, columns)
        return "\n".join(lines)

    @property
    def _inputs(self) -> str:
        count = len(self.inputs)
        if not count:
            return "verified on no inputs of the whole program"
        return f"verified on {count} {'set' if count == 1 else 'sets'} of inputs ({'; '.join(self.inputs)})"

    @property
    def _counts(self) -> str:
        counts = ", ".join(_counted(part, self.comparisons) for part in Part)
        worst = self.worst
        if worst is None:
            return f"{counts} compared: all equal"
        return f"{counts} compared; farthest off by {worst.relative:.1e} of the largest element: {worst.name}"

    def __repr__(self) -> str:
        return f"<relay verification: {self._counts}>"

    def _repr_html_(self) -> str:
        rows = [
            (each.part.value, each.name, each.reason, _MEANINGS[each.floating_point], str(each.inputs),
             _number(each.absolute), _number(each.relative), _number(each.ulp))
            for each in self.comparisons
        ]  # fmt: skip
        header = ("part", "name", "remark", "may differ", "inputs", "absolute", "relative", "ulp")
        return element("p", escaped(self._inputs)) + table(header, rows, names=4)


def _reasons(comparisons: Sequence[Comparison], columns: int) -> list[str]:
    texts = [f"{each.part} {each.name}: {each.reason}" for each in comparisons]
    return [line for each in texts for line in wrap(each, columns, initial_indent="  ", subsequent_indent="    ")]


def _counted(part: Part, comparisons: Sequence[Comparison]) -> str:
    those = [each for each in comparisons if each.part is part]
    plural = {Part.PASS: "passes", Part.KERNEL: "kernels", Part.PROGRAM: "programs"}[part]
    return f"{sum(each.inputs > 0 for each in those)} of {len(those)} {part if len(those) == 1 else plural}"


def _row(each: Comparison, name_columns: int) -> str:
    numbers = str(each.inputs), _number(each.absolute), _number(each.ulp)
    return _line(each.part, each.name, _MEANINGS[each.floating_point], *numbers, name_columns)


def _line(part: str, name: str, may: str, inputs: str, off: str, ulp: str, name_columns: int) -> str:
    return f"{part:8} {_cut(name, name_columns):{name_columns}} {may:15} {inputs:>6} {off:>8} {ulp:>7}"


def _number(number: float) -> str:
    if number == 0:
        return "0"
    return f"{number:.1e}" if not 1 <= number < 1000 else f"{number:.0f}"


def _cut(text: str, columns: int) -> str:
    """A text with its middle left out where it is too long."""
    if len(text) <= columns:
        return text
    front = (columns - 1) // 2
    return f"{text[:front]}…{text[len(text) - (columns - 1 - front) :]}"
