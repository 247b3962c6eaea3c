"""Calls of a native program whose values live on a heap: an entry's, and those of functions that came out of it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import Symbol
from relay.base.diagnostics import CompilerBug, RelayError
from relay.runtime.arguments.donation import DonatedArrays
from relay.runtime.arguments.extents import Extents
from relay.runtime.artefact.manifest import Donation, EntrySpec, HeapResult, Manifest, TensorSpec, ValueSpec
from relay.runtime.artefact.nesting import nesting
from relay.runtime.artefact.status import failure, left_index
from relay.runtime.call.native import HEAP_SYMBOLS, NativeCode, NativeEntry, apply_symbol, host_symbol
from relay.runtime.cpython.array_layout import data_address
from relay.runtime.cpython.quick_build import QuickBuild
from relay.runtime.cpython.quick_call import Finish
from relay.runtime.cpython.workspaces import Workspaces
from relay.runtime.values.boundary import Boundary, CallState
from relay.runtime.values.building import Image, Parts, build
from relay.runtime.values.foreign_functions import Host
from relay.runtime.values.heap import (
    BLOCKS_OFFSET_BYTES,
    HOST_OFFSET_BYTES,
    INDEX_OFFSET_BYTES,
    ONCE_OFFSET_BYTES,
    RESULT_OFFSET_BYTES,
    Given,
    HeapUse,
    read_result,
    read_word,
)
from relay.runtime.values.plans import Plan, Plans
from relay.runtime.values.reading import Reader
from relay.runtime.values.stored import NativeFunction

_BUFFERS = ctypes.c_void_p
_NO_SYMBOLS = (ctypes.c_int64 * 1)()


class HeapCalls:
    """Runs the calls of one program that have a heap. `observer` is told, after each, what it did with that."""

    def __init__(self, code: NativeCode, manifest: Manifest) -> None:
        self.observer: Callable[[HeapUse], None] | None = None
        self._code = code
        self._labels = manifest.labels
        self._plans = Plans(manifest.labels, manifest.data)
        self._quick = QuickBuild(code.address)
        self._drop_result, self._close, self._misuses = map(code.heap_function, HEAP_SYMBOLS)
        self._is_checked = manifest.checks_heap
        self._workspaces = Workspaces()
        codes = {arity: 2 * read_word(code.address(host_symbol(arity))) + 1 for arity in manifest.arities}
        self._boundary = Boundary(self._plans, codes, self)
        self._any_entry = next(each for each in manifest.entries if isinstance(each.result, HeapResult))
        self._applying: dict[int, NativeEntry] = {}

    @cached_property
    def _host(self) -> Host:
        return Host()

    def run(
        self,
        spec: EntrySpec,
        function: NativeEntry,
        inputs: Sequence[Any],
        outputs: Sequence[NDArray[np.generic]],
        values: Mapping[Symbol, int],
        donated: DonatedArrays | None = None,
        withheld: Collection[Donation] = (),
    ) -> Any:
        """Run an entry, take the result from the heap of the call, and free the heap, whatever is left on it. What is
        `withheld` is not given away this time."""
        words: list[int] = []
        kept: list[object] = []  # what the words speak of must live as long as the call
        slow: list[tuple[int, ValueSpec, Any]] = []
        for position, (each, given) in enumerate(zip(spec.inputs, inputs, strict=True)):
            if isinstance(each, TensorSpec):
                words.append(data_address(given))
                continue
            native = self._plans.of(each.type).native if donated is None else None
            quick = None if native is None else self._quick(given, native)
            word, owner = quick or (0, None)
            words.append(word)
            kept.append(owner)
            if quick is None:
                slow.append((position, each, given))
        type_ = spec.result.type if isinstance(spec.result, HeapResult) and spec.result.has_functions else None
        state = None
        if slow or type_ is not None or donated is not None:
            known = {symbol.name: value for symbol, value in values.items()}
            state = CallState(self._boundary, Extents(known))
            away = [each for each in spec.donations if each not in withheld]
            found, image = build(state, [(each, given) for _, each, given in slow], donated=_parts_by_name(spec, away))
            kept.append(image)
            if donated is not None:
                donated.check(inputs, image.arrays)
                state.given = _given(inputs, away, image)
                state.given_objects = image.donated_objects
            for (position, _, _), word in zip(slow, found, strict=True):
                words[position] = word
        symbols = (ctypes.c_int64 * max(1, len(spec.symbols)))(*(values[symbol] for symbol in spec.symbols))
        plan = None if type_ is None else self._plans.of(type_)
        words += map(data_address, outputs)
        return self._run(spec, function, words, symbols, state, plan, _made(spec, outputs))

    def finish(self, spec: EntrySpec) -> Finish | None:
        """What takes the result of an entry's call from its heap and frees that; None where native code has done both
        and nobody wants to know what was left."""
        if spec.copied is not None and self.observer is None and not self._is_checked:
            return None

        def finish(outputs: Sequence[NDArray[np.generic]], heap: int, status: int) -> Any:
            try:
                result = None if status else self._result(heap, _made(spec, outputs))
                if not status and (self.observer is not None or self._is_checked):
                    self._observe(spec, heap, None)
                return result
            finally:
                self._close(heap)

        return finish

    def apply(self, function: NativeFunction, arguments: tuple[Any, ...]) -> Any:
        """The result of a function that came out of the program."""
        plan = function.plan
        arity = len(plan.parameters)
        if len(arguments) != arity:
            raise RelayError(
                rule="arity",
                message="the function is called with another number of arguments than it takes",
                expected=f"{arity}: {plan.type}",
                found=str(len(arguments)),
            )
        if arity not in self._applying:
            self._applying[arity] = self._code.entry(apply_symbol(arity))
        state = CallState(self._boundary, Extents(dict(function.extents)))
        specs = (ValueSpec(f"argument {number}", each.type) for number, each in enumerate(plan.parameters, start=1))
        words, image = build(state, list(zip(specs, arguments, strict=True)), function.closure)
        name = "a function of " + self._any_entry.name
        entry = replace(self._any_entry, name=name, outputs=(), result=HeapResult())
        result = self._run(entry, self._applying[arity], words, _NO_SYMBOLS, state, plan.result)
        del image  # what the words speak of has lived until here
        return result

    def _run(
        self,
        spec: EntrySpec,
        function: NativeEntry,
        words: Sequence[int],
        symbols: object,
        state: CallState | None,
        plan: Plan | None,
        made: object = None,
    ) -> Any:
        if not isinstance(spec.workspace_bytes, int):
            raise CompilerBug("runtime", f"the heap of `{spec.name}` has no size")
        workspace = self._workspaces.take(spec.workspace_bytes)
        heap = workspace.address
        try:
            buffers = (_BUFFERS * len(words))(*words)
            if state is None or not state.has_effects:
                status = function(buffers, symbols, heap, self._code.constants.address)
            else:
                with self._effects(heap, state):
                    status = function(buffers, symbols, heap, self._code.constants.address)
            self._code.constants.check()
            result = self._read(heap, status, state, plan, made)
            if status:
                index = left_index(spec, status, heap + INDEX_OFFSET_BYTES)
                known = {} if state is None else state.extents.known
                of_device = self._code.devices.failure(spec.name, status)
                raise _raised(state) or of_device or failure(spec, status, known, index)
            if self.observer is not None or self._is_checked:
                self._observe(spec, heap, state)
            return result
        finally:
            self._close(heap)
            self._workspaces.give_back(workspace)

    @contextmanager
    def _effects(self, heap: int, state: CallState) -> Generator[None]:
        """A call that is not run twice, and may call Python."""
        once = ctypes.c_int64.from_address(heap + ONCE_OFFSET_BYTES)
        once.value = 1
        try:
            if state.hosts:
                ctypes.c_int64.from_address(heap + HOST_OFFSET_BYTES).value = self._host.address
                with self._host.serving(heap, state, self._drop_result):
                    yield
            else:
                yield
        finally:
            once.value = 0

    def _result(self, heap: int, made: object, given: Given = MappingProxyType({})) -> Any:
        """The result of a call that has ended well: what was made for it, or what is on the heap. It holds no functions
        and no refs."""
        return read_result(heap, self._labels, given) if made is None else made

    def _read(self, heap: int, status: int, state: CallState | None, plan: Plan | None, made: object) -> Any:
        """The result of a call, and what it wrote to refs; that also when it failed: what was written stays written."""
        if state is None or (plan is None and not state.refs):
            return None if status else self._result(heap, made, {} if state is None else state.given)
        reader = Reader(state)
        result = None
        if not status and plan is not None:
            result = reader.value(read_word(heap + RESULT_OFFSET_BYTES), plan, state.extents)
        elif not status:
            result = self._result(heap, made)
        reader.finish()
        return result

    def _observe(self, spec: EntrySpec, heap: int, state: CallState | None) -> None:
        """Release the result, and what was put into refs of the caller's, and tell what is left."""
        if self.observer is not None:
            left = self._drop_result(heap) + (0 if state is None else state.given_objects)
            for shared in () if state is None else state.refs.values():
                if shared.is_written:
                    ctypes.c_int64.from_address(heap + RESULT_OFFSET_BYTES).value = shared.word
                    left = self._drop_result(heap)
            self.observer(HeapUse(left, read_word(heap + BLOCKS_OFFSET_BYTES)))
        if self._is_checked and self._misuses(heap):
            raise CompilerBug("runtime", f"`{spec.name}` used an object that it had freed")


def _parts_by_name(spec: EntrySpec, donations: Sequence[Donation]) -> dict[str, Parts]:
    """What is given away of each input."""
    inputs = dict.fromkeys(each.input for each in donations)
    return {spec.inputs[one].name: frozenset(each.fields for each in donations if each.input == one) for one in inputs}


def _given(inputs: Sequence[Any], donations: Sequence[Donation], image: Image) -> dict[int, NDArray[np.generic]]:
    """The arrays that a call gives away, by the addresses of their data."""
    arrays = [inputs[each.input] for each in donations if isinstance(inputs[each.input], np.ndarray)]
    arrays += [array for _, array, is_donated in image.arrays if is_donated]
    return {data_address(array): array for array in arrays}


def _made(spec: EntrySpec, outputs: Sequence[NDArray[np.generic]]) -> Any:
    """The result of a call that fills these outputs; None where it must be read off the heap."""
    return None if spec.copied is None else nesting(spec.copied)(outputs)


def _raised(state: CallState | None) -> BaseException | None:
    """What a function of the caller's raised."""
    if state is None:
        return None
    error, state.error = state.error, None
    return error
