"""What lowering one procedure asks of the program around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from relay.arith.expr import Symbol
from relay.ir.expr import Constant, Constructor, Expr, Function, GlobalVar, Match, Var
from relay.ir.operator import Check
from relay.lower.code.representation import Convention, Path, Representation
from relay.lower.planning.kernel_calls import KernelInfo
from relay.lower.planning.liveness import FreeVariables
from relay.lower.program.device import Device
from relay.lower.program.place import ConstantPlace
from relay.runtime.artefact.failures import Failure
from relay.runtime.artefact.manifest import CellLabel, Label


class LoweringContext(Protocol):
    """Numbers, places and names that are the program's."""

    def label(self, label: Label) -> int:
        """The number of a label."""
        ...

    @property
    def apart(self) -> bool:
        """Whether each value has memory that is part of no other's."""
        ...

    def place(self, constant: Constant) -> ConstantPlace:
        """Where the data of a constant stand."""
        ...

    def kernel(self, function: Function) -> KernelInfo:
        """How the kernel of a primitive function is called."""
        ...

    def convention(self, callee: Function | GlobalVar) -> Convention:
        """How a function, global or local, is called when it is known; the closure of a local one comes first."""
        ...

    def held(self, var: Var) -> Representation:
        """How a variable is held that something else is bound to than what its scope computes."""
        ...

    def device(self, var: Var, path: Path) -> Device | None:
        """Where a tensor in nested tuples of a variable is, if not on the host."""
        ...

    def is_computed(self, var: Var) -> bool:
        """Whether operators or branches use a variable: what it is held as matters then."""
        ...

    def procedure_of(self, name: GlobalVar) -> str:
        """The procedure of a global function."""
        ...

    def closure_code(
        self, function: Function, free: FreeVariables, known: Var | None, visible: frozenset[Symbol]
    ) -> str:
        """The procedure of a local function; `known` is the variable by which it calls itself, `visible` the symbols of
        the functions around it."""
        ...

    def closure_entry(self, function: Function, code: str) -> str:
        """What a closure of a local function runs: its procedure `code`, or one that takes words and calls it."""
        ...

    def wrapper(self, value: GlobalVar | Constructor) -> str:
        """The procedure of a closure without captures that stands for a global function or a constructor."""
        ...

    def failure(self, meaning: Failure) -> int:
        """The number of the failure that means this."""
        ...

    def checks(self, node: Expr, visible: frozenset[Symbol]) -> Sequence[Check]:
        """What must hold before a call is made, a ref written, or a function's result given back. `visible` are the
        symbols of the functions around."""
        ...

    def extents_function(self, function: Function) -> Function:
        """The primitive function of another's extents, always the same one."""
        ...

    def fault_function(self, function: Function) -> Function:
        """The primitive function of an index that another refuses, always the same one."""
        ...

    def no_clause_failure(self, match: Match) -> int:
        """The number of the failure of a match none of whose clauses fits."""
        ...


def constructor_label(constructor: Constructor) -> CellLabel:
    """Constructors are known by the names of the data type and of themselves."""
    return CellLabel("data", f"{constructor.belong_to.name}.{constructor.name_hint}")
