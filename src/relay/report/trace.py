"""A run of a program in the trace format that Chrome and Perfetto read (https://ui.perfetto.dev, "Open trace file").

The format is that of "Trace Event Format" (Google, 2016): complete events (`ph` X), times in microseconds, a track for
each thread.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from relay.base.files import write_atomically
from relay.runtime.profile.program_profile import ProgramProfile

_PROCESS = 1


def trace_json(profile: ProgramProfile) -> str:
    """The run that a profile shows, every kernel call and every thread's part of a loop, as one line of JSON.

    >>> from relay.runtime.profile.program_profile import Span, SpanKind
    >>> spans = (Span("main", SpanKind.ENTRY, 0, 0, 2500),)
    >>> text = trace_json(ProgramProfile("main", "llvm", 1, (), (1.0,), (1.0,), spans, None, (), 0))
    >>> json.loads(text)["traceEvents"][-1]["dur"]
    2.5
    """
    operators = {kernel.name: ", ".join(kernel.operators) for kernel in profile.kernels}
    events: list[dict[str, Any]] = [_named("process_name", 0, f"relay: {profile.function}")]
    for thread in range(max((span.thread for span in profile.spans), default=0) + 1):
        events.append(_named("thread_name", thread, f"worker {thread}" if thread else "caller"))
    for span in profile.spans:
        event: dict[str, Any] = {
            "name": span.name,
            "cat": str(span.kind),
            "ph": "X",
            "pid": _PROCESS,
            "tid": span.thread,
            "ts": span.start_ns / 1e3,
            "dur": (span.end_ns - span.start_ns) / 1e3,
        }
        if span.name in operators:
            event["args"] = {"operators": operators[span.name]}
        events.append(event)
    document = {"displayTimeUnit": "ns", "otherData": {"target": profile.target}, "traceEvents": events}
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def write_trace(profile: ProgramProfile, path: str | os.PathLike[str]) -> None:
    """Write the trace to a file. Raises `RelayError` (rule `cannot-write`)."""
    write_atomically(Path(path), [trace_json(profile).encode()])


def _named(what: str, thread: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": _PROCESS, "tid": thread, "args": {"name": name}}
