"""Traces and pages: well-formed, complete, and in need of nothing else."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from relay.base.dtypes import DType
from relay.report import html_page, trace_json, write_html, write_trace
from relay.runtime.artefact.arena_map import ArenaMap, PlacedBuffer
from relay.runtime.profile.program_profile import KernelProfile, ProgramProfile, Span, SpanKind
from relay.runtime.profile.roofline import MemoryLevel, Roofline

ROOFLINE = Roofline(2, {DType.FLOAT32: 100e9}, (MemoryLevel("L2", 1 << 20, 50e9), MemoryLevel("memory", 0, 10e9)))
ODD_NAME = 'a<b>&"c"'


def kernel(name: str, operator: str, multiply_adds: int | None) -> KernelProfile:
    return KernelProfile(name, (operator,), 2, (1e-3, 3e-3, 2e-3), DType.FLOAT32, multiply_adds, 4096, 1e-3)


def profile(spans: int = 3, roofline: Roofline | None = ROOFLINE, arena: bool = True) -> ProgramProfile:
    kernels = (kernel("conv", "nn.conv2d", 10_000_000), kernel(ODD_NAME, "add", 0), kernel("run", "arange", None))
    shown = [Span("main", SpanKind.ENTRY, 0, 0, 1000 * spans + 500)]
    shown += [Span("conv", SpanKind.KERNEL, 0, 1000 * i, 1000 * i + 900) for i in range(spans)]
    shown += [Span("conv", SpanKind.PART, i % 2, 1000 * i, 1000 * i + 800) for i in range(spans)]
    plan = ArenaMap((PlacedBuffer("conv", 0, 512, 0, 1), PlacedBuffer(ODD_NAME, 512, 1024, 1, 2)), 1024)
    seconds = (6.1e-3, 6.3e-3, 6.2e-3)
    return ProgramProfile(
        "main", "llvm", 2, kernels, seconds, (1e-4,) * 3, tuple(shown), roofline, (plan,) if arena else (), 1 << 20
    )


class Checker(HTMLParser):
    """Every element is closed in its order; nothing is fetched from anywhere."""

    VOID = ("meta", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        names = {name for name, _ in attrs}
        assert not names & {"src", "href", "srcset"}, (tag, attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def checked(text: str) -> Checker:
    checker = Checker()
    checker.feed(text)
    checker.close()
    assert not checker.open
    return checker


def test_the_page_is_whole():
    text = html_page(profile(), "model<1>.onnx")
    checker = checked(text)
    assert checker.seen.count("circle") == 1  # one kernel has products
    assert {"timeline", "roofline", "kernels", "arena"} <= set(re.findall(r'id="([\w-]+)"', text))
    assert "model&lt;1&gt;.onnx" in text
    assert ODD_NAME not in text
    assert "+0.0%" in text
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)


@pytest.mark.parametrize("change", [{"roofline": None}, {"arena": False}, {"spans": 0}])
def test_what_is_missing_is_said(change):
    text = html_page(profile(**change))
    checked(text)
    if "roofline" in change:
        assert "measure_roofline(2)" in text
    if "arena" in change:
        assert "Nothing is planned." in text


def test_a_long_run_stays_a_small_page():
    """A hundred thousand calls are drawn together where no eye could tell them apart."""
    text = html_page(profile(spans=100_000))
    checked(text)
    assert len(text) < 400_000
    assert "in a row" in text


def test_the_trace_has_every_span():
    shown = profile(spans=5)
    document = json.loads(trace_json(shown))
    events = [event for event in document["traceEvents"] if event["ph"] == "X"]
    assert len(events) == len(shown.spans)
    assert {event["tid"] for event in events} == {0, 1}
    names = {event["tid"]: event["args"]["name"] for event in document["traceEvents"] if event["name"] == "thread_name"}
    assert names == {0: "caller", 1: "worker 1"}
    first = events[1]
    assert (first["name"], first["ts"], first["dur"], first["cat"]) == ("conv", 0.0, 0.9, "kernel")
    assert first["args"] == {"operators": "nn.conv2d"}


def test_files(tmp_path):
    write_html(profile(), tmp_path / "a.html", "m")
    write_trace(profile(), tmp_path / "a.json")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == html_page(profile(), "m")
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == trace_json(profile())
