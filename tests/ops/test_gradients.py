"""The gradient of every operator that has one is its directional derivative, in float64, natively where it compiles and
by the interpreter; so is the gradient of that. The operator table gives calls and inputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import relay
from relay.base.dtypes import DType
from relay.ir.expr import Call, Expr, Function, Op, Tuple, TupleGetItem, Var
from relay.ir.types import TensorType, TupleType, Type
from relay.ops.framework.record import NotDifferentiable, NotYetDifferentiable
from relay.ops.table import OPERATORS
from tests.ops.case import Case
from tests.ops.test_operators import CASES, type_of

DOMAINS: dict[str, tuple[float, float]] = {
    "log": (0.2, 3), "log2": (0.2, 3), "log10": (0.2, 3), "sqrt": (0.2, 3), "rsqrt": (0.2, 3), "asin": (-0.9, 0.9),
    "acos": (-0.9, 0.9), "atanh": (-0.9, 0.9), "acosh": (1.2, 3), "tan": (-1, 1), "power": (0.3, 2), "divide": (0.5, 3),
    "mod": (0.6, 3), "floor_mod": (0.6, 3), "trunc_mod": (0.6, 3),
}  # fmt: skip
"""Where functions have a derivative; others are asked where the table asks them."""
CONSTANT = ("strided_set",)
"""Whose places must be known."""
STEP = 1e-6


def _differentiable() -> list[Case]:
    found: list[Case] = []
    for case in CASES:
        gradient = OPERATORS[case.operator].gradient
        is_float = any(
            each.dtype == np.float32 and np.isfinite(each).all() and each.size for each in _arrays(case.inputs)
        )
        if is_float and not isinstance(gradient, NotDifferentiable | NotYetDifferentiable) and _is_finite(case):
            found.append(case)
    return found


def _arrays(value: Any) -> list[np.ndarray]:
    return [part for each in value for part in _arrays(each)] if isinstance(value, tuple) else [value]


def _is_finite(case: Case) -> bool:
    return all(np.isfinite(each).all() for each in _arrays(case.inputs) if each.dtype.kind == "f")


def wide(case: Case) -> Case:
    """The case in float64, with inputs where the operator has a derivative."""
    domain = DOMAINS.get(case.operator)
    generator = np.random.default_rng(5)

    def given(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(given, value))
        if value.dtype != np.float32:
            return value
        # Ties and corners of the table's own numbers are moved apart, by less than the numbers are wide.
        moved = value.astype(np.float64) + generator.uniform(-0.01, 0.01, value.shape)
        return generator.uniform(*domain, value.shape) if domain else moved

    attributes = case.attributes
    for name in ("out_dtype", "dtype"):
        if getattr(attributes, name, None) is DType.FLOAT32:
            attributes = replace(attributes, **{name: DType.FLOAT64})
    return replace(case, inputs=given(case.inputs), attributes=attributes)


def program(case: Case) -> tuple[relay.IRModule, list[np.ndarray]]:
    """`@main` of a call's inputs, tuples apart: the sum of its float results, each times numbers."""
    params: list[Var] = []

    def argument(value: Any) -> Expr:
        if isinstance(value, tuple):
            return Tuple(tuple(map(argument, value)))
        if case.operator in CONSTANT and value.dtype.kind != "f":
            return relay.const(value, str(value.dtype))
        params.append(relay.var(f"x{len(params)}", type_of(value)))
        return params[-1]

    call: Expr = Call(Op(OPERATORS[case.operator]), tuple(map(argument, case.inputs)), case.attributes)
    result = relay.transform.InferType(relay.IRModule.from_expr(Function(tuple(params), call)))[
        "main"
    ].body.checked_type
    assert result is not None
    module = relay.IRModule.from_expr(Function(tuple(params), _weighted(call, result)))
    fixed = case.operator in CONSTANT
    return module, [each for each in _arrays(case.inputs) if not fixed or each.dtype.kind == "f"]


def _weighted(value: Expr, type_: Type) -> Expr:
    fields = type_.fields if isinstance(type_, TupleType) else (type_,)
    total: Expr = relay.const(0.0, "float64")
    generator = np.random.default_rng(9)
    for at, field in enumerate(fields):
        if isinstance(field, TensorType) and field.dtype.is_float:
            part = TupleGetItem(value, at) if isinstance(type_, TupleType) else value
            known = field.shape if field.element_count is not None else ()
            weights = relay.const(generator.standard_normal(known), "float64")
            total = total + relay.sum(relay.cast(part, "float64") * weights)
    return total


def evaluated(module: relay.IRModule, arguments: list[np.ndarray]) -> Any:
    return relay.create_executor("debug", module).evaluate()(*arguments)


def check(module: relay.IRModule, arguments: list[np.ndarray], places: list[int], seed: int) -> None:
    """That the gradient along a direction is the difference along it."""
    generator = np.random.default_rng(seed)
    gradients = evaluated(relay.grad(module, wrt=places), arguments)
    directions = {at: generator.standard_normal(arguments[at].shape) for at in places}

    def moved(step: float) -> float:
        return float(evaluated(module, [
            value + step * directions[at] if at in directions else value for at, value in enumerate(arguments)
        ]))  # fmt: skip

    wanted = (moved(STEP) - moved(-STEP)) / (2 * STEP)
    parts = [np.sum(np.asarray(each) * directions[at]) for at, each in zip(places, gradients, strict=True)]
    scale = 1 + abs(wanted) + sum(float(np.abs(np.asarray(each)).sum()) for each in gradients)
    assert abs(float(np.sum(parts)) - wanted) < 1e-6 * scale


@pytest.mark.parametrize("case", _differentiable(), ids=lambda case: case.name)
def test_gradients_are_directional_derivatives(case: Case) -> None:
    module, arguments = program(wide(case))
    places = [at for at, each in enumerate(arguments) if each.dtype == np.float64]
    check(module, arguments, places, seed=1)


@pytest.mark.parametrize("case", _differentiable(), ids=lambda c: c.name)
def test_tangents_are_gradients_along_a_direction(case: Case) -> None:
    """Forward mode transposes what reverse mode is told: the two agree to the last digits."""
    module, arguments = program(wide(case))
    places = [at for at, each in enumerate(arguments) if each.dtype == np.float64]
    generator = np.random.default_rng(3)
    directions = [generator.standard_normal(arguments[at].shape) for at in places]
    _, tangent = evaluated(relay.jvp(module, wrt=places), [*arguments, *directions])
    parts = [
        np.asarray(each) * direction
        for each, direction in zip(evaluated(relay.grad(module, wrt=places), arguments), directions, strict=True)
    ]
    scale = 1 + sum(float(np.abs(each).sum()) for each in parts)
    assert abs(float(tangent) - sum(float(np.sum(each)) for each in parts)) < 1e-12 * scale


SECOND = {case.operator: case for case in _differentiable() if sum(each.size for each in _arrays(case.inputs)) < 400}


@pytest.mark.parametrize("operator", SECOND)
def test_second_gradients_are_directional_derivatives(operator: str) -> None:
    module, arguments = program(wide(SECOND[operator]))
    places = [at for at, each in enumerate(arguments) if each.dtype == np.float64]
    first = relay.grad(module, wrt=places)
    main = first["main"]
    loss: Expr = relay.const(0.0, "float64")
    for at, place in enumerate(places):
        weights = np.random.default_rng(at).standard_normal(arguments[place].shape)
        loss = loss + relay.sum(TupleGetItem(main.body, at) * relay.const(weights, "float64"))
    second = first.with_function("main", Function(main.params, loss))
    check(second, arguments, places, seed=2)


def test_updates_of_rows_outside_have_no_gradient_where_the_run_tells_how_many_there_are() -> None:
    x, at, updates = (
        relay.var("x", shape=("n", 2)), relay.var("at", shape=(1, 3), dtype="int64"), relay.var("u", shape=(3, 2)),
    )  # fmt: skip
    total = relay.sum(relay.scatter_nd(x, at, updates, mode="mean") * relay.const(2.0))
    gradients = relay.build(relay.grad(relay.Function([x, at, updates], total)))
    for extent, expected in ((2, [1, 1, 0]), (5, [1, 1, 1])):
        by_data, _, by_updates = gradients(
            np.ones((extent, 2), np.float32), np.array([[0, 1, 4]]), np.ones((3, 2), np.float32)
        )
        np.testing.assert_array_equal(by_updates[:, 0], expected)
        assert by_data[0, 0] == 1
        assert by_data[-1, 0] == 1


def test_of_updates_at_one_place_the_last_has_a_gradient():
    data, updates = (relay.var(name, shape=(3, 2), dtype="float64") for name in ("data", "updates"))
    written = relay.scatter_nd(data, relay.const(np.array([[1, 1, -1]])), updates, mode="update")
    by_data, by_updates = relay.build(relay.grad(relay.Function([data, updates], relay.sum(written))))(
        np.ones((3, 2)), np.ones((3, 2))
    )
    assert by_data.tolist() == [[1, 1], [0, 0], [0, 0]]
    assert by_updates.tolist() == [[0, 0], [1, 1], [1, 1]]
