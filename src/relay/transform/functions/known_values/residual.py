"""The residual program while it is made: the open block, what refs hold, and how to undo."""

from __future__ import annotations

from dataclasses import field

from relay.arith.expr import Symbol, free_symbols
from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen, mutable
from relay.ir.expr import Expr, Var
from relay.ir.rewriting import typed_as
from relay.ir.type_traversal import has_unknown_dimension, type_leaves
from relay.ir.types import AnyDimension, IncompleteType, TensorType, Type, TypeCall, TypeVar
from relay.transform.functions.known_values.activations import Abandon, Activations, Reason
from relay.transform.functions.known_values.blocks import typed
from relay.transform.functions.known_values.store import Parts, Store
from relay.transform.functions.known_values.values import Block, Choice, PartialValue, title_of


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


@mutable
class Residual:
    """`copies`: code may come to stand in several places, so names are new and types are found anew; otherwise all keep
    theirs. `operations` were emitted inside functions that were entered, at most `max_operations`; `reductions` tells
    how often something was better known than before; `steps_left` is never given back."""

    copies: bool
    parts: Parts
    max_operations: int = 0
    steps_left: int = 0
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

    def emit(self, expr: Expr, model: Expr, type_: Type, name: Var | None) -> PartialValue:
        """Evaluate `expr`, which stands for `model`, here, and know nothing of its value but its name."""
        made = expr if self.copies else typed_as(expr, model)
        return PartialValue(None, type_, self.bind(self.block, made, type_, name), self.block, name)

    def bind(self, block: Block, expr: Expr, type_: Type, name: Var | None) -> Var:
        return self.append(block, self.named(name, type_, expr), expr)

    def named(self, name: Var | None, type_: Type, expr: Expr) -> Var:
        """The variable for a value that the program calls `name`."""
        if name is not None and not self.copies:
            return name
        return Var(title_of(name) or "v", self.annotation(type_), span=expr.span)

    def give_name(self, value: PartialValue, expr: Expr) -> Expr:
        """Make `value` where it was born: before whatever is evaluated next in that block."""
        if value.home is None:
            raise CompilerBug("known values", "a value that is made was born nowhere")
        made = expr if self.copies else typed(expr, value.type_)
        atom = self.bind(value.home, made, value.type_, value.name)
        self.set_atom(value, atom)
        return atom

    def set_atom(self, value: PartialValue, atom: Expr) -> None:
        value.atom = atom
        self._trail.append(value)

    def append(self, block: Block, var: Var, expr: Expr) -> Var:
        """Bind a variable."""
        self._count()
        block.bindings.append((var, expr))
        self._trail.append(block)
        return var

    def choose(self, choice: Choice, type_: Type, name: Var | None) -> PartialValue:
        """Evaluate a choice here."""
        self._count()
        var = self.named(name, type_, choice.node)
        self.block.choices[var] = len(self.block.bindings)
        self.block.bindings.append((var, choice))
        self._trail.append(self.block)
        return PartialValue(None, type_, var, self.block, name)

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

    def type_args(self, type_: Type) -> tuple[Type, ...]:
        """What the constructor of data is applied to, where an extent in it is `?`: its arguments may tell more."""
        if not isinstance(type_, TypeCall) or not has_unknown_dimension(type_):
            return ()
        return () if None in map(self.annotation, type_.args) else type_.args

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
