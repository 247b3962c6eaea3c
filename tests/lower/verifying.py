"""Every program that tests compile is verified, and read back from its text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps

from relay.driver import compilation
from relay.ir.expr import Function
from relay.ir.module import IRModule
from relay.lower.module import Checks
from relay.lower.planning.kernel_calls import KernelInfo, KernelOf
from relay.lower.planning.scratch_places import ScratchOf
from relay.lower.program.parser import parse_program
from relay.lower.program.program import Program
from relay.lower.program.verification.program_verifier import verify_program


def verify_every_program() -> None:
    """From now on, lowering verifies what it makes, and reads it back; again when kernels have what they work in."""
    lower, place_scratch = compilation.lower_module, compilation.with_scratch
    known: dict[str, Sequence[int]] = {}  # what kernels may write over

    @wraps(lower)
    def verified(
        module: IRModule, checks: Checks, kernel_of: KernelOf, apart: bool = False, donate: Sequence[str] = ()
    ) -> Program:
        def noted(function: Function) -> KernelInfo:
            info = kernel_of(function)
            known[info.name] = info.in_place
            return info

        return sound(lower(module, checks, noted, apart, donate))

    @wraps(place_scratch)
    def verified_scratch(program: Program, scratch_of: ScratchOf) -> Program:
        return sound(place_scratch(program, scratch_of))

    def sound(program: Program) -> Program:
        verify_program(program, known)
        text, constants = str(program), {each.offset_bytes: each.array for each in program.constants}
        assert str(parse_program(text, constants)) == text
        return program

    compilation.lower_module = verified
    compilation.with_scratch = verified_scratch
