# ruff: noqa: T201
"""Does the verifier find what is wrong with threads and queues? Faults planted in generated schedules, and how many
are found.

    python -m tests.tir.planted_faults [programs] [first seed]

A fault counts if in 100 random orders of the threads, and of what they have issued, it gives different results, or an
error. One that gives the same result in all of them left a program that is sound, if perhaps another one (a store to
the wrong element): no verifier can know which was meant. Those are counted apart.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from relay import te
from relay.arith.expr import FloorMod, IntExpr, Symbol, add, floor_modulo, substitute
from relay.base.diagnostics import RelayError
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import Binary, BinaryOp, Load, Value
from relay.tir.interpretation.interpreter import interpret
from relay.tir.stmt import Allocate, For, If, Issue, LoopKind, PrimFunc, Sequence, Stmt, Store
from relay.tir.threads.synchronization import await_signals, awaited, barrier, barrier_level, signal_name
from relay.tir.traversal import map_statement, map_value, symbols_of_value, walk_statement
from relay.tir.verification.verifier import verify
from tests.te import conftest

ORDERS = 100
SAME = "same in every order"
ARENA = {name: conftest.HIERARCHIES[name] for name in ("gpu", "subgroups", "shuffles", "core")}
_SUBGROUPS = ("block", "subgroup", "lane")
AXES = {"gpu": ("blockIdx.x", "threadIdx.y", "threadIdx.x"), "subgroups": _SUBGROUPS, "shuffles": _SUBGROUPS}


# --- programs ---------------------------------------------------------------------------------------------------------


def matmul(random: Random, machine: str) -> PrimFunc:
    m, n, k = (random.choice((4, 6, 7)) for _ in range(3))
    program = conftest.matmul(m, n, k)
    s = te.ScheduleBuilder(program.outputs, ARENA[machine])
    block, rows, columns = AXES[machine]
    sums = s.cache_write("c", "register")
    i, j, ii, jj = s.tile("c", "i", "j", random.choice((2, 3)), random.choice((2, 3)))
    s.bind("c", s.fuse("c", i, j), block)
    s.bind("c", ii, rows)
    s.bind("c", jj, columns)
    s.compute_at(sums, "c", jj)
    outer, inner = s.split(sums, "k", factor=random.choice((2, 3, 4)))
    s.reorder(sums, outer, inner, "i", "j")
    for tensor in random.choice((("a", "b"), ("a", "b"), ("a",), ("b",))):
        s.compute_at(s.cache_read(tensor, "shared", (sums,)), sums, outer)
    return program.lower(s.steps, ARENA[machine])


def reduction(random: Random, machine: str) -> PrimFunc:
    rows, columns = random.choice((2, 3, 4)), random.choice((8, 12, 13))
    name = random.choice(("total", "argmax"))
    program = conftest.row_sum(rows, columns) if name == "total" else conftest.argmax()
    s = te.ScheduleBuilder(program.outputs, ARENA[machine])
    block, beside, lane = AXES[machine]
    i, ii = s.split(name, "i", factor=random.choice((1, 2, 3)))
    s.bind(name, i, block)
    s.bind(name, ii, beside)
    _, k = s.split(name, "k", factor=random.choice((2, 3, 4, 6, 8)))
    s.bind(name, k, lane)
    return program.lower(s.steps, ARENA[machine])


def softmax(random: Random, machine: str) -> PrimFunc:
    program = conftest.softmax(random.choice((6, 8)))
    s = te.ScheduleBuilder(program.outputs, ARENA[machine])
    block, beside, lane = AXES[machine]
    i, ii = s.split("softmax", "i", factor=random.choice((1, 2)))
    s.bind("softmax", i, block)
    s.bind("softmax", ii, beside)
    threads = random.choice((2, 3, 4))
    s.bind("softmax", s.split("softmax", "j", factor=threads)[1], lane)
    for stage in ("total", "raised", "top"):
        s.compute_at(stage, "softmax", ii)
        s.set_scope(stage, "shared")
        if stage != "raised" and random.random() < 0.7:
            s.bind(stage, s.split(stage, "k", factor=threads)[1], lane)
    return program.lower(s.steps, ARENA[machine])


def pipelined(random: Random, machine: str) -> PrimFunc:
    """A product whose factors are copied by a queue: on a core by tiles, as wholes or by what loops issue, on a GPU by
    all threads of a block."""
    m, n, k = (random.choice((4, 6, 7)) for _ in range(3))
    program = conftest.matmul(m, n, k)
    s = te.ScheduleBuilder(program.outputs, ARENA[machine])
    sums = s.cache_write("c", "sums" if machine == "core" else "register")
    i, j, ii, jj = s.tile("c", "i", "j", random.choice((2, 3)), random.choice((2, 3)))
    if machine == "core":
        if random.random() < 0.3:
            s.virtual_thread("c", i)
        s.compute_at(sums, "c", j)
    else:
        for loop, thread in zip((s.fuse("c", i, j), ii, jj), AXES[machine], strict=True):
            s.bind("c", loop, thread)
        s.compute_at(sums, "c", jj)
    outer, inner = s.split(sums, "k", factor=random.choice((2, 3)))
    s.reorder(sums, outer, "i", "j", inner)
    queue = random.choice([queue.name for queue in ARENA[machine].queues if queue.name != "compute"])
    for tensor in random.choice((("a", "b"), ("a",))):
        copy = s.cache_read(tensor, "tiles" if machine == "core" else "shared", (sums,))
        s.compute_at(copy, sums, outer)
        if machine == "core" and random.random() < 0.3:
            s.unroll(copy, s.loops(copy)[0])
        s.issue_to(copy, queue, random.choice(("", *s.loops(copy))) if machine == "core" else "")
        if random.random() < 0.7:
            s.double_buffer(copy)
    return program.lower(s.steps, ARENA[machine])


def in_turns(random: Random, machine: str) -> PrimFunc:
    """Rows that a queue computes one after another, and the thread reads: of a number that only the call knows."""
    program = conftest.rows(Symbol("n"))
    s = te.ScheduleBuilder(program.outputs, ARENA[machine])
    s.issue_to("b", "compute", s.loops("b")[0])
    if random.random() < 0.5:
        s.unroll("c", s.loops("c")[1])
    return program.lower(s.steps, ARENA[machine])


PROGRAMS: tuple[tuple[Callable[[Random, str], PrimFunc], tuple[str, ...]], ...] = (
    (matmul, ("gpu", "subgroups")),
    (reduction, ("gpu", "subgroups", "shuffles")),
    (softmax, ("gpu", "subgroups", "shuffles")),
    (pipelined, ("core", "core", "gpu")),
    (in_turns, ("core",)),
)


# --- faults -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    kind: str
    func: PrimFunc


def faults(func: PrimFunc) -> Iterator[Fault]:
    """Every way to plant one fault."""
    statements = list(walk_statement(func.body))
    threads = [x for x in statements if isinstance(x, For) and x.kind is LoopKind.THREAD]
    inner = [x.variable for x in threads if func.hierarchy.can_wait(func.hierarchy.thread(x.thread))]

    def planted(kind: str, old: Stmt, new: Stmt) -> Fault:
        body = map_statement(func.body, lambda statement: new if statement is old else statement)
        return Fault(kind, replace(func, body=body))

    for statement in statements:
        level = barrier_level(statement)
        if level is not None:
            yield planted("barrier removed", statement, Sequence(()))
            if level == "block" and "subgroup" in func.hierarchy.barriers:
                yield planted("barrier of fewer threads", statement, barrier("subgroup"))
        wanted = awaited(statement)
        if wanted is not None:
            yield planted("await dropped", statement, Sequence(()))
            fewer = await_signals(wanted.signal, add(wanted.count, -1))
            yield from [planted("fewer signals awaited", statement, fewer)] if wanted.count != 1 else []
        if isinstance(statement, Issue) and signal_name(statement) is not None:
            yield planted("signal dropped", statement, Sequence(()))
        if isinstance(statement, Store):
            for turned in _one_buffer(statement):
                yield planted("one buffer for two", statement, turned)
        if isinstance(statement, Sequence):
            yield from (planted("barrier moved", statement, new) for new in _moved(statement, _is_barrier))
            yield from (planted("await moved", statement, new) for new in _moved(statement, _is_await))
        if isinstance(statement, If) and any(symbols_of_value(statement.condition) & {x} for x in inner):
            yield planted("guard dropped", statement, statement.then)
            for part in _weaker(statement.condition):
                yield planted("guard dropped", statement, replace(statement, condition=part))
            if any(barrier_level(x) is not None for x in statements):
                inside = Sequence((barrier(func.hierarchy.barriers[0]), statement.then))
                yield planted("barrier moved under a guard", statement, replace(statement, then=inside))
        if isinstance(statement, Store):
            for turned in _turned(statement, threads, inner):
                yield planted("thread swapped", statement, turned)
    for statement in statements:
        if isinstance(statement, Allocate) and func.hierarchy.depth(statement.buffer.scope.level) > 0:
            for scope in _lower(func, statement.buffer):
                yield Fault("scope lowered", replace(func, body=_with_scope(func.body, statement.buffer, scope)))


def _is_barrier(statement: Stmt) -> bool:
    return barrier_level(statement) is not None


def _is_await(statement: Stmt) -> bool:
    return awaited(statement) is not None


def _one_buffer(store: Store) -> Iterator[Store]:
    """What is written for the next iteration, or read in this one, in the first of two buffers."""
    if isinstance(store.indices[0], FloorMod):
        yield replace(store, indices=(0, *store.indices[1:]))

    def on_value(value: Value) -> Value:
        turns = isinstance(value, Load) and isinstance(value.indices[0], FloorMod)
        return replace(value, indices=(0, *value.indices[1:])) if turns else value

    value = map_value(store.value, on_value)
    if value is not store.value:
        yield replace(store, value=value)


def _moved(statement: Sequence, is_meant: Callable[[Stmt], bool]) -> Iterator[Sequence]:
    """What is meant in front of the statement before it, or behind the one after it."""
    parts = statement.statements
    for at, part in enumerate(parts):
        if not is_meant(part):
            continue
        rest = [*parts[:at], *parts[at + 1 :]]
        for to in (at - 1, at + 1):
            if 0 <= to <= len(rest):
                yield Sequence((*rest[:to], part, *rest[to:]))


def _weaker(condition: Value) -> Iterator[Value]:
    if isinstance(condition, Binary) and condition.op is BinaryOp.AND:
        yield from (condition.left, condition.right)


def _turned(store: Store, threads: list[For], inner: list[Symbol]) -> Iterator[Store]:
    """What another thread writes or reads: two axes exchanged, or the next thread along one."""
    extents = {loop.variable: loop.extent for loop in threads}
    pairs = [(a, b) for a in inner for b in inner if a is not b]
    mappings: list[dict[Symbol, IntExpr]] = [{a: b, b: a} for a, b in pairs[:1]]
    mappings += [{x: floor_modulo(add(x, 1), extents[x])} for x in inner if extents[x] != 1]
    for mapping in mappings:
        on_index = lambda index, mapping=mapping: substitute(index, mapping)  # noqa: E731
        indices = tuple(map(on_index, store.indices))
        if indices != store.indices:
            yield replace(store, indices=indices)
        value = map_value(store.value, lambda node: node, on_index)
        if value is not store.value:
            yield replace(store, value=value)


def _lower(func: PrimFunc, buffer: Buffer) -> Iterator[Scope]:
    depth = func.hierarchy.depth
    deeper = [x for x in func.hierarchy.all_scopes if depth(x.level) > depth(buffer.scope.level)]
    yield from (x for x in deeper if x is not Scope.REGISTER)


def _with_scope(body: Stmt, old: Buffer, scope: Scope) -> Stmt:
    new = Buffer(old.name, old.shape, old.dtype, scope)

    def on_value(value: Value) -> Value:
        return map_value(value, lambda x: replace(x, buffer=new) if isinstance(x, Load) and x.buffer is old else x)

    def on_statement(statement: Stmt) -> Stmt:
        if isinstance(statement, (Store, Allocate)) and statement.buffer is old:
            return replace(statement, buffer=new)
        return statement

    return map_statement(body, on_statement, on_value)


# --- the campaign -----------------------------------------------------------------------------------------------------


def run(func: PrimFunc, seed: int) -> bytes:
    """The results as bytes, or the rule of the error."""
    random = np.random.default_rng(1)
    symbols = dict.fromkeys(func.symbols, 3)
    arrays = []
    for buffer in func.parameters:
        shape = tuple(symbols.get(extent, extent) for extent in buffer.shape)
        arrays.append(random.integers(-4, 5, shape).astype(buffer.dtype.numpy))
    try:
        interpret(func, arrays, symbols, seed=seed)
    except RelayError as error:
        return ERROR + error.rule.encode()
    return b"".join(array.tobytes() for array in arrays[len(func.inputs) :])


ERROR = b"error: "


def depends_on_order(func: PrimFunc) -> bool:
    """Whether some order of the threads is an error, or gives another result than the first."""
    first = run(func, 0)
    return first.startswith(ERROR) or any(run(func, seed) != first for seed in range(1, ORDERS))


def generated(seed: int) -> PrimFunc:
    random = Random(seed)
    program, machines = random.choice(PROGRAMS)
    return program(random, random.choice(machines))


def campaign(seeds: range, share: float = 1.0) -> tuple[Counter[str], Counter[str], list[Fault]]:
    """How many faults of each kind there were, how many were found, and those that were not."""
    planted: Counter[str] = Counter()
    found: Counter[str] = Counter()
    missed: list[Fault] = []
    for seed in seeds:
        func, random = generated(seed), Random(seed)
        if accepted := verify(func):
            raise AssertionError(f"seed {seed}: the verifier refuses what was lowered: {accepted[0]}")
        for fault in faults(func):
            if random.random() > share:
                continue
            if not depends_on_order(fault.func):
                planted[SAME] += 1
                found[SAME] += bool(verify(fault.func))
                continue
            planted[fault.kind] += 1
            if verify(fault.func):
                found[fault.kind] += 1
            else:
                missed.append(fault)
    return planted, found, missed


def percentage(planted: Counter[str], found: Counter[str]) -> float:
    """How many of the faults that count were found."""
    return 100 * (found.total() - found[SAME]) / (planted.total() - planted[SAME])


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    planted, found, _ = campaign(range(first, first + count))
    for kind, number in planted.most_common():
        print(f"{kind:30} {found[kind]:5} of {number:5}")
    print(f"{'all that count':30} {percentage(planted, found):.1f} %")


if __name__ == "__main__":
    main()
