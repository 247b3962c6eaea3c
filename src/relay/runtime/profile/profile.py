"""How long each operator of a program takes."""

from __future__ import annotations

from collections.abc import Sequence

from relay.base.frozen import frozen


@frozen
class OperatorTime:
    """One operator: the name of its node, the kernel it ran, the types of its results, and the seconds of each run."""

    node: str
    kernel: str
    results: tuple[str, ...]
    seconds: tuple[float, ...]

    @property
    def median_s(self) -> float:
        """The median over all runs, in seconds."""
        ordered = sorted(self.seconds)
        middle = len(ordered) // 2
        return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


HEADER = ("node", "result", "µs", "share")


@frozen
class Profile:
    """The times of all operators, in the order in which they run. Printed, it is a table, slowest first.

    >>> print(Profile((OperatorTime("fused_exp", "fused_exp_12ab", ("float32[4]",), (2e-6, 3e-6, 4e-6)),)))
    node       result       µs  share
    fused_exp  float32[4]  3.0   100%
    total                  3.0   100%
    """

    operators: tuple[OperatorTime, ...]

    @property
    def total_s(self) -> float:
        """The sum of the operators' medians, in seconds."""
        return sum(each.median_s for each in self.operators)

    def cells(self) -> list[tuple[str, str, str, str]]:
        """The rows of the table, slowest operator first and the sum last, as text; `HEADER` names the columns."""
        total = self.total_s
        rows = [
            (each.node, ", ".join(each.results), f"{each.median_s * 1e6:.1f}", _share(each.median_s, total))
            for each in sorted(self.operators, key=lambda each: -each.median_s)
        ]
        return [*rows, ("total", "", f"{total * 1e6:.1f}", _share(total, total))]

    def __str__(self) -> str:
        return _aligned([HEADER, *self.cells()])


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.0%}" if whole else "0%"


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    """Columns of text: names to the left, the last two, numbers, to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for row in rows:
        cells = [
            cell.ljust(width) if position < len(row) - 2 else cell.rjust(width)
            for position, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells))
    return "\n".join(lines)
