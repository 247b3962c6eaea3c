"""Calls of functions that are known: what is called, and with what."""

from __future__ import annotations

from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen
from relay.ir.expr import Call, Function, GlobalVar, Var
from relay.ir.types import FuncType, Type
from relay.transform.functions.known_values.functions import Functions
from relay.transform.functions.known_values.residual import Names
from relay.transform.functions.known_values.type_arguments import type_arguments
from relay.transform.functions.known_values.values import (
    Environment,
    KnownFunction,
    KnownName,
    PartialValue,
    title_of,
)


@frozen(eq=False)
class Site:
    """One call: who is called with what, and what becomes of its result."""

    node: Call
    callee: PartialValue
    arguments: tuple[PartialValue, ...]
    function: Function
    environment: Environment
    type_: Type
    result: Var

    @property
    def name(self) -> str:
        static = self.callee.static
        if isinstance(static, KnownName) and isinstance(static.name, GlobalVar):
            return static.name.name_hint
        return title_of(self.callee.name) or "function"


def site_of(
    node: Call,
    callee: PartialValue,
    arguments: tuple[PartialValue, ...],
    type_: Type,
    name: Var,
    functions: Functions,
    names: Names,
) -> Site | None:
    """A call, if the callee is known and may be entered."""
    match callee.static:
        case KnownFunction(function, environment):
            symbols = names.symbols
        case KnownName(GlobalVar() as known) if known in functions.module:
            function, environment = functions.normal(known), Environment(None)
            symbols = frozenset()
        case _:
            return None
    if len(function.params) != len(arguments) or not functions.may_be_entered(function, symbols):
        return None
    signature = function.checked_type
    if not isinstance(signature, FuncType):
        raise CompilerBug("known values", "a function has no function type")
    own = type_arguments(signature, arguments, type_)
    if own is None:
        return None
    inner = Environment(environment, {**environment.types, **own})
    return Site(node, callee, arguments, function, inner, type_, name)
