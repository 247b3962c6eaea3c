"""`relay.grad` and its kin: gradients of programs, as programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from inspect import isfunction
from typing import Any, TypeAlias, Union, overload

from relay.base.arguments import Kind, expect
from relay.base.collector import collection_paused
from relay.base.diagnostics import RelayError
from relay.base.span import caller_span
from relay.driver.build import build
from relay.driver.notations.python_source import CompiledFunction, CompiledProgram
from relay.driver.notations.python_values import between_python, call_with_copies
from relay.frontend.python.callables import Transformed
from relay.frontend.python.reader import Reading
from relay.infer.infer_type import infer_type
from relay.ir.expr import Call, Function, GlobalVar, Var
from relay.ir.module import IRModule
from relay.ir.operator import Operator
from relay.ops.transformations import (
    CHECKPOINT,
    CUSTOM_GRADIENT,
    GRAD,
    JVP,
    LINEARIZE,
    VALUE_AND_GRAD,
    VJP,
    Wrt,
    called,
    parameter_places,
    stands_for,
    with_pullback,
)
from relay.runtime.executable import Executable
from relay.transform.gradients.apply_transformations import with_derivatives
from relay.transform.gradients.derivatives import checkpointed, derivative
from relay.transform.gradients.leaves import Leaf, leaf_named, taken, with_leaves
from relay.transform.gradients.own_pullbacks import joined


class CompiledGradient(Transformed):
    """A derivative of a Python function: a program that is compiled when it is first called."""

    def __init__(
        self, transformation: Operator, function: PythonProgram, wrt: Wrt, module: IRModule,
        pullback: PythonProgram | None = None,
    ) -> None:  # fmt: skip
        super().__init__(transformation, function, wrt, pullback)
        self.module = module

    @cached_property
    def reading(self) -> Reading:
        """The program. Its parameters are named as those of the function, where it has these."""
        return replace(self.function.reading, module=self.module, gives=None)

    @cached_property
    def executable(self) -> Executable:
        return build(self.module)

    @cached_property
    def _run(self) -> Callable[..., Any]:
        return between_python(self.executable, self.reading)

    def __call__(self, *positional: Any, **named: Any) -> Any:
        return call_with_copies(self._run, positional, named)

    def __str__(self) -> str:
        return str(self.module)


def _as_program(value: object) -> str:
    return "write @relay.function in front of it, and the types of its parameters" if isfunction(value) else ""


PythonProgram: TypeAlias = Union[CompiledFunction, CompiledGradient]
AnyPythonProgram: TypeAlias = Union[PythonProgram, CompiledProgram]
PROGRAM_OR_PYTHON = Kind(
    (IRModule, Function, CompiledFunction, CompiledGradient, CompiledProgram),
    "a module, a relay.Function, or a @relay.function", _as_program,
)  # fmt: skip
Value: TypeAlias = Union[Var, GlobalVar, Call]
"""A function that is a value of a program that is being built."""
Program: TypeAlias = Union[IRModule, Function, AnyPythonProgram, Value]
Derivative: TypeAlias = Union[IRModule, CompiledGradient, CompiledProgram]
_PROGRAM = Kind((*PROGRAM_OR_PYTHON.types, Var, GlobalVar, Call), PROGRAM_OR_PYTHON.name, PROGRAM_OR_PYTHON.remedy)
_WRT = Kind((int, str, tuple, list, type(None)), "a parameter, by place or name, or a tuple of them")
_PYTHON_OR_VALUE = Kind(
    (Function, CompiledFunction, CompiledGradient, Var, GlobalVar, Call), "a @relay.function or a function of a program"
)


@overload
def value_and_grad(program: CompiledFunction | CompiledGradient, wrt: Wrt = None) -> CompiledGradient: ...
@overload
def value_and_grad(program: CompiledProgram, wrt: Wrt = None) -> CompiledProgram: ...
@overload
def value_and_grad(program: IRModule | Function, wrt: Wrt = None) -> IRModule: ...
@overload
def value_and_grad(program: Value, wrt: Wrt = None) -> Call: ...
@stands_for(VALUE_AND_GRAD)
def value_and_grad(program: Program, wrt: Wrt = None) -> Derivative | Call:
    """The program that gives a function's value and its gradient: `(value, (one for each parameter,))`.

    `program` is a module (its `@main`), a function, or a Python function under `@relay.function`; the result is of the
    same kind, a module for a function. `wrt` names parameters, by place or name, or parts of those that are tuples (or
    data of one constructor): `"params.0"`; one alone gives its gradient without a tuple around it. Gradients are of
    their parameter's type, `()` for integers and booleans; of a value that is no scalar they are those of its sum.

    Raises `RelayError`: `no-gradient`, `unknown-parameter`, `not-first-order`.

    >>> import relay
    >>> x = relay.var("x", shape=())
    >>> value, (slope,) = relay.build(value_and_grad(relay.Function([x], x * x)))(3.0)
    >>> float(value), float(slope)
    (9.0, 6.0)
    """
    return _transformed(program, VALUE_AND_GRAD, wrt)


@overload
def grad(program: CompiledFunction | CompiledGradient, wrt: Wrt = None) -> CompiledGradient: ...
@overload
def grad(program: CompiledProgram, wrt: Wrt = None) -> CompiledProgram: ...
@overload
def grad(program: IRModule | Function, wrt: Wrt = None) -> IRModule: ...
@overload
def grad(program: Value, wrt: Wrt = None) -> Call: ...
@stands_for(GRAD)
def grad(program: Program, wrt: Wrt = None) -> Derivative | Call:
    """The gradient of `value_and_grad` without the value.

    >>> import relay
    >>> x = relay.var("x", shape=())
    >>> float(relay.build(grad(relay.Function([x], x * x * x), wrt="x"))(2.0))
    12.0
    """
    return _transformed(program, GRAD, wrt)


@overload
def vjp(program: CompiledFunction | CompiledGradient, wrt: Wrt = None) -> CompiledGradient: ...
@overload
def vjp(program: CompiledProgram, wrt: Wrt = None) -> CompiledProgram: ...
@overload
def vjp(program: IRModule | Function, wrt: Wrt = None) -> IRModule: ...
@overload
def vjp(program: Value, wrt: Wrt = None) -> Call: ...
@stands_for(VJP)
def vjp(program: Program, wrt: Wrt = None) -> Derivative | Call:
    """The program that takes one argument more, a cotangent of the value, and gives `(value, cotangents)`: the product
    of a vector and the Jacobian.

    >>> import numpy as np
    >>> import relay
    >>> x = relay.var("x", shape=(2,))
    >>> executable = relay.build(vjp(relay.Function([x], relay.exp(x) * x), wrt=0))
    >>> executable(np.zeros(2, "float32"), np.array([1.0, 10.0], "float32"))[1].tolist()
    [1.0, 10.0]
    """
    return _transformed(program, VJP, wrt)


@overload
def jvp(program: CompiledFunction | CompiledGradient, wrt: Wrt = None) -> CompiledGradient: ...
@overload
def jvp(program: CompiledProgram, wrt: Wrt = None) -> CompiledProgram: ...
@overload
def jvp(program: IRModule | Function, wrt: Wrt = None) -> IRModule: ...
@overload
def jvp(program: Value, wrt: Wrt = None) -> Call: ...
@stands_for(JVP)
def jvp(program: Program, wrt: Wrt = None) -> Derivative | Call:
    """The program that takes tangents of the parameters in `wrt` behind its arguments, and gives `(value, tangent)`:
    the product of the Jacobian and a vector. Nothing is kept of the way: a loop stays a loop in the same memory.

    Of a gradient it is the product of the Hessian and a vector, `jvp(grad(program))`.

    >>> import relay
    >>> x = relay.var("x", shape=())
    >>> cube = relay.Function([x], x * x * x)
    >>> [float(each) for each in relay.build(jvp(cube))(2.0, 10.0)]
    [8.0, 120.0]
    >>> [float(each) for each in relay.build(jvp(grad(cube, wrt=0)))(2.0, 10.0)]
    [12.0, 120.0]
    """
    return _transformed(program, JVP, wrt)


@overload
def linearize(program: CompiledFunction | CompiledGradient, wrt: Wrt = None) -> CompiledGradient: ...
@overload
def linearize(program: CompiledProgram, wrt: Wrt = None) -> CompiledProgram: ...
@overload
def linearize(program: IRModule | Function, wrt: Wrt = None) -> IRModule: ...
@overload
def linearize(program: Value, wrt: Wrt = None) -> Call: ...
@stands_for(LINEARIZE)
def linearize(program: Program, wrt: Wrt = None) -> Derivative | Call:
    """The program that gives `(value, map)`: `map` takes tangents of the parameters in `wrt`, and gives that of the
    value, `jvp` at one point for many directions. What does not depend on these is computed once, and kept in `map`
    (Radul et al., "You Only Linearize Once", 2023).

    >>> import relay
    >>> x = relay.var("x", shape=())
    >>> value, slope = relay.build(linearize(relay.Function([x], relay.exp(x) * x)))(0.0)
    >>> [float(slope(each)) for each in (1.0, 10.0)]
    [1.0, 10.0]
    """
    return _transformed(program, LINEARIZE, wrt)


@overload
def checkpoint(program: PythonProgram) -> CompiledGradient: ...
@overload
def checkpoint(program: CompiledProgram) -> CompiledProgram: ...
@overload
def checkpoint(program: IRModule | Function) -> IRModule: ...
@overload
def checkpoint(program: Value) -> Call: ...
@stands_for(CHECKPOINT)
def checkpoint(program: Program) -> Derivative | Call:
    """The same function, of which a derivative in reverse keeps the arguments alone: on the way back it is computed
    again for what it gave. So a program that is differentiated needs less memory, and more time
    (Griewank and Walther, "Revolve", 2000). Forward mode keeps nothing, and takes it as it is.

    >>> import relay
    >>> @relay.function
    ... def f(x: relay.Tensor[(), "float32"]):
    ...     return relay.checkpoint(lambda y: relay.sin(y) * y)(x) * x
    >>> float(relay.grad(f, wrt="x")(0.0))
    0.0
    """
    return _transformed(program, CHECKPOINT, None)


@overload
def custom_gradient(program: PythonProgram, pullback: PythonProgram) -> CompiledGradient: ...
@overload
def custom_gradient(program: Value | Function, pullback: Value | Function) -> Call: ...
@stands_for(CUSTOM_GRADIENT)
def custom_gradient(
    program: PythonProgram | Value | Function, pullback: PythonProgram | Value | Function
) -> CompiledGradient | Call:
    """The same function, whose derivatives are by a pullback of its own: a function of the arguments, the value, and
    the cotangent of that, which gives the tuple of the cotangents of the arguments. The function itself is not
    differentiated, so it may be made of anything; its pullback is, for second derivatives. Forward mode transposes the
    pullback, which is to be linear in the cotangent.

    Both are Python functions under `@relay.function`, or functions of a program that is being built. They take and give
    tensors and tuples of these.

    >>> import relay
    >>> Number = relay.Tensor[(), "float32"]
    >>> @relay.function
    ... def f(x: Number):
    ...     def back(x, value, cotangent):
    ...         return (relay.clip(cotangent, -1.0, 1.0),)
    ...     return relay.custom_gradient(lambda y: y * 1.0, back)(x) * 5.0
    >>> float(relay.grad(f, wrt="x")(2.0))
    1.0
    """
    expect(program, _PYTHON_OR_VALUE, "what has a pullback of its own")
    expect(pullback, _PYTHON_OR_VALUE, "the pullback")
    match program, pullback:
        case ((CompiledFunction() | CompiledGradient()), (CompiledFunction() | CompiledGradient())):
            module = joined(program.module, pullback.module)
            return CompiledGradient(CUSTOM_GRADIENT, program, None, module, pullback)
        case ((Var() | GlobalVar() | Call() | Function()), (Var() | GlobalVar() | Call() | Function())):
            return with_pullback(program, pullback)
        case _:
            raise RelayError(
                rule="wrong-argument", message="a function and its pullback are of different kinds", span=caller_span(),
                expected="two Python functions, or two functions of a program",
                found=f"a {type(program).__name__} and a {type(pullback).__name__}",
            )  # fmt: skip


def _transformed(program: Program, transformation: Operator, wrt: Wrt) -> Derivative | Call:
    expect(program, _PROGRAM, "what is differentiated")
    expect(wrt, _WRT, "what it is differentiated by")
    match program:
        case CompiledFunction() | CompiledGradient():
            return CompiledGradient(transformation, program, wrt, _derivative(program.module, transformation, wrt))
        case CompiledProgram():
            made = _derivative(program.module, transformation, wrt)
            return CompiledProgram(replace(program.reading, module=made, gives=None))
        case IRModule():
            return _derivative(program, transformation, wrt)
        case Function():
            return _derivative(IRModule.from_expr(program), transformation, wrt)
        case Var() | GlobalVar() | Call():
            return called(transformation, program, wrt)


def _derivative(module: IRModule, transformation: Operator, wrt: Wrt) -> IRModule:
    """A derivative of the `@main` of a module."""
    with collection_paused():
        return _derivative_of_typed(infer_type(module), transformation, wrt)


def _derivative_of_typed(module: IRModule, transformation: Operator, wrt: Wrt) -> IRModule:
    applied = with_derivatives(module)
    if transformation is CHECKPOINT:
        return checkpointed(applied, GlobalVar("checkpointed"))
    names = [each.name_hint for each in applied["main"].params]
    alone = isinstance(wrt, int | str)
    leaves = [_leaf(names, each) for each in (range(len(names)) if wrt is None else [wrt] if alone else wrt)]
    if not any(path for _, path in leaves):
        return derivative(applied, transformation, [place for place, _ in leaves], alone)
    apart, places = with_leaves(applied, leaves, caller_span())
    return taken(applied, derivative(apart, transformation, places, alone), leaves, caller_span())


def _leaf(names: Sequence[str], wanted: int | str) -> Leaf:
    found = leaf_named(names, wanted) if isinstance(wanted, str) else None
    return found or (parameter_places(names, wanted, caller_span())[0], ())
