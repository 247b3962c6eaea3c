"""A compiled program, ready to be called from Python. Nothing here knows the compiler."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import Symbol, evaluate
from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.target import Target
from relay.runtime.arguments import bind_arguments, solve_symbols
from relay.runtime.artefact import Artefact
from relay.runtime.building import ValueBuilder
from relay.runtime.elf import ELF_MAGIC
from relay.runtime.extents import symbol_sources
from relay.runtime.heap import HeapValue, read_result
from relay.runtime.host import check_runs_here, runs_here
from relay.runtime.manifest import NO_CLAUSE_FITS, EntrySpec, HeapResult, Manifest, ResultSpec, TensorSpec
from relay.runtime.native import HEAP_SYMBOLS, NativeCode, load_artefact_code, load_shared_library
from relay.runtime.quick_build import QuickBuild
from relay.runtime.quick_call import REFUSED, QuickCall, Stopped, data_address, quick_call
from relay.runtime.values import DataValue

Result: TypeAlias = Union[NDArray[np.generic], DataValue, "tuple[Result, ...]"]
Exporter: TypeAlias = Callable[[Artefact, Path], None]
_WORKSPACE_ALIGNMENT_BYTES = 64


@dataclass(slots=True, eq=False, repr=False)
class Executable:
    """A loaded artefact. Calling it runs `@main`; `executable["name"]` is another of its functions.

    Any number of threads may call at once: each running call has a workspace of its own.
    """

    manifest: Manifest
    load_code: Callable[[], NativeCode]
    artefact: Artefact | None = None
    exporter: Exporter | None = None
    _code: NativeCode | None = field(default=None, init=False)
    _entries: dict[str, EntryPoint] = field(default_factory=dict, init=False)

    @property
    def code(self) -> NativeCode:
        """The native code, loaded when it is first asked for: a program for another machine never is."""
        if self._code is None:
            check_runs_here(self.manifest.target)
            self._code = self.load_code()
        return self._code

    def __getitem__(self, name: str) -> EntryPoint:
        point = self._entries.get(name)
        if point is None:
            point = self._entries.setdefault(name, EntryPoint(self.manifest.entry(name), self.code, self.manifest))
        return point

    def __call__(self, *positional: Any, **named: Any) -> Result:
        """Run `@main` on arrays given by position or by name.

        Gives an array, or tuples of arrays nested as the program's type says. Raises `RelayError` when an input has
        the wrong dtype, rank, extent or memory, and when a run-time check of the program fails.
        """
        main = self._entries.get("main") or self["main"]
        return main(*positional, **named)

    @property
    def entry(self) -> EntrySpec:
        """What `@main` takes and gives."""
        return self.manifest.entry("main")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the artefact: native objects, constants and manifest in one file that `load` maps."""
        if self.artefact is None:
            raise RelayError(
                rule="cannot-save",
                message="a program that was loaded from a shared library cannot be saved as an artefact",
                remedy="copy the shared library instead",
            )
        self.artefact.save(path)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write a self-contained shared library that programs in C can call without Python, and beside it a header
        that says how. Needs `relay[export]`."""
        if self.artefact is None or self.exporter is None:
            raise RelayError(
                rule="cannot-export",
                message="this program was loaded without the compiler, so it cannot be exported",
                remedy="export what `relay.build` returns",
            )
        self.exporter(self.artefact, Path(path))

    def __reduce__(self) -> NoReturn:
        raise RelayError(
            rule="cannot-pickle",
            message="native code cannot be pickled or copied",
            remedy="save the executable to a file, and let the other process `relay.load` it",
        )

    def __repr__(self) -> str:
        entry = self.entry
        inputs, outputs = (", ".join(map(str, specs)) for specs in (entry.inputs, entry.outputs))
        return f"<relay executable: ({inputs}) -> ({outputs})>"


class EntryPoint:
    """One native function of an executable, callable with arrays."""

    __slots__ = (
        "_buffers",
        "_constants",
        "_fixed_outputs",
        "_function",
        "_heap",
        "_is_single",
        "_labels",
        "_quick",
        "_sources",
        "_spec",
        "_symbols",
        "_values",
        "_workspaces",
    )

    def __init__(self, spec: EntrySpec, code: NativeCode, manifest: Manifest) -> None:
        self._spec = spec
        self._function = code.entry(spec.native_symbol)
        self._constants = code.constants_address
        self._sources = symbol_sources(spec.input_shapes)
        self._fixed_outputs = None if spec.symbols else self._output_types({})
        self._buffers = ctypes.c_void_p * (len(spec.inputs) + len(spec.outputs))
        self._symbols = ctypes.c_int64 * max(1, len(spec.symbols))
        self._is_single = spec.result == 0
        self._labels = manifest.labels
        self._values = ValueBuilder(manifest.labels, manifest.data, QuickBuild(code.address))
        self._heap = _HeapFunctions.of(code, manifest.target) if isinstance(spec.result, HeapResult) else None
        self._workspaces: list[_Workspace] = []  # free ones; append and pop are atomic
        self._quick = self._quick_call(code)

    @property
    def spec(self) -> EntrySpec:
        return self._spec

    def _quick_call(self, code: NativeCode) -> QuickCall | None:
        """For entries whose outputs are always the same: they need nothing but arrays that fit."""
        if self._fixed_outputs is None or self._heap is not None:
            return None

        def workspace() -> tuple[int, object]:
            made = self._take_workspace({})
            return made.address, made

        return quick_call(self._spec, self._fixed_outputs, code.address, self._constants, workspace)

    def __call__(self, *positional: Any, **named: Any) -> Result:
        quick = self._quick
        if quick is not None and not named and len(positional) == quick.arity:
            try:
                output = quick(positional)
            except Stopped as stopped:
                if stopped.status != REFUSED:
                    raise self._failure(stopped.status, {}) from None
            else:
                if self._is_single:
                    return output  # type: ignore[return-value]
                return nest(self._spec.result, output if isinstance(output, tuple) else (output,))
        arrays = bind_arguments(self._spec, positional, named)
        values = solve_symbols(self._spec, self._sources, arrays)
        types = self._output_types(values) if self._fixed_outputs is None else self._fixed_outputs
        if isinstance(self._spec.result, HeapResult):
            return self._run_on_heap(arrays, values)
        outputs = [np.empty(shape, dtype) for shape, dtype in types]
        self.run(arrays, outputs, values)
        return nest(self._spec.result, outputs)

    def run(
        self,
        inputs: Sequence[NDArray[np.generic]],
        outputs: Sequence[NDArray[np.generic]],
        values: Mapping[Symbol, int],
    ) -> None:
        """Run on arrays that fit the specification already (as `bind_arguments` makes them)."""
        buffers = self._buffers(*map(data_address, inputs), *map(data_address, outputs))
        symbols = self._symbols(*(values[symbol] for symbol in self._spec.symbols))
        workspace = self._take_workspace(values)
        try:
            status = self._function(buffers, symbols, workspace.address, self._constants)
        finally:
            self._workspaces.append(workspace)
        if status:
            raise self._failure(status, values)

    def _run_on_heap(self, inputs: Sequence[Any], values: Mapping[Symbol, int]) -> HeapValue:
        """Run, take the result from the heap of the call, and free the heap, whatever is left on it."""
        if self._heap is None:
            raise CompilerBug("runtime", f"`{self._spec.name}` has no heap")
        words: list[int] = []
        kept: list[object] = []  # what the words speak of must live as long as the call
        for spec, given in zip(self._spec.inputs, inputs, strict=True):
            if isinstance(spec, TensorSpec):
                words.append(data_address(given))
            else:
                word, owner = self._values.build(spec, given)
                words.append(word)
                kept.append(owner)
        buffers = self._buffers(*words)
        symbols = self._symbols(*(values[symbol] for symbol in self._spec.symbols))
        workspace = self._take_workspace(values)
        try:
            status = self._function(buffers, symbols, workspace.address, self._constants)
            if status:
                raise self._failure(status, values)
            result = read_result(workspace.address, self._labels)
            if self._heap.observer is not None:
                self._heap.observer(self._heap.drop_result(workspace.address))
            if self._heap.is_checked and self._heap.misuses(workspace.address):
                raise CompilerBug("runtime", f"`{self._spec.name}` used an object that it had freed")
            return result
        finally:
            self._heap.close(workspace.address)
            self._workspaces.append(workspace)

    def observe_heap(self, observer: Callable[[int], None] | None) -> None:
        """For tests and debugging: call `observer` after each call with the number of objects still alive when the
        result has been released. More than none are a leak, or cycles through refs; either way they are freed."""
        if self._heap is None:
            raise RelayError(rule="no-heap", message=f"`{self._spec.name}` runs without a heap")
        self._heap.observer = observer

    def _output_types(self, values: Mapping[Symbol, int]) -> list[tuple[tuple[int, ...], np.dtype[np.generic]]]:
        types: list[tuple[tuple[int, ...], np.dtype[np.generic]]] = []
        for spec in self._spec.outputs:
            shape = tuple(evaluate(extent, values) for extent in spec.shape)
            if min(shape, default=0) < 0:
                raise RelayError(
                    rule="negative-extent",
                    message=f"the inputs are too small: `{spec.name}` would have a negative extent",
                    expected="extents of 0 or more in " + str(spec),
                    found=f"{shape}, where {_values(values)}",
                )
            types.append((shape, spec.dtype.numpy))
        return types

    def _take_workspace(self, values: Mapping[Symbol, int]) -> _Workspace:
        size = self._spec.workspace_bytes
        needed = size if isinstance(size, int) else evaluate(size, values)
        try:
            workspace = self._workspaces.pop()
        except IndexError:
            return _workspace(needed)
        return workspace if workspace.memory.nbytes >= needed else _workspace(needed)

    def _failure(self, status: int, values: Mapping[Symbol, int]) -> Exception:
        if status == STACK_USED_UP:
            return RelayError(
                rule="recursion-too-deep",
                message=f"`{self._spec.name}` nests calls deeper than its stack of 1 GiB holds",
                remedy="carry the result along in a parameter, so that the call is the last thing its caller does",
            )
        if 0 < status <= len(self._spec.failures) and self._spec.failures[status - 1].startswith(NO_CLAUSE_FITS):
            return RelayError(rule="no-clause-fits", message=f"`{self._spec.name}`: {self._spec.failures[status - 1]}")
        if 0 < status <= len(self._spec.failures):
            return RelayError(
                rule="check-failed",
                message=f"`{self._spec.name}`: {self._spec.failures[status - 1]}",
                found=_values(values),
                remedy="give inputs whose extents agree",
            )
        if status == OUT_OF_MEMORY:
            return MemoryError(f"`{self._spec.name}` could not allocate memory")
        return CompilerBug("runtime", f"`{self._spec.name}` returned the unknown status {status}")


OUT_OF_MEMORY = -1
STACK_USED_UP = -2


@dataclass(slots=True, eq=False)
class _HeapFunctions:
    """What ends a call that has a heap."""

    drop_result: Callable[[int], int]
    close: Callable[[int], int]
    misuses: Callable[[int], int]
    is_checked: bool
    observer: Callable[[int], None] | None = None

    @staticmethod
    def of(code: NativeCode, target: Target) -> _HeapFunctions:
        drop_result, close, misuses = map(code.heap_function, HEAP_SYMBOLS)
        return _HeapFunctions(drop_result, close, misuses, target.heap == "checked")


def _values(values: Mapping[Symbol, int]) -> str:
    return ", ".join(f"{symbol.name} = {value}" for symbol, value in values.items())


@dataclass(frozen=True, slots=True, eq=False)
class _Workspace:
    memory: NDArray[np.uint8]
    address: int


def _workspace(size_bytes: int) -> _Workspace:
    memory = aligned_bytes(size_bytes)
    return _Workspace(memory, data_address(memory))


def aligned_bytes(size: int) -> NDArray[np.uint8]:
    """`size` uninitialised bytes whose address is a multiple of the cache line."""
    padded = np.empty(size + _WORKSPACE_ALIGNMENT_BYTES, np.uint8)
    start = -padded.ctypes.data % _WORKSPACE_ALIGNMENT_BYTES
    return padded[start : start + size]


def nest(result: ResultSpec | HeapResult, outputs: Sequence[NDArray[np.generic]]) -> Result:
    if isinstance(result, int):
        return outputs[result]
    if isinstance(result, HeapResult):
        raise CompilerBug("runtime", "a result on the heap is read from there")
    return tuple(nest(field, outputs) for field in result.fields)


def instantiate(artefact: Artefact, exporter: Exporter | None = None) -> Executable:
    """What an artefact in memory says, its native code loaded if it is for this machine."""
    executable = Executable(artefact.manifest, lambda: load_artefact_code(artefact), artefact, exporter)
    if runs_here(artefact.manifest.target):
        _ = executable.code
    return executable


def load(path: str | os.PathLike[str]) -> Executable:
    """Open a compiled model: an artefact that `save` wrote, or a shared library that `export` wrote.

    Only load files you trust: they hold native code, which runs with your rights. Raises `RelayError` when the file
    is missing, damaged, made by another program, or compiled for another machine.
    """
    with _opened(path) as file:
        start = file.read(len(ELF_MAGIC))
    if start == ELF_MAGIC:
        code, manifest = load_shared_library(Path(path))
        executable = Executable(manifest, lambda: code)
    else:
        artefact = Artefact.load(path)
        executable = Executable(artefact.manifest, lambda: load_artefact_code(artefact), artefact)
    _ = executable.code
    return executable


def _opened(path: str | os.PathLike[str]) -> Any:
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise RelayError(
            rule="cannot-read",
            message=f"cannot read {os.fspath(path)}",
            found=str(error.strerror),
            remedy="check the path",
        ) from error
