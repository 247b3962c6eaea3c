"""A kernel that Python calls by itself, on arrays for its inputs and, where the caller likes, for its results."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import IntExpr, Symbol, evaluate
from relay.base.diagnostics import RelayError
from relay.base.frozen import mutable
from relay.runtime.arguments.arguments import as_array, bind_arguments, solve_symbols
from relay.runtime.arguments.extents import symbol_sources
from relay.runtime.artefact.manifest import EntrySpec
from relay.runtime.call.lone_kernels import LoneKernels
from relay.runtime.cpython.array_layout import data_address
from relay.runtime.cpython.workspaces import Workspaces
from relay.runtime.memory.objects import LoadedObjects

Array = NDArray[np.generic]


@mutable(repr=False)
class KernelFunction:
    """Native code of the C function `kernel(inputs…, outputs…, scratch…, extents…)`, callable with arrays.

    `spec.symbols` are the extents in the order in which the kernel takes them, `scratch_bytes` what a call works in,
    a number a block, `support` the library that the code is linked with. Any number of threads may call at once.
    """

    spec: EntrySpec
    loaded: LoadedObjects
    support: LoadedObjects
    scratch_bytes: tuple[IntExpr, ...] = ()
    _workspaces: Workspaces = field(default_factory=Workspaces, init=False)

    def __call__(self, *positional: Any, out: Array | Sequence[Array] | None = None, **named: Any) -> Any:
        """The results for inputs given by position or by name: an array, or a tuple of arrays where there are several.

        `out` are arrays to write them to (one, or a sequence of one a result), which are then what the call gives.
        Raises `RelayError` for arrays of another dtype, rank, extent or memory, and for `out` in the memory of an
        input (rule `kernel-output`).
        """
        inputs = bind_arguments(self.spec, positional, named)
        values = solve_symbols(self.spec, symbol_sources(self.spec.input_shapes), inputs)
        shapes = [tuple(evaluate(extent, values) for extent in each.shape) for each in self.spec.outputs]
        dtypes = [each.dtype.numpy for each in self.spec.outputs]
        outputs = list(map(np.empty, shapes, dtypes)) if out is None else self._given(out, shapes, inputs)
        self._run([*inputs, *outputs], values)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _given(
        self, out: Array | Sequence[Array], shapes: Sequence[tuple[int, ...]], inputs: Sequence[Any]
    ) -> list[Array]:
        """The caller's arrays for the results, each of which fits and has its memory alone."""
        arrays = [out] if isinstance(out, np.ndarray) else list(out)
        if len(arrays) != len(self.spec.outputs):
            expected = ", ".join(map(str, self.spec.outputs))
            raise _bad_output(self.spec.name, "another number of arrays", expected, f"{len(arrays)} arrays")
        for position, (spec, shape) in enumerate(zip(self.spec.outputs, shapes, strict=True)):
            array = as_array(arrays[position], spec)
            if array.shape != shape:
                raise _bad_output(spec.name, "an array of another shape", str(shape), str(array.shape))
            if not array.flags.writeable:
                raise _bad_output(spec.name, "an array that cannot be written", "a writeable array", "a read-only one")
            if any(np.may_share_memory(array, each) for each in (*inputs, *arrays[:position])):
                raise _bad_output(
                    spec.name, "memory of another argument", "an array of its own", "one that overlaps with it"
                )
            arrays[position] = array
        return arrays

    def _run(self, arrays: Sequence[Array], values: dict[Symbol, int]) -> None:
        sizes = [evaluate(each, values) for each in self.scratch_bytes]
        workspace = self._workspaces.take(sum(sizes))
        starts = [workspace.address + sum(sizes[:position]) for position in range(len(sizes))]
        pointers = [*map(data_address, arrays), *starts]
        kinds = [ctypes.c_void_p] * len(pointers) + [ctypes.c_int64] * len(self.spec.symbols)
        kernel = ctypes.CFUNCTYPE(None, *kinds)(self.loaded.address(self.spec.name))
        stops = LoneKernels(self.support.address)
        stops.begin()
        try:
            kernel(*pointers, *(values[symbol] for symbol in self.spec.symbols))
            stops.check(self.spec.name)
        finally:
            self._workspaces.give_back(workspace)

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, each)) for each in (self.spec.inputs, self.spec.outputs))
        return f"<kernel {self.spec.name}: ({inputs}) -> ({outputs})>"


def _bad_output(name: str, what: str, expected: str, found: str) -> RelayError:
    return RelayError(
        rule="kernel-output", message=f"`{name}` was given {what} to write to", expected=expected, found=found,
        remedy="leave `out` away, and the call makes its results",
    )  # fmt: skip
