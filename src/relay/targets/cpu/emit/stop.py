"""Where a call may end before it is done, for Ctrl-C or because its time is up, as LLVM text (`support/stop/`)."""

from __future__ import annotations

from collections.abc import Callable

from relay.targets.cpu.emit.text import FunctionText

_ASKED = "@relay_stop_asked = external global i32"


NOW, STEP = "relay_stop_now", "relay_stop_step"
"""What tells: within a step of the program, and where one is made."""


def emit_stop_begin(text: FunctionText) -> None:
    """A call begins, of which nobody has asked anything yet."""
    text.module.declare("relay_stop_begin", "void @relay_stop_begin() nounwind")
    text.effect("call void @relay_stop_begin()")


def emit_stop_question(text: FunctionText, asked: str, go: str, ask: str) -> str:
    """Go on at the label `go`, or in a block `ask` that begins here: one load and one branch as long as nobody is told
    to end. Gives the status that `asked` (`NOW` or `STEP`) tells in that block; 0 where the call goes on."""
    text.module.declare(asked, f"i32 @{asked}() cold nounwind")
    if _ASKED not in text.module.globals:
        text.module.globals.append(_ASKED)
    somebody = text.impure("load atomic i32, ptr @relay_stop_asked monotonic, align 4")
    text.branch(text.impure(f"icmp eq i32 {somebody}, 0"), go, ask)
    text.start_block(ask)
    return text.impure(f"call i32 @{asked}()")


def emit_stop_check(text: FunctionText, fail: Callable[[str], None]) -> None:
    """Go on to the next step of a program, unless its call is to end: then it fails with that status."""
    ask, stop, go = text.label("ask"), text.label("stop"), text.label("go")
    status = emit_stop_question(text, STEP, go, ask)
    text.branch(text.impure(f"icmp eq i32 {status}, 0"), go, stop)
    text.start_block(stop)
    fail(status)
    text.start_block(go)
