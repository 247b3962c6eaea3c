"""Schedules that were chosen for kernels of a machine: they stand in for what the compiler would choose by itself.

A file of records has one a line, as JSON, so that a tuner can append to it:

    {"kernel": "fn (%p0: …) { … }", "target": "llvm …", "seconds": 1.2e-05,
     "steps": ["split(\\"dense\\", \\"k\\", factor=4)", …]}

`kernel` is the text of the primitive function, types included. `target` is the resolved machine; without it the record
is for all. `seconds`, what one call took, may be left out. Of several records for one kernel the fastest counts, and of
those that do not say how fast they are the last; these come first, since somebody wrote them by hand.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from relay.base.diagnostics import RelayError
from relay.base.target import Target
from relay.te.schedule.step import Step
from relay.te.schedule.text import parse_steps, print_steps

_FIELDS = {"kernel": str, "target": str, "steps": list, "seconds": (int, float)}
_REQUIRED = ("kernel", "steps")


@dataclass(frozen=True, slots=True)
class ScheduleRecord:
    """The steps for one kernel; `target` is empty for any machine, `seconds` None where nobody measured, and `origin`
    is where the record stands."""

    kernel: str
    steps: tuple[Step, ...]
    target: str = ""
    seconds: float | None = None
    origin: str = ""

    def to_json(self) -> str:
        """The record as a line of a file."""
        values: dict[str, Any] = {"kernel": self.kernel, "target": self.target}
        values["steps"] = print_steps(self.steps).splitlines()
        if self.seconds is not None:
            values["seconds"] = self.seconds
        return json.dumps(values, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class ScheduleRecords:
    """Records by kernel and machine.

    >>> record = ScheduleRecord("fn (%p0: float32) { sqrt(%p0) }", ())
    >>> ScheduleRecords.of([record]).find(record.kernel, Target.parse("llvm")) is record
    True
    """

    best: Mapping[tuple[str, str], ScheduleRecord] = field(default_factory=dict[tuple[str, str], ScheduleRecord])

    @classmethod
    def of(cls, records: Iterable[ScheduleRecord]) -> ScheduleRecords:
        """The best record of each kernel and machine."""
        best: dict[tuple[str, str], ScheduleRecord] = {}
        for record in records:
            known = best.get((record.kernel, record.target))
            if known is None or _rank(record) <= _rank(known):
                best[record.kernel, record.target] = record
        return cls(best)

    @classmethod
    def load(cls, path: str | Path) -> ScheduleRecords:
        """The records of a file.

        Raises `RelayError`: `cannot-read` (no such file, not text), `schedule-record` (what is wrong in which line).
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise RelayError(
                rule="cannot-read", message=f"cannot read schedule records from {path}", found=str(error)
            ) from None
        lines = enumerate(text.splitlines(), start=1)
        return cls.of(_parse(line, f"{path}:{number}") for number, line in lines if line.strip())

    def find(self, kernel: str, target: Target) -> ScheduleRecord | None:
        """The record for a kernel on a resolved machine; one for exactly this machine is preferred."""
        return self.best.get((kernel, str(target))) or self.best.get((kernel, ""))


def _rank(record: ScheduleRecord) -> float:
    return -math.inf if record.seconds is None else record.seconds


def _parse(line: str, origin: str) -> ScheduleRecord:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _bad(origin, "a JSON object", str(error)) from None
    if not isinstance(values, dict):
        raise _bad(origin, "a JSON object", type(values).__name__)
    values = cast(dict[str, Any], values)
    missing = [name for name in _REQUIRED if name not in values]
    unknown = [name for name in values if name not in _FIELDS]
    wrong = [name for name, kind in _FIELDS.items() if name in values and not isinstance(values[name], kind)]
    if missing or unknown or wrong:
        raise _bad(origin, "kernel, steps, and if need be target and seconds", ", ".join(map(str, values)) or "nothing")
    steps = cast(list[Any], values["steps"])
    if not all(isinstance(step, str) for step in steps):
        raise _bad(origin, "steps as a list of strings", repr(steps)[:80])
    try:
        parsed = parse_steps("\n".join(steps))
    except RelayError as error:
        raise _bad(origin, error.expected, error.found) from None
    return ScheduleRecord(values["kernel"], parsed, values.get("target", ""), values.get("seconds"), origin)


def _bad(origin: str, expected: str, found: str) -> RelayError:
    return RelayError(
        rule="schedule-record",
        message=f"{origin} is no schedule record",
        expected=expected,
        found=found,
        remedy="`relay show --stage schedule` prints the records of a model as the compiler would choose them",
    )
