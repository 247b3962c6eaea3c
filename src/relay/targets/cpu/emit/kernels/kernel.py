"""One PrimFunc as the text of one LLVM module."""

from __future__ import annotations

import re

from relay.base.diagnostics import CompilerBug
from relay.lower.planning.scratch import kernel_scratch
from relay.targets.cpu.emit.context import Emitter, Machine, Place, row_major_strides
from relay.targets.cpu.emit.kernels.statement import emit_statement
from relay.targets.cpu.emit.kernels.tiles import emit_return
from relay.targets.cpu.emit.kernels.value import emit_value
from relay.targets.cpu.emit.text import FunctionText, LlvmModule, ModuleText
from relay.targets.cpu.target import CpuTarget
from relay.tir.stmt import PrimFunc

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


def emit_kernel(func: PrimFunc, target: CpuTarget) -> LlvmModule:
    """The module of `func`, lowered (loops serial or parallel, vectors explicit), for a resolved `target`.

        define void @name(ptr noalias p0, …, ptr noalias scratch, i64 symbol0, …)

    Buffers come in the order of `func.parameters`, then what it works in, if anything (`kernel_scratch`), then the
    extents that are symbols. Attributes of `func` read here:
    `contract` (1 or 0; else as the target says) lets `a*b + c` round once; `may_alias` names, separated by commas, the
    parameters that may be the same memory, element for element.
    """
    module = ModuleText(func.name)
    emit_kernel_function(func, target, module)
    return module.finished()


def emit_kernel_function(func: PrimFunc, target: CpuTarget, module: ModuleText, in_place: bool = False) -> None:
    """Add a kernel to a module; `in_place`: its code goes to where it is called."""
    if not _NAME.fullmatch(func.name):
        raise CompilerBug("emit", f"`{func.name}` is not a symbol's name")
    attributes = dict(func.attributes)
    contract = bool(attributes.get("contract", target.fp_contract == "fast"))
    aliased = frozenset(str(attributes.get("may_alias", "")).split(","))
    e = Emitter(FunctionText(module), Machine.of(target, contract), func.name, emit_value)
    parameters: list[str] = []
    outputs = set(func.outputs)
    for position, buffer in enumerate(func.parameters):
        alone = buffer.name not in aliased
        parameters.append(f"ptr {'noalias ' if alone else ''}%p{position}")
        invariant = alone and buffer not in outputs
        key: object = buffer if alone else func.name
        e.places[buffer] = Place(
            f"%p{position}", 0, row_major_strides(buffer.shape), key, buffer.dtype.item_bytes, invariant
        )
    if kernel_scratch(func).sizes_bytes:
        parameters.append(f"ptr noalias {e.scratch}")
    for position, symbol in enumerate(func.symbols):
        parameters.append(f"i64 %s{position}")
        e.symbols[symbol] = (f"%s{position}", 0)
    emit_statement(e, func.body)
    emit_return(e)
    head = f"void @{func.name}({', '.join(parameters)}) nounwind"
    head = f"define internal {head} alwaysinline" if in_place else f"define {head}"
    module.functions.append(e.function.render(head))
