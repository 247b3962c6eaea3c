"""Loops over threads: what the verifier finds wrong, and what running them in a random order shows."""

from __future__ import annotations

import numpy as np
import pytest

from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.tir.buffer import Buffer, Scope
from relay.tir.hierarchy import Hierarchy, ThreadAxis
from relay.tir.interpretation.interpreter import interpret
from relay.tir.passes.insert_barriers import insert_barriers
from relay.tir.stmt import PrimFunc
from relay.tir.text.parser import parse_primfunc
from relay.tir.text.printer import print_primfunc
from relay.tir.threads.touches import Touch, meet
from relay.tir.verification.verifier import verify

MACHINE = Hierarchy(
    ("device", "block", "subgroup", "thread"),
    (
        Scope("shared", "block", capacity_bytes=128, word_bytes=4),
        Scope("lanes", "subgroup"),
        Scope("weights", "block", readers=("gemm",)),
    ),
    (ThreadAxis("x", "thread"), ThreadAxis("warp", "subgroup"), ThreadAxis("b", "block")),
    ("block", "subgroup"),
    lanes=("x",),
)


def program(body: str, scope: str = "shared", dtype: str = "int32") -> PrimFunc:
    """Four blocks of eight threads, and a buffer of eight elements that they share."""
    return parse_primfunc(
        f"""
        primfunc f(a: {dtype}[4, 8]) -> (out: {dtype}[4, 8]) {{
          thread b in 4 ("thread": "b") {{
            alloc s: {dtype}[8] {scope} {{
              thread x in 8 ("thread": "x") {{ {body} }}
            }}
          }}
        }}
        """,
        hierarchy=MACHINE,
    )


WAIT = 'evaluate call("barrier.block", int32);'
COPY = "s[x] = a[b, x];"
TURNED = "out[b, x] = s[7 - x];"

SOUND = {
    "each its own": f"{COPY} out[b, x] = s[x];",
    "a barrier between": f"{COPY} {WAIT} {TURNED}",
    "both barriers of a loop": f"serial k in 3 {{ {WAIT} {COPY} {WAIT} {TURNED} }}",
    "a loop that overwrites once": f"{COPY} {WAIT} serial k in 3 {{ {TURNED} }}",
    "only one writes": f"if holds(x < 1) {{ s[3] = a[b, 0]; }} {WAIT} out[b, x] = s[3];",
    "a condition that all threads share": f"if holds(b < 2) {{ {COPY} {WAIT} {TURNED} }}",
}
CLEAR = f"if holds(x < 1) {{ s[0] = int32(0); }} {WAIT}"


def update(op: str, value: str = "a[b, x]", target: str = "s[0]") -> str:
    return f'evaluate call("atomic.{op}", int32, {target}, {value});'


SOUND |= {
    "an atomic sum": f"{CLEAR} {update('add')} {WAIT} out[b, x] = s[0];",
    "the largest of all": f"{CLEAR} {update('maximum')} {WAIT} out[b, x] = s[0];",
    "a histogram": f"s[x] = int32(0); {WAIT} {update('add', 'int32(1)', 's[(3*x) % 8]')} {WAIT} out[b, x] = s[x];",
}


def taken(source: str, of: str = "a[b, x]", name: str = "y", axis: str = "x") -> str:
    return f'let {name}: int32 = call("shuffle.{axis}", int32, {of}, index_value({source}, int32))'


SOUND |= {
    "from a neighbour": f"{taken('(x + 1) % 8')} {{ out[b, x] = y; }}",
    "from the first": f"serial k in 3 {{ {taken('0')} {{ out[b, x] = y; }} }}",
    "a butterfly": f"{taken('(x + 4) % 8')} {{ let s4: int32 = (a[b, x] + y) {{ {taken('(x + 2) % 8', 's4', 'z')} {{ "
    f"let s2: int32 = (s4 + z) {{ {taken('(x + 1) % 8', 's2', 'w')} {{ out[b, x] = (s2 + w); }} }} }} }} }}",
}
WRONG = {
    "from a thread that is not there": (f"{taken('x + 1')} {{ out[b, x] = y; }}", "shuffle-unproven"),
    "taken by some threads only": (
        f"if holds(x < 4) {{ {taken('0')} {{ out[b, x] = y; }} }}",
        "shuffle-not-uniform",
    ),
    "from another block": (f"{taken('0', axis='b')} {{ out[b, x] = y; }}", "shuffle-axis"),
    "taken within a formula": (
        'out[b, x] = (call("shuffle.x", int32, a[b, x], index_value(0, int32)) + int32(1));',
        "shuffle-place",
    ),
    "an atomic sum that is read at once": (f"{CLEAR} {update('add')} out[b, x] = s[0];", "race-unproven"),
    "two operators in one element": (
        f"{CLEAR} {update('add')} {update('maximum')} {WAIT} out[b, x] = s[0];",
        "race-unproven",
    ),
    "an atomic sum of another type": (f"{CLEAR} {update('add', 'float32(1.0)')}", "types-differ"),
    "no barrier": (f"{COPY} {TURNED}", "race-unproven"),
    "overwritten before it is read": (f"serial k in 3 {{ {COPY} {WAIT} {TURNED} }}", "race-unproven"),
    "all write one": ("s[0] = a[b, x];", "race-unproven"),
    "two write one": (f"if holds(x < 2) {{ s[3] = a[b, 0]; }} {WAIT} out[b, x] = s[3];", "race-unproven"),
    "results of all blocks in one place": ("out[0, x] = a[b, x];", "race-unproven"),
    "a barrier that some threads miss": (f"{COPY} if holds(x < 4) {{ {WAIT} }} {TURNED}", "barrier-not-uniform"),
    "a barrier in a loop of different lengths": (f"{COPY} serial k in x {{ {WAIT} }}", "barrier-not-uniform"),
    "a barrier of some threads only": (
        f'{COPY} evaluate call("barrier.subgroup", int32); {TURNED}',
        "race-unproven",
    ),
    "a barrier that no machine has": (f'{COPY} evaluate call("barrier.device", int32);', "barrier-level"),
    "an axis twice": ('thread y in 2 ("thread": "x") { out[b, x] = a[b, x]; }', "thread-twice"),
    "levels the wrong way": ('thread y in 2 ("thread": "warp") { out[b, x] = a[b, x]; }', "thread-order"),
    "memory of a block in a thread": ("alloc t: int32[2] shared { t[0] = a[b, x]; }", "scope-level"),
    "too much memory": (f"{COPY} {TURNED}", "scope-capacity"),
    "read by strangers": (f"{COPY} {TURNED}", "scope-reader"),
    "memory of a thread in a block": (f"{COPY} {WAIT} {TURNED}", "scope-level"),
}


SCOPES = {"read by strangers": "weights", "memory of a thread in a block": "local"}


@pytest.mark.parametrize("body", SOUND.values(), ids=SOUND)
def test_sound_program_is_accepted_and_runs_in_any_order(body):
    func = program(body)
    assert verify(func) == ()
    assert len({run(func, seed) for seed in range(20)}) == 1


@pytest.mark.parametrize("title", WRONG)
def test_wrong_program_is_found(title):
    body, rule = WRONG[title]
    func = program(
        body, {"read by strangers": "weights", "memory of a thread in a block": "local"}.get(title, "shared")
    )
    if title == "too much memory":
        func = parse_primfunc(print_primfunc(func).replace("[8] shared", "[64] shared"), hierarchy=MACHINE)
    assert rule in {found.rule for found in verify(func)}


def run(func: PrimFunc, seed: int) -> bytes:
    """The result as bytes, or the rule of the error."""
    a = np.arange(32).reshape(4, 8).astype(func.inputs[0].dtype.numpy)
    out = np.full((4, 8), 99, a.dtype)
    try:
        interpret(func, [a, out], seed=seed)
    except RelayError as error:
        return error.rule.encode()
    return out.tobytes()


TURN = "s[x] = a[b, (x + k) % 8];"
ADDED = "out[b, x] = (out[b, x] + s[7 - x]);"
RACES = {
    "no barrier": (f"{COPY} {TURNED}", f"{COPY} {WAIT} {TURNED}"),
    "overwritten before it is read": (
        f"serial k in 3 {{ {TURN} {WAIT} {ADDED} }}",
        f"serial k in 3 {{ {WAIT} {TURN} {WAIT} {ADDED} }}",
    ),
    "all write one": (f"s[0] = a[b, x]; {WAIT} out[b, x] = s[0];", f"s[x] = a[b, x]; {WAIT} out[b, x] = s[0];"),
}


@pytest.mark.parametrize("title", RACES)
def test_race_shows_in_some_order(title):
    racy, sound = map(program, RACES[title])
    assert len({run(sound, seed) for seed in range(20)}) == 1
    assert {run(racy, seed) for seed in range(50)} != {run(sound, 0)}


def test_barrier_that_some_threads_miss_is_an_error_of_the_run():
    func = program(f"{COPY} if holds(x < 4) {{ {WAIT} }}")
    with pytest.raises(RelayError, match="threads wait at a barrier that not all of them come to"):
        interpret(func, [np.zeros((4, 8), np.int32), np.zeros((4, 8), np.int32)])


def test_neighbours_in_a_storage_word_overwrite_each_other():
    """Bytes in a memory that is written four at a time: elements differ, and a race it is."""
    body = f"{COPY} {WAIT} {TURNED}"
    words, bytes_apart = program(body, "shared", "int8"), program(body, "lanes", "int8")
    assert {found.rule for found in verify(words)} == {"race-unproven"}
    assert "race-unproven" not in {found.rule for found in verify(bytes_apart)}
    assert len({run(words, seed) for seed in range(50)}) > 1


def test_values_of_other_threads_are_those_of_the_same_time():
    """Each of three times, a thread hands on what it got from its neighbour the time before."""
    body = f"out[b, x] = a[b, x]; serial k in 3 {{ {taken('(x + 1) % 8', 'out[b, x]')} {{ out[b, x] = y; }} }}"
    func = program(body)
    assert verify(func) == ()
    expected = np.roll(np.arange(32, dtype=np.int32).reshape(4, 8), -3, axis=1)
    assert {run(func, seed) for seed in range(20)} == {expected.tobytes()}


def test_a_butterfly_sums_up_without_memory():
    expected = np.repeat(np.arange(32, dtype=np.int32).reshape(4, 8).sum(1, dtype=np.int32), 8)
    assert run(program(SOUND["a butterfly"]), 5) == expected.tobytes()


@pytest.mark.parametrize(
    ("title", "rule"),
    [("from a thread that is not there", b"shuffle-range"), ("from another block", b"shuffle-axis"),
     ("taken by some threads only", b"barrier-not-reached")],
)  # fmt: skip
def test_values_that_nobody_gives_are_an_error_of_the_run(title, rule):
    assert run(program(WRONG[title][0]), 0) == rule


def test_an_atomic_update_is_a_sum_in_any_order():
    func = program(f"{CLEAR} {update('add')} {WAIT} out[b, x] = s[0];")
    for seed in range(20):
        assert (
            run(func, seed)
            == np.repeat(np.arange(32, dtype=np.int32).reshape(4, 8).sum(1, dtype=np.int32), 8).tobytes()
        )


def test_barriers_are_inserted_around_atomic_updates():
    before = program(f"if holds(x < 1) {{ s[0] = int32(0); }} {update('add')} out[b, x] = s[0];")
    after = insert_barriers(before)
    assert print_primfunc(after) == print_primfunc(program(f"{CLEAR} {update('add')} {WAIT} out[b, x] = s[0];"))


def test_iterations_in_any_order_may_update_at_once():
    text = """
    primfunc f(a: int32[8]) -> (out: int32[1]) {
      out[0] = int32(0);
      parallel i in 8 { %s }
    }
    """
    atomic = parse_primfunc(text % update("add", "a[i]", "out[0]"), hierarchy=MACHINE)
    assert verify(atomic) == ()
    plain = parse_primfunc(text % "out[0] = (out[0] + a[i]);", hierarchy=MACHINE)
    assert {found.rule for found in verify(plain)} == {"race-unproven"}
    out = np.zeros(1, np.int32)
    interpret(atomic, [np.arange(8, dtype=np.int32), out])
    assert out[0] == 28


def test_an_update_in_two_steps_loses_some():
    func = program(f"if holds(x < 1) {{ s[0] = int32(0); }} {WAIT} s[0] = (s[0] + int32(1)); {WAIT} out[b, x] = s[0];")
    assert len({run(func, seed) for seed in range(20)}) > 1


INSERTED = {
    "between": (f"{COPY} {TURNED}", f"{COPY} {WAIT} {TURNED}"),
    "none": (f"{COPY} out[b, x] = s[x];", f"{COPY} out[b, x] = s[x];"),
    "carried": (f"serial k in 3 {{ {COPY} {TURNED} }}", f"serial k in 3 {{ {WAIT} {COPY} {WAIT} {TURNED} }}"),
    "outside of what differs": (
        f"{COPY} if holds(x < 4) {{ {TURNED} }}",
        f"{COPY} {WAIT} if holds(x < 4) {{ {TURNED} }}",
    ),
    "outside of loops that need none": (
        f"serial k in 2 {{ s[x] = a[b, x]; }} {TURNED}",
        f"serial k in 2 {{ s[x] = a[b, x]; }} {WAIT} {TURNED}",
    ),
    "two halves in turn": (
        f"{COPY} serial k in 4 {{ s[x] = (s[x] + a[b, k]); }} {TURNED}",
        f"{COPY} serial k in 4 {{ s[x] = (s[x] + a[b, k]); }} {WAIT} {TURNED}",
    ),
}


@pytest.mark.parametrize("title", INSERTED)
def test_barriers_are_inserted_where_they_are_needed_and_nowhere_else(title):
    before, after = map(program, INSERTED[title])
    assert print_primfunc(insert_barriers(before)) == print_primfunc(after)
    assert verify(after) == ()


def test_lanes_wait_for_their_subgroup_alone():
    """A butterfly: a read of another lane's element of memory that a subgroup has is a cross-lane operation."""
    text = """
    primfunc f(a: int32[2, 8]) -> (out: int32[2, 8]) {
      thread w in 2 ("thread": "warp") {
        alloc s: int32[8] lanes { alloc t: int32[8] lanes {
          thread x in 8 ("thread": "x") {
            s[x] = a[w, x];
            t[x] = (s[x] + s[(x + 4) % 8]);
            out[w, x] = (t[x] + t[(x + 2) % 8]);
          }
        } }
      }
    }
    """
    func = insert_barriers(parse_primfunc(text, hierarchy=MACHINE))
    assert print_primfunc(func).count("barrier.subgroup") == 2
    assert verify(func) == ()
    a, out = np.arange(16, dtype=np.int32).reshape(2, 8), np.zeros((2, 8), np.int32)
    interpret(func, [a, out])
    np.testing.assert_array_equal(out, sum(np.roll(a, -shift, axis=1) for shift in (0, 2, 4, 6)))


@pytest.mark.parametrize("seed", range(200))
def test_places_that_meet_are_found_by_running_through_all_of_them(seed):
    """Against the definition: every pair of threads, in every iteration."""
    random = np.random.default_rng(seed)
    t, k, same = Symbol("t"), Symbol("k"), Symbol("same")
    buffer = Buffer("s", (64,), DType.INT32)
    extents = {t: int(random.integers(1, 5)), k: int(random.integers(1, 4)), same: int(random.integers(1, 3))}

    def side(writes: bool) -> tuple[Touch, list[int]]:
        numbers = [int(x) for x in random.integers(0, 4, 5)]
        index = (numbers[0] * t + numbers[1] * k + numbers[2] * same + numbers[3]) // (numbers[4] + 1)
        return Touch(buffer, (index,), writes, extents, ()), numbers

    def at(numbers: list[int], *values: int) -> int:
        return (sum(a * b for a, b in zip(numbers, (*values, 1), strict=False))) // (numbers[4] + 1)

    (left, one), (right, other) = side(True), side(bool(random.integers(2)))
    expected = any(
        at(one, t1, k1, s) == at(other, t2, k2, s)
        for s in range(extents[same])
        for t1 in range(extents[t])
        for t2 in range(extents[t])
        for k1 in range(extents[k])
        for k2 in range(extents[k])
        if t1 != t2
    )
    assert meet(left, right, [t], frozenset((same,))) == expected
