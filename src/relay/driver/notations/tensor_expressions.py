"""`relay.te.build`: from tensor expressions and a schedule to a function of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from relay.arith.expr import substitute
from relay.base.collector import collection_paused
from relay.base.diagnostics import RelayError
from relay.base.target import Target
from relay.driver.targets import Targets, targets_for
from relay.lower.targets import KernelSource
from relay.runtime.arguments.extents import symbol_sources
from relay.runtime.artefact.manifest import EntrySpec, TensorSpec
from relay.runtime.call.kernel_function import KernelFunction
from relay.runtime.memory.objects import load_objects, load_support
from relay.te.notation.agreement import check_sound
from relay.te.notation.schedule import Schedule
from relay.te.operation import inputs_of
from relay.te.schedule.step import Step
from relay.te.tensor import Tensor
from relay.tir.buffer import Buffer
from relay.tir.stmt import PrimFunc
from relay.tir.text.printer import print_primfunc


def build(
    outputs: Tensor | Sequence[Tensor],
    schedule: Schedule | Iterable[Step] = (),
    inputs: Sequence[Tensor] | None = None,
    target: str | Target = "llvm",
    name: str = "kernel",
) -> KernelFunction:
    """Compile tensor expressions to a function of arrays: of `inputs` (all placeholders in the order in which the
    expressions speak of them, unless they are given) by position or by name, with `out=` for arrays to write to.

    `schedule` are steps, or a `te.Schedule`, whose intrinsics are taken too. Extents that are symbols are read off the
    arrays of a call.

    Raises `RelayError`: for steps that are refused (`schedule-…`), for an index that is not proved to be inside of its
    tensor (`index-…`), for inputs that two tensors would be called by (`kernel-inputs`), for extents that no input
    tells (`kernel-extents`), and for a target whose kernels Python cannot call (`kernel-target`).

    >>> import numpy as np
    >>> from relay import te
    >>> a = te.placeholder((8,), "float32", "a")
    >>> double = te.build(te.compute((8,), lambda i: a[i] * 2.0, name="double"))
    >>> double(np.arange(8, dtype=np.float32))
    array([ 0.,  2.,  4.,  6.,  8., 10., 12., 14.], dtype=float32)
    """
    targets = targets_for(target)
    results = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
    function = _loops(results, schedule, inputs_of(results) if inputs is None else tuple(inputs), targets, name)
    check_sound(function)
    with collection_paused():
        (module,) = targets.kernels.emit([_source(function, targets)], lambda done, count: None)  # noqa: ARG005
    if module.launches or targets.has_device:
        raise RelayError(
            rule="kernel-target", message=f"kernels for `{targets.kernels.target}` are launched by programs",
            expected="a target whose kernels are functions, such as llvm",
            remedy="make an operator of it (docs/adding_an_operator.md), and `relay.build` a program that calls it",
        )  # fmt: skip
    support = load_support(targets.host.support_object())
    loaded = load_objects([module.data], [function.name], support.addresses)
    extents = dict(zip(module.symbols, function.symbols, strict=True))
    return KernelFunction(
        kernel_spec(function), loaded, support, tuple(substitute(each, extents) for each in module.scratch_bytes)
    )


def _loops(
    outputs: tuple[Tensor, ...],
    schedule: Schedule | Iterable[Step],
    inputs: tuple[Tensor, ...],
    targets: Targets,
    name: str,
) -> PrimFunc:
    """The scheduled loops, whose parameters have names of their own and tell all extents."""
    is_schedule = isinstance(schedule, Schedule)
    steps, intrinsics = (schedule.steps, schedule.intrinsics) if is_schedule else (tuple(schedule), ())
    kernels = targets.kernels
    made = Schedule(outputs, steps, (*intrinsics, *kernels.intrinsics), kernels.hierarchy).lower(inputs, name)
    names = [each.name for each in made.inputs]
    twice = [each for each in names if names.count(each) > 1]
    if twice:
        raise RelayError(
            rule="kernel-inputs", message=f"two inputs are called `{twice[0]}`",
            remedy="give their placeholders names of their own",
        )  # fmt: skip
    told = symbol_sources(each.shape for each in made.inputs)
    untold = [symbol.name for symbol in made.symbols if symbol not in told]
    if untold:
        raise RelayError(
            rule="kernel-extents", message=f"no input of `{name}` tells the extent {untold[0]}",
            expected=f"an axis of an input whose extent is {untold[0]}, or that follows from it alone",
            remedy=f"take a tensor of shape ({untold[0]},) as an input too, or write a number",
        )  # fmt: skip
    return made


def _source(function: PrimFunc, targets: Targets) -> KernelSource:
    return KernelSource(
        function.name, print_primfunc(function), None, lambda emit: emit(targets.kernels.lower(function))
    )


def kernel_spec(function: PrimFunc) -> EntrySpec:
    """What the function takes and gives, as Python calls it."""
    inputs = tuple(map(_tensor, function.inputs))
    return EntrySpec(function.name, inputs, tuple(map(_tensor, function.outputs)), 0, function.symbols, 0)


def _tensor(buffer: Buffer) -> TensorSpec:
    return TensorSpec(buffer.name, buffer.shape, buffer.dtype)
