"""Each pass held against the program that it was given."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from relay.base.diagnostics import RelayError
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.driver.verification.comparing import Compare, compared
from relay.driver.verification.failure import Wrong
from relay.driver.verification.meanings import Meanings, Signature
from relay.ir.module import IRModule
from relay.runtime.verification import Comparison, Part
from relay.transform.framework.instruments.instrument import Instrument
from relay.transform.framework.pass_info import PassInfo


@frozen(eq=False)
class _Open:
    """A pass that has begun, and what the passes inside of it made and may change."""

    before: IRModule
    inside: list[IRModule]
    may: list[FloatingPointClass]


class PassChecks(Instrument):
    """Runs the module before and after each pass that changes it. `rows` are what was compared; `progress` is told how
    many passes that were.

    Raises `RelayError` (rule `verification-failed`) that names the first pass which changes more than its class allows.
    """

    def __init__(self, meanings: Meanings, progress: Callable[[int], object]) -> None:
        self.rows: list[Comparison] = []
        self._meanings = meanings
        self._progress = progress
        self._open: list[_Open] = []
        self._signature = str(Signature.of(meanings.source))

    def exit_pass_ctx(self) -> None:
        self._open.clear()

    def run_before_pass(self, module: IRModule, info: PassInfo) -> None:
        self._open.append(_Open(module, [], [info.floating_point]))

    def run_after_pass(self, module: IRModule, info: PassInfo) -> None:
        done = self._open.pop()
        may = max(done.may)
        if self._open:
            self._open[-1].inside.append(module)
            self._open[-1].may.append(may)
        is_told_inside = bool(done.inside) and done.inside[-1] is module  # as of a Sequential
        if module is not done.before and not is_told_inside:
            self.rows.append(self._compared(done.before, module, info.name, may))
            self._progress(len(self.rows))

    def _compared(self, before: IRModule, after: IRModule, name: str, may: FloatingPointClass) -> Comparison:
        meanings = self._meanings
        row = Comparison(Part.PASS, name, may)
        reason = self._other_signature(before) or self._other_signature(after)
        if reason:
            return Comparison(Part.PASS, name, may, reason=reason)
        compare = Compare(
            meant=lambda draw: meanings.of(before, draw),
            found=lambda draw: meanings.of(after, draw),
            again=partial(meanings.moved, before, after),
        )
        shown = dict(zip(meanings.draws, meanings.shown(), strict=True))
        return compared(row, compare, shown, meanings.reason, lambda: Wrong(Part.PASS, name, before, after))

    def _other_signature(self, module: IRModule) -> str:
        """Why the inputs of the program are none of this module's; empty where they are."""
        if "main" not in module:
            return "it runs on a part of the program, without @main"
        try:
            signature = str(Signature.of(module))
        except RelayError as error:
            return error.message
        return "" if signature == self._signature else f"@main is of another type: {signature}"
