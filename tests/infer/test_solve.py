"""The queue of constraints: who is tried when, and what is said of those that wait for ever."""

from dataclasses import dataclass, field

import pytest

from relay.base.diagnostics import RelayError
from relay.infer.unification.solve import Solver, StillWaiting
from relay.infer.unification.unify import Mode, Unifier
from relay.ir.expr import Expr, Var
from relay.ir.types import IncompleteType, Type, scalar_type

INT = scalar_type("int32")


@dataclass(eq=False)
class Follows:
    """`to` is what `after` is, as soon as that is known, or on its last chance int32."""

    unifier: Unifier
    after: IncompleteType
    to: IncompleteType
    name: str = "x"
    gives_in: bool = False
    attempts: list[bool] = field(default_factory=list)

    @property
    def expr(self) -> Expr:
        return Var(self.name)

    def attempt(self, last_chance: bool) -> StillWaiting | None:
        self.attempts.append(last_chance)
        known = self.unifier.resolve(self.after)
        if known is not self.after or (last_chance and self.gives_in):
            self.unifier.relate(self.to, INT if known is self.after else known, Mode.EXACT)
            return None
        return StillWaiting((self.after,), "something")

    def types(self) -> tuple[Type, ...]:
        return self.after, self.to


def holes(count):
    return [IncompleteType() for _ in range(count)]


def test_a_chain_is_solved_when_its_beginning_is():
    unifier = Unifier()
    solver = Solver(unifier)
    a, b, c, other = holes(4)
    chain = Follows(unifier, b, c), Follows(unifier, a, b), Follows(unifier, other, IncompleteType())
    for constraint in chain:
        solver.add(constraint)
    assert solver.waiting()[:4] == (b, c, a, b)
    unifier.bind(a, INT)
    solver.drain()
    assert unifier.zonk(c) is INT
    assert [constraint.attempts for constraint in chain] == [[False, False], [False, False], [False]]
    assert solver.waiting() == (other, chain[2].to)
    with pytest.raises(RelayError, match="cannot be found"):
        solver.finish()


def test_what_holds_at_once_does_not_wait():
    unifier = Unifier()
    solver = Solver(unifier)
    a, b = holes(2)
    unifier.bind(a, INT)
    solver.add(Follows(unifier, a, b))
    assert solver.waiting() == ()
    assert unifier.resolve(b) is INT
    solver.finish()


def test_a_last_chance_may_help_others():
    unifier = Unifier()
    solver = Solver(unifier)
    a, b, c = holes(3)
    needs, gives_in = Follows(unifier, b, c), Follows(unifier, a, b, gives_in=True)
    solver.add(needs)
    solver.add(gives_in)
    solver.finish()
    assert unifier.zonk(c) is INT
    assert needs.attempts == [False, True, False]
    assert gives_in.attempts == [False, True]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["x"], "the type of variable %x cannot be found"),
        (["x", "y"], "the type of variable %x cannot be found, nor of 1 other expression"),
        (["x", "y", "z"], "the type of variable %x cannot be found, nor of 2 other expressions"),
    ],
)
def test_what_waits_for_ever_is_told(names, message):
    unifier = Unifier()
    solver = Solver(unifier)
    for name in names:
        solver.add(Follows(unifier, *holes(2), name))
    with pytest.raises(RelayError) as refused:
        solver.finish()
    told = "".join(f"\n  variable %{name}   needs something" for name in names)
    assert str(refused.value) == (
        f"error[unresolved-types]: {message}{told}\n  help: annotate the parameters that these depend on"
    )
