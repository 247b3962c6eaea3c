"""Kernels as nests of thread loops, each a launch of its own."""

from __future__ import annotations

import numpy as np
import pytest

from relay.base.diagnostics import RelayError
from relay.tir.buffer import Scope
from relay.tir.hierarchy import Hierarchy, ThreadAxis
from relay.tir.interpretation.interpreter import interpret
from relay.tir.stmt import PrimFunc
from relay.tir.text.parser import parse_primfunc
from relay.tir.text.printer import print_primfunc
from relay.tir.threads.thread_nests import thread_nests

MACHINE = Hierarchy(
    ("device", "block", "thread"),
    (Scope("shared", "block"),),
    (ThreadAxis("x", "thread"), ThreadAxis("y", "thread"), ThreadAxis("bx", "block"), ThreadAxis("by", "block")),
    ("block",),
)


def program(
    body: str, parameters: str = "a: int32[4, 8]", result: str = "out: int32[4]", symbols: str = ""
) -> PrimFunc:
    return parse_primfunc(f"primfunc f({parameters}) -> ({result}){symbols} {{ {body} }}", hierarchy=MACHINE)


SUM_THEN_DOUBLE = """
alloc sums: int32[4] {
  thread i in 4 ("thread": "bx") {
    alloc sum: int32[1] register {
      sum[0] = int32(0);
      serial k in 8 { sum[0] = (sum[0] + a[i, k]); }
      sums[i] = sum[0];
    }
  }
  thread j in 2 ("thread": "bx") {
    thread k in 2 ("thread": "x") { out[2*j + k] = (sums[2*j + k] + sums[2*j + k]); }
  }
}
"""


def test_each_nest_is_a_function_and_what_they_share_is_scratch():
    nests = thread_nests(program(SUM_THEN_DOUBLE))
    assert [str(each) for each in nests.scratch] == ["sums[4]"]
    assert [str(each.function.parameters) for each in nests.nests] == ["(a[4, 8], sums[4])", "(sums[4], out[4])"]
    assert [(each.grid, each.group) for each in nests.nests] == [((4, 1), (1, 1)), ((2, 1), (2, 1))]
    assert print_primfunc(nests.nests[1].function).strip() == (
        """primfunc f_1(sums: int32[4]) -> (out: int32[4]) {
  thread j in 2 ("thread": "bx") {
    thread k in 2 ("thread": "x") {
      out[2*j + k] = (sums[2*j + k] + sums[2*j + k]);
    }
  }
}"""
    )


def test_one_after_another_they_do_what_the_kernel_does():
    kernel = program(SUM_THEN_DOUBLE)
    data = np.arange(32, dtype=np.int32).reshape(4, 8)
    expected, sums, out = np.zeros(4, np.int32), np.zeros(4, np.int32), np.zeros(4, np.int32)
    interpret(kernel, [data, expected])
    first, second = thread_nests(kernel).nests
    interpret(first.function, [data, sums])
    interpret(second.function, [sums, out])
    np.testing.assert_array_equal(out, expected)


def test_extents_are_in_the_order_of_axes_and_may_be_symbols():
    kernel = program(
        """thread i in n ("thread": "by") {
             alloc s: int32[8] shared { thread k in 8 ("thread": "y") { s[k] = a[i, k]; out[i] = s[k]; } }
           }""",
        "a: int32[n, 8]",
        "out: int32[n]",
        symbols=" symbols (n)",
    )
    (nest,) = thread_nests(kernel).nests
    assert (nest.grid, nest.group) == ((1, kernel.symbols[0]), (1, 8))
    assert nest.function.symbols == kernel.symbols
    assert thread_nests(kernel).scratch == (), "memory inside of threads is theirs"


def test_what_is_read_and_written_is_an_output():
    body = 'thread i in 4 ("thread": "x") { out[i] = a[i, 0]; out[i] = (out[i] + a[i, 1]); }'
    (nest,) = thread_nests(program(body)).nests
    assert [each.name for each in nest.function.outputs] == ["out"]


def test_nothing_is_no_launch():
    assert thread_nests(program("")).nests == ()


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("out[0] = a[0, 0];", "Store"),
        ("serial i in 4 { out[i] = a[i, 0]; }", "For"),
        ('thread i in 4 ("thread": "x") { out[i] = a[i, 0]; } out[1] = int32(0);', "Store"),
        ('serial r in 2 { thread i in 4 ("thread": "x") { out[i] = a[i, r]; } }', "For"),
    ],
    ids=["store", "loop", "behind", "around"],
)
def test_a_statement_outside_of_threads_is_refused(body: str, found: str):
    with pytest.raises(RelayError) as caught:
        thread_nests(program(body))
    assert (caught.value.rule, caught.value.found) == ("no-threads", found)
    assert caught.value.message == "a statement of f is in no loop over threads, and the device runs nothing else"
