"""Programs run by the interpreter of their form, each kernel by that of loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from relay.driver.build import compile_stages
from relay.driver.kernels import Kernel
from relay.driver.program import GivenProgram
from relay.lower.program.interpreted import interpreted
from relay.lower.program.interpreter import KernelCode, kernel_code
from relay.lower.program.parser import parse_program
from relay.te.lower import lower


def run_as_text(module: GivenProgram, opt_level: int | None = None, target: str = "llvm") -> Callable[..., Any]:
    """What runs `@main`: the program is read back from its text, so that nothing else says what it does."""
    stages = compile_stages(module, target, opt_level=opt_level)
    program = stages.program
    constants = {each.offset_bytes: each.array for each in program.constants}
    again = parse_program(str(program), constants)
    return interpreted(again, {each.info.name: code(each) for each in stages.kernels})


def code(kernel: Kernel) -> KernelCode:
    """A kernel as it is before anything is scheduled, made when it is first run."""
    made: list[KernelCode] = []

    def run(memory: Any, extents: Any) -> None:
        if not made:
            group = kernel.group()
            loops = lower(group.outputs, group.inputs, (), kernel.info.name)
            made.append(kernel_code(replace(loops, symbols=kernel.info.symbols)))
        made[0](memory, extents)

    return run
