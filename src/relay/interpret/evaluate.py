"""The reference meaning of programs: what every compiled form must agree with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.base.diagnostics import RelayError
from relay.interpret.machine import CallOperator, Machine, Trace, by_meaning
from relay.interpret.values import Closure, Value, ValueLike, to_value, to_value_of
from relay.ir.expr import Expr, Function, GlobalVar, Var
from relay.ir.module import IRModule
from relay.ir.sharing import scopes


def evaluate(
    program: IRModule | Expr,
    arguments: Sequence[ValueLike] | Mapping[str, ValueLike] | None = None,
    *,
    function: str = "main",
    module: IRModule | None = None,
    variables: Mapping[Var, ValueLike] | None = None,
    step_limit: int | None = None,
    call_operator: CallOperator = by_meaning,
    trace: Trace | None = None,
) -> Value:
    """The value of `program`.

    A module: its function `function` is called with `arguments` (by position or by name). A Function with arguments
    is called; any other expression is evaluated, its free variables being `variables`. `module` gives an expression
    its global functions. Operators are evaluated by NumPy, or by `call_operator`. Where the program is typed, the
    checks that inference left to the run are made. `trace` is told of each node when it has a value (a call in tail
    position has none of its own: it is its caller's). Functions, data and refs may be results and arguments: a
    `Closure` can be called from Python.

    Raises `RelayError`: `argument-type` or `arity` for arguments that the parameters refuse, `extent-mismatch` for a
    check that fails, `no-clause-fits`, `step-limit` after `step_limit` nodes.

    >>> from relay.ir.expr import Function, If, Var, const
    >>> flag = Var("flag")
    >>> evaluate(Function((flag,), If(flag, const(1), const(2))), [False])
    array(2, dtype=int32)
    """
    surroundings = program if isinstance(program, IRModule) else (module or IRModule())
    machine = Machine(surroundings, step_limit, call_operator, trace)
    if isinstance(program, IRModule):
        closure = machine.global_closure(GlobalVar(function))
        return machine.apply(closure, _arguments(closure.function, arguments or (), f"@{function}"), f"@{function}")
    if isinstance(program, Function) and arguments is not None:
        closure = Closure(program, None, scopes(program), machine.apply)
        return machine.apply(closure, _arguments(program, arguments, "the function"), "the function")
    if arguments is not None:
        raise RelayError(rule="not-a-function", message="arguments are given to an expression that is no function")
    return machine.evaluate(program, {var: to_value(like) for var, like in (variables or {}).items()})


def _arguments(
    function: Function, given: Sequence[ValueLike] | Mapping[str, ValueLike], name: str
) -> tuple[Value, ...]:
    """The arguments in the order of the parameters."""
    if not isinstance(given, Mapping):
        types = [param.type_annotation for param in function.params]
        return tuple(map(to_value_of, given, types)) if len(types) == len(given) else tuple(map(to_value, given))
    names = [param.name_hint for param in function.params]
    if len(set(names)) != len(names) or set(names) != set(given):
        raise RelayError(
            rule="arity",
            message=f"{name} has other parameters",
            expected=", ".join(names) or "no arguments",
            found=", ".join(given) or "none",
        )
    return tuple(to_value_of(given[param.name_hint], param.type_annotation) for param in function.params)
