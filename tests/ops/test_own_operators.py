"""Operators of users: the page that makes some runs, and what registering refuses."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import relay
from relay.dataflow_pattern import Domain
from relay.operators import Elementwise, FusionKind, OperatorRecord, builder, call, define, operators
from relay.ops.registry import Registry
from relay.ops.table import OPERATORS
from tests.driver.processes import environment
from tests.messages import check_message
from tests.pages import run_page

TWICE = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(3), float32]) { mine.twice(nn.relu(%x)) }'


def twice(name: str = "mine.twice") -> OperatorRecord:
    return define(
        name,
        "Two times each element.",
        inputs={"data": "[..]"},
        type_rule=lambda run, attributes: run.tensor(0),
        meaning=lambda attributes, data: data * 2,
        compute=lambda _, inputs, result: relay.te.compute(result.shape, lambda *i: inputs[0][i] * 2, name="twice"),
        fusion=FusionKind.ELEMWISE,
        layout=Elementwise(),
        support_level=10,
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
    marked = relay.transform.AnnotateTarget({"other": ["mine.twice"]})(relay.parse(TWICE))
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
from relay.operators import Elementwise, FusionKind, NoCompute, define

def meaning(attributes, data):
    return data * 2

relay.register_operator(define(
    "mine.twice", "Two times each element.", inputs={"data": "[..]"}, meaning=meaning,
    type_rule=lambda run, attributes: run.tensor(0), compute=NoCompute("only interpreted here"),
    fusion=FusionKind.OPAQUE, layout=Elementwise(), support_level=10,
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
