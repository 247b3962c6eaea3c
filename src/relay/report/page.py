"""A profile as one HTML page that needs nothing else: no network, no library."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from relay.base.files import write_atomically
from relay.base.shown.markup import element, escaped
from relay.base.shown.printed import bytes_text, time_text
from relay.base.version import VERSION
from relay.report.arena_plot import arena_plot
from relay.report.families import FAMILIES, described, family
from relay.report.roofline_plot import roofline_plot
from relay.report.timeline import timeline
from relay.runtime.profile.program_profile import (
    CONTROL,
    HEADER,
    NAMES,
    REGION_HEADER,
    KernelProfile,
    ProgramProfile,
    roofline_line,
)

_NUMBERS = HEADER[2:]


def html_page(profile: ProgramProfile, name: str = "program") -> str:
    """The page: what the run took, a flame chart, the roofline, a table that sorts, what devices ran, and the arena."""
    sections = [
        element("header", element("h1", escaped(f"Profile of {name}")), _summary(profile)),
        _section("Timeline", "One run. Turn the wheel to zoom, drag to move, double-click for all of it.",
                 timeline(profile) or _nothing("The run called nothing."), _legend()),
        _section("Roofline", "A kernel is a circle, its area the time it takes. Kernels without products are in the "
                 "table only.", roofline_plot(profile) or _nothing(_why_no_plot(profile))),
        _section("Kernels", "Click a column to sort by it.", _table(profile)),
        *_device_regions(profile),
        _section("Arena", "What is where while a region of kernels runs, the largest region drawn.",
                 *(element("p", escaped(each.summary() + ".")) for each in profile.arenas),
                 arena_plot(profile) or _nothing("Nothing is planned.")),
    ]  # fmt: skip
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    style, script = f"<style>{_file('page.css')}</style>", f"<script>{_file('page.js')}</script>"
    title = element("title", escaped(f"relay profile: {name}"))
    body = "".join(sections)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}{title}{style}</head>\n<body>{body}{script}</body></html>\n'


def write_html(profile: ProgramProfile, path: str | os.PathLike[str], name: str = "program") -> None:
    """Write the page to a file. Raises `RelayError` (rule `cannot-write`)."""
    write_atomically(Path(path), [html_page(profile, name).encode()])


@cache
def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8").strip()


def _section(heading: str, text: str, *parts: str) -> str:
    return element("section", element("h2", escaped(heading)), element("p", escaped(text)), *parts)


def _nothing(text: str) -> str:
    return element("p", escaped(text), class_="nothing")


def _why_no_plot(profile: ProgramProfile) -> str:
    if profile.roofline is None:
        return roofline_line(None, profile.threads)
    return "No kernel adds up products."


def _summary(profile: ProgramProfile) -> str:
    flops = sum(2 * (kernel.multiply_adds or 0) for kernel in profile.kernels)
    facts = [
        ("a run, median", time_text(profile.median_s)),
        ("a run, quickest", time_text(min(profile.seconds))),
        ("between kernels", f"{time_text(profile.control_s)} ({profile.share(profile.control_s):.1%})"),
        ("kernel calls", f"{sum(kernel.calls for kernel in profile.kernels):,}"),
        ("operations", f"{flops / 1e9:,.2f} G, {flops / profile.median_s / 1e9:,.0f} GFLOP/s"),
        ("constants", bytes_text(profile.constant_bytes)),
        ("threads", str(profile.threads)),
    ]
    cards = [element("div", element("b", escaped(value)), element("span", escaped(what))) for what, value in facts]
    lines = [f"relay {VERSION}, {profile.target}", roofline_line(profile.roofline, profile.threads)]
    small = element("p", "<br>".join(map(escaped, lines)), class_="small")
    return element("div", *cards, class_="cards") + small


def _legend() -> str:
    return element(
        "p",
        *(element("span", element("i", class_=key), escaped(text)) for key, text in FAMILIES.items()),
        class_="legend",
    )


def _table(profile: ProgramProfile) -> str:
    head = "".join(element("th", escaped(name), class_="number" if name in _NUMBERS else "name") for name in HEADER)
    values: list[KernelProfile | None] = [*profile.by_time, None]
    rows = [_row(profile, kernel, cells) for kernel, cells in zip(values, profile.cells()[:-1], strict=True)]
    return element("table", element("thead", element("tr", head)), element("tbody", *rows), id="kernels")


def _device_regions(profile: ProgramProfile) -> list[str]:
    """The section of what devices run; none where there is nothing."""
    rows = [REGION_HEADER, *(each.cells() for each in profile.device_regions)]
    kinds = [("name" if column < NAMES else "number") for column in range(len(REGION_HEADER))]
    head, *body = (
        element("tr", *(element(tag, escaped(cell), class_=kind) for cell, kind in zip(row, kinds, strict=True)))
        for tag, row in zip(("th", *["td"] * len(profile.device_regions)), rows, strict=True)
    )
    text = "What devices run as a whole; what they launch and move is among the kernels."
    table = element("table", element("thead", head), element("tbody", *body))
    return [_section("Regions of devices", text, table)] if body else []


def _row(profile: ProgramProfile, kernel: KernelProfile | None, cells: tuple[str, ...]) -> str:
    seconds = profile.control_s if kernel is None else kernel.median_s
    kind, name = ("call", CONTROL) if kernel is None else (family(kernel), kernel.name)
    operators = "" if kernel is None else described(kernel)
    parts = [
        element("td", element("i", class_=kind), escaped(name), class_="name"),
        element("td", escaped(operators), class_="name"),
    ]
    for column, cell in zip(_NUMBERS, cells[2:], strict=True):
        bar = ""
        if column == "share":
            bar = element("s", style=f"width:{100 * profile.share(seconds):.2f}%", class_=kind)
        parts.append(element("td", bar, escaped(cell), data_value=_number(cell), class_="number"))
    return element("tr", *parts, data_kernel=name)


def _number(cell: str) -> float:
    """What a cell is sorted by; what is not known comes last."""
    digits = cell.replace(",", "").rstrip("%")
    return float(digits) if digits and digits != "–" else -1.0
