"""What an instrument is told."""

from __future__ import annotations

from relay.ir.module import IRModule
from relay.transform.framework.pass_info import PassInfo


class Instrument:
    """Told of every pass that runs under the `PassContext` it is given to. A subclass takes what it wants to know.

    Passes nest: a `Sequential` is one too. A pass that fails is not told to `run_after_pass`; `exit_pass_ctx` comes in
    any case.
    """

    def enter_pass_ctx(self) -> None:
        """The context is entered."""

    def exit_pass_ctx(self) -> None:
        """The context is left."""

    def should_run(self, module: IRModule, info: PassInfo) -> bool:  # noqa: ARG002
        """Whether a pass may run; one instrument that says no is enough to leave it out."""
        return True

    def run_before_pass(self, module: IRModule, info: PassInfo) -> None:
        """A pass is about to run on a module."""

    def run_after_pass(self, module: IRModule, info: PassInfo) -> None:
        """A pass has made this module: the same object if it changed nothing."""
