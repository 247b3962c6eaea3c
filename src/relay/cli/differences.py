"""What a pass did to a module, as `relay show --diff PASS` tells it."""

from __future__ import annotations

import difflib
from dataclasses import replace

from relay.base.diagnostics import RelayError
from relay.base.names.near_names import near_names
from relay.driver.compilation import Compilation
from relay.ir.module import IRModule
from relay.text.printer import astext
from relay.transform.framework.instruments.instrument import Instrument
from relay.transform.framework.pass_info import PassInfo

_CONTEXT_LINES = 2


class _Watch(Instrument):
    """Keeps what a pass was given, and what it made of that."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seen: set[str] = set()
        self.before: list[IRModule] = []
        self.runs: list[tuple[IRModule, IRModule]] = []

    def run_before_pass(self, module: IRModule, info: PassInfo) -> None:
        self.seen.add(info.name)
        if info.name == self.name:
            self.before.append(module)

    def run_after_pass(self, module: IRModule, info: PassInfo) -> None:
        if info.name == self.name:
            self.runs.append((self.before.pop(), module))


def pass_differences(compilation: Compilation, name: str) -> dict[str, str]:
    """The runs of a pass by their numbers, each as the lines that it took away and put there.

    Raises `RelayError` (rule `unknown-pass`) for a pass that does not run.
    """
    return {
        f"{name} {number}": _difference(*run, number) for number, run in enumerate(runs(compilation, name), start=1)
    }


def runs(compilation: Compilation, name: str) -> list[tuple[IRModule, IRModule]]:
    """What a pass was given, and what it made of that, each time it ran. Raises `RelayError` (rule `unknown-pass`)."""
    watch = _Watch(name)
    context = compilation.surroundings
    compilation.surroundings = replace(context, instruments=(*context.instruments, watch))
    _ = compilation.optimized
    if not watch.runs:
        raise RelayError(
            rule="unknown-pass",
            message=f"no pass `{name}` runs at level {compilation.opt_level}",
            remedy=near_names(name, watch.seen) or "`relay show --stage passes` lists them",
        )
    return watch.runs


def _difference(before: IRModule, after: IRModule, number: int) -> str:
    old, new = (astext(each, show_meta_data=False).splitlines() for each in (before, after))
    lines = list(difflib.unified_diff(old, new, "before", "after", n=_CONTEXT_LINES, lineterm=""))
    return "\n".join([f"# run {number}", *lines]) if lines else f"# run {number}: nothing changed"
