"""Unification of types, with a trail. It reports a bare mismatch: who asked knows the context and writes the message.

Two relations hold between a type found and one expected. EXACT: they are the same type. ASSIGN: a value of the first
may stand where the second is expected, which differs in `?` alone: an expected `?` takes every extent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from relay.arith.expr import IntExpr, Symbol, free_symbols, substitute
from relay.infer.dimensions import Agreement, agreement, solve_for
from relay.ir.type_traversal import map_type, type_leaves, type_symbols
from relay.ir.types import (
    AnyDimension,
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeVar,
)


class Mode(Enum):
    """How a found type must relate to the expected one."""

    EXACT = "exact"
    ASSIGN = "assign"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The innermost parts that disagree, and the fact in words (`784 is not 512`)."""

    found: Type
    expected: Type
    fact: str


@dataclass(frozen=True, slots=True)
class Undecided:
    """Two extents of which only the run can tell whether they are the same."""

    found: IntExpr
    expected: IntExpr


@dataclass(slots=True)
class Unifier:
    """What is known of the type variables and of the flexible symbols so far.

    `undecided` collects pairs of extents that are equal only if the run says so; `refined` the variables bound since
    it was last emptied. Every change is on the trail: `snapshot` and `rollback` undo them.
    """

    bindings: dict[IncompleteType, Type] = field(default_factory=dict)
    extents: dict[Symbol, IntExpr] = field(default_factory=dict)
    flexible: set[Symbol] = field(default_factory=set)
    undecided: list[Undecided] = field(default_factory=list)
    postponed: list[Undecided] = field(default_factory=list)
    refined: list[IncompleteType | Symbol] = field(default_factory=list)
    _trail: list[IncompleteType | Symbol] = field(default_factory=list)

    # ---------------------------------------------------------------------------------------------- variables

    def fresh_symbol(self, name: str) -> Symbol:
        """A symbol that unification may solve."""
        symbol = Symbol(name)
        self.flexible.add(symbol)
        return symbol

    def resolve(self, type_: Type) -> Type:
        """`type_` with its outermost variable followed."""
        while isinstance(type_, IncompleteType):
            bound = self.bindings.get(type_)
            if bound is None:
                return type_
            type_ = bound
        return TypeCall(type_, ()) if isinstance(type_, GlobalTypeVar) else type_

    def zonk(self, type_: Type) -> Type:
        """`type_` with everything known put in, everywhere."""
        if not self.bindings and not self.extents:
            return type_
        return map_type(type_, self._variable, self.extent if self.extents else None)

    def _variable(self, variable: TypeVar | IncompleteType) -> Type:
        if isinstance(variable, TypeVar):
            return variable
        bound = self.resolve(variable)
        return bound if bound is variable else self.zonk(bound)

    def extent(self, dim: IntExpr) -> IntExpr:
        """`dim` with the symbols that are solved put in."""
        if isinstance(dim, int) or not self.extents or free_symbols(dim).isdisjoint(self.extents):
            return dim
        return self.extent(substitute(dim, self.extents))

    def snapshot(self) -> tuple[int, int, int]:
        """A point to go back to."""
        return len(self._trail), len(self.undecided), len(self.postponed)

    def rollback(self, point: tuple[int, int, int]) -> None:
        """Forget everything since `point`."""
        trail, undecided, postponed = point
        while len(self._trail) > trail:
            variable = self._trail.pop()
            if isinstance(variable, Symbol):
                del self.extents[variable]
            else:
                del self.bindings[variable]
            if variable in self.refined:
                self.refined.remove(variable)
        del self.undecided[undecided:]
        del self.postponed[postponed:]

    def forget(self) -> None:
        """Start anew, when every type has been put in its final form."""
        for part in (self.bindings, self.extents, self.flexible, self.undecided, self.refined, self._trail):
            part.clear()

    def _bind_type(self, variable: IncompleteType, type_: Type) -> Mismatch | None:
        whole = self.zonk(type_)
        if any(leaf is variable for leaf in type_leaves(whole)):
            return Mismatch(variable, whole, "a type cannot contain itself")
        self.bindings[variable] = type_
        self._trail.append(variable)
        self.refined.append(variable)
        return None

    def _bind_extent(self, symbol: Symbol, value: IntExpr) -> None:
        self.extents[symbol] = value
        self._trail.append(symbol)
        self.refined.append(symbol)

    # ---------------------------------------------------------------------------------------------- relations

    def relate(self, found: Type, expected: Type, mode: Mode) -> Mismatch | None:
        """Make `found` relate to `expected`, or say why it cannot; then nothing has changed.

        >>> unifier, hole = Unifier(), IncompleteType()
        >>> unifier.relate(TupleType((hole,)), TupleType((TupleType(()),)), Mode.EXACT)
        >>> print(unifier.zonk(hole))
        ()
        """
        if found is expected:
            return None
        point = self.snapshot()
        stack = [(found, expected, mode)]
        while stack:
            one, other, how = stack.pop()
            mismatch = self._step(self.resolve(one), self.resolve(other), how, stack)
            if mismatch is not None:
                self.rollback(point)
                return mismatch
        return None

    def _step(self, found: Type, expected: Type, mode: Mode, stack: list[tuple[Type, Type, Mode]]) -> Mismatch | None:
        if found is expected:
            return None
        match found, expected:
            case IncompleteType(), _:
                return self._bind_type(found, expected)
            case _, IncompleteType():
                return self._bind_type(expected, found)
            case TensorType(), TensorType():
                return self._tensors(found, expected, mode)
            case TupleType(one), TupleType(other) if len(one) == len(other):
                stack.extend((a, b, mode) for a, b in reversed(tuple(zip(one, other, strict=True))))
                return None
            case TupleType(one), TupleType(other):
                return Mismatch(found, expected, f"{len(one)} fields are not {len(other)}")
            case RefType(one), RefType(other):
                stack.append((one, other, Mode.EXACT))
                return None
            case TypeCall(one, args), TypeCall(other, others) if one == other and len(args) == len(others):
                stack.extend((a, b, mode) for a, b in reversed(tuple(zip(args, others, strict=True))))
                return None
            case FuncType(), FuncType():
                return self._functions(found, expected, mode, stack)
            case _:
                return Mismatch(found, expected, f"{self.zonk(found)} is not {self.zonk(expected)}")

    def _tensors(self, found: TensorType, expected: TensorType, mode: Mode) -> Mismatch | None:
        if found.dtype != expected.dtype:
            return Mismatch(found, expected, f"{found.dtype} is not {expected.dtype}")
        if len(found.shape) != len(expected.shape):
            return Mismatch(found, expected, f"rank {len(found.shape)} is not rank {len(expected.shape)}")
        for one, other in zip(found.shape, expected.shape, strict=True):
            fact = self.relate_extents(one, other, mode)
            if fact:
                return Mismatch(found, expected, fact)
        return None

    def relate_extents(self, found: IntExpr, expected: IntExpr, mode: Mode) -> str:
        """Make two extents equal; the empty string when they are or may be, else the fact that they are not."""
        found, expected = self.extent(found), self.extent(expected)
        if found == expected or (mode is Mode.ASSIGN and isinstance(expected, AnyDimension)):
            return ""
        if isinstance(found, AnyDimension) or isinstance(expected, AnyDimension):
            return f"{found} is not {expected}: the extent is unknown here"
        unknowns = (free_symbols(found) | free_symbols(expected)) & self.flexible
        solution = solve_for(found, expected, unknowns) if unknowns else None
        if solution is not None:
            self._bind_extent(solution.symbol, solution.value)
            return ""
        verdict = agreement(found, expected)
        if verdict is Agreement.NEVER:
            return f"{found} is not {expected}"
        if verdict is Agreement.UNDECIDED:
            (self.postponed if unknowns else self.undecided).append(Undecided(found, expected))
        return ""

    def settle_postponed(self) -> str:
        """Look again at the extents whose symbols were not solved then; a fact when two cannot be equal."""
        postponed, self.postponed = self.postponed, []
        for pair in postponed:
            fact = self.relate_extents(pair.found, pair.expected, Mode.EXACT)
            if fact:
                return fact
        return ""

    def _functions(
        self, found: FuncType, expected: FuncType, mode: Mode, stack: list[tuple[Type, Type, Mode]]
    ) -> Mismatch | None:
        if len(found.arg_types) != len(expected.arg_types):
            return Mismatch(found, expected, f"{len(found.arg_types)} parameters are not {len(expected.arg_types)}")
        if len(found.type_params) != len(expected.type_params):
            return Mismatch(found, expected, "the functions have different numbers of type parameters")
        renamed = dict(zip(found.type_params, expected.type_params, strict=True))
        symbols = set(type_symbols(expected))
        fresh = {s: self.fresh_symbol(s.name) for arg in found.arg_types for s in type_symbols(arg) if s not in symbols}
        found_here = instantiate(found, dict(renamed), fresh) if renamed or fresh else found
        stack.append((found_here.ret_type, expected.ret_type, mode))
        pairs = zip(found_here.arg_types, expected.arg_types, strict=True)
        stack.extend((other, one, mode) for one, other in reversed(tuple(pairs)))
        return None


def instantiate(type_: FuncType, variables: dict[TypeVar, Type], symbols: dict[Symbol, Symbol]) -> FuncType:
    """A function type with its own parameters replaced: `variables` for type parameters, `symbols` for extents."""

    def variable(leaf: TypeVar | IncompleteType) -> Type:
        return variables.get(leaf, leaf) if isinstance(leaf, TypeVar) else leaf

    def dimension(dim: IntExpr) -> IntExpr:
        return dim if isinstance(dim, int) or not symbols else substitute(dim, symbols)

    return FuncType(
        tuple(map_type(arg, variable, dimension) for arg in type_.arg_types),
        map_type(type_.ret_type, variable, dimension),
        (),
    )
