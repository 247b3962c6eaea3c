"""Functions of a first-order program, differentiated in reverse.

`gradient_of` a function is one function: its body forward, then backward. Each global function that it calls with
something to differentiate becomes two (`halves.py`): `@f_forward` gives its value with what the way back needs,
`@f_pullback` takes that and the cotangent of the value, and gives the cotangents of the arguments.

The scheme is that of reverse mode by transposition (Pearlmutter and Siskind 2008), with closures made data before.
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.autodiff.chain import Chain
from relay.autodiff.cotangents import Parts
from relay.autodiff.halves import Halves, Splitting, extents_of
from relay.autodiff.program import DerivedProgram, typed
from relay.autodiff.scope import Sweep, Swept
from relay.base.diagnostics import RelayError
from relay.ir.expr import Expr, Function, GlobalVar, Tuple, TupleGetItem, Var, record_type
from relay.ir.module import IRModule
from relay.ir.sharing import scopes
from relay.ir.types import TensorType, TupleType, Type
from relay.ops.creation.create import ones_like


def differentiated(
    module: IRModule, name: GlobalVar, wrt: Sequence[int], given: bool = False, of_first: bool = False
) -> IRModule:
    """The module with `name` as a function that gives `(value, cotangents)`: for each parameter in `wrt`, how much the
    sum of the value's elements changes with it. With `given` the function takes one argument more, the cotangent of
    the value, which stands for the ones of that sum. With `of_first` the value is a pair, and its first field is meant.
    The program is typed and first order.

    Raises `RelayError` (rule `no-gradient`).
    """
    program = DerivedProgram(module)
    return program.finished(name, _whole(in_reverse(program), program.normal(name), wrt, given, of_first))


def in_reverse(program: DerivedProgram) -> Splitting:
    """The functions of a program forward, and their ways back."""
    return Splitting(program, _halves, ("forward", "pullback"))


def _whole(work: Splitting, function: Function, wrt: Sequence[int], given: bool, of_first: bool) -> Function:
    """The function forward and backward in one."""
    types = work.program.types
    active = [at in wrt for at in range(len(function.params))]
    work.prepare(function, active)
    swept = _swept(work, function, active)
    chain = Chain(list(swept.forward.chain.bindings))
    whole, result, params = typed(function.body), swept.forward.result, function.params
    assert isinstance(whole, TupleType) or not of_first
    type_ = whole.fields[0] if of_first and isinstance(whole, TupleType) else whole
    start: Expr | None = None
    if given and not of_first:
        params = (*params, _with_type(swept.given, types.type_of(type_)))
    elif given:
        start = record_type(Var("given"), types.type_of(type_))
        params = (*params, start)
    elif swept.given.checked_type is not None:
        if not isinstance(type_, TensorType):
            raise _not_a_tensor(type_, function)
        start = ones_like(TupleGetItem(result, 0) if of_first else result)
    if start is not None and swept.given.checked_type is not None:
        chain.bind_to(swept.given, types.whole(Parts((start, None)), whole, result) if of_first else start)
    targets = (function.params[at] for at in wrt)
    ends = tuple(types.settled(swept.cotangents.get(each), typed(each), each) for each in targets)
    body = chain.before(swept.backward.ending(Tuple((result, Tuple(ends)))))
    return Function(params, body, None, (), function.attrs, span=function.span)


def _halves(work: Splitting, function: Function, active: Sequence[bool]) -> Halves:
    """The function forward, and its way back."""
    types = work.program.types
    swept = _swept(work, function, active)
    given = _with_type(swept.given, types.type_of(typed(function.body)))
    targets = [param for param, on in zip(function.params, active, strict=True) if on]
    ends: list[Expr] = [types.whole(swept.cotangents.get(each), typed(each), each) for each in targets]
    type_ = TupleType(tuple(types.type_of(typed(each)) for each in targets))
    return Halves(swept.forward, (given,), swept.backward.ending(Tuple(tuple(ends))), type_)


def _swept(work: Splitting, function: Function, active: Sequence[bool]) -> Swept:
    program = work.program
    found = program.active(function, active)
    return Sweep(program.types, work, found, work.saved, extents_of(function), scopes(function.body)).swept()


def _with_type(given: Var, type_: Type) -> Var:
    """The cotangent of a value, which has a type yet only where that depends on what is differentiated."""
    return given if given.checked_type is not None else record_type(given, type_)


def _not_a_tensor(type_: Type, function: Function) -> RelayError:
    return RelayError(
        rule="no-gradient", message="the value of what is differentiated is not a tensor", span=function.span,
        found=str(type_), expected="a float tensor, a scalar as a rule",
        remedy="let the function give the loss alone, or take the way back with a cotangent of your own: relay.vjp",
    )  # fmt: skip
