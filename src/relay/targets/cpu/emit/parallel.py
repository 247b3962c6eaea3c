"""Parallel loops: the body becomes a function of a range of iterations, which the thread pool calls.

    for i in parallel(n): body   →   relay_parallel_for(@kernel.part0, context, n, grain)

`context` is a struct on the caller's stack with the addresses and numbers that the body uses. A loop inside is serial.
"""

from __future__ import annotations

from collections.abc import Callable

from relay.arith.expr import IntExpr, Symbol, free_symbols
from relay.targets.cpu.emit.context import Emitter, Place
from relay.targets.cpu.emit.index import emit_index
from relay.targets.cpu.emit.text import FunctionText
from relay.targets.cpu.emit.typenames import register_type
from relay.tir.buffer import Buffer
from relay.tir.expr import Load, Ramp, ValueVar
from relay.tir.stmt import Allocate, For, Stmt, Store
from relay.tir.traversal import statement_values, symbols_of_value, values_in_index, walk_statement, walk_value

EmitBody = Callable[[Emitter, For, str, str], None]


def emit_parallel(e: Emitter, loop: For, emit_body: EmitBody) -> None:
    """Write the call at this point, and the body as functions of its own."""
    buffers, symbols, variables = _captured(e, loop)
    part = f"{e.kernel_name}.part{e.module.outlined}"
    e.module.outlined += 1
    held = [("ptr", e.places[buffer].pointer) for buffer in buffers]
    held += [("i64", e.symbols[symbol][0]) for symbol in symbols]
    held += [(register_type(variable.dtype, variable.lanes), e.variables[variable]) for variable in variables]
    struct = "{ " + ", ".join(kind for kind, _ in held) + " }"
    f = e.function
    context = f.alloca_type(struct)
    for position, (kind, text) in enumerate(held):
        field = f.op(f"getelementptr {struct}, ptr {context}, i64 0, i32 {position}")
        f.effect(f"store {kind} {text}, ptr {field}")
    count = emit_index(e, loop.extent)
    grain = dict(loop.annotations).get("grain", 1)
    e.module.declare("relay_parallel_for", "void @relay_parallel_for(ptr, ptr, i64, i64)")
    f.effect(f"call void @relay_parallel_for(ptr @{part}, ptr {context}, i64 {count}, i64 {grain})")
    f.forget_all_loads()
    _write_entry(e, part, struct, [kind for kind, _ in held])
    _write_body(e, part, loop, (buffers, symbols, variables), emit_body)


def _captured(e: Emitter, loop: For) -> tuple[list[Buffer], list[Symbol], list[ValueVar]]:
    """What the loop uses of what is defined around it, in the order of definition."""
    symbols: set[Symbol] = set()
    variables: set[ValueVar] = set()
    buffers: set[Buffer] = set()
    inside: set[Buffer] = set()
    for statement in walk_statement(loop.body):
        values = list(statement_values(statement))
        for index in _indices_of(statement):
            symbols |= free_symbols(index)
            values.extend(values_in_index(index))
        for value in values:
            symbols |= symbols_of_value(value)
            for node in walk_value(value):
                if isinstance(node, Load):
                    buffers.add(node.buffer)
                elif isinstance(node, ValueVar):
                    variables.add(node)
        if isinstance(statement, Store):
            buffers.add(statement.buffer)
        elif isinstance(statement, Allocate):
            inside.add(statement.buffer)
    for buffer in buffers - inside:
        for extent in buffer.shape:
            symbols |= free_symbols(extent)
    return (
        [buffer for buffer in e.places if buffer in buffers],
        [symbol for symbol in e.symbols if symbol in symbols],
        [variable for variable in e.variables if variable in variables],
    )


def _indices_of(statement: Stmt) -> tuple[IntExpr, ...]:
    """The index expressions that stand directly in a statement."""
    match statement:
        case For(extent=extent):
            return (extent,)
        case Allocate(buffer, _):
            return buffer.shape
        case Store(indices=indices):
            return tuple(index.base if isinstance(index, Ramp) else index for index in indices)
        case _:
            return ()


def _write_entry(e: Emitter, part: str, struct: str, kinds: list[str]) -> None:
    """The function that the pool calls: it unpacks the context."""
    lines = [f"define internal void @{part}(ptr %context, i64 %begin, i64 %end) nounwind {{"]
    for position, kind in enumerate(kinds):
        lines.append(f"  %f{position} = getelementptr {struct}, ptr %context, i64 0, i32 {position}")
        lines.append(f"  %a{position} = load {kind}, ptr %f{position}")
    arguments = [f"{kind} %a{position}" for position, kind in enumerate(kinds)]
    lines.append(f"  call void @{part}.body({', '.join([*arguments, 'i64 %begin', 'i64 %end'])})")
    lines.append("  ret void\n}\n")
    e.module.functions.append("\n".join(lines))


def _write_body(
    e: Emitter,
    part: str,
    loop: For,
    captured: tuple[list[Buffer], list[Symbol], list[ValueVar]],
    emit_body: EmitBody,
) -> None:
    """The iterations themselves, with their buffers as parameters that do not alias."""
    buffers, symbols, variables = captured
    inner = Emitter(FunctionText(e.module), e.machine, e.kernel_name, e.emit_value, in_parallel=True)
    inner.ranges = dict(e.ranges)
    parameters: list[str] = []
    for position, buffer in enumerate(buffers):
        outer = e.places[buffer]
        alone = outer.load_key is buffer
        parameters.append(f"ptr {'noalias ' if alone else ''}%p{position}")
        inner.places[buffer] = Place(
            f"%p{position}", 0, outer.strides, outer.load_key, outer.item_bytes, outer.invariant
        )
    for position, symbol in enumerate(symbols):
        parameters.append(f"i64 %s{position}")
        inner.symbols[symbol] = (f"%s{position}", 0)
    for position, variable in enumerate(variables):
        parameters.append(f"{register_type(variable.dtype, variable.lanes)} %x{position}")
        inner.variables[variable] = f"%x{position}"
    emit_body(inner, loop, "%begin", "%end")
    inner.function.effect("ret void")
    header = f"define internal void @{part}.body({', '.join([*parameters, 'i64 %begin', 'i64 %end'])}) nounwind"
    e.module.functions.append(inner.function.render(header))
