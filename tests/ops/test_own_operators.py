"""Operators of users: the page that makes some runs, and what registering refuses."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relay
from relay.dataflow_pattern import Domain
from relay.ir.traversal import post_order
from relay.operators import (
    ALONG_AXIS,
    AxisAttribute,
    Channels,
    Effect,
    Elementwise,
    FusionKind,
    NoCompute,
    NotDifferentiable,
    NotYetDifferentiable,
    OperatorRecord,
    OwnLayout,
    PassesScale,
    RowsTimesMatrix,
    WeightedSum,
    builder,
    call,
    define,
    operators,
)
from relay.ops.nn.softmax import SoftmaxAttributes
from relay.ops.registry import Registry
from relay.ops.table import OPERATORS
from relay.runtime.values.values import DataValue
from tests.driver.processes import environment
from tests.messages import check_message
from tests.pages import run_page
from tests.transform.takers import Takes

TWICE = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(3), float32]) { mine.twice(nn.relu(%x)) }'

WAITS = NotYetDifferentiable("nobody has written it")

TWICE_FACTS: dict[str, Any] = {
    "compute": lambda _, inputs, result: relay.te.compute(result.shape, lambda *i: inputs[0][i] * 2, name="twice"),
    "effect": Effect.PURE,
    "fusion": FusionKind.ELEMWISE,
    "gradient": WAITS,
    "scale": PassesScale(only_positive=False),
}


def twice(name: str = "mine.twice", **facts: Any) -> OperatorRecord:
    return define(
        name,
        "Two times each element.",
        inputs={"data": "[..]"},
        type_rule=lambda run, attributes: run.tensor(0),
        meaning=lambda attributes, data: data * 2,
        layout=Elementwise(),
        support_level=10,
        **TWICE_FACTS | facts,
    )


@pytest.fixture
def registered():
    record = relay.register_operator(twice())
    yield record
    relay.unregister_operator(record.name)


def test_the_page_runs(tmp_path):
    try:
        run_page("adding_an_operator.md", tmp_path)
    finally:
        for name in set(operators()) - set(OPERATORS):
            relay.unregister_operator(name)


@pytest.mark.parametrize("executor", ["interpreter", "graph", "aot"])
def test_every_executor_runs_it(registered, executor):
    run = relay.create_executor(executor, relay.parse(TWICE)).evaluate()
    np.testing.assert_array_equal(run(np.float32([-1, 0, 3])), [0, 0, 6])


def test_another_compiler_may_take_it(registered):
    with relay.PassContext(external_compilers={"other": Takes.always("mine.twice")}):
        marked = relay.transform.AnnotateTarget(["other"])(relay.parse(TWICE))
    assert 'Compiler="other"' in marked.astext()


def test_the_python_front_end_calls_its_builder(registered):
    @builder
    def doubled(data):
        return call(registered, (data,))

    @relay.function
    def program(x: relay.Tensor[(3,)]):
        return doubled(x) + 1.0

    np.testing.assert_array_equal(program(np.float32([1, 2, 3])), [3, 5, 7])


def test_a_profile_names_it(registered):
    profile = relay.build(relay.parse(TWICE), opt_level=3).profile(np.ones(3, "float32"), runs=2)
    assert "mine.twice" in str(profile)


def refuse_twice() -> None:
    relay.register_operator(twice())


def refuse_own() -> None:
    relay.register_operator(twice("nn.relu"), replace=True)


def refuse_name() -> None:
    relay.register_operator(twice("twice"))


def refuse_kind() -> None:
    relay.register_operator("mine.twice")


def refuse_unknown() -> None:
    relay.unregister_operator("mine.thrice")


@pytest.mark.parametrize("action", [refuse_twice, refuse_own, refuse_name, refuse_kind, refuse_unknown])
def test_what_registering_refuses(registered, action):
    with pytest.raises(relay.RelayError) as caught:
        action()
    message = re.sub(r"  at .*\n.*\n", "", f"{caught.value}")  # the line of this file
    check_message("ops", f"register_{action.__name__.removeprefix('refuse_')}", message)


def test_a_rule_needs_its_operators_registered():
    a = relay.dataflow_pattern.wildcard()
    rule = relay.dataflow_pattern.rule(
        "double", a + a, relay.dataflow_pattern.is_op(twice())(a), domain=Domain.ANYTHING
    )
    x = relay.var("x", shape=(3,))
    with pytest.raises(relay.RelayError) as caught:
        relay.dataflow_pattern.RuleSet([rule]).apply(relay.add(x, x), level=4)
    check_message("ops", "rule_not_registered", caught.value)


def test_threads_register_at_once():
    registry = Registry(OPERATORS)
    names = [f"mine.operator_{number}" for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: registry.register(twice(name)), names))
    assert set(names) <= set(registry.operators)
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda _: _refused(registry), range(64)))
    assert outcomes.count(False) == 1


def _refused(registry: Registry) -> bool:
    try:
        registry.register(twice())
    except relay.RelayError:
        return True
    return False


OWN_FILE = """
import relay
from relay.operators import Effect, Elementwise, FusionKind, NoBatchRule, NoCompute, NotDifferentiable, define

def meaning(attributes, data):
    return data * 2

relay.register_operator(define(
    "mine.twice", "Two times each element.", inputs={"data": "[..]"}, meaning=meaning,
    type_rule=lambda run, attributes: run.tensor(0), compute=NoCompute("only interpreted here"),
    effect=Effect.PURE, gradient=NotDifferentiable("a test"), fusion=FusionKind.OPAQUE, layout=Elementwise(),
    batch=NoBatchRule("a test"), support_level=10,
))

@relay.transform.function_pass()
def fails(function, module, context):
    raise KeyError("no such thing")
"""
FAILS = f"""
import relay
import own_operators

with relay.PassContext(config={{"relay.repro_folder": "."}}):
    own_operators.fails(relay.parse({TWICE!r}))
"""


def test_a_reproduction_finds_it(tmp_path):
    (tmp_path / "own_operators.py").write_text(OWN_FILE, encoding="utf-8")
    (tmp_path / "fails.py").write_text(FAILS, encoding="utf-8")
    root = Path(__file__).resolve().parents[2]
    variables = environment({"PYTHONPATH": f"{root / 'src'}:{root}:{tmp_path}"})

    def failure_of(script: Path) -> str:
        done = subprocess.run(
            [sys.executable, script], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        return done.stderr

    assert "no such thing" in failure_of(tmp_path / "fails.py")
    (script,) = tmp_path.glob("*/reproduce.py")
    assert "no such thing" in failure_of(script)


ROOTS = """
type Tree { Leaf(Tensor[(3,), float32]), Node(Tree, Tree) }
def @total(%t: Tree) -> Tensor[(3,), float32] {
  match (%t) { Leaf(%x) => mine.ranked(%x, axis=0), Node(%l, %r) => mine.twice(@total(%l)) + @total(%r) }
}
def @main(%t: Tree) { @total(%t) }
"""


@pytest.fixture
def ranked():
    """Each element by its place in the order along an axis, divided by how many there are."""

    def meaning(attributes, data):
        return (np.argsort(np.argsort(data, attributes.axis), attributes.axis) / data.shape[attributes.axis]).astype(
            "float32"
        )

    record = define(
        "mine.ranked", "The place in the order along an axis.", inputs={"data": "[..]"}, meaning=meaning,
        attributes=SoftmaxAttributes, type_rule=lambda run, attributes: run.tensor(0),
        compute=NoCompute("only interpreted here"), effect=Effect.PURE, gradient=NotDifferentiable("steps"),
        fusion=FusionKind.OPAQUE, layout=AxisAttribute("axis"), batch=ALONG_AXIS, support_level=10,
    )  # fmt: skip
    yield relay.register_operator(record)
    relay.unregister_operator(record.name)


def test_it_is_batched(registered, ranked):
    program = relay.parse('#[version = "0.0.5"]\n' + ROOTS)
    batched = relay.transform.AutoBatch()(program)
    assert "axis=1" in re.findall(r"mine.ranked.*", batched.astext())[0]
    leaves = [DataValue("Tree", "Leaf", (np.float32(each),)) for each in ([3, 1, 2], [0, 5, 4], [7, 8, 6])]
    tree = DataValue("Tree", "Node", (DataValue("Tree", "Node", (leaves[0], leaves[1])), leaves[2]))
    found = [relay.create_executor("interpreter", each).evaluate()(tree) for each in (program, batched)]
    np.testing.assert_array_equal(*found)


def test_scales_are_folded_into_its_weight():
    def channels(attributes, rank):
        return Channels(result=rank - 1, data=rank - 1, weight_result=1, weight_data=0)

    product = define(
        "mine.product", "data @ weight.", inputs={"data": "[m, k]", "weight": "[k, n]"},
        type_rule=lambda run, _: relay.TensorType((run.tensor(0, 2).shape[0], run.tensor(1, 2).shape[1]), "float32"),
        meaning=lambda _, data, weight: data @ weight, compute=NoCompute("only interpreted here"), effect=Effect.PURE,
        gradient=WAITS, fusion=FusionKind.OPAQUE, layout=OwnLayout("a test"),
        batch=RowsTimesMatrix(), scale=WeightedSum(channels), support_level=10,
    )  # fmt: skip
    doubled = twice()
    x, scale = relay.var("x", shape=(4, 3)), np.float32([2, 3, 5])
    weights = np.arange(9, dtype="float32").reshape(3, 3)
    behind = call(doubled, (call(product, (x, weights)),)) * relay.const(scale)
    front = call(product, (call(doubled, (x * relay.const(scale),)), weights))
    for body, constant in ((behind, weights * scale), (front, weights * scale[:, None])):
        function = relay.transform.FoldScaleAxis()(relay.IRModule.from_expr(relay.Function([x], body)))["main"]
        nodes = post_order(function.body)
        assert not any(isinstance(node, relay.Op) and node.name == "multiply" for node in nodes)
        (found,) = [node.data for node in nodes if isinstance(node, relay.Constant)]
        np.testing.assert_array_equal(found, constant)
