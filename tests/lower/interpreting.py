"""Programs run by the interpreter of their form, each kernel by that of loops, or by its meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import Symbol
from relay.arith.expr import evaluate as extent
from relay.driver.build import compile_stages
from relay.driver.kernels import Kernel
from relay.driver.program import GivenProgram
from relay.interpret.evaluate import evaluate
from relay.ir.expr import Function
from relay.ir.known_types import known_type
from relay.ir.types import TensorType
from relay.lower.kernels.group import gap_of, leaf_types
from relay.lower.kernels.index_faults import tells_of_body
from relay.lower.kernels.updates import UPDATE
from relay.lower.program.interpretation.interpreted import interpreted
from relay.lower.program.interpretation.interpreter import KernelCode, kernel_code
from relay.lower.program.interpretation.objects import Bytes
from relay.lower.program.parser import parse_program
from relay.te.lowering.lower import lower
from relay.te.tensor import Gap


def run_as_text(
    module: GivenProgram, opt_level: int | None = None, target: str = "llvm", params: Mapping[str, Any] | None = None,
    quickly: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """What runs `@main`: the program is read back from its text, so that nothing else says what it does. `quickly`:
    kernels by their meaning."""
    stages = compile_stages(module, target, params, opt_level=opt_level)
    program = stages.program
    constants = {each.offset_bytes: each.array for each in program.constants}
    again = parse_program(str(program), constants)
    return interpreted(again, {each.info.name: (meant if quickly else code)(each) for each in stages.kernels})


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


def meant(kernel: Kernel) -> KernelCode:
    """A kernel by the meaning of its operators; by its loops where these write only a part, or tell of its body."""
    function = kernel.function
    if UPDATE in function.attrs or tells_of_body(function):
        return code(kernel)
    inputs = [leaf for each in function.params for leaf in leaf_types(known_type(each))]
    outputs = leaf_types(known_type(function.body))
    plain, gap = Function(function.params, function.body), gap_of(function)

    def run(memory: Sequence[Bytes], extents: Sequence[int]) -> None:
        known = dict(zip(kernel.info.symbols, extents, strict=True))
        result: Any = evaluate(plain, [_seen(*each, known) for each in zip(memory, inputs, strict=False)])
        values = result if isinstance(result, tuple) else (result,)
        for room, type_, value in zip(memory[len(inputs) :], outputs, values, strict=True):
            _seen(room, type_, known, gap)[...] = value

    return run


def _seen(room: Bytes, type_: TensorType, known: Mapping[Symbol, int], gap: Gap | None = None) -> NDArray[Any]:
    """Memory as an array of a type, whose rows may have room behind them."""
    shape = [extent(each, known) for each in type_.shape]
    reach = [*shape]
    if gap is not None:
        reach[gap.axis] += gap.elements
    strides = [type_.dtype.item_bytes * int(np.prod(reach[axis + 1 :], dtype=np.int64)) for axis in range(len(shape))]
    return np.ndarray(shape, type_.dtype.numpy, room.data if room.size else b"", strides=strides)
