"""Which backend serves which kind of target."""

from __future__ import annotations

from relay.targets.cpu.backend import CpuBackend

from relay.base.target import Target
from relay.lower.backend import Backend


def backend_for(target: str | Target) -> Backend:
    """The backend for a target as users write it. Raises `RelayError` for a kind that none serves."""
    return CpuBackend.for_target(Target.parse(target))
