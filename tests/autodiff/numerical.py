"""Gradients by differences: what a program's own gradient must be, in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import relay
from relay.ir.module import IRModule
from relay.testing.gradient import difference

HEADER = '#[version = "0.0.5"]\n'
TOLERANCE = 1e-7
"""Of central differences at their step: rounding of 1e-16 / 1e-5 and the third derivative times 1e-10."""


def parsed(text: str) -> IRModule:
    return relay.parse(HEADER + text)


def runner(module: IRModule, compiled: bool = True) -> Callable[..., Any]:
    if compiled:
        return relay.build(module)
    return relay.create_executor("debug", module).evaluate()


def differences(function: Callable[..., Any], arguments: Sequence[Any]) -> list[np.ndarray | None]:
    """The gradient of a function's sum by each float array among its arguments; None for other arguments."""
    return [difference(function, arguments, at) for at in range(len(arguments))]


def check_gradient(module: IRModule, *arguments: Any, compiled: bool = True) -> None:
    """That the gradient of a module's `@main` is that by differences, and its value what it was."""
    value, found = runner(relay.value_and_grad(module), compiled)(*arguments)
    before = runner(module, compiled)
    np.testing.assert_allclose(value, before(*arguments), rtol=1e-12)
    for mine, wanted in zip(found, differences(before, arguments), strict=True):
        if wanted is None:
            assert mine == ()
        else:
            scale = max(1.0, float(np.abs(wanted).max(initial=0.0)))
            np.testing.assert_allclose(mine, wanted, atol=TOLERANCE * scale, rtol=0)
