"""Stages on queues, double-buffered, and in virtual threads: sound, and the same numbers in any order."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from relay import te
from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.tir.equality import structural_equal
from relay.tir.stmt import Evaluate, For, Issue, PrimFunc, Sequence, Stmt
from relay.tir.text.parser import parse_primfunc
from relay.tir.text.printer import print_primfunc
from relay.tir.threads.synchronization import barrier_level
from relay.tir.traversal import map_statement, walk_statement
from relay.tir.verification.verifier import verify
from tests.te.conftest import CORE, GPU, Program, gather, matmul, rows

WAYS = list(product((None, "load", "gather"), (False, True), (False, True)))


def staged(
    program: Program, queue: str | None, double: bool, virtual: bool, depth: int = 4, at: int | None = None
) -> PrimFunc:
    """A product by tiles of 4 × 4, both factors copied for `depth` steps of the sum: as wholes, or by each iteration of
    a loop `at` a depth."""
    s = te.ScheduleBuilder(program.outputs, CORE)
    sums = s.cache_write("c", "sums")
    outer_rows, outer_columns, _, _ = s.tile("c", "i", "j", 4, 4)
    if virtual:
        s.virtual_thread("c", outer_rows)
    s.compute_at(sums, "c", outer_columns)
    outer, inner = s.split(sums, "k", factor=depth)
    s.reorder(sums, outer, "i", "j", inner)
    for tensor in ("a", "b"):
        copy = s.cache_read(tensor, "tiles", (sums,))
        s.compute_at(copy, sums, outer)
        if queue is not None:
            s.issue_to(copy, queue, "" if at is None else s.loops(copy)[at])
        if double:
            s.double_buffer(copy)
    assert te.parse_steps(te.print_steps(s.steps)) == s.steps
    return program.lower(s.steps, CORE)


@pytest.mark.parametrize(("queue", "double", "virtual"), WAYS)
@pytest.mark.parametrize("extents", [(8, 8, 8), (8, 4, 4), (6, 8, 10)], ids=str)
def test_same_product_in_any_order(queue, double, virtual, extents):
    program = matmul(*extents)
    func = staged(program, queue, double, virtual)
    assert verify(func) == ()
    assert structural_equal(parse_primfunc(print_primfunc(func), hierarchy=CORE), func)
    expected = program.run(program.lower())[0]
    for seed in range(5):
        np.testing.assert_allclose(program.run(func, seed)[0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("queue", ["load", "gather"])
@pytest.mark.parametrize(("double", "virtual"), list(product((False, True), (False, True))))
def test_same_product_in_any_order_where_loops_issue(queue, double, virtual, at):
    """Rows, or elements, of all that is copied are under way at once: in queues that keep an order or none."""
    program = matmul(8, 4, 8)
    func = staged(program, queue, double, virtual, at=at)
    assert verify(func) == ()
    assert structural_equal(parse_primfunc(print_primfunc(func), hierarchy=CORE), func)
    assert not any(
        isinstance(part, For) and {type(each) for each in flat(part.body)} == {Issue, Evaluate}
        for part in walk_statement(func.body)
    ), "each copy is awaited right behind its issue"
    expected = program.run(program.lower())[0]
    for seed in range(3):
        np.testing.assert_allclose(program.run(func, seed)[0], expected, rtol=1e-4, atol=1e-5)


def flat(statement: Stmt) -> tuple[Stmt, ...]:
    return statement.statements if isinstance(statement, Sequence) else (statement,)


def awaited_counts(func: PrimFunc) -> list[str]:
    return [line.strip() for line in print_primfunc(func).splitlines() if '"await.' in line]


def test_what_is_loaded_ahead_is_not_awaited_with_what_is_read():
    """In an iteration two copies for the next one are under way, and the two of this one are taken."""
    func = staged(matmul(), "load", double=True, virtual=False)
    assert awaited_counts(func) == ['evaluate call("await.load", int32, int32(2));']


def test_virtual_threads_await_their_own():
    """The copies for two threads are issued together: the second computes behind an await of its own."""
    func = staged(matmul(), "load", double=False, virtual=True)
    assert awaited_counts(func) == [f'evaluate call("await.load", int32, int32({n}));' for n in (3, 1)]


def test_virtual_threads_await_the_rows_of_their_own():
    """All rows for one thread are issued before those for the next: each begins when its first row is there."""
    program = matmul()
    s = te.ScheduleBuilder(program.outputs, CORE)
    sums = s.cache_write("c", "sums")
    outer_rows, outer_columns, _, _ = s.tile("c", "i", "j", 4, 4)
    s.virtual_thread("c", outer_rows)
    s.compute_at(sums, "c", outer_columns)
    copy = s.cache_read("a", "tiles", (sums,))
    s.compute_at(copy, "c", outer_columns)
    s.issue_to(copy, "load", s.loops(copy)[0])
    func = program.check(s.steps, CORE, seed=2)
    assert verify(func) == ()
    assert awaited_counts(func) == ['evaluate call("await.load", int32, int32(1));'] * 2


def test_virtual_threads_read_indices_of_their_own():
    """What is read inside of an index is read from a thread's own part of the copy, too."""
    program = gather()
    s = te.ScheduleBuilder(program.outputs, CORE)
    s.compute_inline("scaled")
    s.virtual_thread("taken", "i")
    copy = s.cache_read("rows", "tiles", ("taken",))
    s.compute_at(copy, "taken", "i")
    s.issue_to(copy, "load")
    func = program.check(s.steps, CORE, seed=1)
    assert {found.rule for found in verify(func)} == {"index-unproven"}, "which only the numbers tell"
    assert "index(rows.tiles[4, 0])" in print_primfunc(func)


def test_work_on_a_queue_is_awaited_where_its_results_are_needed():
    program = matmul()
    s = te.ScheduleBuilder(program.outputs, CORE)
    sums = s.cache_write("c", "sums")
    s.compute_at(sums, "c", "i")
    s.issue_to(sums, "compute")
    func = program.check(s.steps, CORE, seed=3)
    assert verify(func) == ()
    assert awaited_counts(func) == ['evaluate call("await.compute", int32, int32(1));']


def in_turns(program: Program, double: bool, depth: int = 2) -> PrimFunc:
    """A product of which a whole row of tiles of `a` is copied, tile by tile, and each tile of `b` by rows."""
    s = te.ScheduleBuilder(program.outputs, CORE)
    sums = s.cache_write("c", "sums")
    rows, columns, _, _ = s.tile("c", "i", "j", 4, 4)
    s.compute_at(sums, "c", columns)
    outer, inner = s.split(sums, "k", factor=depth)
    s.reorder(sums, outer, "i", "j", inner)
    panel = s.cache_read("a", "tiles", (sums,))
    s.compute_at(panel, "c", rows)
    along, _ = s.split(panel, s.loops(panel)[1], factor=depth)
    s.reorder(panel, along, s.loops(panel)[0])
    s.issue_to(panel, "load", along)
    tile = s.cache_read("b", "tiles", (sums,))
    s.compute_at(tile, sums, outer)
    s.issue_to(tile, "load", s.loops(tile)[0])
    if double:
        s.double_buffer(panel)
        s.double_buffer(tile)
    assert te.parse_steps(te.print_steps(s.steps)) == s.steps
    return program.lower(s.steps, CORE)


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("extents", [(8, 8, 8), (8, 4, 4), (6, 8, 10), (5, 7, 3)], ids=str)
def test_what_a_loop_issues_is_awaited_as_far_as_it_is_read(double, extents):
    program = matmul(*extents)
    func = in_turns(program, double)
    assert verify(func) == ()
    assert structural_equal(parse_primfunc(print_primfunc(func), hierarchy=CORE), func)
    expected = program.run(program.lower())[0]
    for seed in range(8):
        np.testing.assert_allclose(program.run(func, seed)[0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("extent", [5, Symbol("n")], ids=str)
def test_rows_are_awaited_one_by_one_however_many_a_call_has(extent):
    program = rows(extent)
    s = te.ScheduleBuilder(program.outputs, CORE)
    s.issue_to("b", "compute", s.loops("b")[0])
    func = program.check(s.steps, CORE, seed=3)
    assert verify(func) == ()
    assert awaited_counts(func) == ['evaluate call("await.compute", int32, int32(1));']
    text = print_primfunc(func)
    assert text.index('call("await.compute"') > text.index("serial i_1")


def test_what_runs_side_by_side_is_not_issued_one_after_another():
    program = matmul()
    s = te.ScheduleBuilder(program.outputs, CORE)
    copy = s.cache_read("a", "tiles", ("c",))
    s.compute_at(copy, "c", "i")
    row, column = s.loops(copy)
    s.vectorize(copy, column)
    with pytest.raises(RelayError, match=f"at loop `{column}`: the iterations of `{column}` run side by side"):
        s.issue_to(copy, "load", column)
    s.issue_to(copy, "load", row)
    s.issue_to(copy, "load")
    with pytest.raises(RelayError, match="has no loop `nowhere`"):
        s.issue_to(copy, "load", "nowhere")


@pytest.mark.parametrize("double", [False, True])
def test_copies_of_all_threads_are_awaited_before_they_meet(double):
    """Each thread awaits its own copies, and then waits for the others."""
    program = matmul()
    s = te.ScheduleBuilder(program.outputs, GPU)
    sums = s.cache_write("c", "register")
    for loop, thread in (("i", "threadIdx.y"), ("j", "threadIdx.x")):
        s.bind("c", loop, thread)
    s.compute_at(sums, "c", "j")
    outer, inner = s.split(sums, "k", factor=2)
    s.reorder(sums, outer, "i", "j", inner)
    copy = s.cache_read("a", "shared", (sums,))
    s.compute_at(copy, sums, outer)
    s.issue_to(copy, "copy")
    if double:
        s.double_buffer(copy)
    func = program.check(s.steps, GPU, seed=1)
    assert verify(func) == ()
    lines = print_primfunc(func).splitlines()
    awaits = [number for number, line in enumerate(lines) if '"await.copy"' in line]
    assert awaits
    assert all('"barrier.block"' in lines[number + 1] for number in awaits)
    bare = map_statement(func.body, lambda part: part if barrier_level(part) is None else Sequence(()))
    assert {found.rule for found in verify(replace(func, body=bare))} == {"race-unproven"}


def test_threads_need_one_barrier_an_iteration_where_copies_go_ahead():
    """Instead of two: one to let others read, and one before the copy is overwritten."""
    counts: list[int] = []
    for double in (False, True):
        program = matmul()
        s = te.ScheduleBuilder(program.outputs, GPU)
        sums = s.cache_write("c", "register")
        for loop, thread in (("i", "threadIdx.y"), ("j", "threadIdx.x")):
            s.bind("c", loop, thread)
        s.compute_at(sums, "c", "j")
        outer, inner = s.split(sums, "k", factor=2)
        s.reorder(sums, outer, "i", "j", inner)
        copy = s.cache_read("a", "shared", (sums,))
        s.compute_at(copy, sums, outer)
        if double:
            s.double_buffer(copy)
        func = program.check(s.steps, GPU)
        assert verify(func) == ()
        counts.append(print_primfunc(func).count("barrier.block"))
    assert counts == [2, 1]
