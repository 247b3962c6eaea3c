"""Schedules on record that no kernel of a program takes: said once a compilation, with what was near.

A record that somebody wrote by hand is meant for a kernel that he knows. Those of a tuner, which say how fast they are,
may serve many programs: they are mentioned only where none at all fits.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence

from relay.base.target import Target
from relay.driver.kernels import Kernel
from relay.te import ScheduleRecord, ScheduleRecords

MOST_TOLD = 3
_SHOWN_CHARACTERS = 60
_TOKEN = re.compile(r"\w+|[^\w\s]")
_LOG = logging.getLogger(__name__)


def warn_of_unmatched(records: ScheduleRecords, target: Target, kernels: Sequence[Kernel]) -> None:
    """A warning to the log of the records for a resolved machine, or for all, that none of `kernels` took."""
    schedules = [record for record in records.best.values() if isinstance(record, ScheduleRecord)]
    elsewhere = [record for record in schedules if record.target not in ("", str(target))]
    here = [record for record in records.on(target).best.values() if isinstance(record, ScheduleRecord)]
    taken = [kernel.recorded for kernel in kernels if kernel.recorded is not None]
    unmatched = [record for record in here if record not in taken and (record.seconds is None or not taken)]
    if unmatched:
        told = "".join(f"\n  {_difference(record, kernels)}" for record in unmatched[:MOST_TOLD])
        more = f"\n  and {len(unmatched) - MOST_TOLD} more" if len(unmatched) > MOST_TOLD else ""
        _LOG.warning("%d of %d schedule records fit no kernel of this program:%s%s",
                     len(unmatched), len(here), told, more)  # fmt: skip
    elif elsewhere and not here:
        _LOG.warning(
            "all %d schedule records are for other machines, such as `%s`; this one is `%s`",
            len(elsewhere), elsewhere[0].target, target,
        )  # fmt: skip


def _difference(record: ScheduleRecord, kernels: Iterable[Kernel]) -> str:
    """Which kernel is nearest to a record, and where its text goes another way."""
    name = record.origin or f"the record for {_shortened(record.kernel)}"
    wanted = _TOKEN.findall(record.kernel)
    near = max(kernels, key=lambda kernel: _likeness(wanted, _TOKEN.findall(kernel.text)), default=None)
    if near is None:
        return f"{name}: the program has no kernels"
    found = _TOKEN.findall(near.text)
    pairs = enumerate(zip(wanted, found, strict=False))
    same = next((at for at, (left, right) in pairs if left != right), min(len(wanted), len(found)))
    here, there = _from(near.text, same), _from(record.kernel, same)
    return f"{name}: nearest is {near.info.name}, which has `{here}` where the record has `{there}`"


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
