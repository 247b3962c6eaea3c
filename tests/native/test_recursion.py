"""Branches, calls and recursion, natively."""

from __future__ import annotations

import resource
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import relay
from tests.native.running import LIST, check, module, watch

FACTORIAL = """
def @factorial(%n: int32) -> int32 {
  if (equal(%n, 0)) { 1 } else { multiply(%n, @factorial(subtract(%n, 1))) }
}
def @main(%n: int32) -> int32 { @factorial(%n) }
"""
PARITY = """
def @even(%n: int32) -> bool { if (equal(%n, 0)) { True } else { @odd(subtract(%n, 1)) } }
def @odd(%n: int32) -> bool { if (equal(%n, 0)) { False } else { @even(subtract(%n, 1)) } }
def @main(%n: int32) -> bool { @even(%n) }
"""
LOOP = """
def @main(%n: int32) -> int32 {
  let %loop = fn (%i: int32, %sum: int32) -> int32 {
    if (less(%i, %n)) { %loop(add(%i, 1), add(%sum, %i)) } else { %sum }
  };
  %loop(0, 0)
}
"""
FOREVER = """
def @down(%n: float32) -> float32 { add(@down(add(%n, 1f)), 1f) }
def @main(%n: float32) -> float32 { @down(%n) }
"""
CELL = """
def @loop(%i: int32, %h: Tensor[(1, 8), float32], %x: Tensor[(1, 4), float32],
          %wx: Tensor[(8, 4), float32], %wh: Tensor[(8, 8), float32]) -> Tensor[(1, 8), float32] {
  if (equal(%i, 0)) { %h } else {
    @loop(subtract(%i, 1), tanh(add(nn.dense(%x, %wx), nn.dense(%h, %wh))), %x, %wx, %wh)
  }
}
def @main(%i: int32, %h: Tensor[(1, 8), float32], %x: Tensor[(1, 4), float32],
          %wx: Tensor[(8, 4), float32], %wh: Tensor[(8, 8), float32]) -> Tensor[(1, 8), float32] {
  @loop(%i, %h, %x, %wx, %wh)
}
"""


def test_factorial_by_recursion():
    assert check(FACTORIAL, np.int32(10)) == 3628800


@pytest.mark.parametrize("level", [0, 1, 3])
def test_fibonacci_at_every_level(level):
    source = """
    def @fib(%n: int32) -> int32 {
      if (less(%n, 2)) { %n } else { add(@fib(subtract(%n, 1)), @fib(subtract(%n, 2))) }
    }
    def @main(%n: int32) -> int32 { @fib(%n) }"""
    assert check(source, np.int32(12), opt_level=level) == 144


def test_mutual_tail_calls_are_jumps():
    executable = relay.build(module(PARITY))
    alive = watch(executable)
    assert not executable(np.int32(1_000_001))
    assert executable(np.int32(1_000_000))
    assert alive == [0, 0]


def test_ten_million_iterations_take_no_memory():
    executable = relay.build(module(LOOP))
    executable(np.int32(10))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = executable(np.int32(10_000_000))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096  # KiB
    assert result == np.arange(10_000_000, dtype=np.int32).sum(dtype=np.int32)


def test_recursion_without_end_is_reported_and_the_program_lives_on():
    executable = relay.build(module(FOREVER))
    for _ in range(2):
        with pytest.raises(relay.RelayError) as caught:
            executable(np.float32(0))
        assert caught.value.rule == "recursion-too-deep"


def test_branches_on_tensors_and_tuples():
    source = """
    def @main(%c: bool, %p: (Tensor[(3, 4), float32], (Tensor[(3, 4), float32], float32))) {
      let %z = if (%c) { multiply(%p.0, %p.1.0) } else { add(%p.0, %p.1.1) };
      (tanh(%z), (%z, ()), %p)
    }"""
    x, y = (np.random.default_rng(seed).standard_normal((3, 4), np.float32) for seed in (0, 1))
    for choice in (True, False):
        check(source, np.bool_(choice), (x, (y, np.float32(2))))


def test_work_shared_by_branches_is_done_before_them_and_other_work_only_when_taken():
    source = """
    def @main(%x: int32) -> int32 {
      let %shared = multiply(%x, 3);
      let %a = if (less(%x, 0)) { %shared } else { if (equal(%x, 7)) { add(%shared, 1) } else { %x } };
      if (less(%a, 5)) { add(%a, %shared) } else { %a }
    }"""
    for x in (-2, 0, 3, 7, 9):
        check(source, np.int32(x))


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_one_program_serves_every_extent(rows):
    source = """
    def @loop(%i: int32, %x: Tensor[(n, 4), float32]) -> Tensor[(n, 4), float32] {
      if (equal(%i, 0)) { %x } else { @loop(subtract(%i, 1), add(reshape(%x, newshape=[-1, 4]), 1f)) }
    }
    def @main(%i: int32, %x: Tensor[(n, 4), float32]) -> Tensor[(n, 4), float32] { @loop(%i, %x) }"""
    check(source, np.int32(3), np.ones((rows, 4), np.float32))


def test_a_recurrent_cell_in_a_loop():
    draw = np.random.default_rng(3).standard_normal
    arrays = [draw(shape, np.float32) * np.float32(0.3) for shape in ((1, 8), (1, 4), (8, 4), (8, 8))]
    check(CELL, np.int32(20), *arrays)


def test_threads_call_at_once():
    executable = relay.build(module(FACTORIAL))
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(executable, [np.int32(n % 10) for n in range(200)]))
    assert [int(r) for r in results[:6]] == [1, 1, 2, 6, 24, 120]


def test_an_artefact_remembers_its_heap(tmp_path):
    relay.build(module(FACTORIAL)).save(tmp_path / "factorial.relay")
    assert relay.load(tmp_path / "factorial.relay")(np.int32(5)) == 120


def test_a_shared_library_has_its_heap(tmp_path):
    relay.build(module(FACTORIAL)).export(tmp_path / "factorial.so")
    assert relay.load(tmp_path / "factorial.so")(np.int32(5)) == 120


def test_two_compilations_are_equal_byte_for_byte(tmp_path):
    for name in ("a", "b"):
        relay.build(module(CELL)).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_programs_print_as_text():
    text = str(relay.driver.compile_stages(module(LOOP)).program)
    assert "procedure @main_loop(%0:int32, %1:int32, %2:int32) -> (int32)" in text
    assert "jump @main_loop(" in text
    assert "label0: tuple" in text


CHOSEN = """
def @foldr[A, B](%f: fn(A, B) -> B, %b: B, %l: List[A]) -> B {
  match (%l) { Cons(%h, %t) => %f(%h, @foldr(%f, %b, %t)), Nil => %b }
}
def @main(%x: float32, %c: bool) -> float32 {
  let %f = if (%c) { subtract } else { add };
  @foldr(%f, 1f, Cons(%x, Cons(%f(%x, 2f), Nil)))
}
"""
ONE_OF_MANY = """
def @apply(
  %l: List[fn(Tensor[(3,), float32]) -> Tensor[(3,), float32]], %x: Tensor[(3,), float32]
) -> Tensor[(3,), float32] {
  match (%l) { Cons(%f, %rest) => @apply(%rest, %f(%x)), Nil => %x }
}
def @main(%x: Tensor[(3,), float32], %c: bool) -> Tensor[(3,), float32] {
  @apply(if (%c) { Cons(nn.softmax, Cons(negative, Nil)) } else { Cons(exp, Nil) }, %x)
}
"""


@pytest.mark.parametrize("opt_level", [0, 2])
@pytest.mark.parametrize("chosen", [False, True])
def test_an_operator_is_a_value(chosen: bool, opt_level: int):
    check(LIST + CHOSEN, np.array(5, "float32"), np.array(chosen), opt_level=opt_level)
    check(LIST + ONE_OF_MANY, np.array([1, 2, 3], "float32"), np.array(chosen), opt_level=opt_level)
