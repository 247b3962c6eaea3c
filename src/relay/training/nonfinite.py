"""Where a number that is not finite came from: the operator that made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from relay.base.diagnostics import Origin, RelayError
from relay.base.frozen import frozen
from relay.interpret.evaluate import evaluate
from relay.interpret.machine import Step, by_meaning
from relay.ir.attributes import Attributes
from relay.ir.expr import Expr
from relay.ir.module import IRModule
from relay.ir.operator import Operator
from relay.transform.gradients.apply_transformations import ApplyTransformations


@frozen(eq=False)
class _Made:
    """A node that gave a number that is not finite, of numbers that were, and its operator."""

    node: Expr
    operator: str


class _Found(Exception):
    """Ends an evaluation at the first NaN."""


class _Watch:
    """Looks at operators as they are evaluated: which was the first to make an infinity, which a NaN."""

    def __init__(self) -> None:
        self.infinity: _Made | None = None
        self.nan: _Made | None = None
        self._latest: tuple[str, bool, bool] = ("", False, False)

    def call(self, operator: Operator, attributes: Attributes, arguments: tuple[Any, ...]) -> Any:
        with np.errstate(all="ignore"):
            result = by_meaning(operator, attributes, arguments)
        new_infinity = _any(np.isinf, (result,)) and not _any(np.isinf, arguments)
        new_nan = _any(np.isnan, (result,)) and not _any(np.isnan, arguments)
        self._latest = (operator.name, new_infinity, new_nan)
        return result

    def trace(self, step: Step) -> None:
        name, new_infinity, new_nan = self._latest
        self._latest = ("", False, False)
        if new_infinity and self.infinity is None:
            self.infinity = _Made(step.node, name)
        if new_nan:
            self.nan = _Made(step.node, name)
            raise _Found


def nonfinite_error(module: IRModule, arguments: Mapping[str, Any], count: int) -> RelayError:
    """The error that a step whose program is `module` had a loss or gradients that are not finite, with the operator
    that made the first NaN of other numbers, or else the first infinity. `count` updates were made before."""
    message = f"the loss or a gradient of step {count + 1} is not finite"
    given = [f"`{name}`" for name, each in arguments.items() if _any(np.isnan, (each,))]
    if given:
        return RelayError(rule="not-finite", message=message, found=f"NaN in {', '.join(given)}, which it was given")
    watch = _Watch()
    applied = ApplyTransformations(module)
    with suppress(_Found):
        evaluate(applied, tuple(arguments.values()), call_operator=watch.call, trace=watch.trace)
    made, what = (watch.nan, "NaN") if watch.nan is not None else (watch.infinity, "infinity")
    if made is None:
        return RelayError(
            rule="not-finite", message=message, found="finite numbers everywhere in the reference interpreter",
            remedy="native code rounds otherwise: a number is near the largest of its type",
        )  # fmt: skip
    earlier = watch.infinity if made is watch.nan and watch.infinity is not made else None
    origins = () if earlier is None else (Origin("infinity", f"made first by `{earlier.operator}`", _place(earlier)),)
    return RelayError(
        rule="not-finite", message=message, span=made.node.span, found=f"`{made.operator}` made the first {what}",
        origins=origins, expected="finite numbers",
    )  # fmt: skip


def _place(made: _Made) -> str:
    return str(made.node.span) if made.node.span is not None else "the gradients"


def _any(test: Any, values: Sequence[Any]) -> bool:
    """Whether it holds for an element of the tensors in nested tuples."""
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, tuple):
            waiting += value
        elif isinstance(value, np.ndarray) and value.dtype.kind in "fV" and bool(test(value.astype(np.float32)).any()):
            return True
    return False
