"""The check that an index which a kernel has found lies inside its axis."""

from __future__ import annotations

from collections.abc import Callable

from relay.targets.cpu.emit.text import FunctionText


def emit_index_check(text: FunctionText, found: str, left: str, fail: Callable[[], object]) -> None:
    """Unless the int64 at `found` is an index of an axis of as many entries as the next one says, leave both at `left`,
    where `runtime.artefact.status.left_index` reads them, and do what `fail` emits."""
    index, extent = (text.impure(f"load i64, ptr {slot}, align 8") for slot in _slots(text, found))
    from_end = text.impure(f"add i64 {index}, {extent}")
    place = text.impure(f"select i1 {text.impure(f'icmp slt i64 {index}, 0')}, i64 {from_end}, i64 {index}")
    passed, refused = text.label("passed"), text.label("refused")
    text.branch(text.impure(f"icmp ult i64 {place}, {extent}"), passed, refused)
    text.start_block(refused)
    for value, slot in zip((index, extent), _slots(text, left), strict=True):
        text.effect(f"store i64 {value}, ptr {slot}, align 8")
    fail()
    text.start_block(passed)


def _slots(text: FunctionText, address: str) -> tuple[str, str]:
    return address, text.impure(f"getelementptr i64, ptr {address}, i64 1")
