"""A region of a captured graph, as the graph calls it: tensors in, tensors out."""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Sequence
from operator import attrgetter, call, is_
from typing import TYPE_CHECKING, Any

from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.frozen import frozen
from relay.driver.build import build
from relay.dynamo.crossing import ToArray, ToTensor, drawn_key, number_as_array, to_array, to_tensor
from relay.frontend.torch.captured.coverage import ledger
from relay.frontend.torch.captured.regions import Region, operators_of
from relay.frontend.torch.package import torch_package
from relay.frontend.torch.tensors import array_of_tensor
from relay.ir.types import TensorType, TupleType
from relay.runtime.call.entry_point import EntryPoint
from relay.runtime.memory.threads import num_threads

if TYPE_CHECKING:
    from torch import Tensor, fx

_MOST_KEPT = 16
"""Sets of weights that a region is kept compiled for: layers of one class share its code."""
_MOST_CHANGES = 2
"""Changes of weights after which they are inputs, and are not packed anymore."""

_versions_of = attrgetter("_version")


@frozen(eq=False)
class _Program:
    """A region compiled for weights, which are constants of it, of these versions. It takes the other `inputs`: places
    among the arguments, and what makes arrays of those."""

    run: EntryPoint
    inputs: Sequence[tuple[int, ToArray]]
    weights: Sequence[weakref.ref[Tensor]]
    versions: Sequence[int]

    def is_for(self, weights: Sequence[Tensor]) -> bool:
        return all(map(is_, map(call, self.weights), weights))

    def is_current(self, weights: Sequence[Tensor]) -> bool:
        return list(map(_versions_of, weights)) == self.versions


class RegionCall:
    """Runs a region on tensors; it is compiled when it is first called, since then its weights are there.

    Arguments at `fixed` are weights: they are constants of the program, packed once, as long as they are the same
    tensors of the same version. `eager` is the region as PyTorch runs it.
    """

    def __init__(
        self, region: Region, fixed: Sequence[int], eager: fx.GraphModule, target: str, opt_level: int
    ) -> None:
        self._region = region
        self._fixed: Sequence[int] = [place for place in fixed if place in region.inputs]
        self._eager = eager
        self._target = target
        self._opt_level = opt_level
        self._lock = threading.Lock()
        self._latest: _Program | None = None
        self._kept: dict[tuple[int, ...], _Program] = {}
        self._changes = 0
        self._refused = False
        self._threads = torch_package().get_num_threads
        self._results = _results(region)

    def __call__(self, *arguments: Any) -> tuple[Tensor, ...]:
        weights = [arguments[place] for place in self._fixed]
        program = self._latest
        if program is None or not program.is_for(weights) or not program.is_current(weights):
            program = self._program(weights)
        if program is None or any(arguments[place] < 0 for place in self._region.numbers):
            return self._eager(*arguments)
        arrays = [as_array(arguments[place]) for place, as_array in program.inputs]
        if self._region.is_random:
            arrays.append(drawn_key())
        with num_threads(self._threads()):
            found: Any = program.run(*arrays)
        if len(self._results) == 1:
            return (self._results[0](found),)
        return tuple(as_tensor(array) for as_tensor, array in zip(self._results, found, strict=True))

    def _program(self, weights: Sequence[Tensor]) -> _Program | None:
        """The region compiled for these weights; None where PyTorch runs it."""
        with self._lock:
            known = self._kept.pop(tuple(map(id, weights)), None)
            if known is not None and known.is_for(weights):
                if known.is_current(weights):
                    return self._keep(known, weights)
                self._changes += 1
            if self._changes > _MOST_CHANGES or any(each.is_inference() for each in weights):
                self._fixed = weights = ()  # tensors of inference mode do not tell their version
                self._kept.clear()
            return None if self._refused else self._keep(self._compiled(weights), weights)

    def _keep(self, program: _Program | None, weights: Sequence[Tensor]) -> _Program | None:
        """The program, as the latest one; of those kept the oldest goes."""
        if program is not None:
            self._kept[tuple(map(id, weights))] = self._latest = program
            if len(self._kept) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return program

    def _compiled(self, weights: Sequence[Tensor]) -> _Program | None:
        """Weights that change while this runs are of another version when it is called."""
        region, versions = self._region, list(map(_versions_of, weights))
        parameters = region.module["main"].params
        names = {place: var.name_hint for place, var in zip(region.inputs, parameters, strict=False)}
        values = {names[place]: array_of_tensor(each) for place, each in zip(self._fixed, weights, strict=True)}
        try:
            executable = build(region.module, self._target, values, self._opt_level)
        except (RelayError, CompilerBug) as error:
            self._refuse(error)
            return None
        dtypes = [var.checked_type.dtype for var in parameters if isinstance(var.checked_type, TensorType)]
        inputs = [
            (place, number_as_array if place in region.numbers else to_array(dtype))
            for place, dtype in zip(region.inputs, dtypes, strict=False) if place not in self._fixed
        ]  # fmt: skip
        return _Program(executable["main"], inputs, list(map(weakref.ref, weights)), versions)

    def _refuse(self, error: Exception) -> None:
        """PyTorch runs a region that cannot be compiled. Say so, and count it so."""
        self._refused = True
        reason = str(error).partition("\n")[0]
        ledger().add(-self._region.operators, operators_of(self._eager, reason))
        warnings.warn(f"PyTorch runs a part of the model that does not compile: {reason}", stacklevel=2)


def _results(region: Region) -> list[ToTensor]:
    """What makes a tensor of each result."""
    result = region.module["main"].body.checked_type
    types = result.fields if isinstance(result, TupleType) else (result,)
    return [
        to_tensor(type_.dtype, order)
        for type_, order in zip(types, region.orders, strict=True) if isinstance(type_, TensorType)
    ]  # fmt: skip
