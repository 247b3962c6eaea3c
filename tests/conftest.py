"""How generated tests are run: the same examples every time, so that a change is judged by what it changed.

`RELAY_FUZZ=1` draws new examples at every run: that is `make fuzz`, the long campaign of which the suite runs a slice.
`RELAY_TEST_HOST=zen_3` runs tests as if this machine had the caches of one in `tests/targets/cpu/machines.py`, and no
features that it lacks: what tests take for granted of the machine that they were written on fails there first.

Whatever tests compile in this process is verified (`relay.lower.program.verification.program_verifier`).
"""

from __future__ import annotations

import os

import llvmlite.binding as llvm
import pytest
from hypothesis import HealthCheck, settings

from relay.targets.cpu import host
from tests.lower.verifying import verify_every_program
from tests.targets.cpu.machines import MACHINES, as_far_as_here

UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # others may work on this machine too
settings.register_profile("suite", UNTIMED, derandomize=True)
settings.register_profile("fuzz", UNTIMED, derandomize=False)
settings.load_profile("fuzz" if os.environ.get("RELAY_FUZZ") == "1" else "suite")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Before tests are imported: some ask for the host's features as they are."""
    verify_every_program()
    name = os.environ.get("RELAY_TEST_HOST")
    if name:
        machine = as_far_as_here(MACHINES[name])
        features = llvm.get_host_cpu_features()
        features.update({name: f"+{name}" in machine.features for name in features})
        llvm.get_host_cpu_features = lambda: features
        host.host_cache_bytes = lambda: (machine.l1_bytes, machine.l2_bytes, machine.l3_bytes)
