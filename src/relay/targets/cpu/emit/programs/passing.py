"""How a procedure is given its arguments: the first words in registers, the others in memory behind the heap.

A callee reads those in memory before it does anything else, so one place serves all calls. They do not go over the
stack: the calling convention `tailcc` would put them there, and LLVM 22.1 forgets to store them in calls in tail
position (x86-64).
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.runtime.values.heap import HEAP_BYTES, REGISTER_WORDS
from relay.targets.cpu.emit.text import FunctionText


def pass_arguments(text: FunctionText, heap: str, words: Sequence[str]) -> str:
    """The arguments of a call as text, after what is given in memory has been stored."""
    for position, word in enumerate(words[REGISTER_WORDS:]):
        text.effect(f"store i64 {word}, ptr {_place(text, heap, position)}, align 8")
    return ", ".join((f"ptr {heap}", *(f"i64 {word}" for word in words[:REGISTER_WORDS])))


def take_arguments(text: FunctionText, names: Sequence[str]) -> str:
    """The parameters of a procedure as text, after code that reads the others of these `names`."""
    for position, name in enumerate(names[REGISTER_WORDS:]):
        text.effect(f"{name} = load i64, ptr {_place(text, '%heap', position)}, align 8")
    return ", ".join(("ptr %heap", *(f"i64 {name}" for name in names[:REGISTER_WORDS])))


def _place(text: FunctionText, heap: str, position: int) -> str:
    return text.impure(f"getelementptr i8, ptr {heap}, i64 {HEAP_BYTES + 8 * position}")
