"""Queues and signals: what the verifier finds wrong, what running in a random order shows, and what is inserted."""

from __future__ import annotations

import numpy as np
import pytest

from relay.base.diagnostics import RelayError
from relay.tir.buffer import Scope
from relay.tir.equality import structural_equal
from relay.tir.hierarchy import Hierarchy, Queue
from relay.tir.interpretation.interpreter import interpret
from relay.tir.passes.insert_awaits import insert_awaits
from relay.tir.stmt import PrimFunc
from relay.tir.text.parser import parse_primfunc
from relay.tir.text.printer import print_primfunc
from relay.tir.verification.verifier import verify

MACHINE = Hierarchy(
    ("device", "core"),
    (Scope("tiles", "core"), Scope("sums", "core")),
    queues=(
        Queue("load", reads=("global",), writes=("tiles",)),
        Queue("store"),
        Queue("scatter", ordered=False),
    ),
)


def program(body: str) -> PrimFunc:
    """Two rows of four elements in the memory of the core."""
    return parse_primfunc(
        f"primfunc f(a: int32[8, 4]) -> (out: int32[8, 4]) {{ alloc t: int32[2, 4] tiles {{ {body} }} }}",
        hierarchy=MACHINE,
    )


def load(row: str, of: str, symbol: str = "i", queue: str = "load") -> str:
    return f"issue {queue} {{ serial {symbol} in 4 {{ t[{row}, {symbol}] = a[{of}, {symbol}]; }} }}"


def half(row: str, number: str, symbol: str = "i", of: str = "") -> str:
    at = f"{number} * 2 + {symbol}"
    return f"issue load {{ serial {symbol} in 2 {{ t[{row}, {at}] = a[{of or row}, {at}]; }} }}"


def add(row: str, to: str, symbol: str = "j") -> str:
    return f"serial {symbol} in 4 {{ out[{to}, {symbol}] = (t[{row}, {symbol}] + int32(1)); }}"


def signal(name: str = "load", queue: str = "load") -> str:
    return f'issue {queue} {{ evaluate call("signal.{name}", int32); }}'


def wait(count: int | str = 1, name: str = "load") -> str:
    number = f"int32({count})" if isinstance(count, int) else f"index_value({count}, int32)"
    return f'evaluate call("await.{name}", int32, {number});'


AHEAD = f"if holds(k + 1 < 8) {{ {load('(k + 1) % 2', 'k + 1')} {signal()} }}"
AHEAD_BARE = f"if holds(k + 1 < 8) {{ {load('(k + 1) % 2', 'k + 1')} }}"
FIRST = load("0", "0", "i0")

SOUND = {
    "awaited in the iteration": f"serial k in 8 {{ {load('0', 'k')} {signal()} {wait()} {add('0', 'k')} }}",
    "one ahead": f"{FIRST} {signal()} serial k in 8 {{ {AHEAD} {wait()} {add('k % 2', 'k')} }}",
    "one signal for two": f"serial k in 4 {{ {load('0', '2*k', 'i0')} {load('1', '2*k + 1')} {signal()} {wait()} "
    f"{add('0', '2*k', 'j0')} {add('1', '2*k + 1')} }}",
    "two of two": f"serial k in 4 {{ {load('0', '2*k', 'i0')} {signal()} {load('1', '2*k + 1')} {signal()} {wait(2)} "
    f"{add('0', '2*k', 'j0')} {add('1', '2*k + 1')} }}",
    "one after the other": f"serial k in 4 {{ {load('0', '2*k', 'i0')} {signal()} {load('1', '2*k + 1')} {signal()} "
    f"{wait()} {add('0', '2*k', 'j0')} {wait()} {add('1', '2*k + 1')} }}",
}
WRONG = {
    "not awaited": (f"{FIRST} {signal()} {add('0', '0')} {wait()}", "queue-race"),
    "never awaited": (f"{FIRST} {signal()}", "not-awaited"),
    "no signal": (f"{FIRST} {wait()} {add('0', '0')}", "await-unproven"),
    "a signal too early": (f"{signal()} {FIRST} {wait()} {add('0', '0')}", "queue-race"),
    "awaited too late": (
        f"{FIRST} {signal()} serial k in 8 {{ {AHEAD} {add('k % 2', 'k')} {wait()} }}",
        "queue-race",
    ),
    "a count too small": (
        f"{load('0', '0', 'i0')} {signal()} {load('1', '1')} {signal()} {wait(1)} {add('1', '1')} {wait(1)}",
        "queue-race",
    ),
    "too much behind a loop": (
        f"serial k in 8 {{ {load('0', 'k')} {signal()} {wait()} {add('0', 'k')} }} {wait()}",
        "await-unproven",
    ),
    "in turns, too few": (
        f"serial r in 2 {{ {load('r', 'r')} {signal()} }} {wait()} {add('1', '1')} {wait()}",
        "queue-race",
    ),
    "in turns, too many": (
        f"serial r in 2 {{ {load('r', 'r')} {signal()} }} serial k in 2 {{ {wait(2)} {add('k', 'k')} }}",
        "await-unproven",
    ),
    "in turns, the last one first": (
        f"serial r in 2 {{ {load('r', 'r')} {signal()} }} serial k in 2 {{ {wait()} {add('1 - k', 'k')} }}",
        "queue-race",
    ),
    "in turns, and overwritten": (
        f"serial r in 2 {{ {load('r', 'r')} {signal()} }} {wait()} {load('1', '3')} {wait()} {signal()}",
        "not-awaited",
    ),
    "in turns of a nest, too few": (
        f"serial r in 2 {{ serial h in 2 {{ {half('r', 'h')} {signal()} }} }} "
        f"serial k in 2 {{ {wait()} {add('k', 'k')} }} {wait(2)}",
        "queue-race",
    ),
    "in turns, several in an iteration, too few": (
        f"serial h in 2 {{ {half('0', 'h', 'i0')} {signal()} {half('1', 'h')} {signal()} }} "
        f"{wait(2)} {add('0', '0', 'j0')} {wait(2)} {add('1', '1')}",
        "queue-race",
    ),
    "in turns that need an order": (
        f"serial r in 4 {{ {load('r // 2', 'r', queue='scatter')} {signal('scatter', 'scatter')} }} "
        f"{wait(4, 'scatter')} serial k in 2 {{ {add('k', 'k')} }}",
        "queue-race",
    ),
    "in turns, and the last without a signal": (
        f"serial r in 2 {{ {load('0', 'r', 'i0')} {signal()} {load('1', 'r')} }} {wait(2)} {add('1', '1')} "
        f"{signal()} {wait()}",
        "queue-race",
    ),
    "a count too large": (f"{FIRST} {signal()} {wait(2)} {add('0', '0')}", "await-unproven"),
    "overwritten while it is read": (
        f"{FIRST} {signal()} serial k in 8 {{ {AHEAD.replace('% 2', '% 1')} {wait()} {add('0', 'k')} }}",
        "queue-race",
    ),
    "a queue without order": (
        f"issue scatter {{ serial i in 4 {{ t[0, i] = a[0, i]; }} }} "
        f"issue scatter {{ serial j in 4 {{ out[0, j] = t[0, j]; }} }} {signal('s', 'scatter')} {wait(1, 's')}",
        "queue-race",
    ),
    "memory of a queue's own": (
        f"issue load {{ out[0, 0] = int32(1); }} {signal()} {wait()}",
        "queue-scope",
    ),
    "a queue that nobody has": (FIRST.replace("issue load", "issue fetch"), "queue-unknown"),
    "an await in a queue": (f"issue store {{ {wait()} }}", "queue-body"),
    "one signal of two queues": (f"{FIRST} {signal()} {signal('load', 'store')} {wait(2)}", "signal-of-two-queues"),
    "iterations in any order": (f"parallel k in 2 {{ {load('k', 'k')} {signal()} {wait()} }}", "queue-order"),
    "one more in each iteration": (f"{signal()} serial k in 8 {{ {signal()} {signal()} {wait()} }}", "queue-unproven"),
}
INPUT = np.arange(32, dtype=np.int32).reshape(8, 4)


def run(func: PrimFunc, seed: int, rows: int = 8) -> bytes:
    """The result as bytes, or the rule of the error."""
    out = np.full((rows, 4), 99, np.int32)
    try:
        interpret(func, [INPUT[:rows], out], dict.fromkeys(func.symbols, rows), seed=seed)
    except RelayError as error:
        return error.rule.encode()
    return out.tobytes()


@pytest.mark.parametrize("body", SOUND.values(), ids=SOUND)
def test_sound_program_is_accepted_and_gives_the_same_in_any_order(body):
    func = program(body)
    assert verify(func) == ()
    assert {run(func, seed) for seed in range(30)} == {(INPUT + 1).tobytes()}


@pytest.mark.parametrize(("body", "rule"), WRONG.values(), ids=WRONG)
def test_wrong_program_is_found(body, rule):
    assert rule in {found.rule for found in verify(program(body))}


@pytest.mark.parametrize(
    "title",
    [
        "not awaited",
        "a signal too early",
        "awaited too late",
        "a count too small",
        "in turns of a nest, too few",
        "in turns, several in an iteration, too few",
        "in turns that need an order",
    ],
)
def test_what_is_touched_too_early_shows_in_some_order(title):
    func = program(WRONG[title][0])
    assert len({run(func, seed) for seed in range(30)}) > 1


def test_a_queue_without_order_shows_it():
    func = program(WRONG["a queue without order"][0])
    assert len({run(func, seed) for seed in range(30)}) > 1


@pytest.mark.parametrize(
    ("title", "rule"),
    [("never awaited", b"not-awaited"), ("no signal", b"await-forever"), ("a queue that nobody has", b"queue-unknown")],
)
def test_what_can_never_be_right_is_an_error_of_the_run(title, rule):
    assert run(program(WRONG[title][0]), 0) == rule


def test_an_operation_knows_the_symbols_of_its_issue():
    func = program(f"serial k in 2 {{ {load('k', 'k + 4')} }} {signal()} {wait()} {add('1', '0')}")
    out = np.zeros((8, 4), np.int32)
    for seed in range(10):
        interpret(func, [INPUT, out], seed=seed)
        np.testing.assert_array_equal(out[0], INPUT[5] + 1)


INSERTED = {
    "in the iteration": (
        f"serial k in 8 {{ {load('0', 'k')} {add('0', 'k')} }}",
        f"serial k in 8 {{ {load('0', 'k')} {signal()} {wait()} {add('0', 'k')} }}",
    ),
    "one ahead": (
        f"{FIRST} serial k in 8 {{ {AHEAD_BARE} {add('k % 2', 'k')} }}",
        f"{FIRST} {signal()} serial k in 8 {{ {AHEAD} {wait()} {add('k % 2', 'k')} }}",
    ),
    "as far as is needed": (
        f"{load('0', '0', 'i0')} {load('1', '1')} {add('0', '0', 'j0')} {add('1', '1')}",
        f"{load('0', '0', 'i0')} {signal()} {load('1', '1')} {signal()} "
        f"{wait()} {add('0', '0', 'j0')} {wait()} {add('1', '1')}",
    ),
    "two at once": (
        f"{load('0', '0', 'i0')} {load('1', '1')} {add('1', '1')} {add('0', '0', 'j0')}",
        f"{load('0', '0', 'i0')} {signal()} {load('1', '1')} {signal()} "
        f"{wait(2)} {add('1', '1')} {add('0', '0', 'j0')}",
    ),
    "what nobody touches, at the end": (FIRST, f"{FIRST} {signal()} {wait()}"),
    "at once, where no count does for all iterations": (
        "serial k in 8 { issue store { serial i in 4 { out[0, i] = a[k, i]; } } "
        "if holds(2 < k) { out[0, 0] = int32(0); } }",
        "serial k in 8 { issue store { serial i in 4 { out[0, i] = a[k, i]; } } "
        f"{signal('store', 'store')} {wait(1, 'store')} if holds(2 < k) {{ out[0, 0] = int32(0); }} }}",
    ),
    "in turns, as many as are needed by then": (
        f"serial r in 2 {{ {load('r', 'r')} }} serial k in 2 {{ {add('k', 'k')} }}",
        f"serial r in 2 {{ {load('r', 'r')} {signal()} }} serial k in 2 {{ {wait()} {add('k', 'k')} }}",
    ),
    "in turns, the last one first": (
        f"serial r in 2 {{ {load('r', 'r')} }} serial k in 2 {{ {add('1 - k', 'k')} }}",
        f"serial r in 2 {{ {load('r', 'r')} {signal()} }} {wait(2)} serial k in 2 {{ {add('1 - k', 'k')} }}",
    ),
    "in turns, by what others read in between": (
        f"serial r in 2 {{ {load('r', 'r')} }} {add('0', '0')} serial k in 2 {{ {add('k', 'k', 'm')} }}",
        f"serial r in 2 {{ {load('r', 'r')} {signal()} }} {wait()} {add('0', '0')} "
        f"{wait()} serial k in 2 {{ {add('k', 'k', 'm')} }}",
    ),
    "in turns, of a nest of loops": (
        f"serial r in 2 {{ serial h in 2 {{ {half('r', 'h')} }} }} serial k in 2 {{ {add('k', 'k')} }}",
        f"serial r in 2 {{ serial h in 2 {{ {half('r', 'h')} {signal()} }} }} "
        f"serial k in 2 {{ {wait(2)} {add('k', 'k')} }}",
    ),
    "in turns, several in an iteration": (
        f"serial h in 2 {{ {half('0', 'h', 'i0')} {half('1', 'h')} }} {add('0', '0')} {add('1', '1', 'm')}",
        f"serial h in 2 {{ {half('0', 'h', 'i0')} {signal()} {half('1', 'h')} {signal()} }} "
        f"serial j in 4 {{ {wait()} out[0, j] = (t[0, j] + int32(1)); }} {add('1', '1', 'm')}",
    ),
    "in turns, the last of several in an iteration first": (
        f"serial h in 2 {{ {half('0', 'h', 'i0')} {half('1', 'h')} }} {add('1', '1')} {add('0', '0', 'm')}",
        f"serial h in 2 {{ {half('0', 'h', 'i0')} {signal()} {half('1', 'h')} {signal()} }} "
        f"{wait(4)} {add('1', '1')} {add('0', '0', 'm')}",
    ),
    "in turns, loops one behind the other": (
        f"serial k in 3 {{ serial h in 2 {{ {half('0', 'h', 'i0', 'k')} }} {load('1', 'k')} }} "
        f"{add('0', '2', 'j0')} {add('1', '2')}",
        f"serial k in 3 {{ serial h in 2 {{ {half('0', 'h', 'i0', 'k')} {signal()} }} {load('1', 'k')} {signal()} }} "
        f"{wait(8)} {add('0', '2', 'j0')} {wait()} {add('1', '2')}",
    ),
    "in turns, unrolled": (
        f"unrolled r in 2 {{ {load('r', 'r')} }} unrolled k in 2 {{ {add('k', 'k')} }}",
        f"unrolled r in 2 {{ {load('r', 'r')} {signal()} }} unrolled k in 2 {{ {wait()} {add('k', 'k')} }}",
    ),
    "in turns that need no order, of a queue that has none": (
        f"serial r in 2 {{ {load('r', 'r', queue='scatter')} }} serial k in 2 {{ {add('k', 'k')} }}",
        f"serial r in 2 {{ {load('r', 'r', queue='scatter')} {signal('scatter', 'scatter')} }} "
        f"serial k in 2 {{ {wait(1, 'scatter')} {add('k', 'k')} }}",
    ),
    "at once, where the queue does not keep an order that is needed": (
        f"serial r in 4 {{ {load('r // 2', 'r', queue='scatter')} }} serial k in 2 {{ {add('k', 'k')} }}",
        f"serial r in 4 {{ {load('r // 2', 'r', queue='scatter')} {signal('scatter', 'scatter')} "
        f"{wait(1, 'scatter')} }} serial k in 2 {{ {add('k', 'k')} }}",
    ),
    "between queues": (
        f"{FIRST} issue store {{ serial j in 4 {{ out[0, j] = t[0, j]; }} }}",
        f"{FIRST} {signal()} {wait()} issue store {{ serial j in 4 {{ out[0, j] = t[0, j]; }} }} "
        f"{signal('store', 'store')} {wait(1, 'store')}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", INSERTED)
def test_awaits_are_inserted_where_they_are_needed(title):
    before, after = map(program, INSERTED[title])
    assert print_primfunc(insert_awaits(before)) == print_primfunc(after)
    assert verify(after) == ()


# --- extents that only the call knows ---------------------------------------------------------------------------------


def program_of_rows(body: str) -> PrimFunc:
    """Any number of rows, and memory of the core for eight of them."""
    return parse_primfunc(
        f"primfunc f(a: int32[n, 4]) -> (out: int32[n, 4]) symbols (n) {{ alloc t: int32[8, 4] tiles {{ {body} }} }}",
        hierarchy=MACHINE,
    )


ROWS, IN_TILE = "min(n, 8)", "min(3, n - q * 3)"
LAST = f"{ROWS} - k - 1"
STORE = "issue store { serial i in 4 { out[r, i] = (a[r, i] + int32(1)); } }"
STORED = f"{STORE} {signal('store', 'store')}"
COPIED = f"serial m in {ROWS} {{ serial i in 4 {{ t[m, i] = a[m, i]; }} }}"
STORE_OF_TILE = STORE.replace("a[r", "t[r")
HALF = "issue load { serial i in 2 { t[r, i] = a[r // 2, r % 2 * 2 + i]; } }"
ADD_HALVES = [
    f"serial j{part} in 2 {{ out[k, j{part} + {part * 2}] = (t[k * 2 + {part}, j{part}] + int32(1)); }}"
    for part in (0, 1)
]
ONE, ADD_ONE = "issue load { t[r, 0] = int32(1); }", "serial j in 4 { out[k, j] = (a[k, j] + t[k, 0]); }"
INSERTED_OF_ROWS = {
    "in turns, as many as are needed by then": (
        f"serial r in {ROWS} {{ {load('r', 'r')} }} serial k in {ROWS} {{ {add('k', 'k')} }}",
        f"serial r in {ROWS} {{ {load('r', 'r')} {signal()} }} serial k in {ROWS} {{ {wait()} {add('k', 'k')} }}",
    ),
    "in turns, by tiles of which the last is smaller": (
        f"serial q in ((n + 2) // 3) {{ serial r in {IN_TILE} {{ {load('r', 'q * 3 + r')} }} "
        f"serial k in {IN_TILE} {{ {add('k', 'q * 3 + k')} }} }}",
        f"serial q in ((n + 2) // 3) {{ serial r in {IN_TILE} {{ {load('r', 'q * 3 + r')} {signal()} }} "
        f"serial k in {IN_TILE} {{ {wait()} {add('k', 'q * 3 + k')} }} }}",
    ),
    "in turns, the last one first": (
        f"serial r in {ROWS} {{ {load('r', 'r')} }} serial k in {ROWS} {{ {add(LAST, LAST)} }}",
        f"serial r in {ROWS} {{ {load('r', 'r')} {signal()} }} {wait(ROWS)} "
        f"serial k in {ROWS} {{ {add(LAST, LAST)} }}",
    ),
    "what nobody touches, at the end": (
        f"{COPIED} serial r in {ROWS} {{ {STORE_OF_TILE} }}",
        f"{COPIED} serial r in {ROWS} {{ {STORE_OF_TILE} {signal('store', 'store')} }} {wait(ROWS, 'store')}",
    ),
    "in turns, two in an iteration": (
        f"serial r in min(n, 4) * 2 {{ {HALF} }} serial k in min(n, 4) {{ {ADD_HALVES[0]} {ADD_HALVES[1]} }}",
        f"serial r in min(n, 4) * 2 {{ {HALF} {signal()} }} "
        f"serial k in min(n, 4) {{ {wait()} {ADD_HALVES[0]} {wait()} {ADD_HALVES[1]} }}",
    ),
    "in turns, one more than are read": (
        f"serial r in min(n, 7) + 1 {{ {ONE} }} serial k in min(n, 7) {{ {ADD_ONE} }}",
        f"serial r in min(n, 7) + 1 {{ {ONE} {signal()} }} serial k in min(n, 7) {{ {wait()} {ADD_ONE} }} {wait()}",
    ),
    "what is read as soon as it is there": (
        f"serial r in n {{ {STORE} }} serial k in n {{ out[k, 0] = (out[k, 0] * int32(1)); }}",
        f"serial r in n {{ {STORED} }} "
        f"serial k in n {{ {wait(1, 'store')} out[k, 0] = (out[k, 0] * int32(1)); }}",
    ),
}  # fmt: skip
FILL = f"serial r in {ROWS} {{ {load('r', 'r')} {signal()} }}"
WRONG_OF_ROWS = {
    "not awaited": (f"{FILL} serial k in {ROWS} {{ {add('k', 'k')} }} {wait(ROWS)}", "queue-race"),
    "never awaited": (FILL, "not-awaited"),
    "one too few": (
        f"if holds(0 < n) {{ {FILL} {wait(f'{ROWS} - 1')} serial k in {ROWS} {{ {add('k', 'k')} }} {wait()} }}",
        "queue-race",
    ),
    "one too many": (f"{FILL} {wait(f'{ROWS} + 1')}", "await-unproven"),
    "one too many in an iteration": (
        f"{FILL} serial k in {ROWS} {{ {wait(2)} {add('k', 'k')} }}", "await-unproven"
    ),
    "one too few in an iteration": (
        f"{FILL} serial k in {ROWS} - 1 {{ {wait()} {add('k + 1', 'k + 1')} }} {wait()}", "queue-race"
    ),
    "the last one first": (
        f"{FILL} serial k in {ROWS} {{ {wait()} {add(LAST, LAST)} }}", "queue-race"
    ),
    "fewer than none": (f"{FILL} {wait(f'{ROWS} - 1')} {wait()}", "await-unproven"),
    "one left": (f"serial r in n {{ {STORED} }} serial k in n - 1 {{ {wait(1, 'store')} }}", "not-awaited"),
    "as many as the iteration had that issued": (
        "serial q in 2 { if holds(q == 0) { serial r in 3 - q * 2 { "
        f"{load('r', 'r')} {signal()} }} }} if holds(0 < q) {{ {wait()} }} }}",
        "not-awaited",
    ),
    "where the iteration was that issued": (
        "serial q in 2 { if holds(q == 0) { issue load { serial i in 5 - q * 4 { t[i, 0] = int32(1); } } "
        f"{signal()} }} if holds(0 < q) {{ t[3, 0] = int32(2); {wait()} }} }}",
        "queue-race",
    ),
    "behind no signals": (
        f"issue load {{ t[7, 0] = int32(1); }} {FILL} {wait(ROWS)} t[7, 1] = t[7, 0]; {signal()} {wait()}",
        "queue-race",
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", INSERTED_OF_ROWS)
def test_awaits_of_rows_are_inserted_where_they_are_needed(title):
    before, after = map(program_of_rows, INSERTED_OF_ROWS[title])
    assert print_primfunc(insert_awaits(before)) == print_primfunc(after)
    assert verify(after) == ()
    assert structural_equal(parse_primfunc(print_primfunc(after), hierarchy=MACHINE), after)
    for rows in (0, 1, 3, 4):
        assert {run(after, seed, rows) for seed in range(10)} == {(INPUT[:rows] + 1).tobytes()}


@pytest.mark.parametrize(("body", "rule"), WRONG_OF_ROWS.values(), ids=WRONG_OF_ROWS)
def test_wrong_program_of_rows_is_found(body, rule):
    assert rule in {found.rule for found in verify(program_of_rows(body))}


def test_rows_that_are_touched_too_early_show_in_some_order():
    func = program_of_rows(WRONG_OF_ROWS["one too few"][0])
    assert len({run(func, seed, rows=5) for seed in range(30)}) > 1


def test_an_await_that_is_not_proven_is_named():
    (found,) = verify(program_of_rows(WRONG_OF_ROWS["one too many"][0]))
    assert found.message == "min(n, 8) + 1 signals `load` may never come"


def test_text_is_read_back():
    func = program(SOUND["one ahead"])
    again = parse_primfunc(print_primfunc(func), hierarchy=MACHINE)
    assert structural_equal(func, again)
