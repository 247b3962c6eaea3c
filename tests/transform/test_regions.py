"""What other compilers take: random graphs keep their meaning, stay acyclic, and cost no more than linear time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import relay
from relay.base.diagnostics import RelayError
from relay.dataflow_pattern import is_op, wildcard
from relay.ir.expr import Call, Expr, Function, GlobalVar, Op
from relay.ir.module import IRModule
from relay.ir.traversal import post_order
from relay.transform import (
    AnnotateTarget,
    Defunctionalization,
    DefuseOps,
    FuseOps,
    LambdaLift,
    MergeCompilerRegions,
    MergeComposite,
    PartialEvaluate,
    PartitionGraph,
    Refused,
    Sequential,
    Supported,
    callee,
    refusals,
)
from tests.messages import check_message
from tests.transform.takers import Takes

TAKEN = {"mine": ("tanh", "add", "split", "concatenate", "mine.sigmoid_tanh"), "other": ("negative", "multiply")}
COMPOSITE = MergeComposite([("mine.sigmoid_tanh", is_op("tanh")(is_op("sigmoid")(wildcard())))])
COMPILERS = {name: Takes.always(*taken) for name, taken in TAKEN.items()}
ANNOTATE = AnnotateTarget(list(TAKEN))
PARTITION = Sequential((COMPOSITE, ANNOTATE, MergeCompilerRegions, PartitionGraph))


@pytest.fixture(autouse=True)
def compilers() -> Iterator[None]:
    with relay.PassContext(external_compilers=COMPILERS):
        yield


def inside(**options: Any) -> relay.PassContext:
    """A context with the compilers and more."""
    return relay.PassContext(external_compilers=COMPILERS, **options)


UNARY = ("tanh", "negative", "sigmoid", "exp")
BINARY = ("add", "multiply", "maximum")


def random_program(seed: int, size: int) -> IRModule:
    """A graph of operators, some of which each target takes, with tuples and a branch now and then."""
    generator = np.random.default_rng(seed)
    params = [relay.var(name, shape=(2, 4)) for name in "xy"]
    values: list[Expr] = list(params)
    for _ in range(size):
        near = values[-6:] if generator.random() < 0.7 else values
        left, right = (near[int(generator.integers(len(near)))] for _ in range(2))
        kind = generator.random()
        if kind < 0.45:
            value = getattr(relay, str(generator.choice(UNARY)))(left)
        elif kind < 0.85:
            value = getattr(relay, str(generator.choice(BINARY)))(left, right)
        elif kind < 0.95:
            halves = relay.split(left, 2, axis=1)
            value = relay.concatenate((halves[1], relay.tanh(halves[0])), axis=1)
        else:
            value = relay.If(relay.less(relay.sum(left), relay.const(0.0)), relay.tanh(right), relay.add(left, right))
        values.append(value)
    result = relay.Tuple(tuple(values[-3:]))
    return relay.transform.infer_type(IRModule.from_expr(Function(tuple(params), result)))


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_keep_their_meaning(seed):
    module = random_program(seed, 5 + seed)
    arguments = [np.random.default_rng(seed + k).standard_normal((2, 4)).astype("float32") for k in range(2)]
    expected = relay.create_executor("interpreter", module).evaluate()(*arguments)
    with inside(instruments=[relay.transform.Validation()]):
        partitioned = PARTITION(module)
        assert relay.astext(PARTITION(partitioned)) == relay.astext(partitioned)
        fused = DefuseOps(FuseOps(partitioned))
    for program in (partitioned, fused, relay.parse(relay.astext(partitioned))):
        found = relay.create_executor("interpreter", program).evaluate()(*arguments)
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_array_equal(one, other)
    assert not _taken_outside(partitioned)


def _taken_outside(module: IRModule) -> list[str]:
    """The operators outside regions that a target takes."""
    taken = {name for names in TAKEN.values() for name in names}
    nodes = [n for f in module.functions.values() if "Compiler" not in f.attrs for n in post_order(f.body)]
    return [n.op.name for n in nodes if isinstance(n, Call) and isinstance(n.op, Op) and n.op.name in taken]


def test_a_diamond_stays_apart_however_long_it_is():
    x = relay.var("x", shape=(2, 4))
    first = relay.tanh(x)
    outside: Expr = first
    for _ in range(50):
        outside = relay.exp(outside)
    module = IRModule.from_expr(Function((x,), relay.add(relay.tanh(first), outside)))
    names = [name.name_hint for name in PARTITION(module).functions]
    assert names == ["main", "mine_main_0", "mine_main_1"]


def test_five_thousand_operators_take_seconds():
    x = relay.var("x", shape=(2, 4))
    value: Expr = x
    for step in range(2_500):
        value = relay.add(relay.tanh(value), relay.exp(x) if step % 7 else value)
    module = relay.transform.infer_type(IRModule.from_expr(Function((x,), value)))
    started = time.perf_counter()
    PARTITION(module)
    assert time.perf_counter() - started < 20


def test_passes_leave_what_belongs_to_another_compiler():
    module = PARTITION(random_program(7, 60))
    assert any("Composite" in relay.astext(each) for each in module.functions.values())
    for each in (relay.transform.optimization_pipeline, LambdaLift, Defunctionalization, PartialEvaluate):
        with inside(opt_level=4):
            optimized = each(module)
        for name in module.functions:
            if "Compiler" in module[name].attrs and name in optimized:
                assert optimized[name] is module[name]


@pytest.mark.parametrize(("name", "action"), [
    ("not-given", lambda: AnnotateTarget(["mien"])(_open_region())),
    ("open-region", lambda: PartitionGraph(_open_region())),
])  # fmt: skip
def test_what_is_refused(name, action):
    with pytest.raises(RelayError) as caught:
        action()
    check_message("transform", name, caught.value)


def _open_region() -> IRModule:
    return relay.parse(
        '#[version = "0.0.5"]\n'
        "def @main(%x: Tensor[(2), float32], %y: Tensor[(2), float32]) {\n"
        '  %0 = fn (%p0: Tensor[(2), float32], Compiler="mine") { add(%p0, %y) };\n'
        "  %0(%x)\n}"
    )


def test_a_compiler_is_asked_only_about_what_can_leave() -> None:
    asked: list[str] = []

    class Curious:
        def supports(self, group: Function) -> Supported | Refused:
            asked.append(callee(group))
            assert group.attrs["Compiler"] == "curious"
            return Refused("it only looks")

    source = """#[version = "0.0.5"]
    def @main(%x: Tensor[(n), float32], %y: Tensor[(m), float32]) { (exp(add(%x, %y)), tanh(%y)) }"""
    module = relay.parse(source)
    with relay.PassContext(external_compilers={"curious": Curious()}):
        assert relay.structural_equal(AnnotateTarget(["curious"])(module), module)
    assert asked == ["exp", "tanh"]


def test_why_calls_are_left_to_relay() -> None:
    compilers = {"one": Takes.always("exp"), "other": Takes({"tanh": lambda call: len(call.checked_type.shape) == 2})}
    module = relay.parse("""#[version = "0.0.5"]
    def @main(%x: Tensor[(3), float32]) { tanh(exp(@half(%x))) }
    def @half(%x: Tensor[(3), float32]) { multiply(%x, 0.5f) }""")
    with relay.PassContext(external_compilers=compilers):
        assert refusals(module, ["one", "other"]) == (
            "@main, tanh: one: it has no tanh; other: it has another tanh",
            "@half, multiply: one: it has no multiply; other: it has no multiply",
        )


def test_a_compiler_that_gives_no_answer_is_told() -> None:
    class Silent:
        def supports(self, group: Function) -> bool:
            return True

    module = relay.parse('#[version = "0.0.5"] def @main(%x: float32) { exp(%x) }')
    with relay.PassContext(external_compilers={"silent": Silent()}), pytest.raises(RelayError) as caught:
        AnnotateTarget(["silent"])(module)
    check_message("transform", "no-answer", caught.value)


def test_a_compiler_that_fails_when_asked_is_told() -> None:
    class Bent:
        def supports(self, group: Function) -> Supported | Refused:
            raise KeyError("no such thing")

    module = relay.parse('#[version = "0.0.5"] def @main(%x: float32) { exp(%x) }')
    with relay.PassContext(external_compilers={"bent": Bent()}), pytest.raises(RelayError) as caught:
        AnnotateTarget(["bent"])(module)
    check_message("transform", "compiler-fails", caught.value)


def test_unchanged_programs_are_the_same_object():
    module = relay.transform.infer_type(IRModule.from_expr(Function((), relay.const(1.0))))
    assert PARTITION(module) is module
    assert DefuseOps(module) is module
    again = PARTITION(random_program(5, 20))
    assert MergeCompilerRegions(again) is again
    assert ANNOTATE(again) is again
    assert PartitionGraph(again) is again
    assert GlobalVar("mine_main_0") in again


def test_calls_of_generic_functions_keep_their_types_beside_regions() -> None:
    source = """#[version = "0.0.5"]
    def @main(%x: float32, %xs: List[float32]) {
      let %y = add(%x, sqrt(%x));
      @map(fn (%a: float32) { add(%a, %y) }, Cons(%y, %xs))
    }"""
    with relay.PassContext(external_compilers={"mine": Takes.always("add", "sqrt")}):
        marked = Sequential((AnnotateTarget(["mine"]), MergeCompilerRegions))(relay.parse(source))
    calls = [node for node in post_order(marked["main"].body) if isinstance(node, Call) and node.op == GlobalVar("map")]
    assert [len(each.type_args) for each in calls] == [2]
