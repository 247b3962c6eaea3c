"""Scalars and small tuples live in registers: what a procedure does not need to allocate, it does not."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.base.dtypes import DType
from relay.driver.build import compile_stages
from relay.lower.program.procedure import Box, NewCell, NewClosure, NewConstant, NewTensor, NewView, Procedure
from tests.native.running import LIST, check, module, watch
from tests.native.test_recursion import LOOP

ALLOCATIONS = Box | NewCell | NewClosure | NewConstant | NewTensor | NewView
SCALARS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")


def procedure(source: str, name: str) -> Procedure:
    program = compile_stages(module(source)).program
    return next(each for each in program.procedures if each.name == name)


def allocations(source: str, name: str) -> int:
    """How many of a procedure's instructions allocate."""
    return sum(isinstance(each, ALLOCATIONS) for each in procedure(source, name).instructions())


def test_a_loop_over_scalars_as_text():
    lines = str(procedure(LOOP, "main_loop")).splitlines()
    assert [line.split(" = ")[0] if "fused" in line else line for line in lines] == [
        "procedure @main_loop(%0:int32, %1:int32, %2:int32) -> (int32)",
        "  block0():",
        "    %3:bool",
        "    if %3:bool block1 else block2",
        "  block1():",
        "    %4:int32",
        "    %5:int32",
        "    jump @main_loop(%0:int32, %4:int32, %5:int32)",
        "  block2():",
        "    return %2:int32",
    ]


def test_recursion_over_scalars_allocates_nothing():
    source = """
    def @fib(%n: int32) -> int32 {
      if (less(%n, 2)) { %n } else { add(@fib(subtract(%n, 1)), @fib(subtract(%n, 2))) }
    }
    def @main(%n: int32) -> int32 { @fib(%n) }"""
    assert allocations(source, "fib") == 0
    assert check(source, np.int32(15)) == 610


TWO = """
def @split(%x: Tensor[(4), float32], %n: int32) -> (Tensor[(4), float32], int32) {
  if (less(%n, 3)) { (%x, %n) } else {
    let %p = @split(tanh(%x), subtract(%n, 1));
    let %q = @split(%p.0, subtract(%n, 2));
    (add(%q.0, %p.0), add(%q.1, %p.1))
  }
}
def @main(%x: Tensor[(4), float32], %n: int32) -> (Tensor[(4), float32], int32) { @split(%x, %n) }
"""


def test_a_tuple_that_is_given_back_and_taken_apart_is_not_made():
    found = procedure(TWO, "split")
    assert found.results == ("word", DType.INT32)
    made = [each for each in found.instructions() if isinstance(each, ALLOCATIONS)]
    assert len(made) == 2  # the results of tanh and add
    assert all(isinstance(each, NewTensor) for each in made)
    check(TWO, np.linspace(-1, 1, 4, dtype=np.float32), np.int32(7))


@pytest.mark.parametrize("dtype", SCALARS + FLOATS)
def test_scalars_of_every_type_in_registers(dtype):
    source = f"""
    def @loop(%i: int32, %sum: {dtype}, %step: {dtype}) -> ({dtype}, bool) {{
      if (equal(%i, 0)) {{ (%sum, less(%sum, %step)) }} else {{
        @loop(subtract(%i, 1), add(multiply(%sum, %step), %step), %step)
      }}
    }}
    def @main(%i: int32, %sum: {dtype}, %step: {dtype}) -> ({dtype}, bool) {{ @loop(%i, %sum, %step) }}"""
    kind = DType(dtype).numpy
    assert allocations(source, "loop") == 0
    program, executable = module(source), relay.build(module(source))
    arguments = (np.int32(5), np.ones((), kind), np.full((), 2, kind))
    expected = relay.create_executor("interpreter", mod=program).evaluate()(*arguments)
    found = executable(*arguments)
    assert [np.asarray(each, np.float64) for each in found] == [np.asarray(each, np.float64) for each in expected]
    assert found[0].dtype == kind


def test_kernels_read_and_write_scalars():
    source = """
    def @loop(%i: int32, %best: int32, %x: Tensor[(7), float32]) -> int32 {
      if (equal(%i, 0)) { %best } else {
        let %y = multiply(%x, cast(%i, dtype="float32"));
        @loop(subtract(%i, 1), add(%best, argmax(%y, axis=[0])), tanh(%y))
      }
    }
    def @main(%i: int32, %x: Tensor[(7), float32]) -> int32 { @loop(%i, 0, %x) }"""
    check(source, np.int32(5), np.random.default_rng(0).standard_normal(7, np.float32))
    assert all(isinstance(each, NewTensor) for each in procedure(source, "loop").instructions()
               if isinstance(each, ALLOCATIONS))  # fmt: skip


@pytest.mark.parametrize("n", [0, 1, 9])
def test_scalars_in_data_refs_and_closures(n):
    source = (
        LIST
        + """
    def @up(%i: int32, %n: int32) -> List[int32] {
      if (less(%i, %n)) { Cons(%i, @up(add(%i, 1), %n)) } else { Nil }
    }
    def @map[A, B](%f: fn(A) -> B, %xs: List[A]) -> List[B] {
      match (%xs) { Cons(%x, %rest) => Cons(%f(%x), @map(%f, %rest)), Nil => Nil }
    }
    def @sum(%xs: List[int32], %so_far: int32) -> int32 {
      match (%xs) { Cons(%x, %rest) => @sum(%rest, add(%so_far, %x)), Nil => %so_far }
    }
    def @main(%n: int32) -> (List[int32], int32, int32) {
      let %count = ref(0);
      let %tripled = @map(fn (%x: int32) -> int32 {
        %count := add(%count^, %n);
        multiply(%x, 3)
      }, @up(0, %n));
      (%tripled, @sum(%tripled, 0), %count^)
    }"""
    )
    check(source, np.int32(n))


def test_closures_are_called_with_words_wherever_they_come_from():
    source = """
    def @twice[A](%f: fn(A) -> A, %x: A) -> A { %f(%f(%x)) }
    def @add_one(%x: int32) -> int32 { add(%x, 1) }
    def @swap(%p: (int32, float32)) -> (int32, float32) { (add(%p.0, cast(%p.1, dtype="int32")), negative(%p.1)) }
    def @main(%x: int32, %y: float32) -> (int32, (int32, float32), int32) {
      let %k = 5;
      (@twice(@add_one, %x), @twice(@swap, (%x, %y)), @twice(fn (%z: int32) -> int32 { multiply(%z, %k) }, %x))
    }"""
    check(source, np.int32(3), np.float32(4), opt_level=0)  # later nothing is left of the closures


def test_a_function_that_ends_with_a_call_of_a_closure_is_a_jump_though_it_gives_a_scalar():
    source = """
    def @down(%n: int32, %f: fn(int32, int32) -> int32, %sum: int32) -> int32 {
      if (equal(%n, 0)) { %sum } else { %f(subtract(%n, 1), add(%sum, %n)) }
    }
    def @main(%n: int32) -> int32 {
      let %f = fn (%n: int32, %sum: int32) -> int32 { @down(%n, %f, %sum) };
      @down(%n, %f, 0)
    }"""
    executable = relay.build(module(source))
    alive = watch(executable)
    n = 1_000_000
    assert executable(np.int32(n)) == np.int64(n * (n + 1) // 2).astype(np.int32)
    assert alive == [0]


@pytest.mark.parametrize("level", [0, 3])
def test_tuples_in_every_position(level):
    source = (
        LIST
        + """
    def @nested(%c: bool, %x: int32, %y: Tensor[(3), float32]) -> ((int32, bool), Tensor[(3), float32]) {
      let %p = if (%c) { ((%x, %c), %y) } else { ((multiply(%x, 2), True), tanh(%y)) };
      %p
    }
    def @many(%x: int32, %y: float32) -> (int32, float32, int32, float32, int32) { (%x, %y, add(%x, 1), %y, %x) }
    def @last[A, B](%p: (A, B)) -> B { %p.1 }
    def @main(%c: bool, %x: int32, %y: Tensor[(3), float32]) {
      let %p = @nested(%c, %x, %y);
      let %q = match (%p) {
        ((%a, _), %t) => (%a, %t),
      };
      let %many = @many(%q.0, 2f);
      let %kept = Cons(%p, Cons(%p, Nil));
      let %first = match (%kept) { Cons(%whole, _) => %whole, Nil => ((0, False), %y) };
      let %wide = (%x, %x, %x, %x, %x, %x, %x, (%x, %y));
      (%q, %many.2, %many, %first, @last(%p), %wide.7.1, %wide.0, @last(@last((%x, %q))))
    }"""
    )
    for choice in (True, False):
        check(source, np.bool_(choice), np.int32(4), np.ones(3, np.float32), opt_level=level)


def test_a_pattern_that_names_a_tuple_that_was_not_made():
    source = """
    type Shape { Dot, Box(int32, int32) }
    def @pair(%x: int32, %s: Shape) -> (int32, Shape) { if (less(%x, 5)) { (%x, %s) } else { (add(%x, 1), Dot) } }
    def @main(%x: int32) -> int32 {
      let %p = @pair(%x, Box(%x, 2));
      match (%p) {
        (%a, Box(%w, %h)) => add(%a, multiply(%w, %h)),
        %whole => add(%whole.0, %p.0),
      }
    }"""
    for x in (1, 7):
        check(source, np.int32(x))


def test_views_between_scalars_and_vectors_of_one():
    source = """
    def @main(%i: int32, %x: Tensor[(1), float32]) -> (float32, Tensor[(1, 1), float32]) {
      let %s = reshape(%x, newshape=[]);
      if (equal(%i, 0)) { (%s, reshape(%s, newshape=[1, 1])) } else { (add(%s, 1f), reshape(%x, newshape=[1, 1])) }
    }"""
    for i in (0, 1):
        check(source, np.int32(i), np.float32([3]))


def test_a_scalar_in_a_shape_is_a_tensor():
    source = """
    def @main(%n: int32) -> Tensor[(1,), int32] {
      if (less(%n, 0)) { reshape(%n, newshape=[1]) } else { @main(subtract(%n, 3)) }
    }"""
    check(source, np.int32(5), opt_level=0)
