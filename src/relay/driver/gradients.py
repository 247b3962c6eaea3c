"""`relay.grad` and its kin: gradients of programs, as programs."""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeAlias, Union, overload

from relay.base.arguments import Kind, expect
from relay.driver.build import build
from relay.driver.python_source import CompiledFunction
from relay.ir.expr import Function, Tuple, TupleGetItem
from relay.ir.module import IRModule
from relay.runtime.executable import Executable
from relay.transform.gradients.gradient import Wrt, value_and_cotangents, value_and_tangent


class CompiledGradient:
    """The gradient of a Python function: a program that is compiled when it is first called."""

    def __init__(self, module: IRModule) -> None:
        self.module = module

    @cached_property
    def executable(self) -> Executable:
        return build(self.module)

    def __call__(self, *positional: Any, **named: Any) -> Any:
        return self.executable(*positional, **named)

    def __str__(self) -> str:
        return str(self.module)


Program: TypeAlias = Union[IRModule, Function, CompiledFunction, CompiledGradient]
_PROGRAM = Kind((IRModule, Function, CompiledFunction, CompiledGradient), "a module, a function, or a @relay.function")


@overload
def value_and_grad(program: CompiledFunction | CompiledGradient, wrt: Wrt = None) -> CompiledGradient: ...
@overload
def value_and_grad(program: IRModule | Function, wrt: Wrt = None) -> IRModule: ...
def value_and_grad(program: Program, wrt: Wrt = None) -> IRModule | CompiledGradient:
    """The program that gives a function's value and its gradient: `(value, (one for each parameter,))`.

    `program` is a module (its `@main`), a function, or a Python function under `@relay.function`; the result is of the
    same kind, a module for a function. `wrt` names parameters, by place or name; one alone gives its gradient without a
    tuple around it. Gradients are of their parameter's type, `()` for integers and booleans; of a value that is no
    scalar they are those of its sum.

    Raises `RelayError`: `no-gradient`, `unknown-parameter`, `not-first-order`.

    >>> import relay
    >>> x = relay.var("x", shape=())
    >>> value, (slope,) = relay.build(value_and_grad(relay.Function([x], x * x)))(3.0)
    >>> float(value), float(slope)
    (9.0, 6.0)
    """
    return _derived(program, wrt, given=False, with_value=True)


@overload
def grad(program: CompiledFunction | CompiledGradient, wrt: Wrt = None) -> CompiledGradient: ...
@overload
def grad(program: IRModule | Function, wrt: Wrt = None) -> IRModule: ...
def grad(program: Program, wrt: Wrt = None) -> IRModule | CompiledGradient:
    """The gradient of `value_and_grad` without the value.

    >>> import relay
    >>> x = relay.var("x", shape=())
    >>> float(relay.build(grad(relay.Function([x], x * x * x), wrt="x"))(2.0))
    12.0
    """
    return _derived(program, wrt, given=False, with_value=False)


@overload
def vjp(program: CompiledFunction | CompiledGradient, wrt: Wrt = None) -> CompiledGradient: ...
@overload
def vjp(program: IRModule | Function, wrt: Wrt = None) -> IRModule: ...
def vjp(program: Program, wrt: Wrt = None) -> IRModule | CompiledGradient:
    """The program that takes one argument more, a cotangent of the value, and gives `(value, cotangents)`: the product
    of a vector and the Jacobian.

    >>> import numpy as np
    >>> import relay
    >>> x = relay.var("x", shape=(2,))
    >>> executable = relay.build(vjp(relay.Function([x], relay.exp(x) * x), wrt=0))
    >>> executable(np.zeros(2, "float32"), np.array([1.0, 10.0], "float32"))[1].tolist()
    [1.0, 10.0]
    """
    return _derived(program, wrt, given=True, with_value=True)


@overload
def jvp(program: CompiledFunction | CompiledGradient, wrt: Wrt = None) -> CompiledGradient: ...
@overload
def jvp(program: IRModule | Function, wrt: Wrt = None) -> IRModule: ...
def jvp(program: Program, wrt: Wrt = None) -> IRModule | CompiledGradient:
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
    return _of_kind(program, value_and_tangent(_module(program), wrt))


def _derived(program: Program, wrt: Wrt, given: bool, with_value: bool) -> IRModule | CompiledGradient:
    derived = value_and_cotangents(_module(program), wrt, given)
    main = _shaped(derived["main"], isinstance(wrt, (int, str)), with_value)
    return _of_kind(program, derived.with_function("main", main))


def _module(program: Program) -> IRModule:
    expect(program, _PROGRAM, "what is differentiated")
    match program:
        case IRModule():
            return program
        case Function():
            return IRModule.from_expr(program)
        case _:
            return program.module


def _of_kind(program: Program, derived: IRModule) -> IRModule | CompiledGradient:
    return derived if isinstance(program, IRModule | Function) else CompiledGradient(derived)


def _shaped(function: Function, alone: bool, with_value: bool) -> Function:
    """A function that gives `(value, (cotangents,))`, giving what is wanted of it."""
    if with_value and not alone:
        return function
    result = function.body
    cotangents = TupleGetItem(result, 1)
    wanted = TupleGetItem(cotangents, 0) if alone else cotangents
    body = Tuple((TupleGetItem(result, 0), wanted)) if with_value else wanted
    return Function(function.params, body, None, function.type_params, function.attrs, span=function.span)
