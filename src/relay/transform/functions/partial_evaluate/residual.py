"""The residual program while it is made: the open block, what refs hold, and how to undo."""

from __future__ import annotations

from dataclasses import dataclass, field

from relay.arith.expr import Symbol, free_symbols
from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen
from relay.ir.expr import Expr, Var
from relay.ir.type_traversal import map_type, type_leaves
from relay.ir.types import AnyDimension, IncompleteType, TensorType, Type, TypeVar
from relay.transform.functions.partial_evaluate.activations import Abandon, Activations, Reason
from relay.transform.functions.partial_evaluate.block import Block
from relay.transform.functions.partial_evaluate.store import Parts, Store
from relay.transform.functions.partial_evaluate.values import PartialValue, TypeArguments


@frozen
class Checkpoint:
    """All that `Residual.restore` brings back."""

    block: Block
    store: Store
    names: Names
    branches: int
    activations: int
    trail: int
    operations: int
    reductions: int
    variants: int


@frozen(eq=False)
class Names:
    """The type variables and dimension symbols that annotations may speak of here."""

    type_vars: frozenset[TypeVar] = frozenset()
    symbols: frozenset[Symbol] = frozenset()


@dataclass(slots=True, eq=False)
class Residual:
    """`operations` were emitted inside functions that were entered, at most `max_operations`; `reductions` tells how
    often something was better known than before; `steps_left` is never given back."""

    parts: Parts
    max_operations: int
    steps_left: int
    block: Block = field(default_factory=Block)
    names: Names = field(default_factory=Names)
    activations: Activations = field(default_factory=Activations)
    branches: int = 0
    operations: int = 0
    reductions: int = 0
    locations: int = 0
    variants: list[object] = field(default_factory=list)
    store: Store = field(init=False)
    _trail: list[PartialValue | Block] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.store = Store(self.parts, 0)

    # -------------------------------------------------------------------------------------------------- emitting

    def emit(self, expr: Expr, type_: Type, hint: str) -> PartialValue:
        """Evaluate `expr` here, and know nothing of its value but its name."""
        return PartialValue(None, type_, self.bind(self.block, expr, type_, hint), self.block, hint)

    def bind(self, block: Block, expr: Expr, type_: Type, hint: str) -> Var:
        self._count()
        var = Var(hint or "v", self.annotation(type_), span=expr.span)
        block.bindings.append((var, expr))
        self._trail.append(block)
        return var

    def give_name(self, value: PartialValue, expr: Expr) -> Expr:
        """Make `value` where it was born: before whatever is evaluated next in that block."""
        if value.home is None:
            raise CompilerBug("PartialEvaluate", "a value that is made was born nowhere")
        atom = self.bind(value.home, expr, value.type_, value.hint)
        self.set_atom(value, atom)
        return atom

    def set_atom(self, value: PartialValue, atom: Expr) -> None:
        value.atom = atom
        self._trail.append(value)

    def append(self, block: Block, var: Var, expr: Expr) -> None:
        """Bind a variable that there is already."""
        self._count()
        block.bindings.append((var, expr))
        self._trail.append(block)

    def _count(self) -> None:
        if self.activations.entered:
            self.operations += 1
            if self.operations > self.max_operations:
                self.give_up()

    def step(self) -> None:
        """One more node is evaluated inside a function that was entered."""
        if self.activations.entered:
            self.steps_left -= 1
            if self.steps_left == 0:
                self.give_up()

    def give_up(self) -> None:
        victim = self.activations.to_abandon()
        if victim is not None:
            raise Abandon(victim, Reason.LIMIT)

    # ------------------------------------------------------------------------------------------------------ types

    def annotation(self, type_: Type) -> Type | None:
        """`type_` where text may say it here; None where only inference can."""
        for leaf in type_leaves(type_):
            if isinstance(leaf, TensorType):
                for dim in leaf.shape:
                    known = isinstance(dim, int | AnyDimension) or free_symbols(dim) <= self.names.symbols
                    if not known:
                        return None
            elif isinstance(leaf, IncompleteType) or (isinstance(leaf, TypeVar) and leaf not in self.names.type_vars):
                return None
        return type_

    def new_var(self, model: Var, type_: Type) -> Var:
        return Var(model.name_hint, self.annotation(type_), span=model.span)

    # ------------------------------------------------------------------------------------------------------- undo

    def checkpoint(self) -> Checkpoint:
        return Checkpoint(
            self.block, self.store.copy(), self.names, self.branches, len(self.activations.stack), len(self._trail),
            self.operations, self.reductions, len(self.variants),
        )  # fmt: skip

    def restore(self, to: Checkpoint) -> list[object]:
        """Undo everything since `to`; the variants that were made since are given back."""
        while len(self._trail) > to.trail:
            entry = self._trail.pop()
            if isinstance(entry, Block):
                entry.bindings.pop()
            else:
                entry.atom = None
        self.block, self.store, self.names, self.branches = to.block, to.store, to.names, to.branches
        self.operations, self.reductions = to.operations, to.reductions
        self.activations.cut(to.activations)
        dropped = self.variants[to.variants :]
        del self.variants[to.variants :]
        return dropped


def instantiated(type_: Type, types: TypeArguments) -> Type:
    """The type of a node in an activation where its type parameters stand for `types`."""
    if not types:
        return type_
    return map_type(type_, variable=lambda each: types.get(each, each) if isinstance(each, TypeVar) else each)
