"""Functions of the caller's that a native program calls back."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import field

from relay.base.diagnostics import RelayError
from relay.base.frozen import mutable
from relay.runtime.arguments.extents import Extents
from relay.runtime.artefact.manifest import ValueSpec
from relay.runtime.memory.stopping import act_for, owner
from relay.runtime.values.boundary import CallState, SharedRef
from relay.runtime.values.building import Image, build
from relay.runtime.values.heap import RESULT_OFFSET_BYTES, read_fields
from relay.runtime.values.reading import Reader
from relay.runtime.values.stored import HostFunction, Told

MOST_NESTED = 50
"""How deep calls may nest that go from Python to native code and back: each may have a thread of its own."""

_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


class Host:
    """What native code calls: one native function for all calls of a program, which it tells apart by their heaps."""

    def __init__(self) -> None:
        self._running: dict[int, HostedCall] = {}
        self._nested = threading.local()
        running = self._running

        def call(heap: int, words: int, count: int) -> int:
            return running[heap].call(list((ctypes.c_int64 * count).from_address(words)))

        self._callback = _PROTOTYPE(call)
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    @contextmanager
    def serving(self, heap: int, state: CallState, drop_result: Callable[[int], int]) -> Generator[None]:
        """Let the call whose heap this is call back. Raises `RelayError` (rule `recursion-too-deep`)."""
        depth = getattr(self._nested, "depth", 0) + 1
        if depth > MOST_NESTED:
            raise RelayError(
                rule="recursion-too-deep",
                message=f"more than {MOST_NESTED} calls from Python to native code and back are nested",
                remedy="make the Python function that they go through part of the program",
            )
        hosted = self._running[heap] = HostedCall(state, heap, drop_result, self._nested, depth, owner())
        state.kept.append(hosted)  # the result may speak of what functions gave
        try:
            yield
        finally:
            del self._running[heap]


@mutable
class HostedCall:
    """A running call with functions of the caller's, of the thread `owner`. `images` are the results that they gave,
    `kept` what was put into refs meanwhile."""

    state: CallState
    heap: int
    drop_result: Callable[[int], int]
    nested: threading.local
    depth: int
    owner: int
    images: list[Image] = field(default_factory=list)
    kept: list[Image] = field(default_factory=list)
    most_images: int = 64

    def call(self, words: list[int]) -> int:
        """The word of a function's result; 0 when it raised."""
        act_for(self.owner)
        before, self.nested.depth = getattr(self.nested, "depth", 0), self.depth
        try:
            closure, *arguments = words
            return self._called(self.state.hosts[read_fields(closure)[1] // 2], arguments)
        except BaseException as error:  # it is raised again where native code has been left
            self.state.error = error
            return 0
        finally:
            self.nested.depth = before

    def _called(self, host: HostFunction, words: list[int]) -> int:
        reader, plan, extents = Reader(self.state), host.plan, host.extents.copy()
        given = [reader.value(word, each, extents) for word, each in zip(words, plan.parameters, strict=True)]
        if self.state.refs:
            Reader(self.state).finish()  # the function may look at them
        result = host.function(*given)
        spec = ValueSpec(f"result of {getattr(host.function, '__name__', 'a function')}", plan.type.result)
        (word,), image = build(CallState(self.state.boundary, extents), [(spec, result)])
        self._keep(image)
        for shared in list(self.state.refs.values()):
            if shared.ref.value is not shared.written:
                self._put(shared)
        return word

    def _keep(self, image: Image) -> None:
        """Keep an image as long as the program may use it."""
        self.images.append(image)
        if len(self.images) > self.most_images:
            self.images = [each for each in self.images if not each.is_dead]
            self.most_images = max(64, 2 * len(self.images))

    def _put(self, shared: SharedRef) -> None:
        """Let the program see what a function of the caller's wrote to a ref."""
        ref, state, told = shared.ref, self.state, shared.ref.holds
        known = Extents(dict(told.extents)) if isinstance(told, Told) else Extents()
        inner = CallState(state.boundary, known, state.hosts, state.refs, state.arrays)
        if isinstance(told, Told):
            (word,), image = build(inner, [(ValueSpec("what is put into a ref", told.type), ref.value)])
        else:
            (word,), image = build(inner, [], ref.value)
        self.kept.append(image)
        before, shared.word = shared.word, word
        shared.first_word, shared.written = word, ref.value
        ctypes.c_int64.from_address(self.heap + RESULT_OFFSET_BYTES).value = before
        self.drop_result(self.heap)
