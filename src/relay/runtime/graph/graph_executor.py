"""A graph of kernels, run one by one in memory that the executor owns: every value can be looked at and timed.

The face is that of Relay's graph executors: set inputs, run, get outputs.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relay.base.arguments import MAPPING, PATH, WHOLE_NUMBER, Kind, expect, takes
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.runtime.arguments.arguments import bind_arguments, solve_symbols
from relay.runtime.artefact.artefact import Artefact
from relay.runtime.artefact.manifest import EntrySpec, TensorSpec
from relay.runtime.artefact.nesting import nesting
from relay.runtime.artefact.param_dict import load_param_dict
from relay.runtime.artefact.status import check_index
from relay.runtime.call.entry_point import Result
from relay.runtime.call.lone_kernels import LoneKernels
from relay.runtime.cpython.workspaces import aligned_bytes
from relay.runtime.graph.folder import read_folder, write_folder
from relay.runtime.graph.graph import APART, Entry, Graph, GraphNode, GraphTensor
from relay.runtime.memory.host import check_runs_here, runs_here
from relay.runtime.memory.objects import LoadedObjects, load_objects, load_support
from relay.runtime.profile.profiling import profile_of, record_runs
from relay.runtime.profile.program_profile import ProgramProfile
from relay.runtime.profile.recording import ENTRY, RecordedKernels, load_recorded_kernels, unknown_kernels
from relay.runtime.profile.roofline import kept_roofline

Array: TypeAlias = NDArray[np.generic]


@frozen(eq=False)
class _Step:
    """A kernel call, all addresses known."""

    number: int
    call: Callable[[], object]
    checks_index_of: str


_GRAPH = Kind((Graph,), "a Graph, as relay.runtime.graph reads it")
_ARTEFACT = Kind((Artefact,), "an Artefact, as executable.artefact is")


class GraphExecutor:
    """A straight-line program, each of whose kernels can be run, looked at and timed.

    Inputs are set by name, or by their number among `graph`'s arguments: the inputs of the program first, then its
    parameters. They keep their values from run to run. An executor owns the memory of its values, so only one thread at
    a time may use it. `entry` says what the program takes and gives.

    >>> import relay
    >>> x = relay.var("x", shape=(3,))
    >>> executor = relay.create_executor("graph", relay.Function([x], relay.exp(x) + x)).evaluate()
    >>> executor.run(x=np.zeros(3, np.float32))
    >>> executor.get_output(0)
    array([1., 1., 1.], dtype=float32)
    >>> list(executor.debug_run())
    ['fused_exp_add']
    """

    def __init__(self, graph: Graph, lib: Artefact, params: Mapping[str, Array]) -> None:
        """The graph, the library of its kernels, and the values of its parameters, by name.

        Raises `RelayError`: `cannot-load-objects` when the library lacks a kernel of the graph, and what `set_input`
        raises. One for another machine can be exported; it is refused (rule `wrong-machine`) when it is to run.
        """
        expect(graph, _GRAPH, "what a GraphExecutor runs")
        expect(lib, _ARTEFACT, "the library of a GraphExecutor")
        expect(params, MAPPING, "the parameters of a GraphExecutor")
        self.graph = graph
        self._lib = lib
        self._numbers = {node.name: number for number, node in enumerate(graph.nodes)}
        self._arguments = {node.name: _spec(node) for node in graph.nodes if node.is_argument}
        self._values = _memory(graph)
        self._missing = dict.fromkeys(self._arguments)
        self._has_run = False
        self._parameters = tuple(params)
        self._set(params)
        self.entry = self._main_entry(params)
        if runs_here(lib.manifest.machine):
            _ = self._steps

    def _main_entry(self, params: Mapping[str, Array]) -> EntrySpec:
        """What the program takes and gives, parameters left out."""
        inputs = tuple(spec for name, spec in self._arguments.items() if name not in params)
        results = [self.graph.tensor(head) for head in self.graph.heads]
        outputs = tuple(TensorSpec(f"output{i}", each.shape, each.dtype) for i, each in enumerate(results))
        return EntrySpec("main", inputs, outputs, self.graph.result, (), 0)

    @cached_property
    def _code(self) -> LoadedObjects:
        kernels = dict.fromkeys(node.kernel for node in self.graph.nodes if node.calls_kernel)
        return load_objects(self._lib.objects, kernels, self._support.addresses)

    @cached_property
    def _support(self) -> LoadedObjects:
        return load_support(self._lib.support)

    @cached_property
    def _stops(self) -> LoneKernels:
        return LoneKernels(self._support.address)

    @cached_property
    def _steps(self) -> tuple[_Step, ...]:
        check_runs_here(self._lib.manifest.machine)
        return self._calls(lambda node: self._code.address(node.kernel))

    def _calls(self, address: Callable[[GraphNode], int]) -> tuple[_Step, ...]:
        """The kernel calls, each of the code at the `address` for its node."""
        steps: list[_Step] = []
        for number, node in enumerate(self.graph.nodes):
            if not node.calls_kernel:
                continue
            entries = (*node.inputs, *((number, output) for output in range(len(node.written))))
            addresses = [self._values[entry].ctypes.data for entry in entries]
            function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(addresses))(address(node))
            steps.append(_Step(number, partial(function, *addresses), node.checks_index_of))
        return tuple(steps)

    def __call__(self, /, *positional: Any, **named: Any) -> Result:
        """Run on the inputs of the program, by position or by name; parameters stay as they are set.

        Gives an array, or tuples of arrays nested as the program's type says. Raises what `set_input` and `run` raise.
        """
        arrays = bind_arguments(self.entry, positional, named)
        solve_symbols(self.entry, {}, arrays)  # compares extents
        for spec, array in zip(self.entry.inputs, arrays, strict=True):
            self._store(spec.name, array)
        self.run()
        return nesting(self.graph.result)([self.get_output(index) for index in range(self.get_num_outputs())])

    def set_input(self, key: str | int | None = None, value: Any = None, /, **named: Any) -> None:
        """Copy a value into an input, which it must fit as it is; `named` are several at once.

        Raises `RelayError`: `no-such-input`, and `input-dtype`, `input-rank`, `input-shape`, … where one does not fit.
        """
        self._set(named if key is None else {self._argument(key): value, **named})

    def load_params(self, data: bytes) -> None:
        """Set the parameters that `save_param_dict` wrote. Raises `RelayError`: `bad-params`, and as `set_input`."""
        self._set(load_param_dict(data))

    def run(self, /, **inputs: Any) -> None:
        """Run all kernels on the inputs as they are set, after setting `inputs`.

        Raises `RelayError`: `missing-input` when one was never set, `interrupted`; MemoryError when a kernel had no
        memory.
        """
        self._set(inputs)
        self._run(lambda step: step.call(), self._steps)

    @takes(index=WHOLE_NUMBER)
    def get_output(self, index: int) -> Array:
        """A copy of a result. Raises `RelayError`: `no-such-output`, and `not-run` before the first run."""
        if not 0 <= index < len(self.graph.heads):
            raise RelayError(
                rule="no-such-output",
                message="the program has no such result",
                expected=f"0 to {len(self.graph.heads) - 1}",
                found=str(index),
            )
        if not self._has_run:
            raise RelayError(rule="not-run", message="there is no result yet", remedy="call run() first")
        return self._values[self.graph.heads[index]].copy()

    def get_input(self, key: str | int) -> Array:
        """A copy of an input as it is set. Raises `RelayError`: `no-such-input`, and `missing-input` if it is not."""
        name = self._argument(key)
        if name in self._missing:
            raise self._not_set()
        return self._values[self._numbers[name], 0].copy()

    def get_num_inputs(self) -> int:
        """How many inputs there are, parameters included."""
        return len(self._arguments)

    def get_num_outputs(self) -> int:
        """How many results there are."""
        return len(self.graph.heads)

    def get_graph_json(self) -> str:
        """The graph as JSON, in the format of Relay's graph executors (see `relay.runtime.graph.graph`)."""
        return self.graph.to_json()

    def get_lib(self) -> Artefact:
        """The native code of the kernels."""
        return self._lib

    def get_params(self) -> dict[str, Array]:
        """A copy of the parameters, as they are set, by name."""
        return {name: self.get_input(name) for name in self._parameters}

    def debug_get_output(self, node: str | int) -> Array | tuple[Array, ...]:
        """Run, and give a copy of the value (of the values, where there are several) of a node, known by its name or
        its number in the graph.

        Raises `RelayError`: `no-such-node`, and what `run` raises.
        """
        number = self._node(node)
        last = max((step.number for step in self._steps if step.number <= number), default=None)
        found: list[Array | tuple[Array, ...]] = [self._value(number)]

        def watch(step: _Step) -> None:
            step.call()
            if step.number == last:  # later ones may write over it
                found[:] = [self._value(number)]

        self._run(watch, self._steps)
        return found[0]

    def debug_run(self, /, **inputs: Any) -> dict[str, Array | tuple[Array, ...]]:
        """Run, and give a copy of the value of every operator, by the name of its node. Raises what `run` raises."""
        values: dict[str, Array | tuple[Array, ...]] = {}

        def keep(step: _Step) -> None:
            step.call()
            values[self.graph.nodes[step.number].name] = self._value(step.number)

        self._set(inputs)
        self._run(keep, self._steps)
        return values

    def profile(self, runs: int = 10, **inputs: Any) -> ProgramProfile:
        """Run once to warm up, then `runs` times, and tell where the time goes: the profile of a program, whose kernels
        have the names of nodes here, a call each. Kernels that run alone are as fast as in a compiled program; what
        lies between them is Python's here.

        Raises `RelayError`: `bad-runs`, `cannot-profile`, and what `run` raises.
        """
        recorded = self._recorded
        steps = self._calls(lambda node: recorded.addresses[node.name])
        self._set(inputs)

        def run() -> None:
            started = time.monotonic_ns()
            self._run(lambda step: step.call(), steps)
            recorded.recorder.note(ENTRY, started, time.monotonic_ns())

        done = record_runs(recorded.recorder, run, runs)
        target = self._lib.manifest.provenance.get("target", "")
        constant_bytes = sum(self._values[self._numbers[name], 0].nbytes for name in self._parameters)
        return profile_of(recorded, done, "main", target, kept_roofline, (self.graph.arena(),), constant_bytes)

    @cached_property
    def _recorded(self) -> RecordedKernels:
        check_runs_here(self._lib.manifest.machine)
        works = {work.name: work for work in self._lib.manifest.kernels}
        nodes = [node for node in self.graph.nodes if node.calls_kernel]
        if not all(node.kernel in works for node in nodes):
            raise unknown_kernels()
        return load_recorded_kernels(
            self._lib.objects, self._support, {node.name: works[node.kernel] for node in nodes}
        )

    @takes(folder=PATH)
    def export(self, folder: str | os.PathLike[str]) -> None:
        """Write graph.json, lib.rlx (the kernels) and params.bin into a folder, which is made if it is not there.

        Raises `RelayError` (rule `cannot-write`).
        """
        write_folder(Path(folder), self.get_graph_json(), self._lib, self.get_params())

    @staticmethod
    def load(folder: str | os.PathLike[str]) -> GraphExecutor:
        """What `export` wrote. Only load folders that you trust: native code in them runs with your rights.

        Raises `RelayError`: `cannot-read`, and `bad-graph`, `bad-artefact`, `bad-params` for damaged files, which do
        not belong together, or which another program wrote.
        """
        return GraphExecutor(*read_folder(Path(folder)))

    def __reduce__(self) -> NoReturn:
        raise RelayError(
            rule="cannot-pickle",
            message="native code cannot be pickled or copied",
            remedy="export the executor to a folder, and let the other process load that",
        )

    def __repr__(self) -> str:
        inputs = ", ".join(map(str, self.entry.inputs))
        results = ", ".join(str(self.graph.tensor(head)) for head in self.graph.heads)
        calls = sum(node.calls_kernel for node in self.graph.nodes)
        return f"<relay graph of {calls} kernel calls: ({inputs}) -> ({results})>"

    def _set(self, given: Mapping[str, Any]) -> None:
        for name, value in given.items():
            one = replace(_NO_INPUTS, inputs=(self._arguments[self._argument(name)],))
            (array,) = bind_arguments(one, (value,), {})
            solve_symbols(one, {}, (array,))
            self._store(name, array)

    def _run(self, each: Callable[[_Step], object], steps: tuple[_Step, ...]) -> None:
        if self._missing:
            raise self._not_set()
        self._stops.begin()
        for step in steps:
            each(step)
            self._stops.check("main")
            if step.checks_index_of:
                check_index(step.checks_index_of, self._values[step.number, 0])
        self._has_run = True

    def _store(self, name: str, array: Array) -> None:
        self._values[self._numbers[name], 0][...] = array
        self._missing.pop(name, None)

    def _value(self, number: int) -> Array | tuple[Array, ...]:
        values = tuple(self._values[number, i].copy() for i in range(len(self.graph.nodes[number].outputs)))
        return values[0] if len(values) == 1 else values

    def _argument(self, key: str | int) -> str:
        names = list(self._arguments)
        if isinstance(key, int) and 0 <= key < len(names):
            return names[key]
        if isinstance(key, str) and key in self._arguments:
            return key
        raise RelayError(
            rule="no-such-input",
            message="the program has no such input",
            expected=_choice(names) if isinstance(key, str) else f"0 to {len(names) - 1}",
            found=str(key),
        )

    def _node(self, key: str | int) -> int:
        if isinstance(key, int) and 0 <= key < len(self.graph.nodes):
            return key
        if isinstance(key, str) and key in self._numbers:
            return self._numbers[key]
        names = [node.name for node in self.graph.nodes if not node.is_argument]
        raise RelayError(
            rule="no-such-node",
            message="the graph has no such node",
            expected=_choice(names) if isinstance(key, str) else f"0 to {len(self.graph.nodes) - 1}",
            found=str(key),
        )

    def _not_set(self) -> RelayError:
        return RelayError(
            rule="missing-input",
            message="inputs were never set: " + ", ".join(f"`{name}`" for name in self._missing),
            remedy="call set_input(name, value) first",
        )


_NO_INPUTS = EntrySpec("set_input", (), (), 0, (), 0)


def _spec(node: GraphNode) -> TensorSpec:
    (tensor,) = node.outputs
    return TensorSpec(node.name, tensor.shape, tensor.dtype)


def _choice(names: list[str]) -> str:
    shown = ", ".join(names[:20])
    return f"one of {shown}" + (f", and {len(names) - 20} more" if len(names) > 20 else "")


def _memory(graph: Graph) -> dict[Entry, Array]:
    """Room for every value: one arena, and a place for each storage that is apart from it."""
    tensors = [tensor for node in graph.nodes for tensor in node.written]
    arena_bytes = max(
        (each.offset_bytes + each.size_bytes for each in tensors if each.offset_bytes != APART), default=0
    )
    arena = aligned_bytes(arena_bytes)
    sizes: dict[int, int] = {}
    for tensor in tensors:
        if tensor.offset_bytes == APART:
            sizes[tensor.storage] = max(sizes.get(tensor.storage, 0), tensor.size_bytes)
    apart = {storage: aligned_bytes(size) for storage, size in sizes.items()}

    def value(tensor: GraphTensor) -> Array:
        place = apart[tensor.storage] if tensor.offset_bytes == APART else arena[tensor.offset_bytes :]
        return place[: tensor.size_bytes].view(tensor.dtype.numpy).reshape(tensor.shape)

    return {(n, i): value(tensor) for n, node in enumerate(graph.nodes) for i, tensor in enumerate(node.written)}
