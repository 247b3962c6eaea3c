"""The queue of what cannot be decided yet. A constraint is tried when it is made, and again whenever a variable that
it waits for is refined; what still waits at the end is reported with what it lacked."""

from __future__ import annotations

from typing import Protocol

from relay.base.diagnostics import Origin, RelayError
from relay.base.frozen import frozen
from relay.infer.unification.explain import describe
from relay.infer.unification.unify import Unifier, Variable
from relay.ir.expr import Expr
from relay.ir.types import Type


@frozen
class StillWaiting:
    """The variables that would help, and what must be known, in words."""

    on: tuple[Variable, ...]
    needs: str


class Constraint(Protocol):
    """Something that must hold. `attempt` makes it hold (None), says what it waits for, or raises `RelayError`.

    `last_chance` says that nothing else will become known. `types` are those that it is about.
    """

    @property
    def expr(self) -> Expr: ...

    def attempt(self, last_chance: bool) -> StillWaiting | None: ...

    def types(self) -> tuple[Type, ...]: ...


class Solver:
    """Constraints over the variables of one unifier."""

    def __init__(self, unifier: Unifier) -> None:
        self.unifier = unifier
        self._waiting: dict[Constraint, StillWaiting] = {}
        self._watchers: dict[Variable, list[Constraint]] = {}

    def add(self, constraint: Constraint) -> None:
        """Try a constraint; keep it when it must wait."""
        self._try(constraint, last_chance=False)

    def _try(self, constraint: Constraint, last_chance: bool) -> bool:
        waiting = constraint.attempt(last_chance)
        if waiting is None:
            self._waiting.pop(constraint, None)
            return True
        self._waiting[constraint] = waiting
        for variable in waiting.on:
            self._watchers.setdefault(variable, []).append(constraint)
        return False

    def waiting(self) -> tuple[Type, ...]:
        """The types that the constraints which still wait are about."""
        return tuple(type_ for constraint in self._waiting for type_ in constraint.types())

    def drain(self) -> None:
        """Try again whatever waits for a variable that is known better now, until nothing moves."""
        while solved := self.unifier.newly_solved():
            ready = [constraint for variable in solved for constraint in self._watchers.pop(variable, ())]
            for constraint in dict.fromkeys(ready):
                if constraint in self._waiting:
                    self._try(constraint, last_chance=False)

    def finish(self) -> None:
        """Decide everything. Raises `RelayError` (rule `unresolved-types`) for what cannot be."""
        self.drain()
        moved = True
        while self._waiting and moved:
            moved = False
            for constraint in tuple(self._waiting):
                if constraint in self._waiting and self._try(constraint, last_chance=True):
                    moved = True
                    self.drain()
        if self._waiting:
            raise self._unresolved()

    def _unresolved(self) -> RelayError:
        first = next(iter(self._waiting))
        count = len(self._waiting)
        return RelayError(
            rule="unresolved-types",
            message=f"the type of {describe(first.expr)} cannot be found"
            + (f", nor of {count - 1} other expression{'s' if count > 2 else ''}" if count > 1 else ""),
            span=first.expr.span,
            origins=tuple(
                Origin(describe(constraint.expr), f"needs {waiting.needs}")
                for constraint, waiting in self._waiting.items()
            ),
            remedy="annotate the parameters that these depend on",
        )
