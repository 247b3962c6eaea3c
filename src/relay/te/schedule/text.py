"""Schedules as text, one step a line: what a tuning record stores and a golden test shows.

split("conv", "oc", factor=16)
reorder("conv", ("oh", "oc.outer", "ow", "oc.inner"))
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, TypeAlias, TypeVar, Union, cast

from relay.base.diagnostics import RelayError
from relay.te.schedule.loop_steps.alternate import Alternate
from relay.te.schedule.loop_steps.bind import Bind
from relay.te.schedule.loop_steps.fuse import Fuse
from relay.te.schedule.loop_steps.parallel import Parallel
from relay.te.schedule.loop_steps.pragma import Pragma
from relay.te.schedule.loop_steps.reorder import Reorder
from relay.te.schedule.loop_steps.split import Split
from relay.te.schedule.loop_steps.tile import Tile
from relay.te.schedule.loop_steps.unroll import Unroll
from relay.te.schedule.loop_steps.vectorize import Vectorize
from relay.te.schedule.loop_steps.virtual_thread import VirtualThread
from relay.te.schedule.stage_steps.cache_read import CacheRead
from relay.te.schedule.stage_steps.cache_write import CacheWrite
from relay.te.schedule.stage_steps.compute_at import ComputeAt
from relay.te.schedule.stage_steps.compute_inline import ComputeInline
from relay.te.schedule.stage_steps.compute_root import ComputeRoot
from relay.te.schedule.stage_steps.double_buffer import DoubleBuffer
from relay.te.schedule.stage_steps.issue_to import IssueTo
from relay.te.schedule.stage_steps.leave_gap import LeaveGap
from relay.te.schedule.stage_steps.prefetch import Prefetch
from relay.te.schedule.stage_steps.prefetch_stores import PrefetchStores
from relay.te.schedule.stage_steps.reduce_together import ReduceTogether
from relay.te.schedule.stage_steps.rfactor import RFactor
from relay.te.schedule.stage_steps.set_scope import SetScope
from relay.te.schedule.stage_steps.tensorize import Tensorize
from relay.te.schedule.step import Step

KnownStep: TypeAlias = Union[
    Split, Fuse, Reorder, Tile, Vectorize, Unroll, Parallel, ComputeAt, ComputeInline, ComputeRoot, CacheRead,
    CacheWrite, SetScope, RFactor, Bind, Tensorize, Pragma, Prefetch, PrefetchStores,
    LeaveGap, ReduceTogether, Alternate, IssueTo, DoubleBuffer, VirtualThread,
]  # fmt: skip

STEP_TYPES: tuple[type[KnownStep], ...] = (
    Split, Fuse, Reorder, Tile, Vectorize, Unroll, Parallel, ComputeAt, ComputeInline, ComputeRoot, CacheRead,
    CacheWrite, SetScope, RFactor, Bind, Tensorize, Pragma, Prefetch, PrefetchStores,
    LeaveGap, ReduceTogether, Alternate, IssueTo, DoubleBuffer, VirtualThread,
)  # fmt: skip

Argument: TypeAlias = Union[str, int, tuple[str, ...], None]

Given = TypeVar("Given")

_SPECIAL_NAMES = {"RFactor": "rfactor"}


def step_name(kind: type[Step]) -> str:
    """The name of a kind of step in text.

    >>> step_name(ComputeAt)
    'compute_at'
    """
    name = kind.__name__
    return _SPECIAL_NAMES.get(name) or re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


_BY_NAME = {step_name(kind): kind for kind in STEP_TYPES}


def print_steps(steps: Iterable[Step]) -> str:
    """The text of a schedule; `parse_steps` reads it back.

    >>> print(print_steps([Split("conv", "oc", factor=16), Parallel("conv", "oc.outer")]))
    split("conv", "oc", factor=16)
    parallel("conv", "oc.outer")
    """
    return "\n".join(map(_print_step, steps))


def _print_step(step: Step) -> str:
    parts: list[str] = []
    for entry in fields(cast(KnownStep, step)):
        value = cast(Argument, getattr(step, entry.name))
        if entry.default is MISSING:
            parts.append(_print_argument(value))
        elif value != entry.default:
            parts.append(f"{entry.name}={_print_argument(value)}")
    return f"{step_name(type(step))}({', '.join(parts)})"


def _print_argument(value: Argument) -> str:
    if isinstance(value, tuple):
        inside = ", ".join(map(_print_argument, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    return str(value)


def parse_steps(text: str) -> tuple[KnownStep, ...]:
    """The schedule that `text` says; lines that are empty or start with `#` are skipped.

    Raises `RelayError` (`schedule-syntax`) and names the line.

    >>> parse_steps('split("conv", "oc", factor=16)')
    (Split(stage='conv', loop='oc', factor=16, parts=None),)
    """
    steps: list[KnownStep] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            steps.append(_parse_step(line.strip(), number))
    return tuple(steps)


def _parse_step(line: str, number: int) -> KnownStep:
    try:
        call = ast.parse(line, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        call = None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise _syntax_error(number, line, 'a step, such as split("conv", "oc", factor=16)')
    kind = _BY_NAME.get(call.func.id)
    if kind is None:
        raise _syntax_error(number, line, "one of " + ", ".join(_BY_NAME))
    given = _bound(kind, call.args, [(keyword.arg, keyword.value) for keyword in call.keywords])
    if given is None:
        raise _syntax_error(number, line, signature(kind))
    try:
        values = {name: cast(Argument, ast.literal_eval(node)) for name, node in given.items()}
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise _syntax_error(number, line, "arguments that are strings, integers or tuples of strings") from None
    if not _fits(kind, values):
        raise _syntax_error(number, line, _types(kind))
    return kind(**values)  # type: ignore[arg-type]  # every argument was checked against its field


def signature(kind: type[KnownStep]) -> str:
    """How a kind of step is written.

    >>> signature(Fuse)
    'fuse(stage, outer, inner)'
    """
    return f"{step_name(kind)}({', '.join(entry.name for entry in fields(kind))})"


def made_step(kind: type[KnownStep], positional: Sequence[Any], named: Mapping[str, Any]) -> KnownStep:
    """The step of these arguments; lists stand for tuples. Raises `RelayError` (rule `schedule-arguments`).

    >>> made_step(Split, ("c", "i"), {"factor": 16})
    Split(stage='c', loop='i', factor=16, parts=None)
    """
    given = _bound(kind, positional, list(named.items()))
    values = {name: _as_tuple(value) for name, value in (given or {}).items()}
    if given is None or not _fits(kind, values):
        shown = [*map(repr, positional), *(f"{name}={value!r}" for name, value in named.items())]
        raise RelayError(
            rule="schedule-arguments", message=f"`{step_name(kind)}` is given other arguments than it takes",
            expected=signature(kind) if given is None else _types(kind), found=f"({', '.join(shown)})",
        )  # fmt: skip
    return kind(**values)


def _as_tuple(value: Any) -> Any:
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value


def _bound(
    kind: type[KnownStep], positional: Sequence[Given], named: Sequence[tuple[str | None, Given]]
) -> dict[str, Given] | None:
    """Arguments by the names of the fields that they are for; None where they are not those of the step."""
    names = [entry.name for entry in fields(kind)]
    given = dict(zip(names, positional, strict=False))
    given |= {name: value for name, value in named if name is not None}
    required = {entry.name for entry in fields(kind) if entry.default is MISSING}
    complete = required <= given.keys() <= set(names)
    fits = len(positional) <= len(names) and len(given) == len(positional) + len(named)
    return given if complete and fits else None


def _fits(kind: type[KnownStep], values: Mapping[str, Any]) -> bool:
    return all(_is_argument(entry.type, values[entry.name]) for entry in fields(kind) if entry.name in values)


def _types(kind: type[KnownStep]) -> str:
    return ", ".join(f"{entry.name}: {entry.type}" for entry in fields(kind))


def _is_argument(annotation: object, value: Argument) -> bool:
    match annotation:
        case "str":
            return isinstance(value, str)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "int | None":
            return value is None or (isinstance(value, int) and not isinstance(value, bool))
        case "str | int":
            return isinstance(value, (str, int)) and not isinstance(value, bool)
        case "tuple[str, ...]":
            return isinstance(value, tuple) and set(map(type, value)) <= {str}
        case _:
            return False


def _syntax_error(number: int, line: str, expected: str) -> RelayError:
    return RelayError(
        rule="schedule-syntax", message=f"line {number} is not a schedule step", expected=expected, found=line
    )
