"""`relay.build(verify=True)`: what is compared and reported, and that planted faults are found and named."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relay
from relay.base.floating_point import FloatingPointClass
from relay.driver import compilation
from relay.ir.expr import Call, Constant, Expr, Function, Op
from relay.ir.rewriting import rewrite_nodes
from relay.operators import Effect, Elementwise, FusionKind, NoScale, NotYetDifferentiable, OperatorRecord, define
from relay.ops.table import OPERATORS
from relay.runtime.verification import Comparison, Part, Verification
from relay.targets.cpu.emit.kernels import value
from relay.tir.expr import BinaryOp
from relay.transform import PassContext, ToMixedPrecision, function_pass, pipelines
from relay.transform.framework.passes import Pass
from tests.driver.processes import environment
from tests.driver.programs import layer
from tests.messages import check_message
from tests.pages import run_page

VALUES = """#[version = "0.0.5"]
type Shape { Dot, Line(float32), Join(Shape, Shape) }
def @size(%s: Shape) -> float32 {
  match (%s) { Dot => 0f, Line(%l) => multiply(%l, 2f), Join(%a, %b) => add(@size(%a), @size(%b)) }
}
def @main(%s: Shape, %f: fn (float32) -> float32, %r: ref(float32), %x: Tensor[(n), float32], %on: bool) {
  let %total = @size(%s);
  let %u = (%r := add(%r^, %f(%total)));
  let %y = if (%on) { multiply(%x, %total) } else { %x };
  (%y, fn (%z: Tensor[(n), float32]) { let %v = (%r := add(%r^, 1f)); add(%z, add(%y, %r^)) }, Line(%total))
}"""
"""Takes data, a function and a ref; gives data and a function that changes the ref."""
FOREVER = """#[version = "0.0.5"]
def @loop(%n: int32) -> int32 { @loop(add(%n, 1)) }
def @main(%n: int32) -> int32 { @loop(%n) }"""


def test_what_was_compared() -> None:
    report = relay.build(layer(), opt_level=3, verify=True).verification
    assert report is not None
    assert report.inputs == ("n = 3, seed 0", "n = 37, seed 1")
    assert {each.part for each in report.comparisons} == set(Part)
    assert all(each.inputs == 2 and not each.reason for each in report.comparisons)
    assert {"FuseOps", "ToANormalForm", "the native program"} <= {each.name for each in report.comparisons}
    assert report.not_compared == ()
    assert all(each.absolute <= 1e-5 for each in report.comparisons)


def test_the_page_runs(tmp_path: Path) -> None:
    run_page("verification.md", tmp_path)


def test_nothing_is_compared_unless_asked() -> None:
    assert relay.build(layer()).verification is None


@pytest.mark.parametrize("opt_level", [0, 3])
def test_data_functions_and_refs_are_made_up(opt_level: int) -> None:
    report = relay.build(relay.parse(VALUES), opt_level=opt_level, verify=True).verification
    assert report is not None
    assert all(each.inputs == 2 for each in report.comparisons), str(report)


def test_derivatives_are_compared_from_where_they_are_written_out() -> None:
    x = relay.var("x", shape=("n",))
    report = relay.build(relay.grad(relay.Function((x,), relay.sum(relay.tanh(x) * x))), verify=True).verification
    assert report is not None
    assert {each.name: each.inputs for each in report.comparisons}["the native program"] == 2


def test_what_the_interpreter_would_take_too_long_for_is_told() -> None:
    little = relay.VerifyOptions(most_multiply_adds=10)
    report = relay.build(layer(), verify=little).verification
    assert report is not None
    reasons = {each.name: each.reason for each in report.not_compared}
    assert all("multiply-adds, of 10" in each for each in reasons.values())
    assert {"the optimized program", "the native program"} < set(reasons)
    assert {each.part for each in report.compared} == {Part.KERNEL}
    assert str(report).startswith("verified on no inputs of the whole program")


def test_programs_without_end_are_told() -> None:
    report = relay.build(relay.parse(FOREVER), verify=relay.VerifyOptions(most_steps=1000)).verification
    assert report is not None
    assert report.not_compared[-1].reason == "the program has not ended within the limit (expected: at most 1000 steps)"


def test_options_that_verify_nothing() -> None:
    with pytest.raises(relay.RelayError) as error:
        relay.VerifyOptions(sizes=())
    check_message("verification", "options", error.value)
    with pytest.raises(relay.RelayError, match="wrong-argument"):
        relay.build(layer(), verify="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize("given", ["float32", "float16"])
def test_narrower_floats_are_held_to_their_own_rounding(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where other parts of the program were narrow before."""
    _plant(monkeypatch, ToMixedPrecision("bfloat16"))
    x = relay.var("x", shape=("n", 64))
    weight = relay.const(np.random.default_rng(0).standard_normal((8, 64), dtype=np.float32))
    product = relay.nn.dense(relay.cast(relay.cast(x, given), "float32"), weight)
    report = relay.build(Function((x,), product), opt_level=0, verify=True).verification
    assert report is not None
    mixed = next(each for each in report.comparisons if each.name == "ToMixedPrecision")
    assert 1e-5 < mixed.relative < 0.1


# ------------------------------------------------------------------------------------------------- planted faults


def _for_add(changed: Callable[[Call], Expr]) -> Callable[[Function], Function]:
    def on_function(function: Function) -> Function:
        def step(_: Expr, expr: Expr) -> Expr:
            return changed(expr) if isinstance(expr, Call) and expr.op == Op(OPERATORS["add"]) else expr

        return rewrite_nodes(function, step)

    return on_function


def _planted(name: str, changed: Callable[[Call], Expr], may: FloatingPointClass) -> Pass:
    on_function = _for_add(changed)

    @function_pass(name=name, level=0, floating_point=may)
    def planted(function: Function, module: relay.IRModule, context: PassContext) -> Function:
        return on_function(function)

    return planted


def _plant(monkeypatch: pytest.MonkeyPatch, each: Pass) -> None:
    monkeypatch.setattr(pipelines, "BEFORE_RULES", (*pipelines.BEFORE_RULES, each))


def _sum() -> Function:
    x, y = relay.var("x", shape=("n",)), relay.var("y", shape=("n",))
    return Function((x, y), relay.add(relay.nn.relu(x), y))


def _message(error: relay.RelayError) -> str:
    """A message without what depends on the machine, or on how the random numbers of NumPy are made."""
    text = re.sub(r"off by \S+ at most", "off by SO MUCH at most", str(error))
    return re.sub(r"[0-9a-f]{12,16}", "HASH", re.sub(r"\S*/verify_", "FOLDER/verify_", text))


def test_a_wrong_pass_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wrong = _planted("SubtractForAdd", lambda call: relay.subtract(*call.args), FloatingPointClass.ROUNDING)
    _plant(monkeypatch, wrong)
    with (
        PassContext(config={"relay.repro_folder": str(tmp_path)}),
        pytest.raises(relay.RelayError, match="SubtractForAdd") as error,
    ):
        relay.build(_sum(), verify=True)
    check_message("verification", "wrong_pass", _message(error.value))
    (folder,) = tmp_path.iterdir()
    script = [sys.executable, folder / "reproduce.py"]
    done = subprocess.run(script, capture_output=True, text=True, check=True, env=environment({}))
    meant, found = done.stdout.split("found:")
    assert meant.removeprefix("meant:").strip() != found.strip()


def test_a_pass_is_held_to_the_class_that_it_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """`x + y` as `x*0.1*10 + y` is not the same bit for bit, and is no more than rounding."""

    def rounded(call: Call) -> Expr:
        left, right = call.args
        return Call(call.op, (left * 0.1 * 10.0, right), call.attrs)

    def build() -> None:
        relay.build(_sum(), opt_level=0, verify=True)

    with monkeypatch.context() as patch:
        _plant(patch, _planted("Rounds", rounded, FloatingPointClass.ROUNDING))
        build()
    _plant(monkeypatch, _planted("SaysExact", rounded, FloatingPointClass.EXACT))
    with pytest.raises(relay.RelayError, match="SaysExact"):
        build()


def test_a_wrong_size_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass that is right for a few elements, and wrong for many."""

    def first_ones(call: Call) -> Expr:
        left, right = call.args
        return relay.concatenate(
            [relay.strided_slice(call, [0], [3]), relay.strided_slice(relay.subtract(left, right), [3], [2**30])], 0
        )

    x, y = relay.var("x", shape=(37,)), relay.var("y", shape=(37,))
    _plant(monkeypatch, _planted("WrongTail", first_ones, FloatingPointClass.EXACT))
    with pytest.raises(relay.RelayError, match="WrongTail"):
        relay.build(Function((x, y), relay.add(x, y)), opt_level=0, verify=True)


@pytest.fixture
def almost_twice() -> Iterator[OperatorRecord]:
    """An operator whose tensor expression is not quite what it means."""
    record = define(
        "mine.almost_twice",
        "Two times each element.",
        inputs={"data": "[..]"},
        type_rule=lambda run, attributes: run.tensor(0),
        meaning=lambda attributes, data: data * 2,
        compute=lambda _, inputs, result: relay.te.compute(
            result.shape, lambda *i: inputs[0][i] * 2.001, name="twice"
        ),
        effect=Effect.PURE, fusion=FusionKind.ELEMWISE, layout=Elementwise(), support_level=10,
        scale=NoScale("it is cut off"), gradient=NotYetDifferentiable("nobody has written it"),
    )  # fmt: skip
    yield relay.register_operator(record)
    relay.unregister_operator(record.name)


def test_a_wrong_kernel_is_named(almost_twice: OperatorRecord, tmp_path: Path) -> None:
    x = relay.var("x", shape=("n", 5))
    program = Function((x,), relay.operators.call(almost_twice, [x]))
    with (
        PassContext(config={"relay.repro_folder": str(tmp_path)}),
        pytest.raises(relay.RelayError, match="almost_twice") as error,
    ):
        relay.build(program, verify=True)
    check_message("verification", "wrong_kernel", _message(error.value))


def test_wrong_machine_code_is_told_from_wrong_loops(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RELAY_CACHE_DIR", str(tmp_path))
    emit = value.emit_binary

    def wrong(e: Any, op: BinaryOp, *rest: Any) -> str:
        return emit(e, BinaryOp.SUBTRACT if op is BinaryOp.MAXIMUM else op, *rest)

    monkeypatch.setattr(value, "emit_binary", wrong)
    x, y = relay.var("x", shape=(40,), dtype="int32"), relay.var("y", shape=(40,), dtype="int32")
    with pytest.raises(relay.RelayError, match="maximum") as error:
        relay.build(Function((x, y), relay.maximum(x, y)), verify=True)
    assert "made by   the machine code" in str(error.value)


def test_a_wrong_program_around_right_kernels_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Constants that are lost on their way into the artefact."""

    def lost(array: np.ndarray[Any, Any], room: np.ndarray[Any, Any]) -> None:
        room[:] = 0

    monkeypatch.setattr(compilation, "_pack", lost)
    x = relay.var("x", shape=("n", 8))
    weight = Constant(np.arange(16, dtype=np.float32).reshape(2, 8))
    with pytest.raises(relay.RelayError, match="the native program") as error:
        relay.build(Function((x,), relay.nn.dense(x, weight)), verify=True)
    assert error.value.rule == "verification-failed"


# ------------------------------------------------------------------------------------------------------- the report


def test_the_report_fits_80_columns() -> None:
    rows = (
        Comparison(Part.PASS, "SimplifyExpr", FloatingPointClass.FAST_MATH, 2, 1.25e-7, 3e-8, 0.5, 1e-6),
        Comparison(Part.KERNEL, "fused_nn_conv2d_nn_bias_add_nn_relu_0123456789ab", FloatingPointClass.ROUNDING, 1,
                   12345.678, 1e-5, 123456.0, 2e4, "the program refuses its inputs"),
        Comparison(Part.PROGRAM, "the native program", FloatingPointClass.ROUNDING, reason="too much work " * 9),
    )  # fmt: skip
    report = Verification(("n = 3, seed 0", "n = 37, seed 1"), rows)
    assert max(map(len, str(report).splitlines())) <= 80
    check_message("verification", "report", report)
    assert rows[1].name in report.text(120)
    assert report.worst == rows[1]
    assert rows[1].name in report._repr_html_()
    assert report.to_json()["comparisons"][0]["class"] == "FAST_MATH"
