"""Copying statements many times, cheaply: a template is prepared once and instantiated for each copy.

A statement is turned into closures that build its copies. What does not depend on replaced symbols is shared by all
copies, and what depends on some of them only is built once for each of their values. So an unrolled micro-kernel of a
thousand statements costs a few microseconds a statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, assert_never

from relay.arith.expr import IntExpr, Symbol
from relay.base.diagnostics import RelayError
from relay.tir.buffer import Buffer
from relay.tir.conditions import is_constant
from relay.tir.expr import Value, ValueVar
from relay.tir.passes.staging import NO_KEYS, Staged, Stager
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, Sequence, Stmt, Store

Emit: TypeAlias = Callable[[list[Stmt]], None]
STATEMENT_LIMIT = 65536


def fresh_copy(statement: Stmt, values: Mapping[Symbol, IntExpr]) -> Stmt:
    """A copy with symbols replaced, in which everything that it binds is new.

    >>> from relay.base.dtypes import DType
    >>> from relay.tir.expr import imm
    >>> i, j, a = Symbol("i"), Symbol("j"), Buffer("a", (8,), DType.INT32)
    >>> copy = fresh_copy(For(j, 2, Store(a, (2 * i + j,), imm(0, DType.INT32))), {i: 3})
    >>> copy.body.indices, copy.variable is j
    ((j + 6,), False)
    """
    return Template(statement, values).instantiate(values)


class Template:
    """A statement to be copied with `replaced` symbols replaced.

    With `unroll`, unrolled loops of constant extent become copies of their bodies, and conditions that this decides go.
    With `rename`, loops, variables and buffers bound outside of unrolled loops are new in each copy too.
    Raises `RelayError`: `unroll-too-large`, and `register-index` for a register that is not indexed by constants.
    """

    def __init__(
        self, statement: Stmt, replaced: Iterable[Symbol] = (), *, unroll: bool = False, rename: bool = True
    ) -> None:
        self._stager = Stager(constant_registers=unroll)
        self._stager.varying.update(replaced)
        self._unroll = unroll
        self._emit = self._statement(statement, rename)

    @property
    def left_open(self) -> bool:
        """Whether some copy holds a comparison or an extent that ranges may decide, and this did not."""
        return self._stager.left_open

    def instantiate(self, values: Mapping[Symbol, IntExpr]) -> Stmt:
        """One copy, with these values of the replaced symbols."""
        for symbol, value in values.items():
            self._stager.now[symbol] = value
        out: list[Stmt] = []
        self._emit(out)
        return _block(out)

    # --- statements -----------------------------------------------------------------------------------------------

    def _statement(self, statement: Stmt, rename: bool) -> Emit:
        match statement:
            case For():
                if self._unroll and statement.kind is LoopKind.UNROLLED and isinstance(statement.extent, int):
                    return self._unrolled(statement, statement.extent)
                return self._loop(statement, rename)
            case Store():
                return self._store(statement)
            case LetValue():
                return self._let(statement, rename)
            case Sequence(statements):
                emits = [self._statement(part, rename) for part in statements]
                return lambda out: _emit_all(emits, out)
            case If():
                return self._if(statement, rename)
            case Allocate():
                return self._allocate(statement, rename)
            case Evaluate(value):
                return self._evaluate(statement, self._stager.value(value))
            case Issue():
                return self._issue(statement, rename)
            case _:
                assert_never(statement)

    def _unrolled(self, loop: For, extent: int) -> Emit:
        self._stager.varying.add(loop.variable)
        now, variable, body = self._stager.now, loop.variable, self._statement(loop.body, True)

        def emit(out: list[Stmt]) -> None:
            for iteration in range(extent):
                now[variable] = iteration
                body(out)
            if len(out) > STATEMENT_LIMIT:
                raise RelayError(
                    rule="unroll-too-large",
                    message=f"unrolling the loop `{variable}` makes too many statements",
                    expected=f"at most {STATEMENT_LIMIT} statements in a row",
                    found=f"{len(out)}",
                    remedy="unroll fewer loops around this one, or split it and unroll the inner part",
                )

        return emit

    def _loop(self, loop: For, rename: bool) -> Emit:
        if rename:
            self._stager.varying.add(loop.variable)
        now, variable, annotations, kind = self._stager.now, loop.variable, loop.annotations, loop.kind
        if self._unroll and kind is LoopKind.UNROLLED:
            kind, annotations = LoopKind.SERIAL, (*annotations, ("not_unrolled", "its extent is not constant"))
        extent, body = self._stager.index(loop.extent), self._statement(loop.body, rename)

        def emit(out: list[Stmt]) -> None:
            size = extent.build()
            self._stager.left_open |= bool(extent.keys)
            if rename:
                now[variable] = Symbol(variable.name)
            new = _body_of(loop.body, body)
            same = not rename and new is loop.body and kind is loop.kind
            out.append(loop if same else For(now.get(variable, variable), size, new, kind, annotations))

        return emit

    def _store(self, store: Store) -> Emit:
        stager = self._stager
        buffer, value = stager.buffer(store.buffer), stager.value(store.value)
        indices = stager.indices(store.buffer, store.indices)
        mask = None if store.mask is None else stager.value(store.mask)
        if mask is None and not (buffer.keys or indices.keys or value.keys):
            return lambda out: out.append(store)
        keys = buffer.keys | indices.keys | value.keys | (mask.keys if mask is not None else NO_KEYS)
        get_buffer, get_indices = stager.part(buffer, keys), stager.part(indices, keys)
        get_value = stager.part(value, keys)

        def emit(out: list[Stmt]) -> None:
            condition = None if mask is None else mask.build()
            if is_constant(condition, True):
                condition = None
            elif is_constant(condition, False):
                return
            out.append(Store(get_buffer(), get_indices(), get_value(), condition))

        return emit

    def _evaluate(self, statement: Evaluate, value: Staged[Value]) -> Emit:
        def emit(out: list[Stmt]) -> None:
            built = value.build()
            out.append(statement if built is statement.value else Evaluate(built))

        return emit

    def _issue(self, statement: Issue, rename: bool) -> Emit:
        body = self._statement(statement.body, rename)

        def emit(out: list[Stmt]) -> None:
            new = _body_of(statement.body, body)
            out.append(statement if new is statement.body else Issue(statement.queue, new))

        return emit

    def _let(self, let: LetValue, rename: bool) -> Emit:
        value = self._stager.value(let.value)
        if rename:
            self._stager.varying.add(let.variable)
        variable, now, body = let.variable, self._stager.now, self._statement(let.body, rename)

        def emit(out: list[Stmt]) -> None:
            built = value.build()
            if rename:
                now[variable] = ValueVar(variable.name, variable.dtype, variable.lanes)
            new = _body_of(let.body, body)
            same = not rename and built is let.value and new is let.body
            out.append(let if same else LetValue(now.get(variable, variable), built, new))

        return emit

    def _if(self, statement: If, rename: bool) -> Emit:
        condition, then = self._stager.value(statement.condition), self._statement(statement.then, rename)
        otherwise = None if statement.otherwise is None else self._statement(statement.otherwise, rename)

        def emit(out: list[Stmt]) -> None:
            decided = condition.build()
            if is_constant(decided, True):
                then(out)
            elif is_constant(decided, False):
                if otherwise is not None:
                    otherwise(out)
            else:
                new_then = _body_of(statement.then, then)
                new_otherwise = None
                if otherwise is not None and statement.otherwise is not None:
                    new_otherwise = _body_of(statement.otherwise, otherwise)
                same = decided is statement.condition and new_then is statement.then
                same = same and new_otherwise is statement.otherwise
                out.append(statement if same else If(decided, new_then, new_otherwise))

        return emit

    def _allocate(self, allocate: Allocate, rename: bool) -> Emit:
        old, now = allocate.buffer, self._stager.now
        extents = [self._stager.index(extent) for extent in old.shape]
        if rename:
            self._stager.varying.add(old)
        body = self._statement(allocate.body, rename)

        def emit(out: list[Stmt]) -> None:
            if rename:
                now[old] = Buffer(old.name, tuple(extent.build() for extent in extents), old.dtype, old.scope)
            new = _body_of(allocate.body, body)
            same = not rename and new is allocate.body
            out.append(allocate if same else Allocate(now.get(old, old), new))

        return emit


def _emit_all(emits: list[Emit], out: list[Stmt]) -> None:
    for emit in emits:
        emit(out)


def _block(statements: list[Stmt]) -> Stmt:
    return statements[0] if len(statements) == 1 else Sequence(tuple(statements))


def _body_of(old: Stmt, emit: Emit) -> Stmt:
    """What `emit` makes of a body; the old body if that is the same statements."""
    out: list[Stmt] = []
    emit(out)
    before = old.statements if isinstance(old, Sequence) else (old,)
    same = len(out) == len(before) and all(new is was for new, was in zip(out, before, strict=True))
    return old if same else _block(out)
