"""What a scope owns while its bindings are lowered, with every count made explicit.

Ownership follows Reinking et al., "Perceus: Garbage Free Reference Counting with Reuse" (PLDI 2021), section 3: a scope
owns some variables; a use that hands a value on (to a call, a cell, the result) retains it unless it is the last use,
which moves it; a value whose last use only borrowed it is released right behind; a branch releases first what it owns
and does not use. So no value outlives its last use, and a call in tail position is the last thing that happens.

Only words are owned. A scalar, or a tuple held in parts, becomes a word where one is wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from relay.arith.expr import IntExpr, Symbol
from relay.base.frozen import mutable
from relay.ir.expr import (
    Constant,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    TupleGetItem,
    Var,
)
from relay.ir.sharing import let_chain
from relay.ir.types import TensorType, TupleType, Type
from relay.lower.code.blocks import OpenBlock, OpenProcedure
from relay.lower.code.context import LoweringContext, constructor_label
from relay.lower.code.extent_code import ExtentCode
from relay.lower.code.representation import (
    Boxed,
    Representation,
    ScalarReplaced,
    Unboxed,
    representation,
)
from relay.lower.ownership.conversion import opened, packed
from relay.lower.ownership.value_locations import ValueLocations
from relay.lower.planning.liveness import FreeVariables
from relay.lower.program.place import Held, Register, Scalar
from relay.lower.program.procedure import Immediate, NewCell, NewClosure, NewConstant, Release, Retain, ScalarConstant
from relay.lower.refusal import not_native
from relay.runtime.artefact.manifest import CellLabel, Label, TensorLabel


@mutable
class Task:
    """A scope still to be lowered into `block`. It owns `owned`; its value, held as `wanted`, goes to the block `join`,
    or is the result of the procedure."""

    block: OpenBlock
    scope: Expr
    owned: dict[Var, None]
    symbols: dict[Symbol, IntExpr]
    join: OpenBlock | None
    wanted: Representation


class OpenScopes:
    """The scopes of one procedure that are still to be lowered, and where its variables are."""

    def __init__(
        self, procedure: OpenProcedure, free: FreeVariables, context: LoweringContext, result: Representation,
        visible: frozenset[Symbol],
    ) -> None:  # fmt: skip
        self.visible = visible
        self.procedure = procedure
        self.extents = ExtentCode(procedure, context)
        self.free = free
        self.context = context
        self.result = result
        self.values = ValueLocations(procedure, context)
        self.known: dict[Var, tuple[str, Function]] = {}  # local functions whose code is known
        self.tasks: list[Task] = []

    def read_symbols(self, block: OpenBlock, word: Var, symbols: dict[Symbol, IntExpr]) -> None:
        """Define the symbols of a variable's type that nothing before it determined. Those of a tuple wait for its
        fields."""
        if isinstance(word.checked_type, TensorType):
            self.extents.read(block, self.values.word(word), word.checked_type, symbols)

    def read_all_symbols(
        self, block: OpenBlock, var: Var, type_: Type | None, symbols: dict[Symbol, IntExpr]
    ) -> None:  # fmt: skip
        """The same, by a type that the value of the variable is of, with those that stand in the fields of tuples."""
        match self.values.of[var], type_:
            case tuple(parts), TupleType(fields):
                for part, field in zip(parts, fields, strict=True):
                    self.read_all_symbols(block, part, field, symbols)
            case Register() as word, TensorType() | TupleType():
                self.extents.read(block, word, type_, symbols)
            case _:
                pass


class OwningScope:
    """One chain of bindings, in the block that is open: what it uses when, and what it owns."""

    def __init__(self, scopes: OpenScopes, task: Task) -> None:
        self.scopes = scopes
        self.context = scopes.context
        self.values = scopes.values
        self.block = task.block
        self.owned = task.owned
        self.symbols = task.symbols
        self.join = task.join
        self.wanted = task.wanted
        lets, self.result = let_chain(task.scope)
        self.bindings = [(let.var, let.value) for let in lets]
        self.uses: list[dict[Var, None]] = []
        self.last: dict[Var, int] = {}
        self.tuple_uses: dict[Var, list[int]] = {}  # of tuples that this chain binds: they may be held in parts
        bound = {var for var, _ in self.bindings if isinstance(var.checked_type, TupleType)}
        for time, expr in enumerate([*(value for _, value in self.bindings), self.result]):
            used = self._used(time, expr)
            self.uses.append(used)
            self.last.update(dict.fromkeys(used, time))
            for var in used:
                if var in bound:
                    self.tuple_uses.setdefault(var, []).append(time)
        self.time = 0

    def _used(self, time: int, expr: Expr) -> dict[Var, None]:
        """What an expression uses: of tuples that are held in parts, the parts; of a projection, one of them."""
        leaves = self.values.leaves
        if isinstance(expr, TupleGetItem) and isinstance(expr.tuple_value, Var):
            held = self.values.of.get(expr.tuple_value)
            if isinstance(held, tuple):
                return dict.fromkeys(leaves(held[expr.index]))
        itself = self.bindings[time][0] if time < len(self.bindings) else None
        used = (var for var in self.scopes.free.used_by(expr) if var is not itself)
        return {leaf: None for var in used for leaf in leaves(var)}

    def _settle(self, var: Var) -> None:
        """Own what a variable that was just bound is held in."""
        if isinstance(self.values.of[var], tuple):
            for time in self.tuple_uses.get(var, ()):
                value = self.bindings[time][1] if time < len(self.bindings) else self.result
                self.uses[time] = self._used(time, value)
                self.last.update((leaf, max(time, self.last.get(leaf, 0))) for leaf in self.uses[time])
        for leaf in self.values.words(var):
            self.owned[leaf] = None
            self.scopes.read_symbols(self.block, leaf, self.symbols)

    def _drop_unused(self, var: Var) -> None:
        for leaf in self.values.words(var):
            if leaf not in self.last:
                self._drop(leaf)

    def _drop(self, var: Var) -> None:
        del self.owned[var]
        self.block.add(Release(self.values.word(var)))

    def _release_dead(self) -> None:
        for var in self.uses[self.time]:
            if var in self.owned and self.last[var] == self.time:
                self._drop(var)

    def _give(self, atoms: Sequence[Expr], wanted: Sequence[Representation]) -> tuple[Held, ...]:
        """Values, held as is wanted, for the next instruction to own."""
        return tuple(held for atom, how in zip(atoms, wanted, strict=True) for held in self._given(atom, how))

    def _give_words(self, atoms: Sequence[Expr]) -> tuple[Register, ...]:
        return tuple(map(self._word, atoms))

    def _given(self, atom: Expr, wanted: Representation) -> Iterator[Held]:
        if isinstance(wanted, Boxed):
            yield self._word(atom)
            return
        if isinstance(atom, Constant) and isinstance(wanted, Unboxed):
            yield self._scalar_constant(atom)
            return
        if not isinstance(atom, Var):
            yield self._made(atom)
            return
        match self.values.of[atom]:
            case Scalar() as scalar:
                yield scalar
            case Register() as word:
                yield from opened(self.block, self.scopes.procedure, word, wanted)
            case parts:
                yield from self._give(parts, wanted.parts if isinstance(wanted, ScalarReplaced) else ())

    def _word(self, atom: Expr) -> Register:
        """A word for a value, for the next instruction to own."""
        if not isinstance(atom, Var):
            return self._made(atom)
        match self.values.of[atom]:
            case Scalar() as scalar:
                return packed(self.block, self.scopes.procedure, self.context, iter([scalar]), self._how(atom))
            case Register() as word:
                if atom in self.owned and self.last[atom] == self.time:
                    del self.owned[atom]  # moved
                else:
                    self.block.add(Retain(word))
                return word
            case parts:
                return self._new_cell(CellLabel("tuple"), self._give_words(parts))

    def _how(self, atom: Expr) -> Representation:
        """How an atom is held, or would be."""
        return self.values.how(atom) if isinstance(atom, Var) else representation(atom.checked_type)

    def _alias(self, var: Var, atom: Expr) -> None:
        """Hold in a variable what an atom is."""
        how = self._how(atom)
        self.values.hold_in(var, how, iter(self._give([atom], [how])))

    def _scalar_constant(self, atom: Constant) -> Scalar:
        result = self.scopes.procedure.scalar(atom.dtype)
        self.block.add(ScalarConstant(result, int.from_bytes(atom.data.reshape(-1)[:1].tobytes(), "little")))
        return result

    def _made(self, atom: Expr, known: Var | None = None) -> Register:
        """A new object for an atom that is no variable."""
        result = self._register()
        match atom:
            case Constant(data=data):
                label = self.context.label(TensorLabel(atom.dtype, data.ndim))
                self.block.add(NewConstant(result, label, data.shape, self.context.place(atom)))
            case Constructor(inputs=()):
                self.block.add(Immediate(result, self.context.label(constructor_label(atom))))
            case Constructor() | GlobalVar():
                self.block.add(NewClosure(result, self._closure_label(), self.context.wrapper(atom), ()))
            case Function():
                code = self.context.closure_entry(atom, self._closure_code(atom, known))
                captures = self._give_words([*self.scopes.free.captures_but(atom, known)])
                self.block.add(NewClosure(result, self._closure_label(), code, captures))
            case _:
                raise not_native(atom, f"holds the value {type(atom).__name__}")
        return result

    def _closure_code(self, function: Function, known: Var | None) -> str:
        return self.context.closure_code(function, self.scopes.free, known, self.scopes.visible)

    def _closure_label(self) -> int:
        return self.context.label(CellLabel("closure"))

    def _register(self) -> Register:
        return self.scopes.procedure.register()

    def _new_cell(self, label: Label, fields: tuple[Register, ...]) -> Register:
        result, number = self._register(), self.context.label(label)
        self.block.add(NewCell(result, number, fields) if fields else Immediate(result, number))
        return result

    def _handed_on(self) -> dict[Var, None]:
        """What the scope owns and the choice is the last to use: it goes to whichever branch is taken."""
        dying = [var for var in self.uses[self.time] if var in self.owned and self.last[var] == self.time]
        for var in dying:
            del self.owned[var]
        return dict.fromkeys(dying)
