"""`relay.build`: from a program to something that can be called."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from relay.base.collector import collection_paused
from relay.base.target import Target
from relay.driver.compilation import Compilation, Progress, as_module
from relay.driver.export import export_library
from relay.driver.roofline import machine_roofline
from relay.driver.targets import backend_for
from relay.ir.expr import Expr
from relay.ir.module import IRModule
from relay.runtime.executable import Executable, instantiate
from relay.transform.context import PassContext


def build(
    program: IRModule | Expr,
    target: str | Target = "llvm",
    params: Mapping[str, Any] | None = None,
    opt_level: int | None = None,
    progress: Progress | None = None,
) -> Executable:
    """Compile a program to native code and load it.

    `program` is a module, or a function that becomes its `@main`; `params` are arrays bound to parameters by name;
    `opt_level` is 0 to 4 (that of the current `PassContext`, 2 when there is none).

    Raises `RelayError` for what is wrong with the program, the parameters or the target.

    >>> import numpy as np, relay
    >>> x = relay.var("x", shape=(3,), dtype="float32")
    >>> build(relay.Function([x], relay.add(x, x)))(np.ones(3, np.float32))
    array([2., 2., 2.], dtype=float32)
    """
    compilation = compile_stages(program, target, params, opt_level, progress)
    with collection_paused():
        artefact = compilation.artefact
    return instantiate(artefact, partial(export_library, compilation.backend), machine_roofline)


def compile_stages(
    program: IRModule | Expr,
    target: str | Target = "llvm",
    params: Mapping[str, Any] | None = None,
    opt_level: int | None = None,
    progress: Progress | None = None,
) -> Compilation:
    """The same compilation as `build`, with every stage to look at. Nothing runs until a stage is asked for."""
    level = PassContext.current().opt_level if opt_level is None else PassContext(opt_level=opt_level).opt_level
    compilation = Compilation(as_module(program), backend_for(target), level, dict(params or {}))
    if progress is not None:
        compilation.progress = progress
    return compilation
