"""How long each pass took, as a tree."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field

from relay.base.frozen import mutable
from relay.ir.module import IRModule
from relay.transform.framework.instruments.instrument import Instrument
from relay.transform.framework.pass_info import PassInfo


@mutable
class TimedPass:
    """One run of a pass; `parts` are the passes that ran inside it. Inference of what it changed is counted too."""

    name: str
    seconds: float = 0.0
    parts: list[TimedPass] = field(default_factory=list)


class Timing(Instrument):
    """Seconds by pass. Printing it with `rich` shows a tree; `str` gives the same as plain lines.

    >>> ticks = iter((0.0, 1.0, 1.5, 2.0))
    >>> timing = Timing(lambda: next(ticks))
    >>> for name in ("-O2", "FoldConstant"):
    ...     timing.run_before_pass(IRModule(), PassInfo(name, 0))
    >>> for name in ("FoldConstant", "-O2"):
    ...     timing.run_after_pass(IRModule(), PassInfo(name, 0))
    >>> print(timing)
    -O2             2000.0 ms
      FoldConstant   500.0 ms
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.passes: list[TimedPass] = []
        self._clock = clock
        self._open: list[tuple[TimedPass, float]] = []

    def exit_pass_ctx(self) -> None:
        self._open.clear()  # what failed is not finished

    def run_before_pass(self, module: IRModule, info: PassInfo) -> None:  # noqa: ARG002
        timed = TimedPass(info.name)
        (self._open[-1][0].parts if self._open else self.passes).append(timed)
        self._open.append((timed, self._clock()))

    def run_after_pass(self, module: IRModule, info: PassInfo) -> None:  # noqa: ARG002
        timed, started = self._open.pop()
        timed.seconds = self._clock() - started

    @property
    def seconds(self) -> float:
        """All of it."""
        return sum(each.seconds for each in self.passes)

    def __rich__(self) -> str:
        return "\n".join((f"passes  {self.seconds * 1e3:.1f} ms", *_branches(self.passes, "")))

    def __str__(self) -> str:
        lines = self._lines()
        width = max((2 * depth + len(timed.name) for depth, timed in lines), default=0)
        return "\n".join(
            f"{'  ' * depth + timed.name:<{width}}  {timed.seconds * 1e3:6.1f} ms" for depth, timed in lines
        )

    def _lines(self) -> list[tuple[int, TimedPass]]:
        """Every pass with its depth, in the order in which they began."""
        lines: list[tuple[int, TimedPass]] = []
        stack = [(0, each) for each in reversed(self.passes)]
        while stack:
            depth, timed = stack.pop()
            lines.append((depth, timed))
            stack += [(depth + 1, part) for part in reversed(timed.parts)]
        return lines


def _branches(passes: Sequence[TimedPass], before: str) -> Iterator[str]:
    """A line for each pass, with the branches that lead to it. Sequences are nested a few deep."""
    for position, timed in enumerate(passes):
        is_last = position == len(passes) - 1
        yield f"{before}{'└── ' if is_last else '├── '}{timed.name}  {timed.seconds * 1e3:.1f} ms"
        yield from _branches(timed.parts, before + ("    " if is_last else "│   "))
