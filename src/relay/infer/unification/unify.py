"""Unification of types, with a trail. It reports a bare mismatch: who asked knows the context and writes the message.

Two relations hold between a type found and one expected. EXACT: they are the same type. ASSIGN: a value of the first
may stand where the second is expected, which differs in `?` alone: an expected `?` takes every extent.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import field
from enum import Enum
from typing import TypeAlias, Union

from relay.arith.expr import IntExpr, Symbol, free_symbols, substitute
from relay.base.frozen import frozen, mutable
from relay.infer.unification.dimensions import Agreement, agreement, open_unknowns, solve_for
from relay.ir.type_traversal import free_type_leaves, map_type, type_leaves, type_symbols
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


@frozen
class Mismatch:
    """The innermost parts that disagree, the fact in words (`784 is not 512`), and where in the whole types they
    stand (`field 1 of parameter 0`; empty at the top)."""

    found: Type
    expected: Type
    fact: str
    where: str = ""


@frozen
class Undecided:
    """Two extents of which only the run can tell whether they are the same."""

    found: IntExpr
    expected: IntExpr


Variable: TypeAlias = Union[IncompleteType, Symbol]
"""What unification finds: types, and extents."""


@mutable(eq=True)
class Unifier:
    """What is known of the type variables and of the flexible symbols so far.

    `undecided` collects pairs of extents that are equal only if the run says so, `postponed` those that depend on
    flexible symbols which are not solved yet; `visible` are the symbols of the functions around, which no function type
    inside quantifies. Every change is on the trail: `snapshot` and `rollback` undo them.
    """

    bindings: dict[IncompleteType, Type] = field(default_factory=dict)
    extents: dict[Symbol, IntExpr] = field(default_factory=dict)
    flexible: set[Symbol] = field(default_factory=set)
    undecided: list[Undecided] = field(default_factory=list)
    postponed: list[Undecided] = field(default_factory=list)
    visible: frozenset[Symbol] = frozenset()
    _trail: list[Variable] = field(default_factory=list)
    _told: int = 0  # how much of the trail `newly_solved` has told

    # ---------------------------------------------------------------------------------------------- variables

    def fresh_symbol(self, name: str) -> Symbol:
        """A symbol that unification may solve."""
        symbol = Symbol(name)
        self.flexible.add(symbol)
        return symbol

    def instance(self, type_: FuncType, arguments: Mapping[TypeVar, Type], own: Set[Symbol]) -> FuncType:
        """A function type for one use: with `arguments` for its type parameters, and other symbols, which may be
        solved, for its `own`."""
        if not arguments and not own:
            return type_
        fresh = {symbol: self.fresh_symbol(symbol.name) for symbol in sorted(own, key=lambda symbol: symbol.name)}
        return instantiate(type_, arguments, fresh)

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
        bound = self.resolve(variable)
        return bound if bound is variable else self.zonk(bound)

    def extent(self, dim: IntExpr) -> IntExpr:
        """`dim` with the symbols that are solved put in."""
        if isinstance(dim, int) or not self.extents or self.extents.keys().isdisjoint(free_symbols(dim)):
            return dim
        return self.extent(substitute(dim, self.extents))

    def newly_solved(self) -> list[Variable]:
        """The variables solved since this was last asked."""
        solved = self._trail[self._told :]
        self._told = len(self._trail)
        return solved

    def take_postponed(self) -> list[Undecided]:
        """The pairs that wait for symbols, which whoever asks looks at again with `relate_extents`."""
        postponed, self.postponed = self.postponed, []
        return postponed

    def snapshot(self) -> tuple[int, int, int]:
        """A point to go back to."""
        return len(self._trail), len(self.undecided), len(self.postponed)

    def rollback(self, point: tuple[int, int, int]) -> None:
        """Forget everything since `point`. Nobody has been told since then of what was solved."""
        trail, undecided, postponed = point
        while len(self._trail) > trail:
            variable = self._trail.pop()
            if isinstance(variable, Symbol):
                del self.extents[variable]
            else:
                del self.bindings[variable]
        del self.undecided[undecided:]
        del self.postponed[postponed:]

    def forget(self) -> None:
        """Start anew, when every type has been put in its final form."""
        for part in (self.bindings, self.extents, self.flexible, self.undecided, self.postponed, self._trail):
            part.clear()
        self._told = 0

    def bind(self, variable: IncompleteType, type_: Type) -> Mismatch | None:
        """Decide what an open variable is; `type_` must not contain it, since no type is infinite."""
        whole = self.zonk(type_)
        if any(leaf is variable for leaf in type_leaves(whole)):
            return Mismatch(variable, whole, "a type cannot contain itself")
        self.bindings[variable] = type_
        self._trail.append(variable)
        return None

    def _bind_extent(self, symbol: Symbol, value: IntExpr) -> None:
        self.extents[symbol] = value
        self._trail.append(symbol)

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
                parts = self.zonk(mismatch.found), self.zonk(mismatch.expected)
                where = place_of(parts, self.zonk(found), self.zonk(expected))
                self.rollback(point)
                return Mismatch(mismatch.found, mismatch.expected, mismatch.fact, where)
        return None

    def _step(self, found: Type, expected: Type, mode: Mode, stack: list[tuple[Type, Type, Mode]]) -> Mismatch | None:
        if found is expected:
            return None
        match found, expected:
            case IncompleteType(), _:
                return self.bind(found, expected)
            case _, IncompleteType():
                return self.bind(expected, found)
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

    def _functions(
        self, found: FuncType, expected: FuncType, mode: Mode, stack: list[tuple[Type, Type, Mode]]
    ) -> Mismatch | None:
        if len(found.arg_types) != len(expected.arg_types):
            return Mismatch(found, expected, f"{len(found.arg_types)} parameters are not {len(expected.arg_types)}")
        if expected.type_params or (found.type_params and mode is Mode.EXACT):
            return self._quantified(found, expected, mode)
        symbols = self.visible | self.flexible
        own = {s for arg in found.arg_types for s in type_symbols(arg)} - symbols - set(type_symbols(expected))
        here = self.instance(found, holes_for(found), own)
        stack.append((here.ret_type, expected.ret_type, mode))
        given = expected.arg_types
        if mode is Mode.ASSIGN:  # whoever calls it gives arguments of some extent, however little is known of it
            given = tuple(open_unknowns(self.zonk(argument)) for argument in given)
        pairs = zip(here.arg_types, given, strict=True)
        stack.extend((other, one, mode) for one, other in reversed(tuple(pairs)))
        return None

    def _quantified(self, found: FuncType, expected: FuncType, mode: Mode) -> Mismatch | None:
        """`found` must be at least as general as `expected`; for EXACT they must be the same but for the names and the
        order of their type parameters."""
        if mode is Mode.EXACT and len(found.type_params) != len(expected.type_params):
            return Mismatch(found, expected, "the functions have different numbers of type parameters")
        inside = FuncType(expected.arg_types, expected.ret_type)
        if found.type_params == expected.type_params:
            return self.relate(FuncType(found.arg_types, found.ret_type), inside, mode)
        holes = holes_for(found)
        mismatch = self.relate(self.instance(found, holes, set()), inside, mode)
        if mismatch is not None:
            return mismatch
        images = [self.resolve(hole) for hole in holes.values()]
        if mode is Mode.EXACT and not (len(set(images)) == len(images) and set(images) <= set(expected.type_params)):
            return Mismatch(found, expected, f"{self.zonk(found)} is not {self.zonk(expected)}")
        kept = free_type_leaves(self.zonk(found))
        escaped = [variable.name for variable in expected.type_params if variable in kept]
        if escaped:
            names = ", ".join(escaped)
            return Mismatch(found, expected, f"the function does not work for every {names}")
        return None


def holes_for(type_: FuncType) -> dict[TypeVar, Type]:
    """A type to be found for each type parameter."""
    return {variable: IncompleteType(reason=f"type parameter {variable.name}") for variable in type_.type_params}


def place_of(parts: tuple[Type, Type], found: Type, expected: Type) -> str:
    """Where two types first hold `parts` at the same place, innermost place first; the empty string at the top.

    >>> from relay.ir.types import scalar_type
    >>> one, other = scalar_type("bool"), scalar_type("int8")
    >>> place_of((one, other), TupleType((one, RefType(one))), TupleType((one, RefType(other))))
    'the content of field 1'
    """
    stack: list[tuple[Type, Type, tuple[str, ...]]] = [(found, expected, ())]
    while stack:
        one, other, path = stack.pop()
        if (one, other) == parts or (other, one) == parts:
            return " of ".join(reversed(path))
        stack.extend((a, b, (*path, name)) for a, b, name in reversed(_parts(one, other)))
    return ""


def _parts(one: Type, other: Type) -> list[tuple[Type, Type, str]]:
    """The parts that stand at the same places of two types, with the names of the places."""
    match one, other:
        case TupleType(a), TupleType(b):
            return [(left, right, f"field {i}") for i, (left, right) in enumerate(zip(a, b, strict=False))]
        case FuncType(a, result), FuncType(b, other_result):
            pairs = enumerate(zip(a, b, strict=False))
            return [*((p, q, f"parameter {i}") for i, (p, q) in pairs), (result, other_result, "the result")]
        case RefType(a), RefType(b):
            return [(a, b, "the content")]
        case TypeCall(func, a), TypeCall(_, b):
            return [(p, q, f"argument {i} of {func}") for i, (p, q) in enumerate(zip(a, b, strict=False))]
        case _:
            return []


def instantiate(type_: FuncType, variables: Mapping[TypeVar, Type], symbols: Mapping[Symbol, Symbol]) -> FuncType:
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
