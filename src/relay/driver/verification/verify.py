"""A compilation that checks its own work: every pass, every kernel, and the program that calls the kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from relay.base.diagnostics import CompilerBug
from relay.base.floating_point import FloatingPointClass
from relay.driver.compilation import Compilation
from relay.driver.verification.comparing import Compare, compared
from relay.driver.verification.failure import Wrong
from relay.driver.verification.kernels import kernel_comparisons
from relay.driver.verification.meanings import MORE_STEPS, Meanings, Run, Signature, by_interpreter, observe
from relay.driver.verification.options import VerifyOptions
from relay.driver.verification.passes import PassChecks
from relay.runtime.executable import Executable
from relay.runtime.memory.host import runs_here
from relay.runtime.verification import Comparison, Part, Verification
from relay.transform.gradients.apply_transformations import ApplyTransformations

OPTIMIZED, NATIVE = "the optimized program", "the native program"


def verified(
    compilation: Compilation, load: Callable[[], Executable], options: VerifyOptions | None = None
) -> tuple[Executable, Verification]:
    """Compile and `load` a program, and compare each step with what it means, on inputs that are made up for the types
    of `@main`: the module before and after every pass, and once over all of them, in the reference interpreter; the
    native code of every kernel with the meaning of its operators; and calls of the executable with those of the
    program as it was given.

    Nothing of the compilation may have been asked for before. Raises `RelayError` (rule `verification-failed`) for the
    first that is farther off than its class (`FloatingPointClass`) allows, and what compiling raises.
    """
    if "optimized" in vars(compilation):
        raise CompilerBug("verify", "the passes ran before they were watched")
    return _Verified(compilation, options or VerifyOptions()).run(load)


class _Verified:
    def __init__(self, compilation: Compilation, options: VerifyOptions) -> None:
        self.compilation = compilation
        self.options = options
        source = ApplyTransformations(compilation.typed)
        self.meanings = Meanings(options, source)
        self.meanings.choose()
        count = len(self.meanings.draws)
        self.passes = PassChecks(self.meanings, lambda done: compilation.progress("verify passes", done, done + 1))
        if count:
            self._watch()

    def _watch(self) -> None:
        surroundings = self.compilation.surroundings
        instruments = (*surroundings.instruments, self.passes)
        self.compilation.surroundings = replace(surroundings, instruments=instruments)

    def run(self, load: Callable[[], Executable]) -> tuple[Executable, Verification]:
        compilation = self.compilation
        optimized = compilation.optimized
        may = max((each.floating_point for each in self.passes.rows), default=FloatingPointClass.EXACT)
        steps = self.options.most_steps * MORE_STEPS
        program = [self._program(OPTIMIZED, may, by_interpreter(optimized, steps), "")]
        executable = load()
        kernels: list[Comparison] = []
        total = len(compilation.kernels)
        for row in kernel_comparisons(compilation, self.options):
            kernels.append(row)
            compilation.progress("verify kernels", len(kernels), total)
        here = runs_here(compilation.targets.host.machine)
        reason = "" if here else "it is code for another machine"
        may = max([may, *(each.floating_point for each in kernels)])
        program.append(self._program(NATIVE, may, executable, reason))
        rows = (*self.passes.rows, *kernels, *program)
        return executable, Verification(self.meanings.shown(), rows)

    def _program(self, name: str, may: FloatingPointClass, run: Run, reason: str) -> Comparison:
        """The whole program, compared as it is called."""
        meanings = self.meanings
        row = Comparison(Part.PROGRAM, name, may)
        if reason or not meanings.draws:
            return replace(row, reason=reason or meanings.reason)
        source = meanings.source
        signature = Signature.of(source)
        compare = Compare(
            meant=partial(meanings.of, source),
            found=lambda draw: observe(run, signature, source, draw),
            again=partial(meanings.moved, source, self.compilation.optimized),
        )
        shown = dict(zip(meanings.draws, meanings.shown(), strict=True))
        target, level = str(self.compilation.targets), self.compilation.opt_level
        return compared(
            row, compare, shown, meanings.reason, lambda: Wrong(Part.PROGRAM, name, source, None, target, level)
        )
