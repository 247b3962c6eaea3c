"""Every step: the loops before and after it, equal results, and what it refuses, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay import te
from relay.base.diagnostics import RelayError
from relay.tir.text.printer import print_statement
from relay.tir.verification.verifier import verify
from tests.te.conftest import INTRINSICS

GOLDEN = Path(__file__).parent.parent / "golden"
SCHEDULES = sorted((GOLDEN / "schedule").glob("*.txt"))
ERRORS = sorted((GOLDEN / "errors" / "schedule").glob("*.txt"))


def read(path: Path) -> tuple[str, str]:
    """The first line, which names the program and, behind "on", the machine; and the text of the steps."""
    head, *rest = path.read_text().splitlines()
    end = next(number for number, line in enumerate(rest) if line.startswith(("-----", "=====>")))
    return head.removeprefix("# program: "), "\n".join(rest[:end])


def named(head: str, programs, hierarchies):
    name, _, machine = head.partition(" on ")
    return programs[name](), hierarchies[machine or "plain"]


@pytest.mark.parametrize("path", SCHEDULES, ids=lambda path: path.stem)
def test_schedule_changes_the_loops_and_not_the_result(path, programs, hierarchies, golden):
    name, text = read(path)
    program, hierarchy = named(name, programs, hierarchies)
    steps = te.parse_steps(text)
    func = program.check(steps, hierarchy)
    before, after = (print_statement(each.body) for each in (program.lower(), func))
    assert te.print_loops(te.apply(program.outputs, steps, hierarchy), INTRINSICS) + "\n" == after
    golden(path, f"# program: {name}\n{text}\n----- before\n{before}=====>\n{after}")


@pytest.mark.parametrize("path", SCHEDULES, ids=lambda path: path.stem)
def test_schedule_prints_and_parses_back(path):
    _, text = read(path)
    assert te.print_steps(te.parse_steps(text)) == text


@pytest.mark.parametrize("path", ERRORS, ids=lambda path: path.stem)
def test_step_that_cannot_be_done_says_why(path, programs, hierarchies, golden):
    name, text = read(path)
    program, hierarchy = named(name, programs, hierarchies)
    with pytest.raises(RelayError) as caught:
        program.lower(te.parse_steps(text), hierarchy)
    golden(path, f"# program: {name}\n{text}\n=====>\n{caught.value}\n")


def test_every_step_has_a_golden_schedule():
    used = {type(step) for path in SCHEDULES for step in te.parse_steps(read(path)[1])}
    assert used == set(te.STEP_TYPES)


NO_STEPS = ["split(", "lambda: 1", "split(*x)", "1", "a.b(1)", "split('a', 'b', parts=1, parts=2)"]


@pytest.mark.parametrize("line", NO_STEPS)
def test_text_that_is_no_step_is_refused(line):
    with pytest.raises(RelayError, match="is not a schedule step"):
        te.parse_steps(line)


def test_threads_wait_in_iterations_of_any_order_too(programs, hierarchies):
    """What the threads of a block share is computed in a loop that a CPU would divide among its own threads."""
    steps = [te.Bind("taken", "i", "threadIdx.x"), te.Parallel("taken", "j"), te.ComputeAt("scaled", "taken", "j")]
    for seed in range(5):
        programs["gather"]().check([*steps, te.SetScope("scaled", "shared")], hierarchies["gpu"], seed)


def test_memory_of_a_block_that_is_one_thread_is_allocated_in_it(programs, hierarchies):
    """No thread shares it with another, so it is where it would be without threads."""
    steps = [te.Bind("c", "i", "blockIdx.x"), te.ComputeAt("b", "c", "i"), te.SetScope("b", "shared")]
    func = programs["elementwise"]().check(steps, hierarchies["gpu"])
    assert verify(func) == ()
