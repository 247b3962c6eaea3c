"""Gradients compared with differences: for who writes an operator's gradient, or doubts one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.driver.build import build
from relay.driver.derived.gradients import value_and_grad
from relay.infer.infer_type import infer_type
from relay.ir.expr import Function
from relay.ir.module import IRModule
from relay.ir.types import TensorType, Type
from relay.runtime.arguments.made_up import made_up_array

STEP = 1e-5
Array = NDArray[Any]


def check_grad(
    program: Function | IRModule,
    inputs: Sequence[Any] | None = None,
    test_inputs: Sequence[int] | None = None,
    eps: float = STEP,
    atol: float = 1e-7,
    rtol: float = 1e-5,
    seed: int = 0,
) -> None:
    """Compare the gradient of a function's sum with central differences of step `eps`, element by element.

    `inputs` are normally distributed unless given; `test_inputs` are the places of those whose gradients are compared,
    all of floats unless told. The tolerances are those of float64: differences in float32 need an `eps` of 1e-2 or so,
    and tolerances to match.

    Raises `RelayError` (rule `wrong-gradient`) at the first that differs, and `wrong-argument` for inputs that cannot
    be made up.

    >>> import relay
    >>> x = relay.var("x", shape=(2, 3), dtype="float64")
    >>> check_grad(relay.Function([x], relay.tanh(x)))
    """
    module = infer_type(program if isinstance(program, IRModule) else IRModule.from_expr(program))
    params = module["main"].params
    if inputs is None:
        generator = np.random.default_rng(seed)
        inputs = [_made_up(param.name_hint, param.checked_type, generator) for param in params]
    _, found = cast("tuple[Any, Sequence[Any]]", build(value_and_grad(module))(*inputs))
    function = build(module)
    for at in range(len(params)) if test_inputs is None else test_inputs:
        wanted = difference(function, inputs, at, eps)
        if wanted is not None and not np.allclose(found[at], wanted, rtol, atol):
            raise _wrong(params[at].name_hint, np.asarray(found[at]), wanted)


def difference(function: Callable[..., Any], inputs: Sequence[Any], at: int, eps: float = STEP) -> Array | None:
    """The gradient of a function's sum by input number `at`, by central differences; None if that is not of floats."""
    given = np.asarray(inputs[at])
    if given.dtype.kind != "f":
        return None
    found = np.zeros_like(given)
    for place in np.ndindex(given.shape):
        ends: list[float] = []
        for step in (eps, -eps):
            moved = given.copy()
            moved[place] += step
            ends.append(float(np.sum(function(*inputs[:at], moved, *inputs[at + 1 :]), dtype=np.float64)))
        found[place] = (ends[0] - ends[1]) / (2 * eps)
    return found


def _made_up(name: str, type_: Type | None, generator: np.random.Generator) -> Array:
    shape = [extent for extent in type_.shape if isinstance(extent, int)] if isinstance(type_, TensorType) else []
    if not isinstance(type_, TensorType) or not type_.dtype.is_float or len(shape) < len(type_.shape):
        raise RelayError(
            rule="wrong-argument", message=f"an input for %{name} cannot be made up", found=str(type_),
            expected="tensors of floats with extents that are numbers", remedy="give the inputs",
        )  # fmt: skip
    return made_up_array(generator, tuple(shape), type_.dtype)


def _wrong(name: str, found: Array, wanted: Array) -> RelayError:
    worst = np.unravel_index(int(np.argmax(np.abs(found - wanted))), found.shape)
    place = ", ".join(map(str, worst))
    return RelayError(
        rule="wrong-gradient", message=f"the gradient by %{name} is not that by differences",
        found=f"{found[worst]:.6g} at [{place}]", expected=f"{wanted[worst]:.6g}",
        remedy="see the gradient rules of the operators on the way; at a corner of the function the two may differ",
    )  # fmt: skip
