"""`relay.build`: from a program to something that can be called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from relay.base.arguments import CALLABLE, TEXT, Kind, expect, expect_each
from relay.base.collector import collection_paused
from relay.base.freed_memory import gives_back_memory
from relay.base.names.loading import when_called
from relay.base.target import Target
from relay.driver.compilation import Compilation
from relay.driver.program import TARGET, GivenProgram, checked_params, given_program
from relay.driver.progress import Progress, carried
from relay.driver.targets import targets_for
from relay.driver.verification.options import VerifyOptions
from relay.ir.module import IRModule
from relay.runtime.executable import Executable, instantiate
from relay.transform.framework.context import PassContext

_export_library = when_called("relay.driver.libraries.export", "export_library")
_machine_roofline = when_called("relay.driver.roofline", "machine_roofline")

_VERIFY = Kind((bool, VerifyOptions), "True, False or VerifyOptions")
NAMES = Kind((tuple, list), "a tuple of names", lambda value: f"donate=({value!r},)" if isinstance(value, str) else "")


@gives_back_memory
def build(
    program: GivenProgram,
    target: str | Target = "llvm",
    params: Mapping[str, Any] | None = None,
    opt_level: int | None = None,
    progress: Progress | None = None,
    host: str | Target | None = None,
    donate: Sequence[str] = (),
    verify: bool | VerifyOptions = False,
) -> Executable:
    """Compile a program to native code and load it.

    `program` is a module, an expression that becomes its `@main`, or a pair of either and parameters, as
    `relay.frontend.from_onnx` gives them; `params` are arrays bound to parameters by name, before those of the pair;
    `opt_level` is 0 to 4 (that of the current `PassContext`, 2 when there is none). `host` launches what is compiled
    for a target that launches no programs itself, and runs what that refuses; None: this machine's processor. `donate`
    names inputs of `@main`, leaves of those that are tuples (`w.0`) and lists among them, which every call gives away:
    results are in their memory (`docs/update_in_place.md`). `progress` is told what is being done, how many units of it
    are done, and of how many; what it raises ends the compilation. With `verify`, every pass, every kernel and the
    whole program are compared with what they mean, on inputs that are made up: `executable.verification` is the report
    (`docs/verification.md`).

    Raises `RelayError` for what is wrong with the program, the parameters, the target or the names, and (rule
    `verification-failed`) for the first pass or kernel that does not do what it means.

    >>> import numpy as np, relay
    >>> x = relay.var("x", shape=(3,), dtype="float32")
    >>> build(relay.Function([x], relay.add(x, x)))(np.ones(3, np.float32))
    array([2., 2., 2.], dtype=float32)
    """
    expect(verify, _VERIFY, "`verify` of relay.build")
    compilation = compile_stages(program, target, params, opt_level, progress, host, donate)
    if not verify:
        return loaded(compilation)
    return verified_executable(compilation, verify if isinstance(verify, VerifyOptions) else None)


def loaded(compilation: Compilation) -> Executable:
    """What a compilation makes, in this process."""
    with collection_paused():
        artefact = compilation.artefact
    return instantiate(artefact, partial(_export_library, compilation.targets.host), _machine_roofline)


def verified_executable(compilation: Compilation, options: VerifyOptions | None = None) -> Executable:
    """The same, with every step compared with what it means. Raises what `verification.verify.verified` raises."""
    from relay.driver.verification.verify import verified  # what few compilations need

    executable, executable.verification = verified(compilation, partial(loaded, compilation), options)
    return executable


def optimize(
    program: GivenProgram,
    target: str | Target = "llvm",
    params: Mapping[str, Any] | None = None,
) -> tuple[IRModule, dict[str, Any]]:
    """The program as the optimizer leaves it for a target, fused and in A-normal form, and the parameters that are
    still to be given: none, since those of `params` are constants of the module.

    The level is that of the current `PassContext`. Raises `RelayError` as `build` does.

    >>> import relay
    >>> x = relay.var("x", shape=(3,))
    >>> module, params = optimize(relay.Function([x], relay.nn.relu(x) + x))
    >>> "Primitive" in str(module), params
    (True, {})
    """
    return compile_stages(program, target, params).optimized, {}


def compile_stages(
    program: GivenProgram,
    target: str | Target = "llvm",
    params: Mapping[str, Any] | None = None,
    opt_level: int | None = None,
    progress: Progress | None = None,
    host: str | Target | None = None,
    donate: Sequence[str] = (),
) -> Compilation:
    """The same compilation as `build`, with every stage to look at. Nothing runs until a stage is asked for."""
    level = PassContext.current().opt_level if opt_level is None else PassContext(opt_level=opt_level).opt_level
    expect(target, TARGET, "what is compiled for")
    if host is not None:
        expect(host, TARGET, "what launches the program")
    expect(donate, NAMES, "what is donated")
    expect_each(donate, TEXT, "the name of an input that is donated")
    module, own = given_program(program)
    bound = {**own, **checked_params(params)}
    compilation = Compilation(module, targets_for(target, host), level, bound, donate=tuple(donate))
    if progress is not None:
        expect(progress, CALLABLE, "what is told of the progress")
        compilation.progress = carried(progress)
    return compilation
