"""Every program that tests compile is verified."""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps

from relay.driver import compilation
from relay.ir.expr import Function
from relay.ir.module import IRModule
from relay.lower.module import Checks
from relay.lower.planning.kernel_calls import KernelInfo, KernelOf
from relay.lower.program.program import Program
from relay.lower.program.program_verifier import verify_program


def verify_every_program() -> None:
    """From now on, lowering verifies what it makes."""
    lower = compilation.lower_module

    @wraps(lower)
    def verified(module: IRModule, checks: Checks, kernel_of: KernelOf, apart: bool = False) -> Program:
        known: dict[str, Sequence[int]] = {}

        def noted(function: Function) -> KernelInfo:
            info = kernel_of(function)
            known[info.name] = info.in_place
            return info

        program = lower(module, checks, noted, apart)
        verify_program(program, known)
        return program

    compilation.lower_module = verified
