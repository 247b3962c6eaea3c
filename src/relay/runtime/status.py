"""What the status of a native call means."""

from __future__ import annotations

from collections.abc import Mapping

from relay.base.diagnostics import CompilerBug, RelayError
from relay.runtime.manifest import CHECK_FAILED, NO_CLAUSE_FITS, EntrySpec

OUT_OF_MEMORY = -1
STACK_USED_UP = -2
HOST_FAILED = -3
"""A function of the caller's raised."""
NO_TILES = -4
"""The system does not permit the tiles of AMX; programs in C are told so, others by `check_tiles`."""


def failure(spec: EntrySpec, status: int, values: Mapping[str, int]) -> Exception:
    """What to raise. `values` are the extents of the call, by the names of symbols."""
    if status == STACK_USED_UP:
        return RelayError(
            rule="recursion-too-deep",
            message=f"`{spec.name}` nests calls deeper than its stack of 1 GiB holds",
            remedy="carry the result along in a parameter, so that the call is the last thing its caller does",
        )
    if 0 < status <= len(spec.failures) and spec.failures[status - 1].startswith(NO_CLAUSE_FITS):
        return RelayError(rule="no-clause-fits", message=f"`{spec.name}`: {spec.failures[status - 1]}")
    if 0 < status <= len(spec.failures) and spec.failures[status - 1].startswith(CHECK_FAILED):
        message = spec.failures[status - 1].removeprefix(CHECK_FAILED)
        return RelayError(rule="check-failed", message=f"`{spec.name}`: {message}")
    if 0 < status <= len(spec.failures):
        return RelayError(
            rule="check-failed",
            message=f"`{spec.name}`: {spec.failures[status - 1]}",
            found=shown_values(values),
            remedy="give inputs whose extents agree",
        )
    if status == OUT_OF_MEMORY:
        return MemoryError(f"`{spec.name}` could not allocate memory")
    return CompilerBug("runtime", f"`{spec.name}` returned the unknown status {status}")


def shown_values(values: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())
