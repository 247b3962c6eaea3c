"""Functions that cross the boundary of a program: how its caller runs one that came out, and how a function of the
caller's is run inside."""

from __future__ import annotations

from relay.lower.code.blocks import OpenProcedure
from relay.lower.program.procedure import CallHost, Procedure, Release, Return, TailCallClosure
from relay.lower.program.program import Entry, ValueParameter
from relay.runtime.artefact.value_types import FunctionOf, ParameterOf


def applying_entry(arity: int) -> tuple[Entry, Procedure]:
    """The entry that calls any closure with `arity` arguments, and what it runs.

    >>> print(applying_entry(1)[1])
    procedure @"apply$1"(%0, %1)
      block0():
        jump %0(%1)
    """
    name = f"apply${arity}"
    procedure = OpenProcedure(name)
    closure, *arguments = procedure.parameters = procedure.words(arity + 1)
    procedure.block().close(TailCallClosure(closure, tuple(arguments)))
    types = tuple(map(ParameterOf, range(arity)))
    inputs = (
        ValueParameter("function", FunctionOf(types, ParameterOf(arity))),
        *(ValueParameter(f"argument{position}", each) for position, each in enumerate(types)),
    )
    arguments = tuple(range(len(inputs)))
    return Entry(name, name, inputs, arguments=arguments), procedure.closed()


def host_procedure(arity: int) -> Procedure:
    """The code of closures that stand for functions of the caller's with `arity` arguments."""
    procedure = OpenProcedure(f"host${arity}")
    closure, *arguments = procedure.parameters = procedure.words(arity + 1)
    result = procedure.register()
    block = procedure.block()
    block.add(CallHost(result, closure, tuple(arguments)))
    for each in procedure.parameters:
        block.add(Release(each))
    block.close(Return((result,)))
    return procedure.closed()
