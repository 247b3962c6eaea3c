"""Schedules on record that no kernel of a program takes: said once a compilation, with what was near.

A record that somebody wrote by hand is meant for a kernel that he knows. Those of a tuner, which say how fast they are,
may serve many programs: they are mentioned only where none at all fits.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence

from relay.base.target import Target
from relay.driver.kernels import Kernel
from relay.ir.expr import Call
from relay.ir.traversal import post_order
from relay.ops.nn.convolution_text import convolution_text
from relay.te import ScheduleRecord, ScheduleRecords
from relay.te.schedule.records import Subject

MOST_TOLD = 3
_SHOWN_CHARACTERS = 60
_TOKEN = re.compile(r"\w+|[^\w\s]")
_LOG = logging.getLogger(__name__)


def warn_of_unmatched(records: ScheduleRecords, target: Target, kernels: Sequence[Kernel]) -> None:
    """A warning to the log of the records for a resolved machine, or for all, that nothing in `kernels` took."""
    elsewhere = [record for record in records.best.values() if record.target not in ("", str(target))]
    here = list(records.on(target).best.values())
    subjects = {Subject.KERNEL: _kernels(kernels), Subject.CONVOLUTION: _convolutions(kernels)}
    left = [record for record in here if record.text not in subjects[record.subject]]
    unmatched = [record for record in left if record.seconds is None or len(left) == len(here)]
    if unmatched:
        told = "".join(f"\n  {_difference(record, subjects[record.subject])}" for record in unmatched[:MOST_TOLD])
        more = f"\n  and {len(unmatched) - MOST_TOLD} more" if len(unmatched) > MOST_TOLD else ""
        _LOG.warning("%d of %d schedule records fit no kernel of this program:%s%s",
                     len(unmatched), len(here), told, more)  # fmt: skip
    elif elsewhere and not here:
        _LOG.warning(
            "all %d schedule records are for other machines, such as `%s`; this one is `%s`",
            len(elsewhere), elsewhere[0].target, target,
        )  # fmt: skip


def _kernels(kernels: Iterable[Kernel]) -> dict[str, str]:
    """What schedule records may be for: the texts of kernels, and their names."""
    return {kernel.text: kernel.info.name for kernel in kernels}


def _convolutions(kernels: Iterable[Kernel]) -> dict[str, str]:
    """What convolution records may be for: the convolutions in kernels, and the names of these."""
    found: dict[str, str] = {}
    for kernel in kernels:
        for node in post_order(kernel.function.body):
            text = convolution_text(node) if isinstance(node, Call) else ""
            if text:
                found[text] = kernel.info.name
    return found


def _difference(record: ScheduleRecord, subjects: Mapping[str, str]) -> str:
    """What is nearest to what a record is for, and where its text goes another way."""
    text = record.text
    name = record.origin or f"the record for {_shortened(text)}"
    wanted = _TOKEN.findall(text)
    near = max(subjects, key=lambda other: _likeness(wanted, _TOKEN.findall(other)), default=None)
    if near is None:
        return f"{name}: the program has no {record.subject}s"
    found = _TOKEN.findall(near)
    pairs = enumerate(zip(wanted, found, strict=False))
    same = next((at for at, (left, right) in pairs if left != right), min(len(wanted), len(found)))
    here, there = _from(near, same), _from(text, same)
    return f"{name}: nearest is {subjects[near]}, which has `{here}` where the record has `{there}`"


def _likeness(left: Sequence[str], right: Sequence[str]) -> float:
    """How many words two texts share, of all that they have."""
    return len({*left} & {*right}) / max(1, len({*left} | {*right}))


def _from(text: str, token: int) -> str:
    """A text from one of its tokens on."""
    starts = [match.start() for match in _TOKEN.finditer(text)]
    return _shortened(text[starts[token] :]) if token < len(starts) else ""


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[: _SHOWN_CHARACTERS - 1]}…"
