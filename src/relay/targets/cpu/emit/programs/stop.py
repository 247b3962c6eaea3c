"""Where a call may end before it is done: for Ctrl-C, or because its time is up (`support/stop/`)."""

from __future__ import annotations

from relay.targets.cpu.emit.programs.frame import Frame
from relay.targets.cpu.emit.stop import STEP, emit_stop_question
from relay.targets.cpu.emit.text import FunctionText


def emit_stop_check(text: FunctionText, frame: Frame) -> None:
    """Go on, unless this call is to end."""
    ask, stop, go = text.label("ask"), text.label("stop"), text.label("go")
    status = emit_stop_question(text, STEP, go, ask)
    text.branch(text.impure(f"icmp eq i32 {status}, 0"), go, stop)
    text.start_block(stop)
    frame.fail(status)
    text.start_block(go)


def emit_stop_begin(text: FunctionText) -> None:
    """A call begins, of which nobody has asked anything yet."""
    text.module.declare("relay_stop_begin", "void @relay_stop_begin() nounwind")
    text.effect("call void @relay_stop_begin()")
