"""Gradients of whole programs.

    before: def @main(%x: float32) -> float32 { multiply(%x, %x) }
    after:  def @main(%x: float32) { ...; (%v0, (%d_x,)) }                          reverse mode
            def @main(%x: float32, %d_x: float32) { ...; (%v0, %d_v0) }             forward mode

A program is made first order before (closures become data, `Defunctionalization`); what is left of calls, data and
choices is transposed by `relay.autodiff`. Floating point: EXACT, the value is computed as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, Union

from relay.autodiff.differentiate import differentiated
from relay.autodiff.tangents import with_tangents
from relay.base.arguments import expect
from relay.base.diagnostics import RelayError
from relay.base.span import caller_span
from relay.infer.infer_type import infer_type
from relay.ir.expr import EXPRESSION, Expr, Function, GlobalVar
from relay.ir.module import IRModule
from relay.transform.functions.defunctionalize import Defunctionalization
from relay.transform.functions.lift_called_functions import LiftCalledFunctions
from relay.transform.functions.monomorphize import Monomorphize
from relay.transform.functions.remove_unused_functions import MAIN, RemoveUnusedFunctions
from relay.transform.functions.specialize_functions import SpecializeFunctions

Wrt: TypeAlias = Union[int, str, Sequence[Union[int, str]], None]
"""With respect to what: a parameter, by its place or name; several; None for all."""


_TO_FIRST_ORDER = (
    RemoveUnusedFunctions, SpecializeFunctions, LiftCalledFunctions, Monomorphize, Defunctionalization,
)  # fmt: skip
"""Functions handed to known functions are put in there, inner functions that are called become global; closures that
are left become data."""


def value_and_cotangents(module: IRModule, wrt: Wrt = None, given: bool = False) -> IRModule:
    """The module whose `@main` gives `(value, (how much the sum of the value changes with each parameter, ...))`.

    `wrt` chooses parameters. With `given`, `@main` takes one argument more: the cotangent of its value, of the same
    type, in place of the ones of that sum. The cotangent of what has no derivative (integers, booleans) is `()`.

    Raises `RelayError`: `no-gradient` (an operator without a gradient, refs, a value that is not a tensor),
    `unknown-parameter`, `not-first-order`.
    """
    prepared, places = _prepared(module, wrt)
    return infer_type(differentiated(prepared, MAIN, places, given))


def value_and_tangent(module: IRModule, wrt: Wrt = None) -> IRModule:
    """The module whose `@main` takes, behind its arguments, how much the parameters in `wrt` change, each of its
    parameter's type, and gives `(value, how much that changes)`. Parameters without a derivative (integers, booleans)
    have no tangent to take.

    Raises `RelayError`: as `value_and_cotangents`.
    """
    prepared, places = _prepared(module, wrt)
    return infer_type(with_tangents(prepared, MAIN, places))


def _prepared(module: IRModule, wrt: Wrt) -> tuple[IRModule, tuple[int, ...]]:
    """The module, first order, and the places of the parameters that are meant."""
    prepared = infer_type(module)
    places = parameter_places(prepared[MAIN], wrt)
    for each in _TO_FIRST_ORDER:
        prepared = each(prepared)
    return prepared, places


def gradient(expr: Expr, mod: IRModule | None = None, mode: str = "higher_order") -> Function:
    """The function that gives the value of `expr` and its gradient: `fn (args) -> (value, (gradients,))`, as Relay
    has it. `expr` is a function, or the name of one in `mod`; both modes mean the same.

    Raises `RelayError`: those of `value_and_cotangents`, and `needs-module` where the gradient takes functions or data
    types of its own: ask for that of a module then, `relay.value_and_grad(module)`.
    """
    expect(expr, EXPRESSION, "what is differentiated")
    if mode not in ("higher_order", "first_order"):
        raise RelayError(
            rule="wrong-argument", message="no such mode of differentiation", found=repr(mode), span=caller_span(),
            expected="higher_order or first_order",
        )  # fmt: skip
    module = mod or IRModule()
    function = module[expr] if isinstance(expr, GlobalVar) else expr
    before = IRModule.from_expr(function).functions[MAIN]
    made = value_and_cotangents(module.with_function(MAIN, before))
    own = [name for name in made if name not in module and name != MAIN]
    if own:
        raise RelayError(
            rule="needs-module", message="the gradient takes functions of its own", span=caller_span(),
            found=", ".join(f"@{name.name_hint}" for name in own), remedy="relay.value_and_grad(module) has them",
        )  # fmt: skip
    return made[MAIN]


def parameter_places(function: Function, wrt: Wrt) -> tuple[int, ...]:
    """The places of the parameters that are meant. Raises `RelayError` (rule `unknown-parameter`)."""
    if wrt is None:
        return tuple(range(len(function.params)))
    names = [param.name_hint for param in function.params]
    places: list[int] = []
    for each in [wrt] if isinstance(wrt, (int, str)) else wrt:
        if isinstance(each, int) and -len(names) <= each < len(names):
            places.append(each % len(names))
        elif isinstance(each, str) and each in names:
            places.append(names.index(each))
        else:
            raise RelayError(
                rule="unknown-parameter", message=f"the function has no parameter {each!r}", span=caller_span(),
                expected=", ".join(f"{name} ({at})" for at, name in enumerate(names)), found=repr(each),
            )  # fmt: skip
    return tuple(places)
