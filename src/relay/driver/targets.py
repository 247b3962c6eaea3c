"""Which backend serves which kind of target."""

from __future__ import annotations

from relay.base.target import Target
from relay.lower.backend import Backend
from relay.targets.cpu.backend import CpuBackend


def backend_for(target: str | Target) -> Backend:
    """The backend for a target as users write it. Raises `RelayError` for a kind that none serves."""
    return CpuBackend.for_target(Target.parse(target))
