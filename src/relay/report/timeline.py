"""A run as a flame chart: the call, the kernels that it ran, and below them each thread's parts of parallel loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from relay.base.frozen import frozen
from relay.base.shown.markup import element
from relay.base.shown.printed import time_text
from relay.report.families import family
from relay.report.svg import drawing, label, title
from relay.runtime.profile.program_profile import ProgramProfile, Span, SpanKind

_WIDTH, _ROW, _LEFT, _FOOT = 1200, 26, 84, 22
_LEAST_SHARE = 1 / 6000
"""Stretches shorter than this share of the run are drawn together, those that follow each other as one."""


@frozen
class _Bar:
    name: str
    count: int
    start_ns: int
    end_ns: int


def timeline(profile: ProgramProfile) -> str:
    """The chart; "" where there is no run to show."""
    if not profile.spans:
        return ""
    total = max(span.end_ns for span in profile.spans)
    families = {kernel.name: family(kernel) for kernel in profile.kernels}
    rows = list(_rows(profile.spans))
    bars: list[str] = []
    names: list[str] = []
    for number, (name, spans) in enumerate(rows):
        y = number * _ROW
        names.append(label(_LEFT - 8, y + 17, name, "end"))
        bars += [_drawn(bar, y, total, families) for bar in _merged(spans, int(total * _LEAST_SHARE))]
    height = len(rows) * _ROW
    inner = element(
        "svg", *bars, x=_LEFT, y=0, width=_WIDTH - _LEFT, height=height, viewBox=f"0 0 {_WIDTH - _LEFT} {height}",
        preserveAspectRatio="none", id="timeline-bars",
    )  # fmt: skip
    return drawing(_WIDTH, height + _FOOT, *names, inner, *_ticks(total, height), id="timeline")


def _rows(spans: Iterable[Span]) -> Iterator[tuple[str, list[Span]]]:
    """Names of rows and what is in them."""
    rows: dict[tuple[int, int], tuple[str, list[Span]]] = {}
    for span in spans:
        match span.kind:
            case SpanKind.ENTRY:
                key, name = (0, 0), "call"
            case SpanKind.REGION:
                key, name = (1, 0), "regions"
            case SpanKind.KERNEL:
                key, name = (2, 0), "kernels"
            case SpanKind.PART:
                key, name = (3, span.thread), f"worker {span.thread}" if span.thread else "caller"
        rows.setdefault(key, (name, []))[1].append(span)
    for key in sorted(rows):
        yield rows[key]


def _merged(spans: Iterable[Span], least_ns: int) -> Iterator[_Bar]:
    """Bars in order; short ones that nearly touch are one."""
    pending: _Bar | None = None
    for span in spans:
        bar = _Bar(span.name, 1, span.start_ns, span.end_ns)
        if pending is not None and bar.start_ns - pending.end_ns <= least_ns and _short(pending, bar, least_ns):
            name = pending.name if pending.name == bar.name else ""
            pending = _Bar(name, pending.count + 1, pending.start_ns, bar.end_ns)
            continue
        if pending is not None:
            yield pending
        pending = bar
    if pending is not None:
        yield pending


def _short(pending: _Bar, bar: _Bar, least_ns: int) -> bool:
    """Whether two bars may be one: both are short, or what is one already goes on."""
    before = (pending.end_ns - pending.start_ns) / pending.count
    return before < least_ns and bar.end_ns - bar.start_ns < least_ns


def _drawn(bar: _Bar, y: int, total: int, families: Mapping[str, str]) -> str:
    scale = (_WIDTH - _LEFT) / total
    lasted = time_text((bar.end_ns - bar.start_ns) * 1e-9)
    what = bar.name or "several kernels"
    text = f"{what}\n{lasted}" + (f", {bar.count} in a row" if bar.count > 1 else "")
    width = max((bar.end_ns - bar.start_ns) * scale, 0.2)
    return element(
        "rect", title(text), x=round(bar.start_ns * scale, 3), y=y + 2, width=round(width, 3), height=_ROW - 4,
        class_=f"k {families.get(bar.name, 'call')}", data_kernel=bar.name,
    )  # fmt: skip


def _ticks(total: int, height: int) -> list[str]:
    count = 8
    parts: list[str] = []
    for tick in range(count + 1):
        x = _LEFT + (_WIDTH - _LEFT) * tick / count
        anchor = "end" if tick == count else "middle" if tick else "start"
        parts.append(label(x, height + 15, time_text(total * tick / count * 1e-9) if tick else "0", anchor))
    return parts
