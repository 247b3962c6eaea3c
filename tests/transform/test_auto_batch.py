"""AutoBatch: programs give the same with it and without it, on any values; what is outside its form is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relay
from relay.ir.expr import GlobalVar
from relay.ir.module import IRModule
from relay.runtime.values.values import DataValue, data_list
from relay.transform.batching.auto_batch import AutoBatch
from relay.transform.batching.batched import batching
from relay.transform.batching.recursions.recursion import Recursion
from relay.transform.batching.rows import Refusal
from relay.transform.framework.context import PassContext
from relay.transform.pipelines import optimization_pipeline
from tests.native.running import assert_same, module, watch

LIST = "type List[A] { Cons(A, List[A]), Nil }\n"
MAP = """
def @map[a, b](%f: fn (a) -> b, %xs: List[a]) -> List[b] {
  match (%xs) { Cons(%x, %rest) => Cons(%f(%x), @map(%f, %rest)), Nil => Nil }
}
"""
Make = Callable[[np.random.Generator], Any]


def normal(*shape: int) -> Make:
    return lambda random: random.standard_normal(shape, dtype=np.float32)


def random_tree(leaf: Make, leaves: int, random: np.random.Generator, inner: Make | None = None) -> DataValue:
    if leaves == 1:
        return DataValue("Tree", "Leaf", (leaf(random),))
    left = int(random.integers(1, leaves))
    parts = [random_tree(leaf, count, random, inner) for count in (left, leaves - left)]
    return DataValue("Tree", "Node", (*([] if inner is None else [inner(random)]), *parts))


def meaning(program: IRModule, *arguments: Any) -> Any:
    return relay.create_executor("interpreter", mod=program).evaluate()(*arguments)


def batched(program: IRModule) -> IRModule:
    result = AutoBatch(program)
    assert result is not program
    return result


# ------------------------------------------------------------------------------------------------------------ equality

TOTAL = """
type Tree { Leaf(Tensor[(1, 3), float32]), Node(Tree, Tree) }
def @total(%t: Tree) -> Tensor[(1, 3), float32] {
  match (%t) { Leaf(%x) => %x, Node(%l, %r) => tanh(@total(%l)) - @total(%r) }
}
"""
ONE_TREE = TOTAL + "def @main(%t: Tree) { @total(%t) }"
MANY_TREES = LIST + MAP + TOTAL + "def @main(%ts: List[Tree]) { @map(@total, %ts) }"
MAPPED_WITH_MORE = (
    LIST + MAP + TOTAL + "def @main(%ts: List[Tree], %k: Tensor[(1, 3), float32]) "
    "{ @map(fn (%t: Tree) { let %y = @total(%t); exp(%y) * %k }, %ts) }"
)


@pytest.mark.parametrize("leaves", [1, 2, 3, 9, 40])
def test_one_tree(leaves: int) -> None:
    tree = random_tree(normal(1, 3), leaves, np.random.default_rng(leaves))
    program = module(ONE_TREE)
    assert_same(meaning(batched(program), tree), meaning(program, tree))


@pytest.mark.parametrize("sizes", [(), (1,), (1, 1), (3, 1, 9), (2, 20, 1, 7, 1, 1, 5, 11, 1)])
def test_many_trees(sizes: tuple[int, ...]) -> None:
    random = np.random.default_rng(len(sizes))
    trees = data_list([random_tree(normal(1, 3), size, random) for size in sizes])
    program = module(MANY_TREES)
    assert_same(meaning(batched(program), trees), meaning(program, trees))
    scale = np.ones((1, 3), np.float32)
    program = module(MAPPED_WITH_MORE)
    assert_same(meaning(batched(program), trees, scale), meaning(program, trees, scale))


def test_a_comb_of_trees_is_as_deep_as_it_is_large() -> None:
    random = np.random.default_rng(1)
    tree = random_tree(normal(1, 3), 1, random)
    for _ in range(60):
        tree = DataValue("Tree", "Node", (tree, random_tree(normal(1, 3), 1, random)))
    program = module(ONE_TREE)
    assert_same(meaning(batched(program), tree), meaning(program, tree))


EXPRESSION = """
type Term {
  Number(float32), Half, Pair(float32, float32), Neg(Term), Mul(float32, Term, Term), Three(Term, Term, Term)
}
def @value(%t: Term, %w: float32) -> (float32, float32) {
  match (%t) {
    Number(%x) => (%x, %w),
    Half => (0.5f, %w),
    Pair(%x, %y) => (%y, %x * %w),
    Neg(%a) => { let %v = @value(%a, %w); (-%v.1, %v.0) },
    Mul(%k, %a, %b) => (@value(%a, %w).0 * @value(%b, %w).1 + %k, 2f),
    Three(%a, %b, %c) => (@value(%a, %w).0 + @value(%b, %w).0, @value(%c, %w).1 * %w),
  }
}
def @main(%ts: List[Term], %w: float32) { @map(fn (%t: Term) { @value(%t, %w) }, %ts) }
"""


def random_term(size: int, random: np.random.Generator) -> DataValue:
    number = normal()
    arities = {"Neg": 1, "Mul": 2, "Three": 3}
    if size <= 1:
        name = str(random.choice(["Number", "Half", "Pair"]))
        count = {"Number": 1, "Half": 0, "Pair": 2}[name]
        return DataValue("Term", name, tuple(np.float32(number(random)) for _ in range(count)))
    name = str(random.choice(list(arities)))
    parts = [random_term((size - 1) // arities[name], random) for _ in range(arities[name])]
    return DataValue("Term", name, (*([np.float32(number(random))] if name == "Mul" else []), *parts))


def test_a_type_of_many_constructors() -> None:
    program = module(LIST + MAP + EXPRESSION)
    after = batched(program)
    for seed in range(12):
        random = np.random.default_rng(seed)
        terms = data_list([random_term(int(random.integers(1, 30)), random) for _ in range(seed)])
        weight = np.float32(0.7)
        assert_same(meaning(after, terms, weight), meaning(program, terms, weight))


RAGGED = """
def @encode(%xs: List[Tensor[(1, 4), float32]], %w: Tensor[(3, 4), float32], %u: Tensor[(3, 3), float32])
    -> Tensor[(1, 3), float32] {
  match (%xs) {
    Nil => zeros(shape=[1, 3], dtype="float32"),
    Cons(%x, %rest) => tanh(nn.dense(%x, %w) + nn.dense(@encode(%rest, %w, %u), %u)),
  }
}
def @main(%xs: List[List[Tensor[(1, 4), float32]]], %w: Tensor[(3, 4), float32], %u: Tensor[(3, 3), float32]) {
  @map(fn (%x: List[Tensor[(1, 4), float32]]) { @encode(%x, %w, %u) }, %xs)
}
"""


@pytest.mark.parametrize("lengths", [(), (0,), (3,), (4, 0, 1, 9, 2), (1,) * 20])
def test_a_ragged_batch_of_lists(lengths: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    batch = data_list([data_list([normal(1, 4)(random) for _ in range(n)]) for n in lengths])
    weights = normal(3, 4)(random), normal(3, 3)(random)
    program = module(LIST + MAP + RAGGED)
    assert_same(meaning(batched(program), batch, *weights), meaning(program, batch, *weights))


# ------------------------------------------------------------------------------------------------------- batch rules

OF_LEAF = {
    "sum": "strided_slice(sum(%x, axis=[1]), begin=[0], end=[2])",
    "mean of all": "stack((mean(%x), max(%x, axis=[0, 1])), axis=0)",
    "keepdims": "sum(reshape(sum(%x, axis=[0], keepdims=True), newshape=[2, 2]), axis=[0])",
    "exclude": "strided_slice(sum(%x, axis=[1], exclude=True), begin=[1], end=[3])",
    "softmax": "sum(reshape(nn.softmax(%x, axis=0), newshape=[2, 6]), axis=[-1])",
    "log_softmax": "sum(reshape(nn.log_softmax(%x), newshape=[-1, 2]), axis=[0])",
    "transpose": "strided_slice(sum(transpose(%x), axis=[-1]), begin=[2], end=[4])",
    "transpose with axes": "take(sum(transpose(%x, axes=[1, 0]), axis=[1]), %places, axis=0)",
    "dense": "sum(nn.dense(%x, %w), axis=[0])",
    "dense of a vector": "nn.dense(sum(%x, axis=[0]), %w)",
    "bias": "sum(nn.bias_add(nn.dense(%x, %w), %b), axis=[0])",
    "bias first": "strided_slice(sum(nn.bias_add(transpose(%x), %four, axis=0), axis=[1]), begin=[0], end=[2])",
    "matmul": "sum(nn.matmul(%x, %w, transpose_b=True), axis=[0])",
    "batch_matmul": "sum(nn.dense(squeeze(nn.batch_matmul(expand_dims(%x, axis=0), expand_dims(%x, axis=0), "
    "transpose_b=True), axis=[0]), %three), axis=[0])",
    "dense by rows": "strided_slice(sum(nn.dense(%x, %x), axis=[0]), begin=[1], end=[3])",
    "a vector by rows": "strided_slice(nn.dense(max(%x, axis=[0]), %x), begin=[1], end=[3])",
    "shared by rows": "nn.dense(sum(nn.dense(%w, %x), axis=[1]), take(%w, %places, axis=1))",
    "transposed rows": "strided_slice(sum(nn.matmul(%x, %x, transpose_a=True), axis=[0]), begin=[1], end=[3])",
    "transposed rows by shared": "sum(nn.matmul(%x, reshape(%three, newshape=[3, 2]), transpose_a=True), axis=[0])",
    "broadcast_to": "sum(nn.dense(broadcast_to(max(%x, axis=[0]), shape=[2, 3, 4]), %w), axis=[0, 1])",
    "broadcast_to_like": "sum(nn.dense(broadcast_to_like(max(%x, axis=[0]), %x), %w), axis=[0])",
    "broadcast_to_like of shared": "sum(nn.dense(broadcast_to_like(%four, %x) * %x, %w), axis=[0])",
    "concatenate": "strided_slice(sum(concatenate((%x, nn.relu(%x)), axis=1), axis=[1]), begin=[0], end=[2])",
    "concatenate of shared": "strided_slice(sum(concatenate((%x, %w), axis=0), axis=[1]), begin=[3], end=[5])",
    "split": "{ let %p = split(%x, indices_or_sections=2, axis=-1); sum(%p.0 * %p.1, axis=[0]) }",
    "split of rows": "{ let %p = split(%x, indices_or_sections=3, axis=0); "
    "strided_slice(reshape(%p.2 - %p.0, newshape=[4]), begin=[0], end=[2]) }",
    "slice": "strided_slice(max(%x, axis=[0]), begin=[3], end=[0], strides=[-2], axes=[0])",
    "reverse": "strided_slice(reverse(sum(%x, axis=[0]), axis=0), begin=[0], end=[2])",
    "broadcast": "nn.dense(sum(%x * strided_slice(%x, begin=[0, 0], end=[1, 4]) + max(%x, axis=[0]), axis=[0]), %w)",
    "where": "strided_slice(sum(where(greater(%x, 0f), %x, %four), axis=[0]), begin=[0], end=[2])",
    "cast": "cast(cast(strided_slice(sum(%x, axis=[0]), begin=[0], end=[2]), dtype=\"int32\"), dtype=\"float32\")",
    "argmax": "cast(strided_slice(argmax(%x, axis=[1]), begin=[0], end=[2]), dtype=\"float32\")",
    "table": "take(%table, argmax(max(%x, axis=[0]), axis=[0]), axis=0)",
    "table of many": "sum(take(%table, argmax(%x, axis=[1]), axis=0), axis=[0])",
    "layer_norm": "strided_slice(sum(nn.layer_norm(%x, %four, %four), axis=[0]), begin=[0], end=[2])",
    "clip": "strided_slice(sum(clip(%x, a_min=-0.5, a_max=0.5), axis=[0]), begin=[0], end=[2])",
    "like": "strided_slice(sum(zeros_like(%x) + ones_like(%x), axis=[0]), begin=[0], end=[2])",
    "flatten": "strided_slice(sum(nn.batch_flatten(%x), axis=[0]), begin=[0], end=[2])",
    "partly shared": "%b",
}  # fmt: skip
RULES = """
type Tree {{ Leaf(Tensor[{shape}, float32]), Node(Tensor[(1, 5), float32], Tree, Tree) }}
def @f(%t: Tree, %w: Tensor[(2, 4), float32], %b: Tensor[(2,), float32], %four: Tensor[(4,), float32],
       %three: Tensor[(2, 3), float32], %table: Tensor[(4, 2), float32], %places: Tensor[(2,), int32])
    -> (Tensor[(2,), float32], Tensor[(1, 5), float32]) {{
  match (%t) {{
    Leaf(%x) => ({body}, ones(shape=[1, 5], dtype="float32")),
    Node(%y, %l, %r) => {{
      let %p = @f(%l, %w, %b, %four, %three, %table, %places);
      let %q = @f(%r, %w, %b, %four, %three, %table, %places);
      (%p.0 * 0.5f + %q.0 * sum(%y, axis=[1]), nn.softmax(%p.1 * %q.1 + %y))
    }},
  }}
}}
"""
PARAMETERS = ("w", "b", "four", "three", "table", "places")


@pytest.mark.parametrize("name", OF_LEAF)
def test_batch_rules(name: str) -> None:
    random = np.random.default_rng(3)
    source = RULES.format(shape="(3, 4)", body=OF_LEAF[name])
    parameters = source[source.index("%w:") : source.index(")\n    ->")]
    program = module(
        f"{source}def @main(%t: Tree, {parameters}) {{ @f(%t, {', '.join(f'%{each}' for each in PARAMETERS)}) }}"
    )
    tree = random_tree(normal(3, 4), 7, random, inner=normal(1, 5))
    arrays = [normal(*shape)(random) for shape in ((2, 4), (2,), (4,), (2, 3), (4, 2))]
    arguments = (tree, *arrays, np.array([2, 0], np.int32))
    assert_same(meaning(batched(program), *arguments), meaning(program, *arguments))


OF_ONE_ROW = {
    "dense": "nn.dense(%x, %w)",
    "softmax": "strided_slice(nn.softmax(%x), begin=[0, 1], end=[1, 3])",
    "sum over the unit axis": "nn.dense(expand_dims(sum(%x, axis=[0]), axis=0), %w)",
    "keepdims": "nn.dense(%x - mean(%x, axis=[1], keepdims=True), %w)",
    "concatenate over the unit axis": "expand_dims(sum(nn.dense(concatenate((%x, -%x, %x), axis=0), %w), axis=[0]),"
    " axis=0)",
    "concatenate": "nn.dense(strided_slice(concatenate((%x, %x), axis=-1), begin=[0, 2], end=[1, 6]), %w)",
    "stack": "expand_dims(sum(nn.dense(squeeze(stack((%x, tanh(%x)), axis=1), axis=[0]), %w), axis=[0]), axis=0)",
    "transpose": "transpose(strided_slice(transpose(%x), begin=[1, 0], end=[3, 1]))",
    "bias": "nn.bias_add(nn.dense(%x, %w), %b)",
    "vectors and rows": "nn.dense(%x + sum(%x, axis=[0]), %w) + %b",
    "scalars and rows": "nn.dense(%x * sum(%x), %w)",
    "batch_matmul": "sum(nn.batch_matmul(expand_dims(nn.dense(%x, %w), axis=1), expand_dims(%w, axis=0),"
    " transpose_b=False), axis=[2]) * nn.dense(%x, %w)",
    "table": "take(%table, argmax(%x, axis=[1]), axis=0)",
}  # fmt: skip


@pytest.mark.parametrize("name", OF_ONE_ROW)
def test_batch_rules_where_the_unit_axis_is_the_batch(name: str) -> None:
    random = np.random.default_rng(4)
    source = f"""
type Tree {{ Leaf(Tensor[(1, 4), float32]), Node(Tree, Tree) }}
def @f(%t: Tree, %w: Tensor[(2, 4), float32], %b: Tensor[(2,), float32], %table: Tensor[(4, 2), float32])
    -> Tensor[(1, 2), float32] {{
  match (%t) {{ Leaf(%x) => {OF_ONE_ROW[name]}, Node(%l, %r) => @f(%l, %w, %b, %table) - @f(%r, %w, %b, %table) }}
}}
def @main(%t: Tree, %w: Tensor[(2, 4), float32], %b: Tensor[(2,), float32], %table: Tensor[(4, 2), float32]) {{
  @f(%t, %w, %b, %table)
}}
"""
    program = module(source)
    tree = random_tree(normal(1, 4), 9, random)
    arrays = [normal(*shape)(random) for shape in ((2, 4), (2,), (4, 2))]
    assert_same(meaning(batched(program), tree, *arrays), meaning(program, tree, *arrays))


# ------------------------------------------------------------------------------------------------------------ refusals

TREE = "type Tree { Leaf(float32), Node(Tree, Tree) }\n"
REFUSED = {
    "does not begin with a match of a parameter": "def @f(%n: int32) -> int32 { if (%n == 0) { 0 } else { @f(%n - 1)"
    " } }",
    "matches a value that may have no clause": TREE
    + "def @f(%t: Tree) -> float32 { match? (%t) { Node(%l, %r) => @f(%l) + @f(%r) } }",
    "looks at more than one constructor at once": TREE
    + "def @f(%t: Tree) -> float32 { match (%t) { Node(Leaf(%x), %r) => %x + @f(%r), _ => 1f } }",
    "is generic": LIST + "def @f[a](%t: List[a]) -> int32 { match (%t) { Cons(_, %r) => @f(%r) + 1, Nil => 0 } }",
    "gives a value of type Tree, not tensors of known extents": TREE
    + "def @f(%t: Tree) -> Tree { match (%t) { Node(%l, %r) => Node(@f(%r), @f(%l)), Leaf(_) => %t } }",
    "calls itself on something else than a field of what it matched": TREE
    + "def @f(%t: Tree) -> float32 { match (%t) { Node(%l, %r) => @f(Node(%r, %l)), Leaf(%x) => %x } }",
    "hands on to one call what depends on the result of another": TREE
    + "def @f(%t: Tree, %k: float32) -> float32 { match (%t) { Node(%l, %r) => @f(%r, @f(%l, %k)), "
    "Leaf(%x) => %x * %k } }",
    "calls itself with another %k than it was given, of type Tree": TREE
    + "def @f(%t: Tree, %k: Tree) -> float32 { match (%t) { Node(%l, %r) => @f(%l, %r) + @f(%r, %k), "
    "Leaf(%x) => %x } }",
    "goes over a list otherwise than by adding up what it calls itself for": LIST
    + "type Rose { Rose(float32, List[Rose]) }\n"
    "def @f(%t: Rose) -> float32 { match (%t) { Rose(%x, %ts) => { "
    "let %loop = fn (%rest: List[Rose], %last: float32) -> float32 { match (%rest) { "
    "Cons(%c, %more) => %loop(%more, @f(%c) * %last + 1f), Nil => %last } }; %loop(%ts, %x) } } }",
    "chooses by a value inside a clause": TREE
    + "def @f(%t: Tree) -> float32 { match (%t) { Node(%l, %r) => if (@f(%l) < 0f) { @f(%r) } else { 1f }, "
    "Leaf(%x) => %x } }",
    "matches again inside a clause": TREE
    + "def @f(%t: Tree) -> float32 { match (%t) { Node(%l, %r) => @f(%l) + match (%r) { Leaf(%x) => %x, _ => 1f }, "
    "Leaf(%x) => %x } }",
    "uses refs": TREE + "def @f(%t: Tree) -> float32 { match (%t) { Node(%l, %r) => @f(%l) + @f(%r), "
    "Leaf(%x) => { let %r = ref(%x); ref_read(%r) } } }",
    "calls another function inside a clause": TREE + "def @g(%x: float32) -> float32 { %x }\n"
    "def @f(%t: Tree) -> float32 { match (%t) { Node(%l, %r) => @g(@f(%l)) + @f(%r), Leaf(%x) => %x } }",
    "calls cumsum, which has no batch rule: nobody has written one": "type Tree { "
    "Leaf(Tensor[(3,), float32]), Node(Tree, Tree) }\n"
    "def @f(%t: Tree) -> Tensor[(3,), float32] { match (%t) { Node(%l, %r) => @f(%l) + @f(%r), "
    "Leaf(%x) => cumsum(%x, axis=0) } }",
    "calls nn.dense on more than two axes, with a weight that differs from instance to instance": "type Tree { "
    "Leaf(Tensor[(2, 2), float32]), Node(Tree, Tree) }\n"
    "def @f(%t: Tree) -> Tensor[(2, 2), float32] { match (%t) { Leaf(%x) => %x, "
    "Node(%l, %r) => sum(nn.dense(reshape(@f(%l), newshape=[1, 2, 2]), @f(%r)), axis=[0]) } }",
    "uses nothing of what it calls itself for": TREE
    + "def @f(%t: Tree) -> float32 { match (%t) { Node(%l, %r) => { let %x = @f(%l); 1f }, Leaf(%x) => %x } }",
    "is in a module that defines its own List": "type List { Cons(float32), Nil }\n"
    + TREE
    + "def @f(%t: Tree) -> float32 { match (%t) { Node(%l, %r) => @f(%l) + @f(%r), Leaf(%x) => %x } }",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refusals(reason: str) -> None:
    program = module(REFUSED[reason])
    found = batching(program)[GlobalVar("f")]
    assert isinstance(found, Refusal)
    assert found.reason == reason
    assert str(found).startswith(f"@f {reason} (program.relay:")
    assert AutoBatch(program) is program


def test_what_is_said_of_functions_that_call_each_other() -> None:
    program = module(
        TREE + "def @f(%t: Tree) -> float32 { match (%t) { Node(%l, %r) => @g(%l) + @g(%r), Leaf(%x) => %x } }\n"
        "def @g(%t: Tree) -> float32 { @f(%t) }"
    )
    reasons = {name.name_hint: found.reason for name, found in batching(program).items() if isinstance(found, Refusal)}
    assert reasons == {
        "f": "is recursive through @g, which does not begin with a match of a parameter",
        "g": "does not begin with a match of a parameter",
    }
    assert AutoBatch(program) is program


def test_lists_alone_are_left_as_they_are() -> None:
    """Each level would have one instance."""
    program = module(
        LIST + "def @f(%x: List[float32]) -> float32 { match (%x) { Cons(%y, %r) => %y + @f(%r), Nil => 0f } }\n"
        "def @main(%x: List[float32]) { @f(%x) }"
    )
    assert isinstance(batching(program)[GlobalVar("f")], Recursion)
    assert AutoBatch(program) is program


# -------------------------------------------------------------------------------------------------------------- native


def test_natively_with_many_constructors() -> None:
    program = AutoBatch(module(LIST + MAP + EXPRESSION))
    random = np.random.default_rng(5)
    terms = data_list([random_term(size, random) for size in (1, 30, 4, 9, 2)])
    check_module(program, (data_list([]), np.float32(0.7)), (terms, np.float32(0.7)))


def test_natively_on_a_ragged_batch() -> None:
    program = AutoBatch(module(LIST + MAP + RAGGED))
    random = np.random.default_rng(6)
    weights = normal(3, 4)(random), normal(3, 3)(random)
    batch = data_list([data_list([normal(1, 4)(random) for _ in range(n)]) for n in (4, 0, 1, 9)])
    check_module(program, (data_list([]), *weights), (batch, *weights))


def check_module(program: IRModule, *calls: tuple[Any, ...]) -> None:
    """The native program gives what the interpreter gives, and leaves nothing alive."""
    executable = relay.build(program, "llvm -heap=checked")
    alive = watch(executable)
    for arguments in calls:
        assert_same(executable(*arguments), meaning(program, *arguments))
    assert alive == [0] * len(calls)


def test_the_pass_runs_at_its_level() -> None:
    program = module(ONE_TREE)
    with PassContext(opt_level=AutoBatch.level):
        names = {name.name_hint for name in optimization_pipeline(program).functions}
    assert "total_batch" in names
    with PassContext(opt_level=AutoBatch.level, disabled_pass=("AutoBatch",)):
        assert "total_batch" not in {name.name_hint for name in optimization_pipeline(program).functions}
