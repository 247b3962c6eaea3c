"""The choice at run time between a recursion and its levels: from the values that a call is given.

    @f_gain(%t, %sum)            the nanoseconds that levels save, over all instances of a value, added to `%sum`
    @f_depth(%t, %here, %most)   the number of levels with instances that recurse: this value's own is number `%here`,
                                 and `%most` is the largest number that was met before
    @f_gains(%ts, %sum), @f_depths(%ts, %most)   the same for a list of values

Both go through a value once and make nothing on the heap: the last call of each clause is a jump.
"""

from __future__ import annotations

from collections.abc import Callable

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
from relay.transform.batching.recursion import ClauseForm, Recursion

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
        return self._pays(_number(self.gains, values, _ZERO), _number(self.depths, values, _ZERO))

    def _pays(self, gain: Expr, depth: Expr) -> Expr:
        of_levels = multiply(depth, const(self.costs.level, "int64"))
        return greater(gain, add(of_levels, const(self.costs.start, "int64")))


def _number(function: GlobalVar, *args: Expr) -> Call:
    return record_type(Call(function, args), _NUMBER)


def define_choice(recursion: Recursion, costs: Costs, definitions: Definitions, lists: Lists) -> Choice:
    """Define the functions for one recursion."""
    prefix = recursion.name.name_hint
    gain, depth = definitions.fresh(f"{prefix}_gain"), definitions.fresh(f"{prefix}_depth")
    definitions.functions[gain] = _gain(gain, recursion, costs)
    definitions.functions[depth] = _depth(depth, recursion)

    def paid(total: Expr) -> Expr:
        return add(total, const(-costs.listed, "int64"))

    return Choice(
        costs,
        gain,
        depth,
        _define_over_list(f"{prefix}_gains", recursion, definitions, lists, lambda t, s: Call(gain, (t, paid(s)))),
        _define_over_list(f"{prefix}_depths", recursion, definitions, lists, lambda t, s: Call(depth, (t, _ZERO, s))),
    )


def _gain(name: GlobalVar, recursion: Recursion, costs: Costs) -> Function:
    value, total = Var("value", recursion.subject_type), Var("sum", _NUMBER)
    clauses: list[Clause] = []
    for form, gain in zip(recursion.clauses, costs.gains, strict=True):
        pattern, sub_trees = _pattern(form)
        found: Expr = add(total, const(gain, "int64"))
        for sub_tree in sub_trees:
            found = Call(name, (sub_tree, found))
        clauses.append(Clause(pattern, found))
    return Function((value, total), Match(value, tuple(clauses)), _NUMBER)


def _depth(name: GlobalVar, recursion: Recursion) -> Function:
    value, here, most = Var("value", recursion.subject_type), Var("here", _NUMBER), Var("most", _NUMBER)
    clauses: list[Clause] = []
    for form in recursion.clauses:
        pattern, sub_trees = _pattern(form)
        found: Expr = most if sub_trees else maximum(here, most)
        for sub_tree in sub_trees:
            found = Call(name, (sub_tree, add(here, _ONE), found))
        clauses.append(Clause(pattern, found))
    return Function((value, here, most), Match(value, tuple(clauses)), _NUMBER)


def _pattern(form: ClauseForm) -> tuple[PatternConstructor, list[Var]]:
    """The pattern of a clause, and the variable that each of its calls is on."""
    made = {var: Var(var.name_hint) for var in form.sub_trees}
    parts = tuple(
        PatternVar(made[var]) if var is not None and var in made else PatternWildcard() for var in form.variables
    )
    return PatternConstructor(form.constructor, parts), [made[var] for var in form.sub_trees]


def _define_over_list(
    hint: str, recursion: Recursion, definitions: Definitions, lists: Lists, of_one: Callable[[Expr, Expr], Expr]
) -> GlobalVar:
    """`name(values, found)` → `of_one(value, found)` of each value, one after another"""
    name = definitions.fresh(hint)
    values, found = Var("values", lists.of(recursion.subject_type)), Var("found", _NUMBER)
    value, rest = Var("value"), Var("rest")
    clauses = (
        Clause(
            PatternConstructor(lists.cons, (PatternVar(value), PatternVar(rest))),
            Call(name, (rest, of_one(value, found))),
        ),
        Clause(PatternConstructor(lists.nil), found),
    )
    definitions.functions[name] = Function((values, found), Match(values, clauses), _NUMBER)
    return name
