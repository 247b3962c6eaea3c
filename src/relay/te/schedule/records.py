"""What was chosen for a machine by somebody: it stands in for what the compiler would choose by itself.

A file of records has one a line, as JSON, so that a tuner can append to it:

    {"kernel": "fn (%p0: …) { … }", "target": "llvm …", "choice": {"family": "matmul", "width": 64, "rows": 6}}
    {"kernel": "fn (%p0: …) { … }", "target": "llvm …", "seconds": 1.2e-05,
     "steps": ["split(\\"dense\\", \\"k\\", factor=4)", …]}
    {"convolution": "data 1x64x56x56, kernel …", "target": "llvm …",
     "choice": {"family": "convolution", "algorithm": "F(4, 3)", "layout": "NHWC", "width": 32}}

`kernel` is the text of the primitive function, types included; `convolution` says what is computed, whatever the layout
(`relay.ops.nn.convolution_text`), for what is decided before it is part of a kernel. `target` is the resolved machine;
without it the record is for all. `seconds`, what one call took, may be left out. A `choice` names a family of schedules
and what is decided; what it leaves open is the compiler's. Its `variants` are choices for some extents. Where `steps`
are there too, they must be those of the choice. Lines that begin with `#` are for people. Of several records for one
thing the fastest counts, and of those that do not say how fast they are the last; these come first, since somebody
wrote them by hand.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar, cast

from relay.base.diagnostics import RelayError
from relay.base.files import read_file
from relay.base.frozen import frozen
from relay.base.target import Target
from relay.te.schedule.choice import Choice, Condition, Decision, Value, Variant
from relay.te.schedule.step import Step
from relay.te.schedule.text import parse_steps, print_steps

CONVOLUTION_FIELDS = ("algorithm", "layout", "width")
"""What is decided about a convolution before it is part of a kernel: plain sums or minimal filtering, the layout of
data and result, and how many output channels of constant weights lie together."""

V = TypeVar("V", bound=Value)


class Subject(StrEnum):
    """What a record is about."""

    KERNEL = "kernel"
    CONVOLUTION = "convolution"


@frozen
class ScheduleRecord:
    """The steps for one kernel, the choice that they follow from, or both; or the choice for a convolution. `text` says
    for which one, `target` is empty for any machine, `seconds` None where nobody measured, and `origin` is where the
    record stands."""

    text: str
    steps: tuple[Step, ...] | None = None
    target: str = ""
    seconds: float | None = None
    origin: str = ""
    choice: Choice | None = None
    subject: Subject = Subject.KERNEL

    @property
    def schedule_text(self) -> str:
        """What is on record, as text: it is different for different schedules."""
        return "\n".join(map(str, (self.choice, "" if self.steps is None else print_steps(self.steps))))

    def to_json(self) -> str:
        """The record as a line of a file."""
        values = {
            self.subject.value: self.text,
            "choice": None if self.choice is None else choice_as_json(self.choice),
            "steps": None if self.steps is None else print_steps(self.steps).splitlines(),
            "target": self.target,
            "seconds": self.seconds,
        }
        return json.dumps({name: value for name, value in values.items() if value is not None}, ensure_ascii=False)


_FIELDS_OF_BOTH: Mapping[str, Any] = {"choice": dict, "target": str, "seconds": (int, float, type(None))}
_FIELDS: Mapping[Subject, Mapping[str, Any]] = {
    Subject.KERNEL: {"kernel": str, "steps": list, **_FIELDS_OF_BOTH},
    Subject.CONVOLUTION: {"convolution": str, **_FIELDS_OF_BOTH},
}


@frozen
class ScheduleRecords:
    """The best records, by what they are about and the machine.

    >>> record = ScheduleRecord("fn (%p0: float32) { sqrt(%p0) }", ())
    >>> ScheduleRecords.of([record]).on(Target.parse("llvm")).schedule(record.text) is record
    True
    """

    best: Mapping[tuple[str, str], ScheduleRecord] = field(default_factory=dict[tuple[str, str], ScheduleRecord])

    @classmethod
    def of(cls, records: Iterable[ScheduleRecord]) -> ScheduleRecords:
        """The best of these records."""
        best: dict[tuple[str, str], ScheduleRecord] = {}
        for record in records:
            key = (record.text, record.target)
            known = best.get(key)
            if known is None or _rank(record) <= _rank(known):
                best[key] = record
        return cls(best)

    @classmethod
    def load(cls, path: str | Path) -> ScheduleRecords:
        """The records of a file.

        Raises `RelayError`: `cannot-read` (no such file, not text), `schedule-record` (what is wrong in which line).
        """
        try:
            text = read_file(path).decode()
        except UnicodeDecodeError as error:
            raise RelayError(
                rule="cannot-read", message=f"cannot read schedule records from {path}", found=str(error)
            ) from None
        lines = enumerate(text.splitlines(), start=1)
        return cls.of(
            _parse(line, f"{path}:{number}") for number, line in lines if line.strip() and not line.startswith("#")
        )

    def on(self, target: Target) -> ScheduleRecords:
        """Those for a resolved machine, which are preferred, and for all machines; both are for any from now on."""
        best = {text: record for (text, machine), record in self.best.items() if not machine}
        best |= {text: record for (text, machine), record in self.best.items() if machine == str(target)}
        return ScheduleRecords({(text, ""): record for text, record in best.items()})

    def schedule(self, kernel: str) -> ScheduleRecord | None:
        """The record for a kernel on any machine."""
        found = self.best.get((kernel, ""))
        return found if found is not None and found.subject is Subject.KERNEL else None

    def convolution(self, text: str) -> ScheduleRecord | None:
        """The record for a convolution on any machine."""
        found = self.best.get((text, ""))
        return found if found is not None and found.subject is Subject.CONVOLUTION else None


def choice_as_json(choice: Choice) -> dict[str, object]:
    """A choice as a record has it."""
    variants = [{"when": str(each.when), **choice_as_json(each.choice)} for each in choice.variants]
    return {"family": choice.family, **choice.values, **({"variants": variants} if variants else {})}


def _rank(record: ScheduleRecord) -> float:
    return -math.inf if record.seconds is None else record.seconds


def _parse(line: str, origin: str) -> ScheduleRecord:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _bad(origin, "a JSON object", str(error)) from None
    if not isinstance(values, dict):
        raise _bad(origin, "a JSON object", type(values).__name__)
    given = cast(dict[str, Any], values)
    subject = Subject.CONVOLUTION if Subject.CONVOLUTION in given else Subject.KERNEL
    by_choice = "choice" in given or subject is Subject.CONVOLUTION
    _check_fields(origin, given, _FIELDS[subject], (subject, "choice" if by_choice else "steps"))
    choice = _choice(given["choice"], origin) if by_choice else None
    if choice is not None and subject is Subject.CONVOLUTION:
        _check_convolution(origin, choice)
    steps = _steps(given["steps"], origin) if "steps" in given else None
    target, seconds = given.get("target", ""), given.get("seconds")
    return ScheduleRecord(given[subject], steps, target, seconds, origin, choice, subject)


def _check_fields(origin: str, given: dict[str, Any], fields: Mapping[str, Any], required: tuple[str, ...]) -> None:
    complete = given.keys() <= fields.keys() and all(name in given for name in required)
    if not complete or not all(_is_of(value, fields[name]) for name, value in given.items()):
        expected = "{" + ", ".join(f'"{name}": …' for name in fields) + "}, of which " + " and ".join(required)
        raise _bad(origin, f"{expected} must be there", json.dumps(given)[:120])


def _is_of(value: object, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _choice(given: dict[str, Any], origin: str) -> Choice:
    """A choice, and its variants, which have none."""
    values = {name: value for name, value in given.items() if name not in ("family", "variants")}
    family, variants = given.get("family"), given.get("variants", [])
    if not isinstance(family, str) or not all(isinstance(value, (int, str)) for value in values.values()):
        raise _bad(origin, "a choice as an object: its family, and values that are numbers or words", repr(given)[:80])
    if not isinstance(variants, list):
        raise _bad(origin, "variants as a list of choices, each with a condition", repr(variants)[:80])
    decisions = tuple(Decision(name, value, "on record") for name, value in values.items())
    found = tuple(_variant(each, origin) for each in cast(list[Any], variants))
    return Choice(family, decisions, "on record", found)


def _variant(given: Any, origin: str) -> Variant:
    choice = dict(cast(dict[str, Any], given)) if isinstance(given, dict) else {}
    when = choice.pop("when", None)
    condition = Condition.parse(when) if isinstance(when, str) else None
    if condition is None or "variants" in choice:
        raise _bad(origin, 'a variant as a choice with a condition, such as "when": "n <= 4"', repr(given)[:80])
    return Variant(condition, _choice(choice, origin))


def _check_convolution(origin: str, choice: Choice) -> None:
    """A choice for a convolution has that family, and its fields."""
    unknown = [name for name in choice.values if name not in CONVOLUTION_FIELDS]
    if choice.family != Subject.CONVOLUTION or unknown or choice.variants:
        expected = f"the family {Subject.CONVOLUTION}, and of its fields some: {', '.join(CONVOLUTION_FIELDS)}"
        raise _bad(origin, expected, json.dumps(choice_as_json(choice))[:80])


def _steps(given: list[Any], origin: str) -> tuple[Step, ...]:
    if not all(isinstance(step, str) for step in given):
        raise _bad(origin, "steps as a list of strings", repr(given)[:80])
    try:
        return parse_steps("\n".join(given))
    except RelayError as error:
        raise _bad(origin, error.expected, error.found) from None


def _bad(origin: str, expected: str, found: str) -> RelayError:
    return RelayError(
        rule="schedule-record",
        message=f"{origin} is no schedule record",
        expected=expected,
        found=found,
        remedy="`relay show --stage schedule` prints the records of a model as the compiler would choose them",
    )
