"""What was chosen for a machine by somebody: it stands in for what the compiler would choose by itself.

A file of records has one a line, as JSON, so that a tuner can append to it:

    {"kernel": "fn (%p0: …) { … }", "target": "llvm …", "choice": {"family": "matmul", "width": 64, "rows": 6}}
    {"kernel": "fn (%p0: …) { … }", "target": "llvm …", "seconds": 1.2e-05,
     "steps": ["split(\\"dense\\", \\"k\\", factor=4)", …]}
    {"convolution": "data 1x64x56x56, kernel …", "target": "llvm …", "kernel_block": 32, "winograd_tile": 4}

`kernel` is the text of the primitive function, types included; `convolution` says what is computed, whatever the layout
(`relay.ops.convolution_text`). `target` is the resolved machine; without it the record is for all. `seconds`, what one
call took, may be left out. A `choice` names a family of schedules and what is decided; what it leaves open is the
compiler's. Where `steps` are there too, they must be those of the choice. Lines that begin with `#` are for people. Of
several records for one thing the fastest counts, and of those that do not say how fast they are the last; these come
first, since somebody wrote them by hand.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, TypeAlias, Union, cast

from relay.base.diagnostics import RelayError
from relay.base.files import read_file
from relay.base.frozen import frozen
from relay.base.target import Target
from relay.te.schedule.choice import Choice, Decision
from relay.te.schedule.step import Step
from relay.te.schedule.text import parse_steps, print_steps


@frozen
class ScheduleRecord:
    """The steps for one kernel, the choice that they follow from, or both; `target` is empty for any machine, `seconds`
    None where nobody measured, and `origin` is where the record stands."""

    kernel: str
    steps: tuple[Step, ...] | None = None
    target: str = ""
    seconds: float | None = None
    origin: str = ""
    choice: Choice | None = None

    @property
    def schedule_text(self) -> str:
        """What is on record, as text: it is different for different schedules."""
        return "\n".join(map(str, (self.choice, "" if self.steps is None else print_steps(self.steps))))

    def to_json(self) -> str:
        """The record as a line of a file."""
        choice = None if self.choice is None else {"family": self.choice.family, **self.choice.values}
        steps = None if self.steps is None else print_steps(self.steps).splitlines()
        return _line(self, kernel=self.kernel, choice=choice, steps=steps)


@frozen
class ConvolutionRecord:
    """How a convolution is computed: `kernel_block` output channels of its weights lie together, and `winograd_tile` is
    0 for plain sums, 2 or 4 for F(2, 3) or F(4, 3). What is None is left to the compiler."""

    convolution: str
    kernel_block: int | None = None
    winograd_tile: int | None = None
    target: str = ""
    seconds: float | None = None
    origin: str = ""

    def to_json(self) -> str:
        """The record as a line of a file."""
        return _line(
            self, convolution=self.convolution, kernel_block=self.kernel_block, winograd_tile=self.winograd_tile
        )


Record: TypeAlias = Union[ScheduleRecord, ConvolutionRecord]

_NUMBER = (int, float, type(None))
_SCHEDULE_FIELDS = {"kernel": str, "choice": dict, "steps": list, "target": str, "seconds": _NUMBER}
_CONVOLUTION_FIELDS = {
    "convolution": str, "kernel_block": (int, type(None)), "winograd_tile": (int, type(None)), "target": str,
    "seconds": _NUMBER,
}  # fmt: skip
_WINOGRAD_TILES = (None, 0, 2, 4)


@frozen
class ScheduleRecords:
    """The best records, by what they are about and the machine.

    >>> record = ScheduleRecord("fn (%p0: float32) { sqrt(%p0) }", ())
    >>> ScheduleRecords.of([record]).on(Target.parse("llvm")).schedule(record.kernel) is record
    True
    """

    best: Mapping[tuple[str, str], Record] = field(default_factory=dict[tuple[str, str], Record])

    @classmethod
    def of(cls, records: Iterable[Record]) -> ScheduleRecords:
        """The best of these records."""
        best: dict[tuple[str, str], Record] = {}
        for record in records:
            key = (_subject(record), record.target)
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
        best = {subject: record for (subject, machine), record in self.best.items() if not machine}
        best |= {subject: record for (subject, machine), record in self.best.items() if machine == str(target)}
        return ScheduleRecords({(subject, ""): record for subject, record in best.items()})

    def schedule(self, kernel: str) -> ScheduleRecord | None:
        """The record for a kernel on any machine."""
        found = self.best.get((kernel, ""))
        return found if isinstance(found, ScheduleRecord) else None

    def convolution(self, text: str) -> ConvolutionRecord | None:
        """The record for a convolution on any machine."""
        found = self.best.get((text, ""))
        return found if isinstance(found, ConvolutionRecord) else None


def _subject(record: Record) -> str:
    return record.kernel if isinstance(record, ScheduleRecord) else record.convolution


def _rank(record: Record) -> float:
    return -math.inf if record.seconds is None else record.seconds


def _line(record: Record, **fields: object) -> str:
    values = {**fields, "target": record.target, "seconds": record.seconds}
    return json.dumps({name: value for name, value in values.items() if value is not None}, ensure_ascii=False)


def _parse(line: str, origin: str) -> Record:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _bad(origin, "a JSON object", str(error)) from None
    if not isinstance(values, dict):
        raise _bad(origin, "a JSON object", type(values).__name__)
    given = cast(dict[str, Any], values)
    if "convolution" in given:
        _check_fields(origin, given, _CONVOLUTION_FIELDS, ("convolution",))
        record = ConvolutionRecord(**given, origin=origin)
        if record.winograd_tile not in _WINOGRAD_TILES:
            raise _bad(origin, "a winograd_tile of 0, 2 or 4", str(record.winograd_tile))
        return record
    required = ("kernel",) if "choice" in given else ("kernel", "steps")
    _check_fields(origin, given, _SCHEDULE_FIELDS, required)
    choice = _choice(given["choice"], origin) if "choice" in given else None
    steps = _steps(given["steps"], origin) if "steps" in given else None
    return ScheduleRecord(given["kernel"], steps, given.get("target", ""), given.get("seconds"), origin, choice)


def _check_fields(origin: str, given: dict[str, Any], fields: Mapping[str, Any], required: tuple[str, ...]) -> None:
    complete = given.keys() <= fields.keys() and all(name in given for name in required)
    if not complete or not all(_is_of(value, fields[name]) for name, value in given.items()):
        expected = "{" + ", ".join(f'"{name}": …' for name in fields) + "}, of which " + " and ".join(required)
        raise _bad(origin, f"{expected} must be there", json.dumps(given)[:120])


def _is_of(value: object, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _choice(given: dict[str, Any], origin: str) -> Choice:
    family, *_ = (*(value for name, value in given.items() if name == "family"), None)
    values = {name: value for name, value in given.items() if name != "family"}
    if not isinstance(family, str) or not all(isinstance(value, (int, str)) for value in values.values()):
        raise _bad(origin, "a choice as an object: its family, and values that are numbers or words", repr(given)[:80])
    return Choice(family, tuple(Decision(name, value, "on record") for name, value in values.items()), "on record")


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
