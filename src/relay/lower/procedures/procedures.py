"""From the functions of a module to procedures: closures converted, every function that is reached lowered once.

A local function becomes a procedure whose first parameter is its closure; it begins by taking its captures out of it.
It calls itself through that parameter, so it does not capture itself and no closure is part of a cycle. Calls whose
callee is known go straight to its procedure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from relay.arith.expr import IntExpr, Symbol
from relay.base.frozen import mutable
from relay.base.graph import strongly_connected
from relay.base.names.fresh_names import FreshNames
from relay.infer.checks import node_checks
from relay.ir.expr import Call, Constant, Constructor, Expr, Function, GlobalVar, Match, Var
from relay.ir.module import IRModule
from relay.ir.operator import Check
from relay.lower.code.blocks import OpenProcedure
from relay.lower.code.context import constructor_label
from relay.lower.code.conventions import Conventions
from relay.lower.code.representation import BOXED, Convention, Path, Representation, kinds
from relay.lower.code.run_time_checks import own_symbols
from relay.lower.kernels.index_faults import fault_function
from relay.lower.kernels.value_extents import extents_function
from relay.lower.ownership.conversion import boxed_procedure
from relay.lower.ownership.ownership import OpenScopes
from relay.lower.planning.kernel_calls import Constants, KernelInfo, KernelOf
from relay.lower.planning.liveness import FreeVariables
from relay.lower.procedures.scope import lower_body
from relay.lower.program.device import Device
from relay.lower.program.place import ConstantPlace
from relay.lower.program.procedure import (
    CallClosure,
    CallProcedure,
    NewCell,
    Procedure,
    Release,
    Return,
    TailCall,
)
from relay.runtime.artefact.failures import Failure, FailureKind
from relay.runtime.artefact.manifest import Label
from relay.transform.devices.flows import Key


@mutable
class _Pending:
    """A function whose procedure has a name and is still to be made."""

    name: str
    function: Function
    free: FreeVariables | None = None  # of the function around it, for a local one
    known: Var | None = None
    visible: frozenset[Symbol] = frozenset()


@mutable
class Procedures:
    """The procedures of a program, made as they are asked for. `failures` are what their failures mean, by number;
    `devices`, where the tensors of variables are that are not on the host; `apart`: no value is a part of another."""

    module: IRModule
    kernel_of: KernelOf
    constants: Constants
    devices: Mapping[Key, Device] = field(default_factory=dict[Key, Device])
    apart: bool = False
    labels: dict[Label, int] = field(default_factory=dict)
    failures: dict[Failure, int] = field(default_factory=dict)
    finished: list[Procedure] = field(default_factory=list)
    _pending: list[_Pending] = field(default_factory=list)
    _globals: dict[GlobalVar, str] = field(default_factory=dict)
    _locals: dict[int, str] = field(default_factory=dict)
    _wrappers: dict[GlobalVar | Constructor, str] = field(default_factory=dict)
    _names: FreshNames = field(default_factory=lambda: FreshNames(separator="."))
    _boxed: dict[str, str] = field(default_factory=dict)
    _extents: dict[int, tuple[Function, Function]] = field(default_factory=dict)
    _faults: dict[int, tuple[Function, Function]] = field(default_factory=dict)
    _around: dict[Var, frozenset[Symbol]] = field(default_factory=dict)  # by the let-bound functions inside
    _conventions: Conventions = field(init=False)

    def __post_init__(self) -> None:
        self._conventions = Conventions(self.module, self.devices)

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

    def failure(self, meaning: Failure) -> int:
        return self.failures.setdefault(meaning, len(self.failures) + 1)

    def checks(self, node: Expr, visible: frozenset[Symbol]) -> Sequence[Check]:
        callee = node.op if isinstance(node, Call) and isinstance(node.op, Var) else None
        return node_checks(node, self.module, visible if callee is None else self._around.get(callee, visible))

    def extents_function(self, function: Function) -> Function:
        return self._extents.setdefault(id(function), (function, extents_function(function)))[1]

    def fault_function(self, function: Function) -> Function:
        return self._faults.setdefault(id(function), (function, fault_function(function)))[1]

    def no_clause_failure(self, match: Match) -> int:
        return self.failure(Failure(FailureKind.MATCH, "" if match.span is None else str(match.span)))

    def procedure_of(self, name: GlobalVar) -> str:
        if name not in self._globals:
            self._globals[name] = self.fresh_name(name.name_hint)
            self._pending.append(_Pending(self._globals[name], self.module[name]))
        return self._globals[name]

    def convention(self, callee: Function | GlobalVar) -> Convention:
        return self._conventions.of(self.module[callee] if isinstance(callee, GlobalVar) else callee)

    def held(self, var: Var) -> Representation:
        return self._conventions.held(var)

    def device(self, var: Var, path: Path) -> Device | None:
        return self._conventions.device(var, path)

    def is_computed(self, var: Var) -> bool:
        return var in self._conventions.computed

    def boxed_procedure_of(self, name: GlobalVar) -> str:
        """A procedure of a global function that takes and gives words."""
        return self._behind(self.procedure_of(name), self.convention(name), of_closure=False)

    def closure_entry(self, function: Function, code: str) -> str:
        return self._behind(code, self.convention(function), of_closure=True)

    def _behind(self, code: str, convention: Convention, of_closure: bool) -> str:
        if convention.is_boxed:
            return code
        if code not in self._boxed:
            name = self._boxed[code] = self.fresh_name(f"boxed_{code}")
            self.finished.append(boxed_procedure(name, code, convention, self, of_closure, of_closure))
        return self._boxed[code]

    def closure_code(
        self, function: Function, free: FreeVariables, known: Var | None, visible: frozenset[Symbol]
    ) -> str:  # fmt: skip
        if id(function) not in self._locals:
            hint = "function" if known is None else known.name_hint
            name = self._locals[id(function)] = self.fresh_name(f"local_{hint}")
            self._pending.append(_Pending(name, function, free, known, visible))
            if known is not None:
                self._around[known] = visible
        return self._locals[id(function)]

    def wrapper(self, value: GlobalVar | Constructor) -> str:
        if value not in self._wrappers:
            self._wrappers[value] = self.fresh_name(f"value_{value.name_hint}")
            self.finished.append(self._wrapper(self._wrappers[value], value))
        return self._wrappers[value]

    def fresh_name(self, hint: str) -> str:
        """A name for a procedure that no other has."""
        return self._names.take(re.sub(r"\W", "_", hint, flags=re.ASCII))

    # -------------------------------------------------------------------------------------------------- procedures

    def _global(self, pending: _Pending) -> Procedure:
        function = pending.function
        opened = OpenProcedure(pending.name)
        result = self.convention(function).result
        lowering = OpenScopes(opened, FreeVariables(function), self, result, own_symbols(function))
        self._enter(lowering, function, ())
        return opened.closed()

    def _local(self, pending: _Pending, free: FreeVariables) -> Procedure:
        function = pending.function
        opened = OpenProcedure(pending.name)
        result = self.convention(function).result
        lowering = OpenScopes(opened, free, self, result, pending.visible | own_symbols(function))
        itself = pending.known or Var("itself")
        lowering.known[itself] = (pending.name, function)
        self._enter(lowering, function, (itself,), tuple(free.captures_but(function, pending.known)))
        return opened.closed()

    def _enter(
        self, lowering: OpenScopes, function: Function, closure: tuple[Var, ...], captures: Iterable[Var] = ()
    ) -> None:
        """The first block: parameters and captures become variables that the body owns."""
        opened = lowering.procedure
        opened.results = kinds(lowering.result)
        held = [*(BOXED for _ in closure), *self.convention(function).parameters]
        variables = [*closure, *function.params]
        for var, how in zip(variables, held, strict=True):
            opened.parameters += lowering.values.hold(var, how)
        block = opened.block()
        for position, capture in enumerate(captures, start=1):
            lowering.values.load(block, capture, lowering.values.word(closure[0]), position)
            variables.append(capture)
        owned = [leaf for var in variables for leaf in lowering.values.words(var)]
        symbols: dict[Symbol, IntExpr] = {}
        for var in owned:
            lowering.read_symbols(block, var, symbols)
        lower_body(lowering, block, function, owned, symbols)

    def _wrapper(self, name: str, value: GlobalVar | Constructor) -> Procedure:
        """A procedure that is called like a closure's: it drops the closure and does what `value` does."""
        if isinstance(value, GlobalVar):
            code, convention = self.procedure_of(value), self.convention(value)
            return boxed_procedure(name, code, convention, self, takes_closure=True, hands_it_on=False)
        opened = OpenProcedure(name)
        closure, *rest = opened.parameters = opened.words(len(value.inputs) + 1)
        block = opened.block()
        block.add(Release(closure))
        result = opened.register()
        block.add(NewCell(result, self.label(constructor_label(value)), tuple(rest)))
        block.close(Return((result,)))
        return opened.closed()


def is_deep(procedures: Mapping[str, Procedure], starts: Iterable[str]) -> bool:
    """Whether running one of these procedures may nest calls without a bound that the program shows: calls of closures,
    or calls that are not in tail position within a cycle of calls."""
    calls: dict[str, list[str]] = {}
    nested: dict[str, list[str]] = {}
    for name, procedure in procedures.items():
        nested[name] = [i.procedure for b in procedure.blocks for i in b.instructions if isinstance(i, CallProcedure)]
        jumps = [b.terminator.procedure for b in procedure.blocks if isinstance(b.terminator, TailCall)]
        calls[name] = [*nested[name], *jumps]
        if any(isinstance(i, CallClosure) for b in procedure.blocks for i in b.instructions):
            return True
    for component in strongly_connected(list(starts), calls.__getitem__):
        members = set(component)
        if any(callee in members for name in component for callee in nested[name]):
            return True
    return False
