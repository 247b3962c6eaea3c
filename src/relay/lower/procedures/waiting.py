"""Bindings that wait to be one region, and what becomes of each when it is closed.

    let %a = conv(%x);  let %b = reshape(%a);  let %n = %i + 1;  let %c = relu(%b);  let %t = (%c, %n);  f(%t)

Here `conv` and `relu` are the region, which writes %c to a tensor that was allocated before. Inside it, %b is %a in
another shape. `%i + 1` uses nothing that waits, so it runs first; %t is made behind the region, of %c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum

from relay.base.frozen import frozen
from relay.ir.expr import Call, Expr, Var
from relay.ir.traversal import children


class Kind(Enum):
    """What a binding of tensors costs: a kernel; a formula of scalars, which is a kernel only where kernels read it;
    nothing, if it only looks at others; a kernel that finds an index to refuse, if it only looks at those that it does
    not refuse."""

    KERNEL = "kernel"
    FORMULA = "formula"
    LOOK = "look"
    REFUSAL = "refusal"


@frozen(eq=False)
class Waiting:
    """The binding number `time` of its scope."""

    time: int
    var: Var
    value: Expr
    kind: Kind


@frozen(eq=False)
class Split:
    """`inside`: what the region runs or looks at; `results`: the variables of it that outlive it; `behind`: what is
    done when it has run."""

    inside: tuple[Waiting, ...]
    results: frozenset[Var]
    behind: frozenset[Var]


def split(
    waiting: Sequence[Waiting], outlives: Callable[[Var], bool], is_made_elsewhere: Callable[[Expr], bool]
) -> Split:
    """What becomes of bindings, given which of their variables later code uses, and which values are not in the arena.
    Users come after what they use, so one walk from the end decides."""
    read_inside: set[Var] = set()
    read_behind: set[Var] = set()
    inside: list[Waiting] = []
    results: set[Var] = set()
    behind: set[Var] = set()
    for each in reversed(waiting):
        uses = variables(each.value)
        is_read_behind = each.var in read_behind or outlives(each.var)
        is_elsewhere = is_made_elsewhere(each.value)
        is_inside = each.kind in (Kind.KERNEL, Kind.REFUSAL) or each.var in read_inside
        if is_inside:
            inside.append(each)
            read_inside.update(uses)
        if is_elsewhere or (is_read_behind and is_inside and each.kind in (Kind.KERNEL, Kind.FORMULA)):
            results.add(each.var)
        elif is_read_behind:
            behind.add(each.var)
            read_behind.update(uses)
    return Split(tuple(reversed(inside)), frozenset(results), frozenset(behind))


def variables(value: Expr) -> Iterable[Var]:
    """The variables that a binding of tensors uses."""
    atoms = value.args if isinstance(value, Call) else (value, *children(value))
    return [atom for atom in atoms if isinstance(atom, Var)]
