"""Values of data types as inputs of native programs: lists, trees, options, tuples of them."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import relay
from relay.runtime.values.values import DataValue, data_list
from tests.messages import check_message
from tests.native.running import LIST, assert_same, module, watch

Vector = relay.Tensor[(4,)]


@relay.datatype
class Tree:
    class Leaf:
        value: Vector

    class Node:
        left: Tree
        right: Tree


@relay.function
def total(tree: Tree) -> Vector:
    match tree:
        case Tree.Leaf(value):
            return value
        case Tree.Node(left, right):
            return total(left) + total(right)


@relay.function
def given(
    xs: list[relay.Tensor[(relay.symbol("n"),)]], maybe: Vector | None, pair: tuple[int, list[int]]
) -> tuple[int, list[relay.Tensor[(relay.symbol("n"),)]], Vector | None, tuple[int, list[int]]]:
    return len(xs), xs, maybe, pair


def grown(depth: int) -> Tree:
    return Tree.Leaf(np.ones(4, np.float32)) if depth == 0 else Tree.Node(grown(depth - 1), grown(depth - 1))


def test_a_tree_of_python_objects():
    meant = relay.create_executor("interpreter", mod=total.module).evaluate()
    for tree in (grown(0), grown(6)):
        np.testing.assert_array_equal(total(tree), meant(tree))
    assert total(grown(6))[0] == 64


def test_python_values_by_the_types_of_the_inputs():
    xs = [np.ones(2, np.float32), np.zeros(2, np.float32)]
    length, back, maybe, pair = given(xs, None, (3, [1, 2]))
    assert length == 2
    assert [x.tolist() for x in back] == [[1, 1], [0, 0]]
    assert maybe is None
    assert pair[0] == 3
    assert [int(each) for each in pair[1]] == [1, 2]
    assert given([], np.ones(4, np.float32), (1, []))[2].tolist() == [1, 1, 1, 1]


def test_results_are_inputs():
    source = LIST + "def @main(%l: List[int32], %x: int32) { Cons(%x, %l) }"
    executable = relay.build(module(source))
    one = executable(data_list([]), np.int32(1))
    assert repr(executable(one, np.int32(2))) == "Cons(array(2, dtype=int32), Cons(array(1, dtype=int32), Nil))"


def test_what_is_shared_stays_shared():
    source = "type Pair { Pair(Tensor[(2,), float32], Tensor[(2,), float32]) } def @main(%p: (Pair, Pair)) { %p }"
    pair = DataValue("Pair", "Pair", (np.ones(2, np.float32), np.zeros(2, np.float32)))
    executable = relay.build(module(source))
    alive = watch(executable)
    first, second = executable((pair, pair))
    assert first is second
    assert alive == [0]


def test_a_long_list_and_an_empty_one():
    source = (
        LIST
        + """def @sum(%l: List[int32], %s: int32) -> int32 {
          match (%l) { Nil => %s, Cons(%h, %t) => @sum(%t, add(%s, %h)) }
        }
        def @main(%l: List[int32]) { @sum(%l, 0) }"""
    )
    executable = relay.build(module(source))
    assert executable([1] * 100_000) == 100_000
    assert executable([]) == 0


def test_the_interpreter_takes_the_same_values():
    source = LIST + "def @main(%l: List[int32], %p: (int32, List[float32])) { (%l, %p) }"
    program = module(source)
    arguments = (data_list(map(np.int32, [1, 2])), (np.int32(3), data_list([np.float32(1)])))
    expected = relay.create_executor("interpreter", mod=program).evaluate()(*arguments)
    assert_same(relay.build(program)(*arguments), expected)


def test_threads_may_give_values_at_once():
    tree, results = grown(5), []
    total(tree)

    def run():
        results.extend(float(total(tree)[0]) for _ in range(20))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [32.0] * 80


BAD = {
    "other-kind": lambda: given(3, None, (1, [])),
    "other-extent": lambda: given([np.ones(2, np.float32), np.ones(3, np.float32)], None, (1, [])),
    "other-dtype": lambda: given([np.ones(2)], None, (1, [])),
    "other-constructor": lambda: total(DataValue("Tree", "Twig", ())),
    "other-type": lambda: total(DataValue("List", "Nil")),
    "deep-inside": lambda: total(Tree.Node(grown(1), Tree.Node(Tree.Leaf(np.ones(3, np.float32)), grown(0)))),
    "other-tuple": lambda: given([], None, (1, 2, 3)),
}


@pytest.mark.parametrize("name", BAD)
def test_values_that_do_not_fit(name):
    with pytest.raises(relay.RelayError) as caught:
        BAD[name]()
    check_message("values", name, caught.value)


def test_an_artefact_takes_values(tmp_path):
    total.executable.save(tmp_path / "total.rlx")
    assert relay.load(tmp_path / "total.rlx")(grown(3))[0] == 8
