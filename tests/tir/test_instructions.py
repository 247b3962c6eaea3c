"""What instructions of a target touch, by its records of them: whole blocks, some of which they write."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from relay.tir.buffer import Scope
from relay.tir.hierarchy import AccessKind, Hierarchy, Instruction, Operand, Queue, ThreadAxis
from relay.tir.passes.insert_awaits import insert_awaits
from relay.tir.passes.insert_barriers import insert_barriers
from relay.tir.passes.vectorize_loops import vectorize_loops
from relay.tir.stmt import PrimFunc
from relay.tir.text.parser import parse_primfunc
from relay.tir.text.printer import print_primfunc
from relay.tir.threads.thread_nests import thread_nests
from relay.tir.verification.verifier import verify

TILE, ROW = (4, 4), (4,)
INSTRUCTIONS = (
    Instruction("gemm", (Operand(AccessKind.UPDATE, TILE), Operand(extents=TILE), Operand(extents=TILE))),
    Instruction("fill", (Operand(AccessKind.WRITE, TILE), Operand())),
    Instruction("fill_row", (Operand(AccessKind.WRITE, ROW), Operand())),
    Instruction("keep", (Operand(extents=TILE),)),
)
CORE = Hierarchy(
    ("device", "core"),
    (Scope("tiles", "core"),),
    queues=(Queue("copy"), Queue("load", writes=("tiles",))),
    instructions=INSTRUCTIONS,
)
GPU = Hierarchy(
    ("device", "block", "thread"),
    (Scope("shared", "block"),),
    (ThreadAxis("x", "thread"), ThreadAxis("block", "block")),
    ("block",),
    instructions=INSTRUCTIONS,
)

FILL = 'evaluate call("fill", int32, s[0, 0], int32(0));'
GEMM = 'evaluate call("gemm", int32, s[0, 0], a[0, 0], a[4, 0]);'
COPY = "issue copy { serial i in 4 { out[0, i] = s[3, i]; } }"
SIGNAL = 'issue copy { evaluate call("signal.copy", int32); }'
WAIT = 'evaluate call("await.copy", int32, int32(1));'
SHOW = "out[0, 0] = s[3, 3];"


def program(body: str, machine: Hierarchy = CORE, scope: str = "tiles") -> PrimFunc:
    text = f"primfunc f(a: int32[8, 4]) -> (out: int32[8, 4]) {{ alloc s: int32[4, 4] {scope} {{ {body} }} }}"
    return parse_primfunc(text, hierarchy=machine)


def rules(func: PrimFunc) -> set[str]:
    return {found.rule for found in verify(func)}


SOUND = {
    "a tile": f"{FILL} {GEMM} {SHOW}",
    "read until it is awaited": f"{FILL} {COPY} {SIGNAL} {WAIT} {GEMM}",
    "read beside a copy of it": f'{FILL} {COPY} {SIGNAL} evaluate call("keep", int32, s[0, 0]); {WAIT}',
    "rows of their own": 'parallel i in 4 { evaluate call("fill_row", int32, out[i, 0], a[i, 0]); }',
}
WRONG = {
    "an update of what nobody wrote": (f"{GEMM} {SHOW}", "uninitialized-read"),
    "an update of what is written in part": (
        f"serial i in 3 {{ serial j in 4 {{ s[i, j] = int32(0); }} }} {GEMM}",
        "uninitialized-read",
    ),
    "a row for a tile": (f'evaluate call("fill_row", int32, s[0, 0], int32(0)); {SHOW}', "uninitialized-read"),
    "written while it is copied": (f"{FILL} {COPY} {SIGNAL} {GEMM} {WAIT}", "queue-race"),
    "copied while it is written": (
        f"issue copy {{ {FILL} }} {SIGNAL} {SHOW} {WAIT}",
        "queue-race",
    ),
    "written by a queue that may not": (
        'issue load { evaluate call("fill", int32, out[0, 0], int32(0)); } '
        'issue load { evaluate call("signal.load", int32); } evaluate call("await.load", int32, int32(1));',
        "queue-scope",
    ),
    "tiles that overlap": (
        'parallel i in 4 { evaluate call("fill", int32, out[i, 0], int32(0)); }',
        "race-unproven",
    ),
    "a tile that ends outside": (
        'evaluate call("fill", int32, out[5, 0], int32(0));',
        "index-out-of-range",
    ),
    "too few operands": (f'{FILL} evaluate call("gemm", int32, s[0, 0], a[0, 0]);', "instruction-operands"),
    "too many operands": (f'{FILL} evaluate call("keep", int32, s[0, 0], s[0, 0]);', "instruction-operands"),
    "a number for a tile": ('evaluate call("fill", int32, int32(0), int32(0));', "instruction-operands"),
    "a vector for a tile": (
        'evaluate call("fill", int32, out[0, ramp(0, 1, 4)], int32(0));',
        "instruction-operands",
    ),
}


@pytest.mark.parametrize("body", SOUND.values(), ids=SOUND)
def test_sound_program_is_accepted(body):
    assert verify(program(body)) == ()


@pytest.mark.parametrize(("body", "rule"), WRONG.values(), ids=WRONG)
def test_wrong_program_is_found(body, rule):
    assert rule in rules(program(body))


def test_what_an_instruction_works_on_is_said():
    (found,) = verify(program('evaluate call("fill", int32, int32(0), int32(0));'))
    assert found.message == "`fill` is given something else than it works on: write 4 × 4, read"


def inserted(before: Sequence[str], after: Sequence[str]) -> tuple[str, str]:
    return print_primfunc(insert_awaits(program(" ".join(before)))), print_primfunc(program(" ".join(after)))


def test_what_is_copied_is_awaited_before_an_instruction_writes_it():
    made, wanted = inserted((FILL, COPY, GEMM), (FILL, COPY, SIGNAL, WAIT, GEMM))
    assert made == wanted


def test_an_instruction_of_a_queue_is_awaited_before_its_last_element_is_read():
    made, wanted = inserted((f"issue copy {{ {FILL} }}", SHOW), (f"issue copy {{ {FILL} }}", SIGNAL, WAIT, SHOW))
    assert made == wanted


def test_threads_wait_for_a_block_that_one_of_them_writes():
    fill = 'evaluate call("fill_row", int32, s[x, 0], int32(1));'
    turned = "out[4*b, x] = s[3 - x, 2];"

    def launched(*body: str) -> PrimFunc:
        inside = f'alloc s: int32[4, 4] shared {{ thread x in 4 ("thread": "x") {{ {" ".join(body)} }} }}'
        launch = f'thread b in 2 ("thread": "block") {{ {inside} }}'
        return parse_primfunc(f"primfunc f(a: int32[8, 4]) -> (out: int32[8, 4]) {{ {launch} }}", hierarchy=GPU)

    hasty, waiting = launched(fill, turned), launched(fill, 'evaluate call("barrier.block", int32);', turned)
    assert rules(hasty) == {"race-unproven"}
    assert print_primfunc(insert_barriers(hasty)) == print_primfunc(waiting)
    assert verify(waiting) == ()


@pytest.mark.parametrize(("call", "is_divided"), [("fill_row", True), ("fill", False)], ids=["apart", "overlapping"])
def test_statements_of_a_loop_go_apart_where_blocks_do_not_overlap(call, is_divided):
    func = program(f'vectorized i in 4 {{ evaluate call("{call}", int32, out[i, 0], int32(1)); out[i, 1] = a[i, 0]; }}')
    text = print_primfunc(vectorize_loops(func))
    assert ("out[ramp(0, 1, 4), 1]" in text) is is_divided


@pytest.mark.parametrize("call", ['"fill", int32, out[0, 0], a[0, 0]', '"atomic.add", int32, out[0, 0], a[0, 0]'])
def test_what_a_call_writes_is_an_output_of_its_nest(call):
    func = parse_primfunc(
        "primfunc f(a: int32[8, 4]) -> (out: int32[8, 4]) "
        f'{{ thread x in 1 ("thread": "x") {{ evaluate call({call}); }} }}',
        hierarchy=GPU,
    )
    (nest,) = thread_nests(func).nests
    assert [buffer.name for buffer in nest.function.outputs] == ["out"]
