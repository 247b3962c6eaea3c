"""Recursive functions that are batched by levels are differentiated as such: the way back is by levels, too."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import relay
from relay.ir.module import IRModule
from relay.runtime.values.values import DataValue, data_list
from relay.testing.programs import tree_lstm
from relay.transform.framework.context import PassContext
from relay.transform.pipelines import BEFORE_RULES
from tests.autodiff.numerical import check_gradient, parsed, runner
from tests.autodiff.programs import LIST
from tests.native.running import assert_same

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "gradients"
BY_LEVELS = PassContext(opt_level=3)
TREES = """
    type Tree { Leaf(Tensor[(1, 3), float64]), Node(Tensor[(1, 3), float64], Tree, Tree), Empty }
    def @of(%t: Tree, %w: Tensor[(3, 6), float64], %b: Tensor[(3,), float64]) -> Tensor[(1, 3), float64] {
      match (%t) {
        Leaf(%x) => tanh(%x * %b),
        Node(%x, %l, %r) => tanh(nn.dense(concatenate((@of(%l, %w, %b), @of(%r, %w, %b)), axis=1), %w) + %x),
        Empty => zeros(shape=[1, 3], dtype="float64")
      }
    }
"""
ONE = (
    TREES
    + """
    def @main(%x: Tensor[(1, 3), float64], %w: Tensor[(3, 6), float64], %b: Tensor[(3,), float64]) {
      let %t = Node(%x, Node(sin(%x), Leaf(%x), Node(%x, Empty, Leaf(exp(%x)))), Leaf(cos(%x)));
      sum(@of(%t, %w, %b))
    }"""
)
MAPPED = (
    LIST
    + TREES
    + """
    def @map[A, B](%f: fn (A) -> B, %xs: List[A]) -> List[B] {
      match (%xs) { Cons(%x, %rest) => Cons(%f(%x), @map(%f, %rest)), Nil => Nil }
    }
    def @total(%ys: List[Tensor[(1, 3), float64]]) -> float64 {
      match (%ys) { Cons(%y, %rest) => sum(%y * %y) + @total(%rest), Nil => 0f64 }
    }
    def @main(%ts: List[Tree], %w: Tensor[(3, 6), float64], %b: Tensor[(3,), float64]) {
      @total(@map(fn (%t: Tree) { @of(%t, %w, %b) }, %ts))
    }"""
)


def normal(random: np.random.Generator, *shape: int) -> np.ndarray:
    return random.standard_normal(shape)


def tree(random: np.random.Generator, leaves: int) -> DataValue:
    if leaves == 0:
        return DataValue("Tree", "Empty", ())
    if leaves == 1:
        return DataValue("Tree", "Leaf", (normal(random, 1, 3),))
    left = int(random.integers(0, leaves))
    return DataValue("Tree", "Node", (normal(random, 1, 3), tree(random, left), tree(random, leaves - left)))


def arguments(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    return normal(random, 1, 3), normal(random, 3, 6), normal(random, 3)


@pytest.mark.parametrize("compiled", [True, False], ids=["native", "interpreted"])
def test_gradients_are_those_by_differences(compiled):
    with BY_LEVELS:
        found = relay.value_and_grad(parsed(ONE))
        assert "@of_up_pullback(" in str(found)
        check_gradient(parsed(ONE), *arguments(np.random.default_rng(0)), compiled=compiled)


def test_gradients_by_levels_can_be_differentiated():
    with BY_LEVELS:
        first = relay.grad(parsed(ONE), wrt="w")
        main = first["main"]
        loss = relay.sum(main.body * relay.const(normal(np.random.default_rng(1), 3, 6), "float64"))
        second = relay.transform.InferType(first.with_function("main", relay.Function(main.params, loss)))
        check_gradient(second, *arguments(np.random.default_rng(0)))


@pytest.mark.parametrize("mode", [relay.jvp, relay.vjp, relay.linearize])
def test_all_modes_are_those_of_the_recursion(mode):
    random = np.random.default_rng(2)
    given = arguments(random)
    with BY_LEVELS:
        batched = mode(parsed(ONE), wrt=1)
    assert "@of_up" in str(batched)
    assert "@of_up" not in str(mode(parsed(ONE), wrt=1))
    more = {relay.jvp: (normal(random, 3, 6),), relay.vjp: (np.float64(2),), relay.linearize: ()}[mode]
    found, wanted = (runner(each)(*given, *more) for each in (batched, mode(parsed(ONE), wrt=1)))
    if mode is relay.linearize:
        direction = normal(random, 3, 6)
        found, wanted = ((value, linear(direction)) for value, linear in (found, wanted))
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12)
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-12)


@pytest.mark.parametrize("sizes", [(), (1,), (0,), (7, 1, 0, 12), (30,)])
def test_gradients_of_many_trees_are_those_of_the_recursion(sizes):
    """By the trees, too: their gradients are data like them."""
    random = np.random.default_rng(3)
    given = (data_list([tree(random, leaves) for leaves in sizes]), normal(random, 3, 6), normal(random, 3))
    with BY_LEVELS:
        program = relay.value_and_grad(parsed(MAPPED))
    assert "@of_up_pullback(" in str(program)
    wanted = runner(relay.value_and_grad(parsed(MAPPED)), compiled=False)(*given)
    executable = relay.build(program, "llvm -heap=checked")
    assert_same(executable(*given), wanted)


def test_the_same_bits_on_any_number_of_threads():
    random = np.random.default_rng(4)
    given = (data_list([tree(random, leaves) for leaves in (9, 30, 2)]), normal(random, 3, 6), normal(random, 3))
    with BY_LEVELS:
        executable = relay.build(relay.grad(parsed(MAPPED), wrt=["w", "b"]), opt_level=3)
    found: list[bytes] = []
    for threads in (1, 2):
        with relay.num_threads(threads):
            found.append(b"".join(each.tobytes() for each in executable(*given)))
    assert found[0] == found[1]


def test_parameters_on_which_a_value_does_not_depend_take_no_cotangent():
    """Neither those that are handed on without being used, nor where a recursion hands them to itself."""
    text = """
        def @f(%n: int32, %x: float64, %unused: Tensor[(3,), float64]) -> float64 {
          if (%n < 1) { %x } else { @f(%n - 1, sin(%x), %unused * 2f64) }
        }
        def @main(%n: int32, %x: float64, %unused: Tensor[(3,), float64]) { @f(%n, %x, %unused) * @f(2, %x, %unused) }
    """
    made = relay.value_and_grad(parsed(text))
    (pullback,) = [each for name, each in made.functions.items() if name.name_hint == "f_pullback"]
    assert str(pullback.ret_type) == "(float64,)"
    check_gradient(parsed(text), np.int32(3), np.float64(0.3), np.ones(3))


# ---------------------------------------------------------------------------------------------------------- as text


def tree_lstm_loss() -> IRModule:
    """The sum of what the roots of trees are, by a Tree-LSTM."""
    tree_type = tree_lstm.tree_type(4)
    encode = tree_lstm.tree_lstm(tree_type, 4, 4)

    @relay.function
    def loss(
        trees: list[tree_type], w_leaf: relay.Tensor[(12, 4)], b_leaf: relay.Tensor[(12,)],
        w_node: relay.Tensor[(20, 8)], b_node: relay.Tensor[(20,)],
    ):  # fmt: skip
        total = 0.0
        for h, _ in [encode(each, w_leaf, b_leaf, w_node, b_node) for each in trees]:
            total = total + relay.sum(h)
        return total

    return loss.module


def list_fold() -> IRModule:
    """A recurrent cell over a list of rows."""
    return parsed(
        LIST
        + """
        def @fold(%xs: List[Tensor[(1, 3), float32]], %h: Tensor[(1, 3), float32], %w: Tensor[(3, 6), float32])
            -> Tensor[(1, 3), float32] {
          match (%xs) {
            Cons(%x, %rest) => @fold(%rest, tanh(nn.dense(concatenate((%x, %h), axis=1), %w)), %w),
            Nil => %h
          }
        }
        def @main(%xs: List[Tensor[(1, 3), float32]], %w: Tensor[(3, 6), float32]) {
          sum(@fold(%xs, zeros(shape=[1, 3], dtype="float32"), %w))
        }"""
    )


@pytest.mark.parametrize(
    ("name", "program", "wrt"),
    [
        ("tree_lstm", tree_lstm_loss, ["w_leaf", "b_leaf", "w_node", "b_node"]),
        ("list_fold", list_fold, ["w"]),
    ],
)
def test_optimized_gradients_are_first_order(name, program, wrt):
    """The machinery of derivatives is gone: what is left are functions over data, without closures and references."""
    with BY_LEVELS:
        module = relay.value_and_grad(program(), wrt=wrt)
        for each in BEFORE_RULES:
            module = each(module)
        module = relay.transform.RemoveUnusedFunctions(module)
    text = relay.astext(module, show_meta_data=False, show_types=False)
    assert not any(form in text for form in ("fn (", "ref(", "ref_read(", "ref_write("))
    file = GOLDEN / f"{name}.relay"
    if os.environ.get("UPDATE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


# --------------------------------------------------------------------------------------------------------- other forms

ROSES = (
    LIST
    + """
    type Rose { Rose(Tensor[(1, 3), float64], List[Rose]) }
    def @of(%t: Rose, %w: Tensor[(3, 3), float64], %s: Tensor[(1, 3), float64])
        -> (Tensor[(1, 3), float64], Tensor[(1, 3), float64]) {
      match (%t) {
        Rose(%x, %children) => {
          let %mine = tanh(nn.dense(%s, %w) + %x);
          let %loop = fn (%rest: List[Rose], %h: Tensor[(1, 3), float64], %c: Tensor[(1, 3), float64]) {
            match (%rest) {
              Cons(%child, %more) => {
                let %below = @of(%child, %w, %mine * 0.5f64);
                %loop(%more, %h + %below.0, %c + sigmoid(nn.dense(%below.0, %w) + %x) * %below.1)
              },
              Nil => (%h, %c)
            }
          };
          let %sums = %loop(%children, %mine, zeros(shape=[1, 3], dtype="float64"));
          (tanh(nn.dense(%sums.0, %w)), sin(%sums.1 + %x))
        }
      }
    }
    def @main(%x: Tensor[(1, 3), float64], %w: Tensor[(3, 3), float64], %s: Tensor[(1, 3), float64]) {
      let %none = Rose(%x, Nil);
      let %two = Rose(cos(%x), Cons(%none, Cons(Rose(exp(%x), Nil), Nil)));
      let %found = @of(Rose(sin(%x), Cons(%two, Cons(%none, Cons(%two, Nil)))), %w, %s);
      sum(%found.0 * %found.1 + %found.0)
    }"""
)
EACH_OTHER = """
    type Tree { Leaf(Tensor[(1, 3), float64]), Node(Tree, Tree) }
    def @even(%t: Tree, %w: Tensor[(3, 3), float64], %s: Tensor[(1, 3), float64]) -> Tensor[(1, 3), float64] {
      match (%t) {
        Leaf(%x) => tanh(%x * %s),
        Node(%l, %r) => nn.dense(@odd(%l, %w, sin(%s)) * @even(%r, %w, %s * 2f64), %w)
      }
    }
    def @odd(%t: Tree, %w: Tensor[(3, 3), float64], %s: Tensor[(1, 3), float64]) -> Tensor[(1, 3), float64] {
      match (%t) {
        Leaf(%x) => sin(%x),
        Node(%l, %r) => tanh(@even(%l, %w, %s) - nn.dense(@even(%r, %w, cos(%s)), %w))
      }
    }
    def @main(%x: Tensor[(1, 3), float64], %w: Tensor[(3, 3), float64], %s: Tensor[(1, 3), float64]) {
      let %t = Node(Node(Leaf(%x), Node(Leaf(exp(%x)), Leaf(%x))), Node(Leaf(%x), Leaf(sin(%x))));
      sum(@even(%t, %w, %s))
    }"""


@pytest.mark.parametrize("source", [ROSES, EACH_OTHER], ids=["lists of parts", "functions that call each other"])
def test_gradients_of_other_forms_are_those_by_differences(source):
    random = np.random.default_rng(5)
    with BY_LEVELS:
        assert "_up_pullback(" in str(relay.value_and_grad(parsed(source)))
        check_gradient(parsed(source), normal(random, 1, 3), normal(random, 3, 3), normal(random, 1, 3))
