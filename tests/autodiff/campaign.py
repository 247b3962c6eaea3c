"""Gradients of generated programs: `python -m tests.autodiff.campaign [count] --seed N --state FILE`.

Each program's gradient is computed by the interpreter and natively, which must agree to rounding; along a direction it
must be the tangent of forward mode, and the slope by differences. Of every fourth the same is asked of the gradient:
a Hessian-vector product, and differences of gradients.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from rich.console import Console

import relay
from relay.interpret.evaluate import evaluate
from relay.ir.module import IRModule
from tests.autodiff.generated import differentiable_programs, in_float64
from tests.programs import campaign
from tests.programs.generate import Program

STEP_LIMIT = 1_000_000
SAME = 1e-9
"""What one formula may differ by when it is computed in another order, relative to its largest term, about 100."""

NEAR = 1e-5
"""What differences may be off by, relative to the slope and what is summed to it."""

REFUSED = (
    "is a value: which functions it may be depends on its caller",
    "which no value before determines",
    "the extent is unknown here",
    "has the extents of the function around it",
)
"""What errors say of the causes for which a program may be refused: functions that are values, of extents that have a
name, which their callers or the functions around them tell; second derivatives of recursion on extents that are only
known at run time; data of extents that have a name, which a function gives, so that its caller does not know them."""

Arrays = Sequence[Any]


class Disagreement(AssertionError):
    """Two derivatives of one program differ."""


class Checker:
    """Checks gradients, and counts what was compared."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def __call__(self, example: tuple[Program, bool], folder: Path) -> None:
        """Raises `Disagreement`, after writing the program below `folder`."""
        program, twice = example
        module = in_float64(program.module)
        arguments = _moved(program.arguments)
        try:
            self._compare(module, arguments, twice)
        except Exception as error:
            cause = next((each for each in REFUSED if each in str(error)), None)
            if isinstance(error, relay.RelayError) and cause is not None:
                self.seen[f"refused: {error.rule}, {cause}"] += 1
                return
            text = f"{module.astext()}\n"
            place = folder / f"gradient_{hashlib.sha256(text.encode()).hexdigest()[:12]}.relay"
            folder.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
            place.with_suffix(".txt").write_text(f"{arguments}\n{type(error).__name__}: {error}\n")
            raise Disagreement(f"{type(error).__name__}: {error}\nkept in {place}") from error

    def _compare(self, module: IRModule, arguments: Arrays, twice: bool) -> None:
        derived = relay.value_and_grad(module)
        value, gradients = evaluate(derived, arguments, step_limit=STEP_LIMIT)
        own_value, own = relay.build(derived)(*arguments)
        _same([own_value, *own], [value, *gradients], "native code", "the interpreter")
        directions = _directions(arguments)
        slope = sum(float(np.sum(each * g)) for each, g in zip(directions, gradients, strict=True) if each is not None)
        tangents = [each for each in directions if each is not None]
        _, tangent = evaluate(relay.jvp(module), [*arguments, *tangents], step_limit=STEP_LIMIT)
        _same([np.sum(tangent)], [slope], "forward mode", "reverse mode")
        self._by_differences(
            lambda each: [evaluate(module, each, step_limit=STEP_LIMIT)], arguments, directions, [tangent], "first"
        )
        if twice and tangents:
            product = relay.jvp(relay.grad(module))
            given = [*arguments, *tangents]
            value, found = evaluate(product, given, step_limit=STEP_LIMIT)
            _same(relay.build(product)(*given)[1], found, "native code", "the interpreter")
            self._by_differences(
                lambda each: evaluate(relay.grad(module), each, step_limit=STEP_LIMIT),
                arguments, directions, found, "second",
            )  # fmt: skip

    def _by_differences(
        self, function: Callable[[Arrays], Arrays], at: Arrays, directions: Arrays, found: Arrays, order: str
    ) -> None:
        """Compare with differences of two steps, where these agree: between them may be a corner."""
        fine, coarse = (
            [None if low is None else (high - low) / (2 * step) for low, high in zip(*ends, strict=True)]
            for step in (1e-5, 3e-5)
            for ends in [[_floats(function(_along(at, directions, way * step))) for way in (-1, 1)]]
        )
        self.seen[order] += 1
        changes = False
        for one, other, mine in zip(fine, coarse, _floats(found), strict=True):
            if one is None or other is None or mine is None:
                continue
            scale = 1 + float(np.abs(one).max(initial=0))
            if np.abs(one - other).max(initial=0) > NEAR * scale:
                self.seen[f"{order}: with a corner nearby"] += 1
            elif np.abs(mine - one).max(initial=0) > 10 * NEAR * scale:
                raise Disagreement(f"{order} derivative: {mine!r}, by differences {one!r}")
            elif np.any(one):
                self.seen[f"{order}: results that change"] += 1
                changes = True
        self.seen[f"{order}: programs with one that changes"] += changes

    def report(self, console: Console, ran: int) -> None:
        for what, count in sorted(self.seen.items()):
            console.print(f"{what}: {count}")


def _same(found: Arrays, expected: Arrays, finder: str, other: str) -> None:
    for mine, theirs in zip(found, expected, strict=True):
        if isinstance(mine, tuple) or isinstance(theirs, tuple):
            if mine != theirs:
                raise Disagreement(f"{finder} gives {mine!r}, {other} gives {theirs!r}")
        elif not np.allclose(mine, theirs, SAME, 100 * SAME):
            raise Disagreement(f"{finder} gives {mine!r}, {other} gives {theirs!r}")


def _floats(values: Arrays) -> list[Any]:
    return [None if isinstance(each, tuple) else np.asarray(each) for each in values]


def _moved(arguments: Arrays) -> list[Any]:
    """Arguments in float64, a little beside where they were: ties are where programs have corners."""
    random = np.random.default_rng(0)
    return [
        np.asarray(each + random.uniform(-0.1, 0.1, each.shape)) if each.dtype.kind == "f" else each
        for each in arguments
    ]


def _directions(arguments: Arrays) -> list[Any]:
    random = np.random.default_rng(1)
    return [np.asarray(random.standard_normal(each.shape)) if each.dtype.kind == "f" else None for each in arguments]


def _along(arguments: Arrays, directions: Arrays, step: float) -> list[Any]:
    return [
        each if way is None else np.asarray(each + step * way) for each, way in zip(arguments, directions, strict=True)
    ]


if __name__ == "__main__":
    checker = Checker()
    examples = st.tuples(differentiable_programs(), st.sampled_from((True, False, False, False)))
    campaign.run("tests.autodiff.campaign", __doc__, examples, checker, 10_000, checker.report, checker.seen)
