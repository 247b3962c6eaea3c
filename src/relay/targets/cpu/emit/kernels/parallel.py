"""Parallel loops: the body becomes a function of a range of iterations, which the thread pool calls.

    for i in parallel(n): body   →   relay_parallel_for(@kernel.part0, context, n, grain, turn, scratch, bytes, threads)

`context` is a struct on the caller's stack with the addresses and numbers that the body uses. `scratch` is what the
caller works in, of so many bytes; other threads work in as much of their own. A loop inside is serial.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from relay.arith.expr import Symbol, free_symbols
from relay.base.frozen import frozen
from relay.lower.planning.scratch import scratch_bytes
from relay.targets.cpu.core import SHORTEST_PARALLEL_NANOSECONDS
from relay.targets.cpu.emit.context import Emitter, Known, Place
from relay.targets.cpu.emit.index import emit_index
from relay.targets.cpu.emit.kernels.tiles import emit_return
from relay.targets.cpu.emit.kernels.work import PARTS_OF_A_NANOSECOND, work_of
from relay.targets.cpu.emit.numbers.typenames import register_type
from relay.targets.cpu.emit.text import FunctionText
from relay.tir.buffer import Buffer
from relay.tir.expr import ValueVar
from relay.tir.stmt import For
from relay.tir.traversal import values_in_index, walk_statement

EmitBody = Callable[[Emitter, For, Symbol | None, str, str], None]
_RANGE = "i64 %begin, i64 %end, ptr %scratch"
"""What the body is given beside its context."""


@frozen
class Captured:
    """Something that is known around the loop: its LLVM type, its name there, and its name in the body."""

    kind: str
    outside: str
    inside: str
    attribute: str = ""


def emit_parallel(e: Emitter, loop: For, turn: Symbol | None, emit_body: EmitBody) -> None:
    """Write the body as functions of its own, and the call at this point. With a `turn` of 1, backwards."""
    part = f"{e.kernel_name}.part{e.module.outlined}"
    e.module.outlined += 1
    capture = _Capture(e)
    inner = capture.emitter()
    emit_body(inner, loop, turn, "%begin", "%end")
    emit_return(inner)
    held = capture.in_order()
    struct = "{ " + ", ".join(captured.kind for captured in held) + " }"
    e.module.functions.append(_entry(part, struct, held))
    e.module.functions.append(_body(part, held, inner.function.render_body()))
    _call(e, loop, turn, part, struct, held)


class _Capture:
    """What the body of a loop takes from around it: what its emitter asks for, under new names, which tell the order in
    which it was defined there."""

    def __init__(self, around: Emitter) -> None:
        self._around = around
        self._buffers = {buffer: at for at, buffer in enumerate(around.places)}
        self._symbols = {symbol: at for at, symbol in enumerate(around.symbols)}
        self._variables = {variable: at for at, variable in enumerate(around.variables)}
        self._held: dict[tuple[str, int], Captured] = {}

    def emitter(self) -> Emitter:
        """An emitter for the body."""
        e = self._around
        inner = Emitter(FunctionText(e.module), e.machine, e.kernel_name, e.emit_value, in_parallel=True)
        inner.ranges, inner.polls = dict(e.ranges), e.polls
        inner.places, inner.symbols = Known(self._place), Known(self._symbol)
        inner.variables = Known(self._variable)
        return inner

    def in_order(self) -> list[Captured]:
        """What was asked for: buffers, symbols and names, each in the order of definition."""
        return [captured for _, captured in sorted(self._held.items(), key=lambda item: item[0])]

    def _place(self, buffer: Buffer) -> Place:
        place = self._around.places[buffer]
        attribute = "noalias " if place.load_key is buffer else ""
        return replace(place, pointer=self._hold("p", self._buffers[buffer], "ptr", place.pointer, attribute), depth=0)

    def _symbol(self, symbol: Symbol) -> tuple[str, int]:
        text, _ = self._around.symbols[symbol]
        return self._hold("s", self._symbols[symbol], "i64", text), 0

    def _variable(self, variable: ValueVar) -> str:
        text = self._around.variables[variable]
        return self._hold("x", self._variables[variable], register_type(variable.dtype, variable.lanes), text)

    def _hold(self, letter: str, position: int, kind: str, outside: str, attribute: str = "") -> str:
        captured = Captured(kind, outside, f"%{letter}{position}", attribute)
        self._held[letter, position] = captured
        return captured.inside


def _entry(part: str, struct: str, held: list[Captured]) -> str:
    """The function that the pool calls: it unpacks the context."""
    lines = [f"define internal void @{part}(ptr %context, {_RANGE}) nounwind {{"]
    for position, captured in enumerate(held):
        lines.append(f"  %f{position} = getelementptr {struct}, ptr %context, i64 0, i32 {position}")
        lines.append(f"  %a{position} = load {captured.kind}, ptr %f{position}")
    arguments = [f"{captured.kind} %a{position}" for position, captured in enumerate(held)]
    lines.append(f"  call void @{part}.body({', '.join([*arguments, _RANGE])})")
    lines.append("  ret void\n}\n")
    return "\n".join(lines)


def _body(part: str, held: list[Captured], body: str) -> str:
    """The iterations themselves, with their buffers as parameters that do not alias."""
    parameters = [f"{captured.kind} {captured.attribute}{captured.inside}" for captured in held]
    given = ", ".join([*parameters, _RANGE.replace("ptr ", "ptr noalias ")])
    header = f"define internal void @{part}.body({given}) nounwind"
    return f"{header} {body}"


def free_scratch(e: Emitter) -> str:
    """Where the scratch begins that is not taken here."""
    if e.scratch_bytes == 0:
        return e.scratch
    return e.function.op(f"getelementptr i8, ptr {e.scratch}, i64 {emit_index(e, e.scratch_bytes)}")


def _call(e: Emitter, loop: For, turn: Symbol | None, part: str, struct: str, held: list[Captured]) -> None:
    f = e.function
    context = f.alloca_type(struct)
    for position, captured in enumerate(held):
        field = f.op(f"getelementptr {struct}, ptr {context}, i64 0, i32 {position}")
        f.effect(f"store {captured.kind} {captured.outside}, ptr {field}")
    count = emit_index(e, loop.extent)
    grain = _grain(e, loop, count)
    e.module.declare("relay_parallel_for", "void @relay_parallel_for(ptr, ptr, i64, i64, i64, ptr, i64, i32)")
    backwards = emit_index(e, 0 if turn is None else turn)
    size = scratch_bytes(loop.body)
    scratch = "null" if size == 0 else free_scratch(e)
    loops = f"ptr @{part}, ptr {context}, i64 {count}, i64 {grain}, i64 {backwards}"
    room = f"ptr {scratch}, i64 {emit_index(e, size)}"
    f.effect(f"call void @relay_parallel_for({loops}, {room}, i32 {e.machine.threads})")
    f.forget_all_loads()


def _grain(e: Emitter, loop: For, count: str) -> str:
    """The least number of iterations that a thread gets: all of them where the call has too little work to share, if
    its extents tell how much there is: not where values that are found inside do."""
    stated = dict(loop.annotations).get("grain")
    if stated is not None:
        return str(stated)
    if all(isinstance(each.extent, int) for each in walk_statement(loop) if isinstance(each, For)):
        return "1"
    work = work_of(loop, e.works)
    if isinstance(work, int) or not free_symbols(work) <= e.symbols.keys() or values_in_index(work):
        return "1"
    shortest = SHORTEST_PARALLEL_NANOSECONDS * PARTS_OF_A_NANOSECOND
    short = e.function.op(f"icmp slt i64 {emit_index(e, work)}, {shortest}")
    return e.function.op(f"select i1 {short}, i64 {count}, i64 1")
