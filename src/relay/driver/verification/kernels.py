"""Each kernel held against the meaning of its operators: its native code, called by itself on made-up inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import evaluate as evaluate_extent
from relay.base.diagnostics import Origin
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.driver.compilation import Compilation
from relay.driver.kernels import Kernel, operators_in
from relay.driver.notations.tensor_expressions import kernel_spec
from relay.driver.verification.comparing import Compare, compared
from relay.driver.verification.distance import judged
from relay.driver.verification.failure import Wrong
from relay.driver.verification.inputs import Draw, draws
from relay.driver.verification.meanings import accepted, expect_little_work
from relay.driver.verification.observed import Seen
from relay.driver.verification.options import VerifyOptions
from relay.infer.infer_type import infer_type
from relay.interpret.evaluate import evaluate
from relay.interpret.machine import CallOperator, by_meaning
from relay.interpret.values import Value
from relay.ir.expr import Call, Function, Op, Var
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.traversal import post_order
from relay.ir.types import TensorType, Type
from relay.ir.variables import bind
from relay.lower.kernels.group import gap_of
from relay.lower.kernels.index_faults import tells_of_body
from relay.lower.kernels.updates import updated_input
from relay.runtime.arguments.extents import symbol_sources
from relay.runtime.call.kernel_function import KernelFunction
from relay.runtime.memory.host import runs_here
from relay.runtime.memory.objects import LoadedObjects, load_objects, load_support
from relay.runtime.verification import Comparison, Part
from relay.te.lowering.lower import lower as lower_to_loops
from relay.tir.interpretation.interpreter import interpret
from relay.tir.stmt import PrimFunc

Array = NDArray[Any]
NO_MODULE = IRModule()
MOST_INTERPRETED = 100_000
"""Up to how many iterations, by the extents of its inputs, the loops of a wrong kernel are interpreted."""


def kernel_comparisons(compilation: Compilation, options: VerifyOptions) -> Iterator[Comparison]:
    """Each kernel of a compilation, compared on inputs of its own.

    Raises `RelayError` (rule `verification-failed`) that names the first whose code is wrong."""
    host = compilation.targets.host
    is_here = runs_here(host.machine)
    native = [
        each.info.name for each in compilation.called_kernels
        if each.target == host.kernels and not each.info.on_device and not each.is_external
    ]  # fmt: skip
    support = load_support(host.support_object()) if is_here else None
    code = None
    if support is not None:
        code = NativeKernels(load_objects(compilation.kernel_objects, native, support.addresses), support)
    for kernel in compilation.kernels:
        row = Comparison(Part.KERNEL, kernel.info.name, class_of(kernel))
        reason = _no_comparison(kernel, is_here)
        if reason:
            yield Comparison(Part.KERNEL, kernel.info.name, row.floating_point, reason=reason)
        else:
            own = code if kernel.info.name in native else None
            yield KernelCheck(kernel, compilation, options, own).compared(row)


def class_of(kernel: Kernel) -> FloatingPointClass:
    """How far the results of a kernel may be from what its operators mean one after another: products are added with
    one rounding, and what is narrower than 32 bits is rounded at the end alone."""
    records = operators_in(kernel.function)
    nodes = post_order(kernel.function.body)
    types = [known_type(each) for each in (*kernel.function.params, *nodes) if not isinstance(each, Op)]
    has_floats = any(isinstance(each, TensorType) and each.dtype.is_float for each in types)
    is_fused = sum(isinstance(each, Call) for each in nodes) > 1
    own = max((each.floating_point for each in records), default=FloatingPointClass.EXACT)
    return max(own, FloatingPointClass.ROUNDING) if has_floats and is_fused else own


def _no_comparison(kernel: Kernel, is_here: bool) -> str:
    """Why a kernel cannot be run by itself; empty where it can."""
    if not is_here:
        return "it is code for another machine"
    if kernel.is_external:
        return f"its code is made by the compiler `{kernel.function.attrs['Compiler']}`"
    if kernel.info.on_device:
        return "it runs on a device, as part of the program"
    given = {*symbol_sources(each.shape for each in _tensor_types(kernel.function))}
    untold = [str(symbol) for symbol in kernel.info.symbols if symbol not in given]
    return f"the program around it tells the extent {untold[0]}" if untold else ""


def _tensor_types(function: Function) -> list[TensorType]:
    types = [param.checked_type for param in function.params]
    return [each for each in types if isinstance(each, TensorType)]


@frozen
class NativeKernels:
    """Kernels that are loaded, and the library that they are linked with."""

    kernels: LoadedObjects
    support: LoadedObjects


@dataclass(slots=True, eq=False)
class KernelCheck:
    """A kernel, run by its code if that is loaded, else by its loops, and by the meaning of its operators."""

    kernel: Kernel
    compilation: Compilation
    options: VerifyOptions
    code: NativeKernels | None
    _meant: dict[Draw, list[Seen]] = field(default_factory=dict)

    def compared(self, row: Comparison) -> Comparison:
        """Raises `RelayError` (rule `verification-failed`)."""
        chosen: dict[Draw, str] = {}
        reason = ""
        for position, size in enumerate(self.options.sizes):
            draw, why = accepted(draws(self.options.seed + position, size), self._meaning)
            reason = reason or why
            if draw is not None:
                chosen[draw] = draw.shown(self._types)
        run = self._run() if chosen else None
        compare = Compare(
            meant=self._meaning,
            found=lambda draw: [] if run is None else self._observed(draw, run(draw)),
            again=self._moved,
        )
        return compared(row, compare, chosen, reason, lambda: self._wrong(next(iter(chosen))))

    @property
    def _types(self) -> list[Type]:
        return list(_tensor_types(self.kernel.function))

    def _inputs(self, draw: Draw) -> list[Array]:
        return [np.asarray(each) for each in draw.values(self._types, NO_MODULE)]

    def _meaning(self, draw: Draw) -> list[Seen]:
        if draw not in self._meant:
            self._meant[draw] = self._again(draw, by_meaning)
        return self._meant[draw]

    def _moved(self, draw: Draw, call_operator: CallOperator) -> list[tuple[list[Seen], list[Seen]]]:
        return [(self._again(draw, call_operator), self._meaning(draw))]

    def _again(self, draw: Draw, call_operator: CallOperator) -> list[Seen]:
        """What the operators mean; of a kernel that tells extents or a fault, what its loops do, unscheduled."""
        function = self.kernel.function
        if tells_of_body(function):
            group = self.kernel.group()
            unscheduled = lower_to_loops(group.outputs, group.inputs, (), self.kernel.info.name)
            return self._observed(draw, self._interpreted(unscheduled, draw))
        expect_little_work(function, draw.extents(self._types), self.options)
        plain = Function(function.params, function.body, function.ret_type)
        return self._observed(draw, _leaves(evaluate(plain, self._inputs(draw), call_operator=call_operator)))

    def _observed(self, draw: Draw, results: Sequence[Array]) -> list[Seen]:
        """The results, without the room that is left for others behind each stretch of them."""
        gap = gap_of(self.kernel.function)
        type_ = known_type(self.kernel.function.body)
        if gap is not None and isinstance(type_, TensorType):
            length = evaluate_extent(type_.shape[gap.axis], draw.extents(self._types))
            results = [np.moveaxis(np.moveaxis(each, gap.axis, 0)[:length], 0, gap.axis) for each in results]
        return [Seen(f"result {at}" if len(results) > 1 else "result", each) for at, each in enumerate(results)]

    def _run(self) -> Callable[[Draw], list[Array]]:
        """The kernel's code; where it has none, since it is computed in place, its loops."""
        kernel = self.kernel
        if self.code is None:
            lowered = kernel.lowered()
            return lambda draw: self._interpreted(lowered, draw)
        loops = kernel.loops()
        scratch = self.compilation.scratch_of(kernel.info.name).of_call(kernel.info.symbols)
        native = KernelFunction(kernel_spec(loops), self.code.kernels, self.code.support, scratch)

        def run(draw: Draw) -> list[Array]:
            inputs = self._inputs(draw)
            outputs = self._outputs(loops, draw, inputs)
            native(*inputs, out=outputs)
            return outputs

        return run

    def _interpreted(self, function: PrimFunc, draw: Draw) -> list[Array]:
        """What loops do."""
        inputs = self._inputs(draw)
        outputs = self._outputs(function, draw, inputs)
        interpret(function, [*inputs, *outputs], draw.extents(self._types))
        return outputs

    def _outputs(self, function: PrimFunc, draw: Draw, inputs: Sequence[Array]) -> list[Array]:
        """Room for the results; where these are a tensor that a kernel changes a part of, that tensor."""
        extents = draw.extents(self._types)
        shapes = [tuple(evaluate_extent(extent, extents) for extent in each.shape) for each in function.outputs]
        outputs = [np.zeros(shape, each.dtype.numpy) for shape, each in zip(shapes, function.outputs, strict=True)]
        updated = updated_input(self.kernel.function)
        if updated is not None:
            np.copyto(outputs[0], inputs[updated])
        return outputs

    def _wrong(self, draw: Draw) -> Wrong:
        """What is wrong: the schedule, if the loops are, else the code that was made of them."""
        function, compilation = self.kernel.function, self.compilation
        params = tuple(Var(param.name_hint, param.checked_type) for param in function.params)
        copied = bind(function.body, dict(zip(function.params, params, strict=True)))
        module = infer_type(IRModule.from_expr(Function(params, copied)))
        target, level = str(self.kernel.target.target), compilation.opt_level
        return Wrong(Part.KERNEL, self.kernel.info.name, module, None, target, level, self._culprit(draw))

    def _culprit(self, draw: Draw) -> tuple[Origin, ...]:
        """Which step made the kernel wrong, where its loops are run soon."""
        extents = draw.extents(self._types)
        sizes = [
            evaluate_extent(extent, extents) for each in _tensor_types(self.kernel.function) for extent in each.shape
        ]
        if prod(sizes) > MOST_INTERPRETED:
            return ()
        verdict = judged(
            self._observed(draw, self._interpreted(self.kernel.lowered(), draw)), self._meaning(draw),
            class_of(self.kernel), partial(self._moved, draw),
        )  # fmt: skip
        culprit = (
            "the machine code that is made of its loops" if verdict.is_right else "its loops, as they are scheduled"
        )
        return (Origin("made by", culprit),)


def _leaves(value: Value) -> list[Array]:
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in _leaves(part)]
    return [np.asarray(value)]
