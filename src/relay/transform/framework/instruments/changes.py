"""What each pass changed, as a difference of the printed module."""

from __future__ import annotations

import sys
from collections.abc import Callable
from difflib import unified_diff

from relay.ir.module import IRModule
from relay.text.printer import astext
from relay.transform.framework.instruments.instrument import Instrument
from relay.transform.framework.pass_info import PassInfo


class PrintChanges(Instrument):
    """Writes a unified difference after each pass that changed the module: to standard output, or as `write` does."""

    def __init__(self, write: Callable[[str], object] | None = None, context_lines: int = 3) -> None:
        self._write = write
        self._context_lines = context_lines
        self._open: list[IRModule] = []

    def exit_pass_ctx(self) -> None:
        self._open.clear()

    def run_before_pass(self, module: IRModule, info: PassInfo) -> None:  # noqa: ARG002
        self._open.append(module)

    def run_after_pass(self, module: IRModule, info: PassInfo) -> None:
        before = self._open.pop()
        if module is before:
            return
        left, right = (astext(each, show_meta_data=False).splitlines() for each in (before, module))
        names = f"before {info.name}", f"after {info.name}"
        lines = unified_diff(left, right, *names, n=self._context_lines, lineterm="")
        (self._write or sys.stdout.write)("".join(f"{line}\n" for line in lines))
