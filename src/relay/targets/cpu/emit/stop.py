"""The question whether a call is to end, as LLVM text (`support/stop/`)."""

from __future__ import annotations

from relay.targets.cpu.emit.text import FunctionText

_ASKED = "@relay_stop_asked = external global i32"


def emit_stop_question(text: FunctionText, go: str, ask: str) -> None:
    """Go on at the label `go`, or in a block `ask` that begins here, where `relay_stop_now` tells: one load and one
    branch as long as nobody is asked."""
    text.module.declare("relay_stop_now", "i32 @relay_stop_now() cold nounwind")
    if _ASKED not in text.module.globals:
        text.module.globals.append(_ASKED)
    asked = text.impure("load atomic i32, ptr @relay_stop_asked monotonic, align 4")
    text.branch(text.impure(f"icmp eq i32 {asked}, 0"), go, ask)
    text.start_block(ask)
