"""A native function of an executable, callable with arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import IntExpr, Symbol, evaluate
from relay.base.diagnostics import RelayError
from relay.runtime.arguments.arguments import as_array, bind_arguments, solve_symbols
from relay.runtime.arguments.donation import DonatedArrays, donated_names, part_name
from relay.runtime.arguments.extents import symbol_sources
from relay.runtime.artefact.arena_map import RegionArena, region_arena
from relay.runtime.artefact.manifest import Donation, EntrySpec, HeapResult, TensorSpec
from relay.runtime.artefact.nesting import nesting, shown_entry
from relay.runtime.artefact.status import failure, left_index, memory_limit_error, shown_values, undefined_extent
from relay.runtime.call.native import NativeCode
from relay.runtime.cpython.array_layout import data_address
from relay.runtime.cpython.quick_call import QuickCall, Sizes, quick_call
from relay.runtime.cpython.workspaces import Workspaces
from relay.runtime.memory.stopping import limits, time_limit
from relay.runtime.values.heap import INDEX_OFFSET_BYTES, HeapUse
from relay.runtime.values.stored import NativeFunction
from relay.runtime.values.values import DataValue, RefValue

if TYPE_CHECKING:
    from relay.runtime.call.heap_calls import HeapCalls

Result: TypeAlias = Union[NDArray[np.generic], DataValue, RefValue, NativeFunction, "tuple[Result, ...]"]
Shapes: TypeAlias = tuple[tuple[int, ...], ...]
_shape = attrgetter("shape")

_MOST_SHAPES = 64
TIMEOUT, STEP_LIMIT, MEMORY_LIMIT = "timeout", "step_limit", "memory_limit_bytes"
LIMITS = frozenset({TIMEOUT, STEP_LIMIT, MEMORY_LIMIT})
"""What a call may be given beside its inputs, unless an input has that name."""


class EntryPoint:
    """One native function of an executable, callable with arrays.

    What follows from the shapes of a call's arrays is kept: a call of the same shapes goes straight to native code,
    which looks at everything else. If it does not like what it sees, the call is begun again, with all checks.
    """

    __slots__ = (
        "_buffers",
        "_code",
        "_donated",
        "_function",
        "_heap",
        "_known",
        "_names",
        "_nested",
        "_quick",
        "_recent",
        "_scalars",
        "_sizes",
        "_sources",
        "_spec",
        "_symbols",
        "_workspaces",
    )

    def __init__(self, spec: EntrySpec, code: NativeCode, heap: HeapCalls | None) -> None:
        self._spec = spec
        self._code = code
        self._function = code.entry(spec.native_symbol)
        self._names = tuple(each.name for each in spec.inputs)
        self._scalars = tuple(
            (position, each)
            for position, each in enumerate(spec.inputs)
            if isinstance(each, TensorSpec) and not each.shape
        )
        self._sources = symbol_sources(spec.input_shapes)
        self._buffers = ctypes.c_void_p * (len(spec.inputs) + len(spec.outputs))
        self._symbols = ctypes.c_int64 * max(1, len(spec.symbols))
        self._heap = heap
        self._workspaces = Workspaces()
        self._nested = tuple if spec.copied is None else nesting(spec.copied)
        self._donated = DonatedArrays(spec) if spec.donations else None
        self._quick = self._quick_call()
        self._sizes = None if spec.symbols else self._sizes_of({})
        self._known: dict[Shapes, Sizes] = {}
        self._recent: tuple[list[tuple[int, ...]], Sizes | None] = [], None

    def _quick_call(self) -> QuickCall | None:
        spec = self._spec
        if isinstance(spec.result, HeapResult) and spec.result.has_functions:
            return None  # it depends on more than the heap
        if any(each.output is None for each in spec.donations):
            return None  # and so does one that lies in arrays
        finish = None if self._heap is None else self._heap.finish(spec)

        def failed(status: int, arrays: tuple[Any, ...], workspace: int) -> Exception:
            return self._failure(status, solve_symbols(spec, self._sources, arrays), workspace)

        code = self._code
        nested, donated = self._nested, self._donated
        return quick_call(spec, code.address, code.constants, self._workspaces, nested, finish, failed, donated)

    @property
    def spec(self) -> EntrySpec:
        return self._spec

    def __repr__(self) -> str:
        return f"<relay function {self._spec.name}: {shown_entry(self._spec)}>"

    def arenas(self, positional: Sequence[Any], named: Mapping[str, Any]) -> tuple[RegionArena, ...]:
        """What is where in the arena of each region, in a call on such arguments. Raises what a call raises."""
        arrays = bind_arguments(self._spec, positional, named)
        values = solve_symbols(self._spec, self._sources, arrays)
        return tuple(region_arena(each, values) for each in self._spec.regions)

    def __call__(self, *positional: Any, **named: Any) -> Result:
        """`timeout`: how many seconds the call may take; `step_limit`: how many calls, turns of loops and kernels;
        `memory_limit_bytes`: what it may take for results and to work in. An input of such a name goes before."""
        if named and not LIMITS.isdisjoint(named):
            limits = {name: named.pop(name) for name in LIMITS.intersection(named).difference(self._names)}
            if limits:
                return self._limited(limits, positional, named)
        quick = self._quick
        if quick is not None:
            given = self._in_order(positional, named) if named else positional
            if given is not None and len(given) == quick.arity:
                if self._scalars:
                    given = self._with_scalars(given)
                sizes = self._sizes
                if sizes is None:
                    try:
                        sizes = self._sizes_for([each.shape for each in given])
                    except (AttributeError, TypeError, ValueError):  # something else than arrays
                        sizes = None
                result = None if sizes is None else quick(given, sizes)
                if result is not None:
                    return result
        return self._checked(bind_arguments(self._spec, positional, named))

    def _limited(self, given: Mapping[str, Any], positional: tuple[Any, ...], named: Mapping[str, Any]) -> Result:
        """A call with some of `LIMITS`."""
        with ExitStack() as during:
            steps = _limit(STEP_LIMIT, given.get(STEP_LIMIT))
            bytes_left = _limit(MEMORY_LIMIT, given.get(MEMORY_LIMIT))
            if bytes_left is not None:
                arrays = bind_arguments(self._spec, positional, named)
                bytes_left -= self._sizes_of(solve_symbols(self._spec, self._sources, arrays)).bytes
                if bytes_left < 0:
                    raise memory_limit_error(self._spec.name)
            if steps is not None or bytes_left is not None:
                during.enter_context(limits(self._code.address, steps, bytes_left))
            if TIMEOUT in given:
                during.enter_context(time_limit(given[TIMEOUT]))
            return self(*positional, **named)

    def _checked(self, arrays: tuple[Any, ...], withheld: Collection[Donation] = ()) -> Result:
        """A call on what `bind_arguments` gives, with all checks."""
        values = solve_symbols(self._spec, self._sources, arrays)
        quick, donated = self._quick, self._donated
        sizes = self._sizes or self._sizes_of(values)
        if quick is not None:
            self._remember(tuple(map(_shape, arrays)), sizes)
            result = quick(arrays, sizes)
            if result is not None:
                return result
        if donated is None:
            outputs = tuple(map(np.empty, sizes.shapes, sizes.dtypes))
        else:
            outputs = donated.outputs(arrays, sizes.shapes, sizes.dtypes)
        if self._heap is not None:
            return self._heap.run(self._spec, self._function, arrays, outputs, values, donated, withheld)
        if donated is not None:
            donated.check(arrays)
        self._run(arrays, outputs, sizes.workspace_bytes, values)
        return self._nested(outputs)

    def check(self, positional: Sequence[Any], named: Mapping[str, Any]) -> None:
        """Raises what a call on such arguments raises before anything runs."""
        arrays = bind_arguments(self._spec, positional, named)
        self._sizes_of(solve_symbols(self._spec, self._sources, arrays))
        if self._donated is not None:
            self._donated.check(arrays)

    def keeping(self, *names: str) -> Callable[..., Result]:
        """This function, which leaves alone the arrays of some donated inputs (all, if none are named), and writes over
        copies. Raises `RelayError` (rule `bad-donation`) for other names."""
        donations = self._spec.donations
        donated = [part_name(each, self._names) for each in donations]
        kept = [donations[i] for i in donated_names(donated, names or donated, self._spec.name)]

        def call(*positional: Any, **named: Any) -> Result:
            arrays = list(bind_arguments(self._spec, positional, named))
            for each in kept:
                if isinstance(arrays[each.input], np.ndarray):
                    arrays[each.input] = arrays[each.input].copy()
            return self._checked(tuple(arrays), kept)

        return call

    def observe_heap(self, observer: Callable[[HeapUse], None] | None) -> None:
        """For tests and debugging: call `observer` after each call with what it did with its heap. More than no objects
        that are left alive are a leak, or cycles through refs; either way they are freed."""
        if self._heap is None:
            raise RelayError(rule="no-heap", message=f"`{self._spec.name}` runs without a heap")
        self._heap.observer = observer
        self._quick = self._quick_call()

    def _run(
        self,
        inputs: Sequence[NDArray[np.generic]],
        outputs: Sequence[NDArray[np.generic]],
        workspace_bytes: int,
        values: Mapping[Symbol, int],
    ) -> None:
        """Run on arrays that fit the specification already (as `bind_arguments` makes them)."""
        buffers = self._buffers(*map(data_address, inputs), *map(data_address, outputs))
        symbols = self._symbols(*(values[symbol] for symbol in self._spec.symbols))
        workspace = self._workspaces.take(workspace_bytes)
        try:
            status = self._function(buffers, symbols, workspace.address, self._code.constants.address)
            self._code.constants.check()
            if status:
                raise self._failure(status, values, workspace.address)
        finally:
            self._workspaces.give_back(workspace)

    def _in_order(self, positional: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """All arguments in the order of the inputs; None where they do not pair up, which the long way explains."""
        if len(positional) + len(named) != len(self._names):
            return None
        try:
            return positional + tuple([named[name] for name in self._names[len(positional) :]])
        except KeyError:
            return None

    def _with_scalars(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """Numbers of Python, which stand for arrays without axes, as such arrays."""
        arrays = list(given)
        for position, spec in self._scalars:
            if type(given[position]) is not np.ndarray:
                arrays[position] = as_array(given[position], spec)
        return tuple(arrays)

    def _sizes_for(self, shapes: list[tuple[int, ...]]) -> Sizes | None:
        """What a call on arrays of such shapes needs, if it is known. Mostly they are those of the call before."""
        recent, sizes = self._recent
        if shapes != recent:
            sizes = self._known.get(tuple(shapes))
            self._recent = shapes, sizes
        return sizes

    def _remember(self, shapes: Shapes, sizes: Sizes) -> None:
        known = self._known if len(self._known) < _MOST_SHAPES else {}
        known[shapes] = sizes
        self._known = known
        self._recent = list(shapes), sizes

    def _sizes_of(self, values: Mapping[Symbol, int]) -> Sizes:
        shapes: list[tuple[int, ...]] = []
        for spec in self._spec.outputs:
            shape = tuple(_evaluate(extent, values) for extent in spec.shape)
            if min(shape, default=0) < 0:
                raise RelayError(
                    rule="negative-extent",
                    message=f"the inputs are too small: `{spec.name}` would have a negative extent",
                    expected="extents of 0 or more in " + str(spec),
                    found=f"{shape}, where {shown_values({symbol.name: value for symbol, value in values.items()})}",
                )
            shapes.append(shape)
        dtypes = tuple(spec.dtype.numpy for spec in self._spec.outputs)
        return Sizes(tuple(shapes), dtypes, _evaluate(self._spec.workspace_bytes, values))

    def _failure(self, status: int, values: Mapping[Symbol, int], workspace: int) -> Exception:
        """What a call's status means; `workspace` is the address of what it worked in."""
        self._code.constants.check()
        index = left_index(self._spec, status, workspace + (0 if self._heap is None else INDEX_OFFSET_BYTES))
        of_device = self._code.devices.failure(self._spec.name, status)
        return of_device or failure(self._spec, status, {symbol.name: value for symbol, value in values.items()}, index)


def _evaluate(extent: IntExpr, values: Mapping[Symbol, int]) -> int:
    """The number that an extent is. Raises `RelayError` (rule `undefined-extent`)."""
    try:
        return evaluate(extent, values)
    except ZeroDivisionError:
        raise undefined_extent(extent, {symbol.name: value for symbol, value in values.items()}) from None


def _limit(name: str, given: object) -> int | None:
    """A limit as a user gives it. Raises `RelayError` (rule `bad-limit`)."""
    if given is None or (isinstance(given, int) and not isinstance(given, bool) and 0 < given < 1 << 62):
        return given
    raise RelayError(rule="bad-limit", message=f"`{name}` is a whole number", expected="more than 0", found=repr(given))
