"""The arena as a drawing: time in kernel calls to the right, addresses upwards, a box a value."""

from __future__ import annotations

from collections.abc import Mapping

from relay.base.shown.markup import element
from relay.base.shown.printed import bytes_text
from relay.report.families import family
from relay.report.svg import drawing, label, title
from relay.runtime.artefact.arena_map import ArenaMap, PlacedBuffer
from relay.runtime.profile.program_profile import ProgramProfile

_WIDTH, _HEIGHT = 960, 340
_LEFT, _BOTTOM, _TOP = 70, 40, 10


def arena_plot(profile: ProgramProfile) -> str:
    """The drawing; "" where nothing is planned."""
    arena = profile.arena
    if arena is None or not arena.buffers or not arena.planned_bytes:
        return ""
    families = {kernel.name: family(kernel) for kernel in profile.kernels}
    boxes = [_box(buffer, arena, families) for buffer in arena.buffers]
    return drawing(_WIDTH, _HEIGHT, *_axes(arena), *boxes, *_bound(arena), id="arena")


def _x(step: float, arena: ArenaMap) -> float:
    return _LEFT + (_WIDTH - _LEFT - 8) * step / arena.steps


def _y(offset_bytes: int, arena: ArenaMap) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * offset_bytes / arena.planned_bytes


def _axes(arena: ArenaMap) -> list[str]:
    parts: list[str] = []
    for quarter in range(5):
        offset = arena.planned_bytes * quarter // 4
        y = _y(offset, arena)
        parts.append(element("line", x1=_LEFT, x2=_WIDTH - 8, y1=y, y2=y, class_="grid"))
        parts.append(label(_LEFT - 8, y + 4, bytes_text(offset), "end"))
    for step in range(0, arena.steps, max(1, -(-arena.steps // 16))):
        parts.append(label(_x(step + 0.5, arena), _HEIGHT - _BOTTOM + 16, str(step), "middle"))
    middle = (_LEFT + _WIDTH) / 2
    return [*parts, label(middle, _HEIGHT - 6, "kernel call", "middle", class_="axis")]


def _box(buffer: PlacedBuffer, arena: ArenaMap, families: Mapping[str, str]) -> str:
    size = bytes_text(buffer.end - buffer.begin)
    text = f"{buffer.kernel}\n{size} at {buffer.begin:,}\nkernel calls {buffer.first} to {buffer.last}"
    x, top = _x(buffer.first, arena), _y(buffer.end, arena)
    return element(
        "rect", title(text), x=x, y=top, width=_x(buffer.last + 1, arena) - x, height=_y(buffer.begin, arena) - top,
        class_=f"k boxed {families.get(buffer.kernel, 'other')}", data_kernel=buffer.kernel,
    )  # fmt: skip


def _bound(arena: ArenaMap) -> list[str]:
    """A line at what is alive at most."""
    y = _y(arena.lower_bound_bytes, arena)
    text = f"alive at most: {bytes_text(arena.lower_bound_bytes)}"
    line = element("line", x1=_LEFT, x2=_WIDTH - 8, y1=y, y2=y, class_="bound")
    return [line, label(_WIDTH - 12, y + 14, text, "end", class_="roofname")]
