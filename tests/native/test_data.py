"""Data types, closures and refs, natively."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.runtime.values.values import data_list
from tests.messages import check_message
from tests.native.running import LIST, check, module, watch

MAP_AND_FOLD = (
    LIST
    + """
def @map[A, B](%f: fn (A) -> B, %l: List[A]) -> List[B] {
  match (%l) { Cons(%h, %t) => Cons(%f(%h), @map(%f, %t)), Nil => Nil }
}
def @foldl[A, B](%f: fn (A, B) -> A, %a: A, %l: List[B]) -> A {
  match (%l) { Cons(%h, %t) => @foldl(%f, %f(%a, %h), %t), Nil => %a }
}
def @main(%x: Tensor[(3,), float32]) {
  let %l = Cons(%x, Cons(tanh(%x), Cons(add(%x, %x), Nil)));
  let %m = @map(fn (%y: Tensor[(3,), float32]) -> Tensor[(3,), float32] { multiply(%y, %x) }, %l);
  let %add = fn (%a: Tensor[(3,), float32], %b: Tensor[(3,), float32]) -> Tensor[(3,), float32] { add(%a, %b) };
  (@foldl(%add, %x, %m), %m)
}
"""
)
LONG_LIST = (
    LIST
    + """
def @build(%n: int32, %l: List[int32]) -> List[int32] {
  if (equal(%n, 0)) { %l } else { @build(subtract(%n, 1), Cons(%n, %l)) }
}
def @length(%l: List[int32]) -> int32 { match (%l) { Nil => 0, Cons(_, %t) => add(1, @length(%t)) } }
def @main(%n: int32) { let %l = @build(%n, Nil); (@length(%l), %l) }
"""
)


def test_map_and_fold_over_a_list():
    result = check(MAP_AND_FOLD, np.arange(3, dtype=np.float32))
    assert repr(result[1]) == repr(data_list(list(result[1])))


def test_a_list_of_a_million_cells():
    executable = relay.build(module(LONG_LIST))
    alive = watch(executable)
    length, cells = executable(np.int32(1_000_000))
    assert length == 1_000_000
    assert [int(cells.fields[0]), int(cells.fields[1].fields[0])] == [1, 2]
    assert alive == [0]


def test_the_sum_of_a_tree():
    source = """
    type Tree { Leaf, Node(Tree, float32, Tree) }
    def @grow(%depth: int32, %x: float32) -> Tree {
      if (equal(%depth, 0)) { Leaf } else {
        let %below = @grow(subtract(%depth, 1), add(%x, 1f));
        Node(%below, %x, %below)
      }
    }
    def @sum(%t: Tree) -> float32 {
      match (%t) { Leaf => 0f, Node(%l, %x, %r) => add(add(@sum(%l), %x), @sum(%r)) }
    }
    def @main(%depth: int32) { let %t = @grow(%depth, 1f); (@sum(%t), %t) }"""
    _, tree = check(source, np.int32(4))
    assert tree.fields[0] is tree.fields[2]  # what is shared stays shared


def test_patterns_are_tried_in_order():
    source = (
        LIST
        + """type Option[A] { Some(A), None }
    def @f(%p: (List[int32], Option[int32])) -> int32 {
      match (%p) {
        (Cons(%a, Nil), Some(%b)) => add(%a, %b),
        (Cons(%a, Cons(%c, _)), _) => multiply(%a, %c),
        (_, Some(%b)) => %b,
        _ => 7
      }
    }
    def @main(%x: int32) {
      (@f((Cons(%x, Nil), Some(%x))), @f((Cons(%x, Cons(2, Nil)), None)), @f((Nil, Some(%x))), @f((Nil, None)),
       @f((Cons(%x, Nil), None)), @f((Cons(%x, Cons(2, Cons(1, Nil))), Some(4))))
    }"""
    )
    found = check(source, np.int32(3), opt_level=0)  # later nothing is left of the data
    assert [int(each) for each in found] == [6, 6, 3, 7, 7, 6]


def test_a_match_that_nothing_fits():
    source = LIST + "def @main(%x: int32) -> int32 { let %l = Cons(%x, Nil); match? (%l) { Nil => 0 } }"
    with pytest.raises(relay.RelayError) as caught:
        relay.build(module(source))(np.int32(1))
    check_message("native", "no-clause-fits", caught.value)


def test_closures_in_a_list():
    source = (
        LIST
        + """
    def @apply(%l: List[fn (float32) -> float32], %x: float32) -> float32 {
      match (%l) { Cons(%f, %t) => @apply(%t, %f(%x)), Nil => %x }
    }
    def @twice(%x: float32) -> float32 { add(%x, %x) }
    def @main(%x: float32) -> float32 {
      let %plus = fn (%y: float32) -> float32 { add(%x, %y) };
      @apply(Cons(%plus, Cons(@twice, Cons(fn (%z: float32) -> float32 { %plus(%plus(%z)) }, Nil))), %x)
    }"""
    )
    assert check(source, np.float32(3)) == 18


def test_functions_that_give_functions_and_constructors_as_values():
    source = (
        LIST
        + """
    type Box { Box(float32) }
    def @apply[A, B](%f: fn (A) -> B, %x: A) -> B { %f(%x) }
    def @adder(%x: float32) -> fn (float32) -> float32 { fn (%y: float32) -> float32 { add(%x, %y) } }
    def @main(%x: float32) { let %f = @adder(%x); (%f(1f), @apply(@adder(2f), %x), @apply(Box, %x)) }"""
    )
    check(source, np.float32(3))


def test_a_local_function_that_calls_itself_in_the_middle():
    source = """
    def @main(%n: int32, %step: int32) -> int32 {
      let %sum = fn (%i: int32) -> int32 {
        if (equal(%i, 0)) { %step } else { add(%sum(subtract(%i, 1)), multiply(%i, %step)) }
      };
      add(%sum(%n), %sum(2))
    }"""
    assert check(source, np.int32(5), np.int32(2)) == 40


def test_effects_happen_once_and_in_order():
    source = """
    def @bump(%r: ref(int32)) -> int32 { let %u = (%r := add(%r^, 1)); %r^ }
    def @main(%x: int32) {
      let %r = ref(%x);
      let %a = @bump(%r);
      let %b = if (less(%a, 5)) { let %v = (%r := multiply(%r^, 10)); @bump(%r) } else { %a };
      (%a, %b, @bump(%r), %r^)
    }"""
    assert [int(each) for each in check(source, np.int32(3))] == [4, 41, 42, 42]


def test_refs_hold_what_replaces_the_old():
    source = (
        LIST
        + """
    def @push(%r: ref(List[int32]), %n: int32) -> () {
      if (equal(%n, 0)) { () } else { let %u = (%r := Cons(%n, %r^)); @push(%r, subtract(%n, 1)) }
    }
    def @main(%n: int32) { let %r = ref(Nil); let %u = @push(%r, %n); %r^ }"""
    )
    check(source, np.int32(20))


def test_cycles_through_refs_are_freed_with_the_call():
    source = """
    type Link { End, Next(ref(Link)) }
    def @main(%x: int32) -> int32 { let %r = ref(End); let %u = (%r := Next(%r)); %x }"""
    executable = relay.build(module(source))
    alive = watch(executable)
    assert executable(np.int32(1)) == 1
    assert alive == [2]  # the cycle, which the end of the call frees


def test_operators_take_tuples_as_they_are():
    """Parameters, results of operators and of calls, fields of data: no Tuple is written where the operator is."""
    check(
        """
        type Pair { Pair((Tensor[(2), float32], Tensor[(2), float32])) }
        def @again(%p: (Tensor[(2), float32], Tensor[(2), float32]), %n: int32)
            -> (Tensor[(2), float32], Tensor[(2), float32]) {
          if (%n < 1) { %p } else { @again((%p.1, %p.0), %n - 1) }
        }
        def @main(%x: Tensor[(4), float32], %n: int32) {
          let %halves = split(%x, indices_or_sections=2, axis=0);
          let %turned = @again((%halves.0, %halves.1), %n);
          let %kept = match (Pair(%turned)) { Pair(%p) => concatenate(%p, axis=0) };
          (concatenate(%turned, axis=0), stack(%turned, axis=0), %kept)
        }
        """,
        np.arange(4, dtype=np.float32),
        np.int32(3),
    )


@pytest.mark.parametrize("opt_level", range(4))
def test_an_operator_takes_a_tuple_that_is_a_parameter(opt_level):
    program = module("def @main(%p: (Tensor[(2), float32], Tensor[(3), float32])) { concatenate(%p, axis=0) }")
    joined = relay.build(program, opt_level=opt_level)(np.ones(2, np.float32), np.zeros(3, np.float32))
    assert joined.tolist() == [1, 1, 0, 0, 0]
