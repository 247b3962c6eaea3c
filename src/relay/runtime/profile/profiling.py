"""Running a program to see where its time goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import IntExpr, Symbol, evaluate
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.runtime.artefact.arena_map import RegionArena, largest_arena
from relay.runtime.artefact.work import KernelWork
from relay.runtime.memory.objects import pool_threads
from relay.runtime.profile.program_profile import DeviceRegionProfile, KernelProfile, ProgramProfile, Span, SpanKind
from relay.runtime.profile.recording import (
    CHUNK,
    END,
    ENTRY,
    EXTENTS,
    FIRST_REGION,
    KIND,
    START,
    THREAD,
    RecordedKernels,
    Recorder,
)
from relay.runtime.profile.roofline import Roofline
from relay.runtime.profile.timed_device import TRANSFERS, DeviceWork

Records = NDArray[np.int64]
_NANO = 1e-9


@frozen(eq=False)
class Runs:
    """The records of each timed run, and those of one more that has parts of loops too."""

    timed: tuple[Records, ...]
    shown: Records


def record_runs(recorder: Recorder, call: Callable[[], object], count: int) -> Runs:
    """Run once to warm up, `count` times to measure, and once more to show. Raises `RelayError`: `bad-runs`."""
    if count < 1:
        raise RelayError(rule="bad-runs", message="a profile needs runs", expected="1 or more", found=str(count))
    _one_run(recorder, call, parts_of_loops=False)
    timed = tuple(_one_run(recorder, call, parts_of_loops=False) for _ in range(count))
    return Runs(timed, _one_run(recorder, call, parts_of_loops=True))


def _one_run(recorder: Recorder, call: Callable[[], object], parts_of_loops: bool) -> Records:
    """The records of a run; one that finds no room for them is repeated with more. Raises `RelayError`
    (rule `profile-too-long`)."""
    while True:
        recorder.begin(parts_of_loops)
        call()
        if recorder.wanted <= recorder.room:
            return recorder.records()
        recorder.make_room(recorder.wanted + recorder.wanted // 4)


def profile_of(
    recorded: RecordedKernels,
    runs: Runs,
    function: str,
    target: str,
    roofline: Callable[[int], Roofline | None],
    arenas: tuple[RegionArena, ...],
    constant_bytes: int,
) -> ProgramProfile:
    """What the records of `function` say; `roofline` tells the limits of this machine, with so many threads."""
    threads = pool_threads()
    limits = roofline(threads)
    arena = largest_arena(arenas)
    program_bytes = constant_bytes + (0 if arena is None else arena.planned_bytes)
    return ProgramProfile(
        function,
        target,
        threads,
        _kernel_profiles(recorded, runs, limits, program_bytes),
        tuple(map(_entry_seconds, runs.timed)),
        tuple(map(_control_seconds, runs.timed)),
        spans_of(runs.shown, recorded.names, function),
        limits,
        arenas,
        constant_bytes,
        tuple(_device_regions(recorded, runs)),
    )


def _entry_seconds(records: Records) -> float:
    """The native time of a run."""
    return _seconds(records[records[:, KIND] == ENTRY])


def _control_seconds(records: Records) -> float:
    """The native time of a run that no kernel has."""
    return _entry_seconds(records) - _seconds(records[records[:, KIND] >= 0])


def _kernel_profiles(
    recorded: RecordedKernels, runs: Runs, roofline: Roofline | None, program_bytes: int
) -> tuple[KernelProfile, ...]:
    """The kernels that ran, in the order of the manifest, then those of devices."""
    found: list[KernelProfile] = []
    for number, work in enumerate(recorded.kernels):
        own = [records[records[:, KIND] == number] for records in runs.timed]
        if not any(map(len, own)):
            continue
        last = own[-1]
        counts, least = _amounts(work, last, roofline, program_bytes)
        touched = None if counts[1] is None or counts[2] is None else counts[1] + counts[2]
        seconds = tuple(map(_seconds, own))
        found.append(
            KernelProfile(work.name, work.operators, len(last), seconds, work.dtype, counts[0], touched, least)
        )
    found += _on_devices(recorded, runs)
    return tuple(found)


def _on_devices(recorded: RecordedKernels, runs: Runs) -> Iterator[KernelProfile]:
    """What devices launched and moved, in the order in which they first did. Nobody has counted what launches do."""
    for what, kind in recorded.on_devices.items():
        own = [records[records[:, KIND] == kind] for records in runs.timed]
        if what.work is not DeviceWork.REGION and any(map(len, own)):
            moved = int(own[-1][:, EXTENTS].sum()) if what.work in TRANSFERS else None
            yield KernelProfile(str(what), (), len(own[-1]), tuple(map(_seconds, own)), None, None, moved, None)


def _device_regions(recorded: RecordedKernels, runs: Runs) -> Iterator[DeviceRegionProfile]:
    """The regions that devices ran, in the order in which they first did. What a device does between the beginning and
    the end of a region is of that region: it runs one at a time."""
    last = runs.timed[-1]
    for region, kind in recorded.on_devices.items():
        own = [records[records[:, KIND] == kind] for records in runs.timed]
        if region.work is not DeviceWork.REGION or not any(map(len, own)):
            continue
        inside = np.zeros(len(last), bool)
        for start, end in own[-1][:, [START, END]]:
            inside |= (start <= last[:, END]) & (last[:, END] <= end)
        asked = {
            what: last[inside & (last[:, KIND] == number)]
            for what, number in recorded.on_devices.items()
            if what.device == region.device
        }
        launched = (what.name for what, found in asked.items() if what.work is DeviceWork.LAUNCH and len(found))
        moved = {what.work: int(found[:, EXTENTS].sum()) for what, found in asked.items() if what.work in TRANSFERS}
        yield DeviceRegionProfile(
            region.name,
            region.device,
            tuple(launched),
            len(own[-1]),
            tuple(map(_seconds, own)),
            moved.get(DeviceWork.UPLOAD, 0) + moved.get(DeviceWork.COPY_FROM, 0),
            moved.get(DeviceWork.DOWNLOAD, 0),
        )


def _amounts(
    work: KernelWork, records: Records, roofline: Roofline | None, program_bytes: int
) -> tuple[tuple[int | None, int | None, int | None], float | None]:
    """Multiply-adds, bytes of constants and of values over all calls, and the seconds that they need at least. Calls of
    the same extents are counted together."""
    count = len(work.symbols)
    kinds, times = np.unique(records[:, EXTENTS : EXTENTS + count], axis=0, return_counts=True)
    totals: list[int | None] = [0, 0, 0]
    least: float | None = 0.0
    for extents, calls in zip(kinds.tolist(), times.tolist(), strict=True):
        values = dict(zip(work.symbols, extents, strict=True))
        amounts = [_value(each, values) for each in (work.multiply_adds, work.constant_bytes, work.value_bytes)]
        for position, amount in enumerate(amounts):
            total = totals[position]
            totals[position] = None if total is None or amount is None else total + calls * amount
        one = _least(roofline, work, amounts, program_bytes)
        least = None if least is None or one is None else least + calls * one
    return (totals[0], totals[1], totals[2]), least


def _least(roofline: Roofline | None, work: KernelWork, amounts: list[int | None], program_bytes: int) -> float | None:
    multiply_adds, constants, values = amounts
    if roofline is None or multiply_adds is None or constants is None or values is None:
        return None
    return roofline.least_seconds(work.dtype, multiply_adds, constants, values, program_bytes)


def _value(count: IntExpr | None, values: Mapping[Symbol, int]) -> int | None:
    return None if count is None else evaluate(count, values)


def spans_of(records: Records, names: Mapping[int, str], function: str) -> tuple[Span, ...]:
    """The stretches of time of a run, by their beginning; what contains others comes before them. `names` are those of
    kernels and of what devices do, by the kinds of their records. Threads are numbered in the order in which they
    appear, the one that called first."""
    if not len(records):
        return ()
    entries = records[records[:, KIND] == ENTRY]
    zero = int(entries[:, START].min()) if len(entries) else int(records[:, START].min())
    ordered = records[np.lexsort((-records[:, END], records[:, START]))]
    threads: dict[int, int] = {int(each): 0 for each in entries[:1, THREAD]}
    spans: list[Span] = []
    running = ""
    for kind, start, end, thread in ordered[:, : THREAD + 1].tolist():
        number = threads.setdefault(thread, len(threads))
        if kind == ENTRY:
            name, what = function, SpanKind.ENTRY
        elif kind == CHUNK:
            name, what = running, SpanKind.PART
        elif kind <= FIRST_REGION:
            name, what = names[kind], SpanKind.REGION
        else:
            name, what = names[kind], SpanKind.KERNEL
            running = name
        spans.append(Span(name, what, number, start - zero, end - zero))
    return tuple(spans)


def _seconds(records: Records) -> float:
    return float((records[:, END] - records[:, START]).sum()) * _NANO
