"""Every form of statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from relay.arith.expr import IntExpr, Symbol, add
from relay.base.diagnostics import CompilerBug, RelayError
from relay.lower.planning.scratch import buffer_bytes, is_scratch
from relay.targets.cpu.emit.context import Emitter, Place, row_major_strides
from relay.targets.cpu.emit.index import emit_index
from relay.targets.cpu.emit.kernels.memory import emit_store
from relay.targets.cpu.emit.kernels.parallel import emit_parallel, free_scratch
from relay.targets.cpu.emit.kernels.polls import emit_poll, iterations_between_polls, polls_inside
from relay.targets.cpu.emit.kernels.tail_mask import padded_shape
from relay.targets.cpu.emit.kernels.value import emit_value
from relay.tir.buffer import Buffer, Scope
from relay.tir.stmt import ALTERNATE, Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, Sequence, Stmt, Store


def emit_statement(e: Emitter, statement: Stmt) -> None:
    """Write `statement` at the end of the function. Names bound by `LetValue` nest as deep as a program is long, so
    that form is a loop here; the others recurse, as deep as loops nest."""
    while isinstance(statement, LetValue):
        e.memo = {}
        e.variables[statement.variable] = emit_value(e, statement.value)
        statement = statement.body
    e.memo = {}
    match statement:
        case Store():
            emit_store(e, statement)
        case Sequence(statements):
            for part in statements:
                emit_statement(e, part)
        case For():
            _for(e, statement)
        case If():
            _if(e, statement)
        case Allocate(buffer, body):
            _allocate(e, buffer, body)
        case Evaluate(value):
            emit_value(e, value)
        case Issue(queue):
            raise CompilerBug("emit", f"{e.kernel_name}: a CPU has no queue {queue}")
        case _:
            assert_never(statement)


def _for(e: Emitter, loop: For) -> None:
    turn = _turn(e) if ALTERNATE in dict(loop.annotations) else None
    if loop.kind is LoopKind.PARALLEL and e.machine.threads != 1 and not e.in_parallel:
        emit_parallel(e, loop, turn, emit_loop_body)
    elif loop.kind in (LoopKind.SERIAL, LoopKind.PARALLEL):
        emit_serial(e, loop, turn, "0", emit_index(e, loop.extent), loop.extent)
    elif loop.kind is LoopKind.THREAD:
        raise RelayError(
            rule="bound-loop",
            message=f"a CPU has no threads along {dict(loop.annotations).get('thread', 'an axis')}",
            found=f"loop `{loop.variable}`, bound to them",
            remedy="`parallel` shares the iterations of a loop among the threads of a CPU",
        )
    else:
        raise CompilerBug(
            "emit", f"{e.kernel_name}: a loop of kind {loop.kind} (over {loop.variable}) must be lowered first"
        )


def _turn(e: Emitter) -> Symbol:
    """0 one time, 1 the next, across calls of the kernel. Calls at the same time may find the same: nothing but the
    order of iterations depends on it."""
    counter = f"@{e.kernel_name}.turn{len(e.module.globals)}"
    e.module.globals.append(f"{counter} = internal global i64 0")
    f, turn = e.function, Symbol("turn")
    this = f.impure(f"load atomic i64, ptr {counter} monotonic, align 8")
    f.effect(f"store atomic i64 {f.impure(f'xor i64 {this}, 1')}, ptr {counter} monotonic, align 8")
    e.symbols[turn] = (this, f.depth)
    e.ranges[turn] = 2
    return turn


def emit_loop_body(e: Emitter, loop: For, turn: Symbol | None, begin: str, end: str) -> None:
    """The iterations `begin` to `end`, of which there is at least one."""
    emit_serial(e, loop, turn, begin, end, 1)


def emit_serial(e: Emitter, loop: For, turn: Symbol | None, begin: str, end: str, count: IntExpr) -> None:
    """Iterations `begin` to `end`, tested at the bottom; before the first only where `count` may be 0. Backwards where
    there is a `turn`, and it is 1."""
    if count == 0:
        return
    f, polls, between = e.function, e.polls, iterations_between_polls(e, loop)
    e.polls = polls_inside(e, loop, between)

    def iteration(variable: str) -> str:
        at = variable if turn is None else _mirrored(e, turn, variable, begin, end)
        f.open_region()
        f.forget_all_loads()
        e.symbols[loop.variable] = (at, f.depth)
        e.ranges[loop.variable] = loop.extent
        emit_statement(e, loop.body)
        following = f.impure(f"add nuw nsw i64 {variable}, 1")
        f.close_region()
        return following

    def stretch(first: str) -> str:
        rest = f.impure(f"sub nsw i64 {end}, {first}")
        all_of_them = f.impure(f"icmp slt i64 {rest}, {in_a_row}")
        count = f.impure(f"select i1 {all_of_them}, i64 {rest}, i64 {in_a_row}")
        stop = f.impure(f"add nsw i64 {first}, {count}")
        _repeat(e, first, stop, 1, False, iteration)
        return stop

    if between is None or between == 1:
        _repeat(e, begin, end, count, between is not None, iteration)
    else:
        in_a_row = emit_index(e, between)
        _repeat(e, begin, end, count, True, stretch)
    e.polls = polls


def _repeat(e: Emitter, begin: str, end: str, count: IntExpr, polls: bool, emit: Callable[[str], str]) -> None:
    """What `emit` writes for a number, which gives the next one, for those from `begin` to before `end`. Where it
    `polls`, before each but the first."""
    f = e.function
    head, after = f.label("loop"), f.label("done")
    if not isinstance(count, int):
        f.branch(f.op(f"icmp slt i64 {begin}, {end}"), head, after)
    else:
        f.jump(head)
    before = f.block
    f.start_block(head)
    number = f.fresh()
    phi = [""]
    f.insert_later(phi)
    following = emit(number)
    more = f.impure(f"icmp slt i64 {following}, {end}")
    if polls:
        poll = f.label("poll")
        f.branch(more, poll, after)
        f.start_block(poll)
        again = emit_poll(e, head)
    else:
        again = [f.block]
        f.branch(more, head, after)
    sources = [f"[ {begin}, %{before} ]", *(f"[ {following}, %{block} ]" for block in again)]
    phi[0] = f"  {number} = phi i64 {', '.join(sources)}"
    f.forget_all_loads()
    f.start_block(after)


def _mirrored(e: Emitter, turn: Symbol, variable: str, begin: str, end: str) -> str:
    f = e.function
    other = f.impure(f"sub i64 {f.impure(f'add i64 {begin}, {end}')}, {f.impure(f'add i64 {variable}, 1')}")
    backwards = f.impure(f"icmp ne i64 {emit_index(e, turn)}, 0")
    return f.impure(f"select i1 {backwards}, i64 {other}, i64 {variable}")


def _if(e: Emitter, statement: If) -> None:
    f = e.function
    condition = emit_value(e, statement.condition)
    then, after = f.label("then"), f.label("endif")
    otherwise = f.label("else") if statement.otherwise is not None else after
    f.branch(condition, then, otherwise)
    for label, arm in ((then, statement.then), (otherwise, statement.otherwise)):
        if arm is not None:
            f.start_block(label)
            f.open_region()
            emit_statement(e, arm)
            f.close_region()
            f.jump(after)
    f.start_block(after)


def _allocate(e: Emitter, buffer: Buffer, body: Stmt) -> None:
    """Private buffers are on the stack, and become registers where their indices are constants; others are in the
    scratch of the kernel, behind those around them."""
    shape = padded_shape(buffer) if buffer.scope is Scope.REGISTER else buffer.shape
    strides = row_major_strides(shape)
    elements: IntExpr = 1
    for extent in shape:
        elements = elements * extent
    item = buffer.dtype.item_bytes
    if not is_scratch(buffer):
        if not isinstance(elements, int):
            raise CompilerBug("emit", f"{e.kernel_name}: {buffer} in scope {buffer.scope} needs constant extents")
        e.places[buffer] = Place(e.function.alloca(max(1, elements * item)), 0, strides, buffer, item)
        emit_statement(e, body)
        return
    f, begin = e.function, e.scratch_bytes
    # LLVM is not told what the address comes from: it would reach all blocks of a scratch by one register, and spill.
    pointer = f.op(f'call ptr asm "", "=r,0"(ptr {free_scratch(e)})')
    f.open_region()
    e.places[buffer] = Place(pointer, f.depth, strides, buffer, item)
    e.scratch_bytes = add(begin, buffer_bytes(buffer))
    emit_statement(e, body)
    e.scratch_bytes = begin
    f.close_region()
