"""What a pass is, and how passes are strung together."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from relay.base.diagnostics import CompilerBug, RelayError
from relay.infer.infer_type import infer_type
from relay.ir.expr import Function
from relay.ir.module import IRModule
from relay.transform.context import PassContext

ModuleTransform: TypeAlias = Callable[[IRModule, PassContext], IRModule]
FunctionTransform: TypeAlias = Callable[[Function, IRModule, PassContext], Function]


@dataclass(frozen=True, slots=True)
class Pass:
    """A named function from module to module. `level` is the optimization level from which it runs by itself.

    Calling it runs it under the current `PassContext`, whatever its level.
    """

    name: str
    level: int
    transform: ModuleTransform

    def __call__(self, module: IRModule) -> IRModule:
        return run(self, module, PassContext.current())


@dataclass(frozen=True, slots=True)
class Sequential:
    """Passes one after another; those that the context does not want are left out."""

    passes: tuple[Pass, ...]

    def __call__(self, module: IRModule) -> IRModule:
        context = PassContext.current()
        for each in self.passes:
            if context.runs(each.name, each.level):
                module = run(each, module, context)
        return module


def run(each: Pass, module: IRModule, context: PassContext) -> IRModule:
    """Run one pass and type what it made. What breaks in a pass is a `CompilerBug` that names it."""
    started = time.perf_counter()
    try:
        result = each.transform(module, context)
        if result is not module:
            result = infer_type(result)
    except (RelayError, CompilerBug):
        raise
    except Exception as error:
        raise CompilerBug(each.name, f"{type(error).__name__}: {error}") from error
    seconds = time.perf_counter() - started
    for observer in context.observers:
        observer(each.name, module, result, seconds)
    return result


def module_pass(name: str, level: int) -> Callable[[ModuleTransform], Pass]:
    """Make a pass of a function `(module, context) -> module`."""
    return lambda transform: Pass(name, level, transform)


def function_pass(name: str, level: int) -> Callable[[FunctionTransform], Pass]:
    """Make a pass of a function `(function, module, context) -> function`, run on every global function."""

    def decorate(transform: FunctionTransform) -> Pass:
        def on_module(module: IRModule, context: PassContext) -> IRModule:
            functions = {name: transform(function, module, context) for name, function in module.functions.items()}
            return module.with_functions(functions)

        return Pass(name, level, on_module)

    return decorate
