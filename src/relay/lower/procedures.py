"""From the functions of a module to procedures: closures converted, every function that is reached lowered once.

A local function becomes a procedure whose first parameter is its closure; it begins by taking its captures out of it.
It calls itself through that parameter, so it does not capture itself and no closure is part of a cycle. Calls whose
callee is known go straight to its procedure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from relay.arith.expr import IntExpr, Symbol
from relay.base.graph import strongly_connected
from relay.infer.checks import node_checks
from relay.ir.expr import Constant, Constructor, Expr, Function, GlobalVar, Match, Var
from relay.ir.module import IRModule
from relay.ir.operator import Check
from relay.lower.blocks import OpenProcedure
from relay.lower.kernel_calls import Constants, KernelInfo, KernelOf
from relay.lower.liveness import FreeVariables
from relay.lower.place import ConstantPlace
from relay.lower.procedure import (
    CallClosure,
    CallProcedure,
    Field,
    NewCell,
    Procedure,
    Release,
    Retain,
    Return,
    TailCall,
)
from relay.lower.scope import ScopeLowering
from relay.lower.surroundings import constructor_label
from relay.lower.value_extents import extents_function
from relay.runtime.manifest import NO_CLAUSE_FITS, Label


@dataclass(slots=True, eq=False)
class _Pending:
    """A function whose procedure has a name and is still to be made."""

    name: str
    function: Function
    free: FreeVariables | None = None  # of the function around it, for a local one
    known: Var | None = None


@dataclass(slots=True, eq=False)
class Procedures:
    """The procedures of a program, made as they are asked for. `failures` are what their failures mean, by number."""

    module: IRModule
    kernel_of: KernelOf
    constants: Constants
    labels: dict[Label, int] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    finished: list[Procedure] = field(default_factory=list)
    _pending: list[_Pending] = field(default_factory=list)
    _globals: dict[GlobalVar, str] = field(default_factory=dict)
    _locals: dict[int, str] = field(default_factory=dict)
    _wrappers: dict[GlobalVar | Constructor, str] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)
    _extents: dict[int, tuple[Function, Function]] = field(default_factory=dict)

    def finish(self) -> None:
        """Make all procedures that were asked for, and those that they ask for."""
        while self._pending:
            pending = self._pending.pop(0)
            self.finished.append(self._global(pending) if pending.free is None else self._local(pending, pending.free))

    # ------------------------------------------------------------------------- what lowering a procedure asks for

    def label(self, label: Label) -> int:
        return self.labels.setdefault(label, len(self.labels))

    def place(self, constant: Constant) -> ConstantPlace:
        return self.constants.place(constant.data)

    def kernel(self, function: Function) -> KernelInfo:
        return self.kernel_of(function)

    def failure(self, meaning: str) -> int:
        return self.failures.setdefault(meaning, len(self.failures) + 1)

    def checks(self, node: Expr) -> Sequence[Check]:
        return node_checks(node, self.module, frozenset())

    def extents_function(self, function: Function) -> Function:
        return self._extents.setdefault(id(function), (function, extents_function(function)))[1]

    def no_clause_failure(self, match: Match) -> int:
        where = "" if match.span is None else f" ({match.span})"
        return self.failure(f"{NO_CLAUSE_FITS}{where}")

    def procedure_of(self, name: GlobalVar) -> str:
        if name not in self._globals:
            self._globals[name] = self._name(name.name_hint)
            self._pending.append(_Pending(self._globals[name], self.module[name]))
        return self._globals[name]

    def closure_code(self, function: Function, free: FreeVariables, known: Var | None) -> str:
        if id(function) not in self._locals:
            hint = "function" if known is None else known.name_hint
            name = self._locals[id(function)] = self._name(f"local_{hint}")
            self._pending.append(_Pending(name, function, free, known))
        return self._locals[id(function)]

    def wrapper(self, value: GlobalVar | Constructor) -> str:
        if value not in self._wrappers:
            self._wrappers[value] = self._name(f"value_{value.name_hint}")
            self.finished.append(self._wrapper(self._wrappers[value], value))
        return self._wrappers[value]

    def _name(self, hint: str) -> str:
        stem = name = re.sub(r"\W", "_", hint, flags=re.ASCII)
        number = 1
        while name in self._names:
            number += 1
            name = f"{stem}.{number}"
        self._names.add(name)
        return name

    # -------------------------------------------------------------------------------------------------- procedures

    def _global(self, pending: _Pending) -> Procedure:
        function = pending.function
        opened = OpenProcedure(pending.name)
        lowering = ScopeLowering(opened, FreeVariables(function.body), self)
        self._enter(lowering, function, ())
        return opened.closed()

    def _local(self, pending: _Pending, free: FreeVariables) -> Procedure:
        function = pending.function
        opened = OpenProcedure(pending.name)
        lowering = ScopeLowering(opened, free, self)
        itself = pending.known or Var("itself")
        lowering.known[itself] = pending.name
        self._enter(lowering, function, (itself,), tuple(free.captures_but(function, pending.known)))
        return opened.closed()

    def _enter(
        self, lowering: ScopeLowering, function: Function, closure: tuple[Var, ...], captures: Iterable[Var] = ()
    ) -> None:
        """The first block: parameters and captures become variables that the body owns."""
        opened = lowering.procedure
        variables = (*closure, *function.params)
        opened.parameters = tuple(opened.register() for _ in variables)
        lowering.registers.update(zip(variables, opened.parameters, strict=True))
        block = opened.block()
        for position, capture in enumerate(captures, start=1):
            register = lowering.registers[capture] = opened.register()
            block.add(Field(register, opened.parameters[0], position))
            block.add(Retain(register))
            variables = (*variables, capture)
        symbols: dict[Symbol, IntExpr] = {}
        for var in variables:
            lowering.read_symbols(block, var, symbols)
        lowering.run(block, function, variables, symbols)

    def _wrapper(self, name: str, value: GlobalVar | Constructor) -> Procedure:
        """A procedure that is called like a closure's: it drops the closure and does what `value` does."""
        opened = OpenProcedure(name)
        count = len(value.inputs) if isinstance(value, Constructor) else len(self.module[value].params)
        closure, *rest = opened.parameters = tuple(opened.register() for _ in range(count + 1))
        block = opened.block()
        block.add(Release(closure))
        if isinstance(value, GlobalVar):
            block.close(TailCall(self.procedure_of(value), tuple(rest)))
        else:
            result = opened.register()
            block.add(NewCell(result, self.label(constructor_label(value)), tuple(rest)))
            block.close(Return(result))
        return opened.closed()


def is_deep(procedures: Mapping[str, Procedure], start: str) -> bool:
    """Whether running procedure `start` may nest calls without a bound that the program shows: calls of closures, or
    calls that are not in tail position within a cycle of calls."""
    calls: dict[str, list[str]] = {}
    nested: dict[str, list[str]] = {}
    for name, procedure in procedures.items():
        nested[name] = [i.procedure for b in procedure.blocks for i in b.instructions if isinstance(i, CallProcedure)]
        jumps = [b.terminator.procedure for b in procedure.blocks if isinstance(b.terminator, TailCall)]
        calls[name] = [*nested[name], *jumps]
        if any(isinstance(i, CallClosure) for b in procedure.blocks for i in b.instructions):
            return True
    for component in strongly_connected([start], calls.__getitem__):
        members = set(component)
        if any(callee in members for name in component for callee in nested[name]):
            return True
    return False
