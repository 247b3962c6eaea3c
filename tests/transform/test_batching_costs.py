"""AutoBatch takes levels where they pay, on a machine that the tests name; what it saves is counted in kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

import relay
from relay.driver.parameters import bind_params
from relay.infer.infer_type import infer_type
from relay.ir.expr import GlobalVar
from relay.ir.module import IRModule
from relay.runtime.executable import Executable
from relay.runtime.values.values import DataValue
from relay.testing.programs import tree_lstm
from relay.transform.batching import generate
from relay.transform.batching.auto_batch import AutoBatch
from relay.transform.batching.batched import batching
from relay.transform.batching.costs import KERNELS_OF_RESULT, KERNELS_OF_START, ClauseCosts, Costs, costs_of
from relay.transform.batching.recursions.recursion import Recursion
from relay.transform.framework.context import LayoutPreferences, PassContext, Rates
from relay.transform.functions.propagate_constant_arguments import PropagateConstantArguments
from relay.transform.functions.remove_unused_functions import RemoveUnusedFunctions
from tests.native.running import assert_same, module
from tests.programs.generate import Program
from tests.programs.trees import trees

RATES = Rates(
    tiled_products=60.0, streamed_products=24.0, far_products=12.0, near_bytes=1 << 19, copied_bytes=20.0,
    far_copied_bytes=6.0, cached_bytes=1 << 23, sum_nanoseconds=2.0, call_nanoseconds=50.0,
    repeated_call_nanoseconds=10.0,
)  # fmt: skip
CALLS_COST_MUCH = replace(RATES, call_nanoseconds=5000.0)
HIDDEN = 40  # five gates of it are no whole panels
KIND = tree_lstm.tree_type(HIDDEN)
WEIGHTS = tree_lstm.parameters(HIDDEN, HIDDEN)
Shape = Callable[[int, np.random.Generator], Any]


def leaf(random: np.random.Generator) -> Any:
    return KIND.Leaf(random.standard_normal((1, HIDDEN), dtype=np.float32))


def balanced(leaves: int, random: np.random.Generator) -> Any:
    if leaves == 1:
        return leaf(random)
    return KIND.Node(balanced(leaves // 2, random), balanced(leaves - leaves // 2, random))


def to_the_left(leaves: int, random: np.random.Generator) -> Any:
    tree = leaf(random)
    for _ in range(leaves - 1):
        tree = KIND.Node(tree, leaf(random))
    return tree


def to_the_right(leaves: int, random: np.random.Generator) -> Any:
    tree = leaf(random)
    for _ in range(leaves - 1):
        tree = KIND.Node(leaf(random), tree)
    return tree


def split_at_random(leaves: int, random: np.random.Generator) -> Any:
    return tree_lstm.random_tree(KIND, leaves, HIDDEN, random)


def one_tree() -> IRModule:
    return tree_lstm.tree_lstm(KIND, HIDDEN, HIDDEN).module


def forest() -> IRModule:
    return tree_lstm.forest_lstm(KIND, HIDDEN, HIDDEN).module


def build(program: IRModule, given: bool, rates: Rates = RATES, **options: Any) -> Callable[..., Any]:
    with PassContext(rates=rates, **options):
        return relay.build(program, "llvm -num-threads=1", params=None if given else WEIGHTS, opt_level=3)


def calls(executable: Executable, what: str, *arguments: Any) -> int:
    """How often a call runs kernels with an operator: each of them once for that."""
    profile = executable.profile(*arguments, runs=1)
    return sum(kernel.calls for kernel in profile.kernels if what in kernel.name)


def arguments_of(value: Any, given: bool) -> tuple[Any, ...]:
    return (value, *(WEIGHTS.values() if given else ()))


# -------------------------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("given", [False, True], ids=["constant", "given"])
@pytest.mark.parametrize("call_nanoseconds", [0.0, 50.0])
def test_all_ways_give_the_same(given: bool, call_nanoseconds: float) -> None:
    """Whatever the estimate says: for trees of all shapes, alone and in forests."""
    rates, random = replace(RATES, call_nanoseconds=call_nanoseconds), np.random.default_rng(0)
    trees = [shape(leaves, random) for leaves in (1, 2, 3, 9, 33)
             for shape in (balanced, to_the_left, to_the_right, split_at_random)]  # fmt: skip
    for program, values in ((one_tree(), trees), (forest(), [trees, trees[:1], trees[4:6], []])):
        chosen, alone = build(program, given, rates), build(program, given, disabled_pass=("AutoBatch",))
        for value in values:
            assert_same(chosen(*arguments_of(value, given)), alone(*arguments_of(value, given)))


def test_the_choice_means_the_same_to_the_interpreter() -> None:
    program = one_tree()
    with PassContext(rates=RATES, layouts=LayoutPreferences(dense_blocks=(64, 48, 32, 16))):
        chosen = AutoBatch(program)
    assert "encode_Node_shared" in {name.name_hint for name in chosen.functions}
    for shape in (balanced, to_the_left):
        for leaves in (1, 2, 20):
            tree = shape(leaves, np.random.default_rng(leaves))
            found, expected = (
                relay.create_executor("interpreter", mod=each).evaluate()(tree, *WEIGHTS.values())
                for each in (chosen, program)
            )
            assert_same(found, expected)


# -------------------------------------------------------------------------------------------------------------- choice


@pytest.mark.parametrize("given", [False, True], ids=["constant", "given"])
def test_a_balanced_tree_goes_by_levels_and_a_comb_does_not(given: bool) -> None:
    executable = build(one_tree(), given)
    random = np.random.default_rng(1)
    for leaves in (64, 256):
        levels = arguments_of(balanced(leaves, random), given)
        assert (
            calls(executable, "dense", *levels) == leaves.bit_length()
        )  # the leaves, and log2(leaves) levels of nodes
    for shape in (to_the_left, to_the_right):
        assert calls(executable, "dense", *arguments_of(shape(64, random), given)) == 127  # every leaf and node alone
    assert calls(executable, "dense", *arguments_of(leaf(random), given)) == 1


def test_a_forest_goes_by_the_levels_of_all_its_trees() -> None:
    """Trees that are combs, so that none of them would go by levels alone."""
    executable = build(forest(), given=False)
    random = np.random.default_rng(2)
    combs = [to_the_left(16, random) for _ in range(32)]
    assert calls(executable, "dense", combs) == 16
    assert calls(executable, "dense", combs[:1]) == 31
    assert calls(executable, "dense", []) == 0


def test_each_tree_of_a_forest_that_does_not_pay_together_is_judged_alone() -> None:
    executable = build(forest(), given=False)
    random = np.random.default_rng(3)
    trees = [to_the_left(256, random), balanced(64, random)]
    assert calls(executable, "dense", trees) == 511 + 7


SUM = """
type Tree { Leaf(Tensor[(1, 3), float32]), Node(Tree, Tree) }
def @total(%t: Tree) -> Tensor[(1, 3), float32] {
  match (%t) { Leaf(%x) => %x, Node(%l, %r) => @total(%l) + @total(%r) }
}
def @main(%t: Tree) { @total(%t) }
"""


def test_what_gains_nothing_is_left_as_it_is() -> None:
    program = module(SUM)
    assert isinstance(batching(program)[GlobalVar("total")], Recursion)
    with PassContext(rates=RATES):
        assert AutoBatch(program) is program
    assert AutoBatch(program) is not program  # of a machine that nobody described, levels are taken always


# --------------------------------------------------------------------------------------------------- once for a call


def test_given_matrices_are_packed_once_for_a_call() -> None:
    executable = build(one_tree(), given=True)
    for leaves in (64, 256):
        tree = balanced(leaves, np.random.default_rng(4))
        assert calls(executable, "transpose", tree, *WEIGHTS.values()) == 2  # those of leaves and of nodes
    assert calls(executable, "transpose", leaf(np.random.default_rng(4)), *WEIGHTS.values()) == 0


WITH_INVARIANTS = """
type Tree {{ Leaf(Tensor[(1, 8), float32]), Node(Tree, Tree) }}
def @f(%t: Tree, %w: Tensor[(8, 8), float32], %b: Tensor[(8,), float32]) -> Tensor[(1, 8), float32] {{
  match (%t) {{ Leaf(%x) => %x, Node(%l, %r) => {body} }}
}}
def @main(%t: Tree, %w: Tensor[(8, 8), float32], %b: Tensor[(8,), float32]) {{ @f(%t, %w, %b) }}
"""
INVARIANTS = {
    "a matrix": "nn.dense(@f(%l, %w, %b) + @f(%r, %w, %b), erf(%w))",
    "used twice": "{ let %v = erf(%w); nn.dense(@f(%l, %w, %b), %v) - nn.matmul(@f(%r, %w, %b), %v * 2f) }",
    "a part of a tuple": "{ let %p = split(erf(%w), indices_or_sections=2); "
    "concatenate((nn.dense(@f(%l, %w, %b), %p.0), nn.dense(@f(%r, %w, %b), %p.1)), axis=1) }",
    "a row": "@f(%l, %w, %b) * @f(%r, %w, %b) + erf(%b)",
}


@pytest.mark.parametrize("name", INVARIANTS)
def test_what_is_the_same_for_all_instances_is_computed_once(name: str) -> None:
    program = module(WITH_INVARIANTS.format(body=INVARIANTS[name]))
    batched = AutoBatch(program)
    random = np.random.default_rng(5)
    matrices = (random.standard_normal((8, 8), dtype=np.float32) / 4, random.standard_normal(8, dtype=np.float32))
    tree = _tree_of(random, 9)
    found, expected = (
        relay.create_executor("interpreter", mod=each).evaluate()(tree, *matrices) for each in (batched, program)
    )
    assert_same(found, expected)
    executable = relay.build(batched, "llvm -num-threads=1", opt_level=2)
    assert_same(executable(tree, *matrices), expected)
    assert calls(executable, "erf", tree, *matrices) == 1


def _tree_of(random: np.random.Generator, leaves: int) -> DataValue:
    if leaves == 1:
        return DataValue("Tree", "Leaf", (random.standard_normal((1, 8), dtype=np.float32),))
    return DataValue("Tree", "Node", (_tree_of(random, leaves // 2), _tree_of(random, leaves - leaves // 2)))


# ------------------------------------------------------------------------------------------------------- the estimate


def costs(hidden: int, given: bool, rates: Rates = RATES) -> Costs:
    kind = tree_lstm.tree_type(hidden)
    program = tree_lstm.tree_lstm(kind, hidden, hidden).module
    if not given:
        program = infer_type(bind_params(program, tree_lstm.parameters(hidden, hidden)))
        program = RemoveUnusedFunctions(PropagateConstantArguments(program))
    (recursion,) = (each for each in batching(program).values() if isinstance(each, Recursion))
    return costs_of(recursion, rates)


def test_wider_matrices_gain_more_than_a_level_costs() -> None:
    """Levels of two instances pay from some width on, and then always."""
    pays = [
        sum(each.gain for each in found.clauses) * 2 > found.level
        for found in (costs(hidden, given=False) for hidden in (8, 32, 128, 512))
    ]
    assert pays == sorted(pays)
    assert not pays[0]
    assert pays[-1]


def pays(found: Costs, leaves: int, levels: int, trees: int = 1) -> bool:
    """Whether levels pay for a list of trees with so many leaves together."""
    gains = leaves * found.clauses[0].gain + (leaves - trees) * found.clauses[1].gain
    return gains > trees * found.listed + levels * found.level + found.start


def test_narrow_trees_of_few_levels_do_not_pay() -> None:
    """The kernels of a clause take little to call again and again: small products gain less than levels take."""
    for hidden in (16, 32):
        assert not pays(costs(hidden, given=False), leaves=38, levels=5, trees=2)
    for hidden in (64, 128, 512):
        assert pays(costs(hidden, given=False), leaves=38, levels=5, trees=2)
    assert pays(costs(32, given=True), leaves=38, levels=5, trees=2)


def test_what_gains_less_than_the_leaves_of_it_lose_is_left_as_it_is() -> None:
    """A node of two calls comes with a leaf, however many there are."""
    found = costs(16, given=False)
    assert found.clauses[1].gain > 0
    assert not found.may_pay
    assert found.may_pay == pays(found, leaves=10**6, levels=20)


@pytest.mark.parametrize("leaves", [32, 64])
def test_the_estimate_counts_the_kernels_of_levels(leaves: int) -> None:
    """About those of one more level for each doubling; wide levels stack a little more."""
    executable = build(one_tree(), given=False, rates=replace(RATES, call_nanoseconds=0.0))
    of_clause, levels = 3, leaves.bit_length() - 1
    counted = KERNELS_OF_START + levels * (of_clause + 2 * KERNELS_OF_RESULT)
    run = calls(executable, "", balanced(leaves, np.random.default_rng(6)))
    assert run == pytest.approx(counted, rel=0.3)


def test_a_given_matrix_is_packed_at_the_start() -> None:
    constant, given = costs(256, given=False), costs(256, given=True)
    matrix_bytes = 4 * (768 * 256 + 1280 * 512)
    assert given.start - constant.start == pytest.approx(matrix_bytes / RATES.copied_bytes, abs=1)
    assert given.level == constant.level
    # sums along rows
    assert all(more.gain > less.gain for more, less in zip(given.clauses, constant.clauses, strict=True))


def test_slow_calls_cost_levels_and_slow_memory_costs_instances() -> None:
    usual = costs(256, given=False)
    slow_calls = costs(256, given=False, rates=CALLS_COST_MUCH)
    assert slow_calls.level - usual.level > slow_calls.clauses[1].gain - usual.clauses[1].gain
    assert costs(256, given=False, rates=replace(RATES, far_products=3.0)).clauses[1].gain > usual.clauses[1].gain


# --------------------------------------------------------------------------------------------------- generated programs


@pytest.mark.parametrize(("gain", "level"), [(100, 0), (100, 150), (100, 400)])
def test_generated_recursions_keep_their_meaning_whatever_is_chosen(gain: int, level: int) -> None:
    """Levels always, for wide values, and for few."""
    chosen = 0

    def estimate(recursion: Recursion, _: Rates) -> Costs:
        forms = [clause for _, clause in recursion.clauses]
        costs = (ClauseCosts(gain, (0,) * len(form.branches), len(form.branches)) for form in forms)
        return Costs(tuple(costs), level, start=100, listed=0)

    @settings(
        max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),
    )  # fmt: skip
    @given(trees())
    def holds(program: Program) -> None:
        nonlocal chosen
        before = infer_type(program.module)
        with PassContext(rates=RATES):
            after = AutoBatch(before)
        if after is not before:
            chosen += 1
            found, expected = (
                relay.create_executor("interpreter", mod=each).evaluate()(*program.arguments)
                for each in (after, before)
            )
            assert_same(found, expected)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generate, "costs_of", estimate)
        holds()
    assert chosen > 0
