"""How often a group computes its values: what fusion must weigh where an operator reads an element more than once.

    once:            nn.relu of what `add` gives, `transpose`, `concatenate`, `strided_slice`, `nn.pad`
    for each use:    exp(%b) of (64,) in add(%x, exp(%b)) of (64, 64); sigmoid in front of `repeat`, `take`, `resize2d`;
                     add(%y, reverse(%y)) reads %y at two places

Formulas of groups without a heavy operator are inlined where they are read, so a value is computed for each place at
which it is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field

from relay.base.frozen import mutable
from relay.ir.expr import Expr
from relay.ir.types import TensorType
from relay.transform.fusion.formulas import Formula, Read, elements
from relay.transform.fusion.graph import Node

FREE_OPERATIONS = 512
"""What a kernel may compute again: it takes no longer than to call another one."""
_MOST_PLACES = 16


def operations(members: Sequence[Node]) -> int:
    """The operations for one element, if each member is computed once for it."""
    return sum(member.formula.operations for member in members)


def repeated(members: Sequence[Node], result: Node) -> float:
    """The operations that a group does more than once, if `result` is computed once. Members are in order."""
    if not any(_made_inside(members, lambda formula: formula.elsewhere)):
        return 0.0
    by_call: dict[Expr, Node] = {member.call: member for member in members}
    places = _Places()
    places.of[result] = {0: elements(result.call)}
    total = 0.0
    for member in reversed(members):
        found = places.of.get(member, {})
        if len(found) > _MOST_PLACES:
            return math.inf
        size = elements(member.call)
        total += member.formula.operations * max(0.0, sum(found.values()) - size)
        inputs = member.operands
        for number, read in enumerate(member.formula.reads):
            maker = by_call.get(inputs[read.operand])
            if maker is not None:
                places.add(maker, (member, number), read, found, elements(maker.call) / max(size, 1))
    return total


def gathers(members: Sequence[Node]) -> bool:
    """Whether what reads elements from all over is itself read across: no vector of it is contiguous."""
    return any(maker.formula.scatters for maker in _made_inside(members, lambda formula: formula.across))


def _made_inside(members: Sequence[Node], operand_numbers: Callable[[Formula], frozenset[int]]) -> Iterator[Node]:
    """The members that make these operands of others."""
    reading = [(member, numbers) for member in members if (numbers := operand_numbers(member.formula))]
    by_call: dict[Expr, Node] = {member.call: member for member in members} if reading else {}
    for member, numbers in reading:
        inputs = member.operands
        yield from (by_call[inputs[number]] for number in numbers if inputs[number] in by_call)


def turns(members: Sequence[Node]) -> bool:
    """Whether these calls read along another axis than they write: a kernel of one result turns squares of what they
    read in registers, one of several would gather."""
    return any(member.formula.across for member in members)


def regroups_what_is_turned(members: Sequence[Node]) -> bool:
    """Whether a reshape gives other rows to what a transposition made: a kernel that turns squares of it in registers
    must know its rows. Behind its group the reshape is a view."""
    turned: set[Expr] = set()
    for member in members if turns(members) else ():
        is_of_turned = any(operand in turned for operand in member.operands)
        if is_of_turned and member.record.is_view and _has_other_rows(member):
            return elements(member.call) > FREE_OPERATIONS
        if is_of_turned or member.formula.across:
            turned.add(member.call)
    return False


def _has_other_rows(view: Node) -> bool:
    """Whether the result of a reshape differs from its operand in more than axes of one element."""
    before, after = (
        [extent for extent in each.checked_type.shape if extent != 1]
        for each in (view.operands[0], view.call)
        if isinstance(each.checked_type, TensorType)
    )
    return before != after


@mutable
class _Places:
    """The places at which values are read, by number, and how many elements are computed for each; 0 is the place of
    the group's result."""

    of: dict[Node, dict[int, float]] = field(default_factory=dict[Node, "dict[int, float]"])
    numbers: dict[tuple[int, Node, int], int] = field(default_factory=dict[tuple[int, Node, int], int])

    def add(
        self, maker: Node, reader: tuple[Node, int], read: Read, around: Mapping[int, float], elements_for_one: float
    ) -> None:
        """`maker` is read by `reader`, at the places `around`."""
        found = self.of.setdefault(maker, {})
        for place, count in around.items():
            number = place if read.is_in_place else self.numbers.setdefault((place, *reader), len(self.numbers) + 1)
            runs = read.runs if place == 0 else 1  # elsewhere loops may run in another order
            computed = count * min(1.0, elements_for_one) if read.is_once else count / runs
            found[number] = max(found.get(number, 0.0), computed)
