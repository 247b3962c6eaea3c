"""Kernels under the roofline: operations a second against operations a byte, both in powers of ten."""

from __future__ import annotations

import math

from relay.base.frozen import frozen
from relay.base.shown.markup import element
from relay.report.families import described, family
from relay.report.svg import drawing, label, title
from relay.runtime.profile.program_profile import KernelProfile, ProgramProfile
from relay.runtime.profile.roofline import Roofline

_WIDTH, _HEIGHT = 960, 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 150, 16, 44


@frozen
class _Scale:
    """From values to the plane of the drawing, by their logarithms."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float

    def x(self, value: float) -> float:
        share = (math.log10(value) - self.x_low) / (self.x_high - self.x_low)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        share = (math.log10(value) - self.y_low) / (self.y_high - self.y_low)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)


def roofline_plot(profile: ProgramProfile) -> str:
    """The plot; "" where there is nothing to draw: no kernel with products, or no roofline."""
    points = [(each.intensity, each.flops_per_s, each) for each in profile.by_time if each.multiply_adds]
    drawn = [(x, y, each) for x, y, each in points if x and y]
    if not drawn or profile.roofline is None:
        return ""
    roofline = profile.roofline
    peaks = [roofline.peak_flops.get(each.dtype, 0.0) for _, _, each in drawn if each.dtype is not None]
    peak = max(peaks, default=0.0) or max(roofline.peak_flops.values())
    fastest, slowest = roofline.levels[0].bytes_per_s, roofline.levels[-1].bytes_per_s
    scale = _Scale(
        math.floor(math.log10(min(*(x for x, _, _ in drawn), peak / fastest / 4))),
        math.ceil(math.log10(max(*(x for x, _, _ in drawn), peak / slowest * 2))),
        math.floor(math.log10(min(*(y for _, y, _ in drawn), peak / 100))),
        math.log10(peak * 1.5),
    )
    circles = [_circle(profile, scale, x, y, each) for x, y, each in drawn]
    return drawing(_WIDTH, _HEIGHT, *_axes(scale), *_roofs(scale, roofline, drawn), *circles, id="roofline")


def _axes(scale: _Scale) -> list[str]:
    parts: list[str] = []
    for power in range(math.ceil(scale.x_low), math.floor(scale.x_high) + 1):
        x = scale.x(10.0**power)
        parts.append(element("line", x1=x, x2=x, y1=_TOP, y2=_HEIGHT - _BOTTOM, class_="grid"))
        parts.append(label(x, _HEIGHT - _BOTTOM + 18, f"{10.0**power:g}", "middle"))
    for power in range(math.ceil(scale.y_low), math.floor(scale.y_high) + 1):
        y = scale.y(10.0**power)
        parts.append(element("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=y, y2=y, class_="grid"))
        parts.append(label(_LEFT - 8, y + 4, f"{10.0 ** (power - 9):g}", "end"))
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(label(middle, _HEIGHT - 8, "operations a byte", "middle", class_="axis"))
    height = (_TOP + _HEIGHT - _BOTTOM) / 2
    parts.append(label(14, height, "GFLOP/s", "middle", class_="axis", transform=f"rotate(-90 14 {height:.0f})"))
    return parts


def _roofs(scale: _Scale, roofline: Roofline, drawn: list[tuple[float, float, KernelProfile]]) -> list[str]:
    """A slope for each level of memory, and a ceiling for each type that kernels use."""
    parts: list[str] = []
    used = dict.fromkeys(each.dtype for _, _, each in drawn if each.dtype is not None)
    peaks = {dtype: roofline.peak_flops[dtype] for dtype in used if dtype in roofline.peak_flops}
    top = max(peaks.values(), default=max(roofline.peak_flops.values()))
    low, high = 10.0**scale.x_low, 10.0**scale.x_high
    floor = 10.0**scale.y_low
    for level in roofline.levels:
        start, ridge = max(low, floor / level.bytes_per_s), top / level.bytes_per_s
        line = element(
            "line", x1=scale.x(start), y1=scale.y(start * level.bytes_per_s), x2=scale.x(ridge), y2=scale.y(top),
            class_="roof",
        )  # fmt: skip
        at = start * (ridge / start) ** 0.45
        text = f"{level.name} {level.bytes_per_s / 1e9:,.0f} GB/s"
        side, anchor, lift = (8, "start", 14) if level is roofline.levels[-1] else (-6, "end", -6)
        x, y = scale.x(at) + side, scale.y(at * level.bytes_per_s) + lift
        parts += [line, label(x, y, text, anchor, class_="roofname")]
    for dtype, peak in peaks.items():
        begin = max(low, peak / roofline.levels[0].bytes_per_s)
        y = scale.y(peak)
        parts.append(element("line", x1=scale.x(begin), x2=scale.x(high), y1=y, y2=y, class_="roof"))
        parts.append(label(_WIDTH - _RIGHT + 6, y + 4, f"{peak / 1e9:,.0f} GFLOP/s {dtype}", class_="roofname"))
    return parts


def _circle(profile: ProgramProfile, scale: _Scale, x: float, y: float, kernel: KernelProfile) -> str:
    share = profile.share(kernel.median_s)
    near = "" if kernel.roofline_share is None else f", {kernel.roofline_share:.0%} of the roofline"
    text = f"{kernel.name}\n{described(kernel)}\n{y / 1e9:,.1f} GFLOP/s at {x:,.1f} operations a byte{near}\n{share:.1%} of the time"  # noqa: E501
    return element(
        "circle", title(text), cx=scale.x(x), cy=scale.y(y), r=4 + 26 * math.sqrt(share), class_=f"k {family(kernel)}",
        data_kernel=kernel.name,
    )  # fmt: skip
