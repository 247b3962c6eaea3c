"""The choice at run time between a recursion and its levels: from the values that a call is given.

    @f_gain(%t, %sum)            the nanoseconds that levels save, over all instances of a value, added to `%sum`
    @f_depth(%t, %here, %most)   the number of levels: those above this value are `%here`, and `%most` is the largest
                                 number that was met before
    @f_gains(%ts, %sum), @f_depths(%ts, %here, %most)   the same for a list of values

Both go through a value once and make nothing on the heap: the last call of each clause is a jump.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from relay.base.frozen import frozen
from relay.ir.expr import (
    Call,
    Clause,
    Expr,
    Function,
    GlobalVar,
    Match,
    PatternConstructor,
    PatternVar,
    PatternWildcard,
    Var,
    const,
    record_type,
)
from relay.ir.types import scalar_type
from relay.ops.elementwise.comparison import greater
from relay.ops.elementwise.elementwise_binary import add, maximum, multiply
from relay.transform.batching.costs import Costs
from relay.transform.batching.definitions import Definitions, Lists
from relay.transform.batching.recursions.clause_form import Branch, ClauseForm
from relay.transform.batching.recursions.recursion import Member, Recursion

_NUMBER = scalar_type("int64")
_ZERO, _ONE = const(0, "int64"), const(1, "int64")


@frozen(eq=False)
class Choice:
    """The functions that tell whether levels pay."""

    costs: Costs
    gain: GlobalVar
    depth: GlobalVar
    gains: GlobalVar
    depths: GlobalVar

    def pays(self, value: Expr) -> Expr:
        """Whether levels pay for one value."""
        return self._pays(_number(self.gain, value, _ZERO), _number(self.depth, value, _ZERO, _ZERO))

    def pays_together(self, values: Expr) -> Expr:
        """Whether they pay for a list of values."""
        return self._pays(_number(self.gains, values, _ZERO), _number(self.depths, values, _ZERO, _ZERO))

    def _pays(self, gain: Expr, depth: Expr) -> Expr:
        of_levels = multiply(depth, const(self.costs.level, "int64"))
        return greater(gain, add(of_levels, const(self.costs.start, "int64")))


def _number(function: GlobalVar, *args: Expr) -> Call:
    return record_type(Call(function, args), _NUMBER)


def define_choices(
    recursion: Recursion, wanted: Sequence[Member], costs: Costs, definitions: Definitions, lists: Lists
) -> dict[Member, Choice]:
    """Define the functions for one recursion, and those for lists for the functions that are wanted."""
    making = _Making(recursion, costs, definitions, lists)
    making.define()
    found: dict[Member, Choice] = {}
    for member in wanted:
        gain, depth = making.gains[member.name], making.depths[member.name]
        prefix = member.name.name_hint
        gains = making.over_list(f"{prefix}_gains", member, _adding(gain, -costs.listed))
        depths = making.over_list(f"{prefix}_depths", member, _counting(depth), here=True)
        found[member] = Choice(costs, gain, depth, gains, depths)
    return found


OfOne = Callable[..., Expr]


def _adding(gain: GlobalVar, more: int) -> OfOne:
    """What one value gains, and `more`, added to what was found."""
    return lambda value, found: Call(gain, (value, add(found, const(more, "int64")) if more else found))


def _counting(depth: GlobalVar) -> OfOne:
    return lambda value, here, found: Call(depth, (value, here, found))


class _Making:
    """Defines the functions of one recursion."""

    def __init__(self, recursion: Recursion, costs: Costs, definitions: Definitions, lists: Lists) -> None:
        self.recursion = recursion
        self.definitions = definitions
        self.lists = lists
        self.of_clause = {form: found for (_, form), found in zip(recursion.clauses, costs.clauses, strict=True)}
        names = [member.name for member in recursion.members]
        self.member_of = dict(zip(names, recursion.members, strict=True))
        self.gains = {name: definitions.fresh(f"{name.name_hint}_gain") for name in names}
        self.depths = {name: definitions.fresh(f"{name.name_hint}_depth") for name in names}
        self.depths_of_elements: dict[Member, GlobalVar] = {}

    def define(self) -> None:
        for member in self.recursion.members:
            self.definitions.functions[self.gains[member.name]] = self._gain(member)
            self.definitions.functions[self.depths[member.name]] = self._depth(member)

    def _gain(self, member: Member) -> Function:
        value, total = Var("value", member.subject_type), Var("sum", _NUMBER)
        clauses: list[Clause] = []
        for form in member.clauses:
            pattern, made = _pattern(form)
            costs = self.of_clause[form]
            found: Expr = add(total, const(costs.gain, "int64"))
            for branch, of_element in zip(form.branches, costs.elements, strict=True):
                found = self._gain_below(form, branch, of_element, made[branch.on], found)
            clauses.append(Clause(pattern, found))
        return Function((value, total), Match(value, tuple(clauses)), _NUMBER)

    def _gain_below(self, form: ClauseForm, branch: Branch, of_element: int, on: Var, found: Expr) -> Expr:
        gain = self.gains[branch.callee]
        if not branch.many:
            return Call(gain, (on, found))
        hint = f"{branch.callee.name_hint}_gain_of_{form.constructor.name_hint}_{branch.on.name_hint}"
        of_all = self.over_list(hint, self.member_of[branch.callee], _adding(gain, of_element))
        return Call(of_all, (on, found))

    def _depth(self, member: Member) -> Function:
        value, here, most = Var("value", member.subject_type), Var("here", _NUMBER), Var("most", _NUMBER)
        clauses: list[Clause] = []
        for form in member.clauses:
            pattern, made = _pattern(form)
            below = add(here, _ONE)
            found: Expr = maximum(below, most) if member.on_levels(form) else most
            for branch in form.branches:
                depth = self._depths_of(branch) if branch.many else self.depths[branch.callee]
                found = Call(depth, (made[branch.on], below, found))
            clauses.append(Clause(pattern, found))
        return Function((value, here, most), Match(value, tuple(clauses)), _NUMBER)

    def _depths_of(self, branch: Branch) -> GlobalVar:
        """The depths of all elements of a list."""
        callee = self.member_of[branch.callee]
        if callee not in self.depths_of_elements:
            hint = f"{callee.name.name_hint}_depth_of_elements"
            of_one = _counting(self.depths[callee.name])
            self.depths_of_elements[callee] = self.over_list(hint, callee, of_one, here=True)
        return self.depths_of_elements[callee]

    def over_list(self, hint: str, member: Member, of_one: OfOne, here: bool = False) -> GlobalVar:
        """`name(values, here?, found)` → `of_one(value, here?, found)` of each value, one after another"""
        name = self.definitions.fresh(hint)
        values, found = Var("values", self.lists.of(member.subject_type)), Var("found", _NUMBER)
        same = (Var("here", _NUMBER),) if here else ()
        value, rest = Var("value"), Var("rest")
        clauses = (
            Clause(
                PatternConstructor(self.lists.cons, (PatternVar(value), PatternVar(rest))),
                Call(name, (rest, *same, of_one(value, *same, found))),
            ),
            Clause(PatternConstructor(self.lists.nil), found),
        )
        self.definitions.functions[name] = Function((values, *same, found), Match(values, clauses), _NUMBER)
        return name


def _pattern(form: ClauseForm) -> tuple[PatternConstructor, Mapping[Var, Var]]:
    """The pattern of a clause, and a new variable for each that its calls are on."""
    made = {branch.on: Var(branch.on.name_hint) for branch in form.branches}
    parts = tuple(
        PatternVar(made[var]) if var is not None and var in made else PatternWildcard() for var in form.variables
    )
    return PatternConstructor(form.constructor, parts), made
