"""What the status of a native call means."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import CompilerBug, RelayError
from relay.runtime.artefact.failures import Failure, FailureKind
from relay.runtime.artefact.manifest import EntrySpec

OUT_OF_MEMORY = -1
STACK_USED_UP = -2
HOST_FAILED = -3
"""A function of the caller's raised."""
NO_TILES = -4
"""The system does not permit the tiles of AMX; programs in C are told so, others by `check_tiles`."""

CONSTANTS_LOST = -5
"""The file that constants are mapped from was cut short; `Constants.check` says so."""

DEVICE_MISSING, DEVICE_FAILED, DEVICE_INTERRUPTED = -6, -7, -8
"""A region had no device to run on, the device failed, or somebody did not want to wait for it; `Connected.failure`
says why."""

INTERRUPTED, TIMED_OUT = -9, -10
"""Somebody pressed Ctrl-C, or the time that a caller gave was up."""

STEPS_USED_UP, MEMORY_USED_UP = -11, -12
"""A call came to a limit that its caller gave."""


def failure(spec: EntrySpec, status: int, values: Mapping[str, int], index: tuple[int, int] = (0, 0)) -> Exception:
    """What to raise. `values` are the extents of the call, by the names of symbols; `index` is what a failure for an
    index left: see `left_index`."""
    if status == STACK_USED_UP:
        return RelayError(
            rule="recursion-too-deep",
            message=f"`{spec.name}` nests calls deeper than its stack of 1 GiB holds",
            remedy="carry the result along in a parameter, so that the call is the last thing its caller does",
        )
    if 0 < status <= len(spec.failures):
        return _error(spec.name, spec.failures[status - 1], values, index)
    if status == OUT_OF_MEMORY:
        return MemoryError(f"`{spec.name}` could not allocate memory")
    return stopped(spec.name, status) or CompilerBug("runtime", f"`{spec.name}` returned the unknown status {status}")


def stopped(name: str, status: int) -> RelayError | None:
    """The error that a call was told to end; None for another status."""
    if status == INTERRUPTED:  # Python has the signal too, and is about to handle it; who handles it may go on
        return RelayError(rule="interrupted", message=f"`{name}` was interrupted", remedy="call it again")
    if status == TIMED_OUT:
        return RelayError(
            rule="timed-out",
            message=f"`{name}` did not end within the time that it was given",
            remedy="give it more (`timeout`), or see where the time goes: executable.profile(…)",
        )
    if status == STEPS_USED_UP:
        return RelayError(
            rule="step-limit",
            message=f"`{name}` took more steps than it was given: calls, turns of loops and kernels",
            remedy="a function that calls itself must come to an end; raise step_limit if this one does",
        )
    return memory_limit_error(name) if status == MEMORY_USED_UP else None


def memory_limit_error(name: str) -> RelayError:
    """The error that a call needs more memory than it was given."""
    return RelayError(
        rule="memory-limit",
        message=f"`{name}` needs more memory than it was given",
        remedy="raise memory_limit_bytes, or give it smaller inputs",
    )


def _error(name: str, failed: Failure, values: Mapping[str, int], index: tuple[int, int]) -> RelayError:
    """The error that a failure of the program is."""
    match failed.kind:
        case FailureKind.MATCH:
            return RelayError(rule="no-clause-fits", message=f"`{name}`: {failed}")
        case FailureKind.INDEX:
            return index_error(f"`{name}`: {failed.text}", *index)
        case FailureKind.CHECKED:
            return RelayError(rule="check-failed", message=f"`{name}`: {failed}")
        case FailureKind.EXTENTS:
            return RelayError(
                rule="check-failed",
                message=f"`{name}`: {failed}",
                found=shown_values(values),
                remedy="give inputs whose extents agree",
            )
        case _:
            assert_never(failed.kind)


def is_about_index(spec: EntrySpec, status: int) -> bool:
    """Whether a status says that an index lies outside."""
    return 0 < status <= len(spec.failures) and spec.failures[status - 1].kind is FailureKind.INDEX


def left_index(spec: EntrySpec, status: int, address: int) -> tuple[int, int]:
    """The index that a call refused, and how many entries its axis has; `address` is where it left them."""
    if not is_about_index(spec, status):
        return 0, 0
    index, extent = (ctypes.c_int64 * 2).from_address(address)
    return int(index), int(extent)


def check_index(what: str, found: NDArray[np.generic]) -> None:
    """Raise that `what` is given the index found[0], unless an axis with found[1] entries has it."""
    index, extent = map(int, found.tolist())
    if not -extent <= index < extent:
        raise index_error(what, index, extent)


def index_error(what: str, index: int, extent: int) -> RelayError:
    """The error that `what` was given an index which lies outside of an axis.

    >>> index_error("Gather `embed`", 7, 5).found
    '7'
    """
    return RelayError(
        rule="index-out-of-range",
        message=f"{what}: an index lies outside of an axis with {extent} {'entry' if extent == 1 else 'entries'}",
        expected=f"from {-extent} to {extent - 1}" if extent else "no index at all",
        found=str(index),
    )


def undefined_extent(extent: object, values: Mapping[str, int]) -> RelayError:
    """The error that an extent is divided by 0 where its symbols have these values.

    >>> undefined_extent("8*n // (n // 4)", {"n": 3}).found
    'n = 3'
    """
    return RelayError(
        rule="undefined-extent",
        message=f"the inputs are too small: the extent {extent} is divided by 0",
        expected="inputs for which it is a number",
        found=shown_values(values),
    )


def shown_values(values: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())
