"""What there is to decide, apart from what follows: values that are enumerated, checked and changed one by one.

A `decide` is written once, as a function that asks a `Decider` for one field after another: each time with the values
that are possible after what was decided before, with the best by some model, and with the reason. Who is asked makes
the difference: the model takes the best of each field; a record has its own values followed; enumeration and mutation
take others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from random import Random
from typing import Any, TypeVar, cast

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen, mutable
from relay.base.names.near_names import near_names
from relay.te.schedule.choice import Choice, Decision, Value

RULE = "schedule-choice"
"""Of the errors that say what is not possible in a choice."""

_MOST_LISTED = 16

V = TypeVar("V", bound=Value)


@mutable(eq=True)
class Decider:
    """Takes the best value of each field that `given` does not have; keeps what was decided, and what was possible.

    `strict`: a given value that is not possible is refused; else the best stands in for it.
    """

    given: Mapping[str, Value] = field(default_factory=dict[str, Value])
    strict: bool = False
    decisions: list[Decision] = field(default_factory=list[Decision])
    options: list[tuple[Value, ...]] = field(default_factory=list[tuple[Value, ...]])

    def __call__(self, name: str, best: V, options: Sequence[V], reason: str) -> V:
        """The value of field `name`: one of `options`, of which `best` is the model's, for `reason`."""
        value: Any = self.given.get(name, best)
        possible = type(value) is type(best) and (value == best or value in options)
        if self.strict and not possible:
            raise RelayError(
                rule=RULE,
                message=f"{name} = {value} is not possible",
                expected="one of " + _listed((best, *options)),
                found=str(value),
                remedy=f"the model takes {best}: {reason}",
            )
        taken = cast(V, value) if possible else best
        self.decisions.append(Decision(name, taken, reason if taken == best else f"not {best}: given"))
        self.options.append(tuple(dict.fromkeys((best, *options))))
        return taken


def _listed(options: Sequence[Value]) -> str:
    """Values in order; of many the first and the last."""
    names = list(map(str, sorted(set(options), key=lambda value: (isinstance(value, str), value))))
    return ", ".join(names if len(names) <= _MOST_LISTED else (*names[: _MOST_LISTED - 2], "…", names[-1]))


@frozen(eq=False)
class Space:
    """All choices of a family for one thing."""

    family: str
    when: str
    decide: Callable[[Decider], object]

    def model(self) -> Choice:
        """The best by the model of the core."""
        return self._choice(Decider())

    def check(self, choice: Choice) -> Choice:
        """`choice` with what it leaves open decided by the model.

        Raises `RelayError` (`schedule-choice`) where it has a field, or a value, that this space has not.
        """
        decider = self.decided(Decider(choice.values, strict=True))
        fields = [each.field for each in decider.decisions]
        for name in choice.values:
            if name not in fields:
                raise RelayError(
                    rule=RULE,
                    message=f"{self.family} has no field {name} here",
                    expected="one of " + ", ".join(fields) if fields else "no fields",
                    found=name,
                    remedy=near_names(name, fields),
                )
        return self._named(decider)

    def choices(self) -> Iterator[Choice]:
        """Every choice, the model's first."""
        given: dict[str, Value] | None = {}
        while given is not None:
            decider = self.decided(Decider(given))
            yield self._named(decider)
            given = _next(decider)

    def mutate(self, choice: Choice, random: Random) -> Choice:
        """A neighbour of `choice`: one field has another value, and those that this makes impossible have the model's.
        The same where nothing is left to decide."""
        decider = self.decided(Decider(choice.values))
        open_fields = [
            (each, options) for each, options in zip(decider.decisions, decider.options, strict=True) if options[1:]
        ]
        if not open_fields:
            return choice
        changed, options = random.choice(open_fields)
        other = random.choice([value for value in options if value != changed.value])
        return self._choice(Decider({**choice.values, changed.field: other}))

    def decided(self, decider: Decider) -> Decider:
        self.decide(decider)
        return decider

    def _choice(self, decider: Decider) -> Choice:
        return self._named(self.decided(decider))

    def _named(self, decider: Decider) -> Choice:
        return Choice(self.family, tuple(decider.decisions), self.when)


def _next(decider: Decider) -> dict[str, Value] | None:
    """The values up to the last field that has a further option, with that; None behind the last choice."""
    pairs = list(zip(decider.decisions, decider.options, strict=True))
    while pairs:
        last, options = pairs.pop()
        position = options.index(last.value) + 1
        if position < len(options):
            return {**{each.field: each.value for each, _ in pairs}, last.field: options[position]}
    return None
