"""Values from Python as objects that native code reads: one block of words, laid out as the heap's objects are.

The objects live as long as the call, in memory of the caller's: their counts begin so high that they never reach zero.
Those of values that callers give away are counted by who holds them, so that the program may write over their tensors;
so are the tuples around, whose other fields are the caller's.
Tensors are not copied. Layout: see `runtime/values/heap.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Any, TypeAlias, assert_never, cast

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.dtypes import dtype_of
from relay.runtime.arguments.agreement import same_type
from relay.runtime.arguments.arguments import as_array
from relay.runtime.arguments.donation import Inside
from relay.runtime.arguments.extents import Extents
from relay.runtime.artefact.manifest import TensorLabel, TensorSpec, ValueSpec
from relay.runtime.artefact.value_types import TupleOf, is_plain_data, shown_extent, type_parts
from relay.runtime.cpython.array_layout import data_address, is_plain
from relay.runtime.cpython.quick_build import learn
from relay.runtime.values.boundary import CallState, SharedRef
from relay.runtime.values.heap import ANOTHERS_DATA, OWN_DATA
from relay.runtime.values.plans import DataPlan, FunctionPlan, Plan, RefPlan, TensorPlan, TuplePlan
from relay.runtime.values.stored import HostFunction, NativeFunction, StoredCell, Told
from relay.runtime.values.values import DataValue, RefValue, as_data

NEVER_FREED = 1 << 60
_HEADER_WORDS = 3

_Opened: TypeAlias = "tuple[str, int, Sequence[Any], Sequence[Plan | None], Extents]"
"""The step that a path takes into a cell, its label, its fields and their plans, and what symbols in them are."""

Parts: TypeAlias = "frozenset[tuple[int, ...]]"
"""What callers give away of a value: nothing, or each part by the fields that lead there; all of it is `_WHOLE`."""

_NONE: Parts = frozenset()
_WHOLE: Parts = frozenset({()})


def build(
    state: CallState, values: Sequence[tuple[ValueSpec, Any]], first: StoredCell | None = None,
    donated: Mapping[str, Parts] = MappingProxyType({}),
) -> tuple[Sequence[int], Image]:  # fmt: skip
    """The words of values (and of a stored closure, before them), and the image that they speak of. What is given away
    of them is `donated`, by name.

    Raises `RelayError` (rule `input-value`, or as for tensors) that names the path to what does not fit.
    """
    known = dict(state.extents.known)
    try:
        return _built(state, values, first, donated, with_paths=False)
    except RelayError:
        state.extents = Extents(known)
        _built(state, values, first, donated, with_paths=True)  # again, with the path of each part: raises
        raise


def _built(
    state: CallState, values: Sequence[tuple[ValueSpec, Any]], first: StoredCell | None, donated: Mapping[str, Parts],
    with_paths: bool,
) -> tuple[Sequence[int], Image]:  # fmt: skip
    image = Image(state)
    if first is not None:
        image.add(first)
    for spec, value in values:
        image.add(value, spec, spec.name if with_paths else "", donated.get(spec.name, _NONE))
    return image.finished(), image


class Image:
    """The objects of some values. Each gets its place when it is met, and the words that speak of it are filled in
    then; so nothing is recursive, and what is shared stays shared."""

    def __init__(self, state: CallState) -> None:
        self.state = state
        self.plans = state.boundary.plans
        self.spec = ValueSpec("", TupleOf(()))
        self.words: list[int] = []
        self.block: NDArray[np.int64] = np.empty(0, np.int64)
        self.objects: list[int] = []  # their places
        self.roots: list[int] = []  # the positions of the words of the values
        self.arrays: list[Inside] = []
        self.donated_objects = 0
        self._addresses: list[int] = []  # the positions of words that are addresses inside
        self._kept: list[object] = []
        self._places: dict[tuple[int, Plan | None, Parts], int] = {}
        self._running = {id(each.ref): each.address for each in state.refs.values()}  # refs that the call has
        self._refs: list[tuple[RefValue, int]] = []
        self._told: list[tuple[RefValue, RefPlan]] = []
        self._inside: list[Extents] = []  # those of refs that functions hold

    def add(self, value: Any, spec: ValueSpec | None = None, path: str = "", donated: Parts = _NONE) -> None:
        """Another value: of a type, or a stored one."""
        self.spec = spec or self.spec
        plan = None if spec is None else self.plans.of(spec.type)
        self.roots.append(len(self.words))
        self.words.append(0)
        words, stack = self.words, [(value, plan, self.roots[-1], path, self.state.extents, donated)]
        while stack:
            each, plan, position, path, extents, parts = stack.pop()
            place, objects = len(words), len(self.objects)
            is_counted = bool(parts)  # it is given away, or has such in it
            count = 0 if is_counted else NEVER_FREED
            if isinstance(plan, TensorPlan):
                array = self._tensor(each, plan, path, extents)
                self.arrays.append((self.spec.name, array, is_counted))
                words += (count, plan.header, 0, OWN_DATA, data_address(array), *array.shape)
                self.objects.append(place)
            elif isinstance(each, int) and plan is None:
                words[position] = each
                continue
            elif id(each) in self._running:
                words[position] = self._running[id(each)]
                continue
            elif isinstance(each, np.ndarray) and plan is None:
                self._stored_tensor(cast("NDArray[np.generic]", each))
                self.objects.append(place)
            else:
                key = (id(each), None if isinstance(each, RefValue) else plan, parts)
                if key in self._places:
                    place = self._places[key]
                else:
                    name, label, fields, plans, inside = self._opened(each, plan, path, extents)
                    if not fields:
                        words[position] = 2 * label + 1
                        continue
                    self._places[key] = place
                    if isinstance(each, RefValue):
                        self._refs.append((each, place))
                    arity = len(fields)
                    words += (count, label | arity << 32, 0, *(0,) * arity)
                    self.objects.append(place)
                    slot = place + _HEADER_WORDS
                    for index in range(arity):
                        inner = f"{path}{name}.{index}" if path else ""
                        stack.append(
                            (fields[index], plans[index], slot + index, inner, inside, _parts_of(parts, index))
                        )
            words[position] = 8 * place
            words[place] += is_counted
            self._addresses.append(position)
            if is_counted:
                self.donated_objects += len(self.objects) - objects

    def finished(self) -> list[int]:
        """Put the objects into memory. Gives the words of the values."""
        for extents in (self.state.extents, *self._inside):
            extent = extents.settle()
            if extent is not None:
                raise RelayError(
                    rule="input-extents",
                    message="the extents of what is given do not agree",
                    expected=f"one that is {shown_extent(extent)}",
                    found=", ".join(f"{name} = {value}" for name, value in extents.known.items()) or "no symbol known",
                )
        self.block = np.array(self.words, np.int64)
        start = data_address(self.block)
        self.block[self._addresses] += start
        for ref, place in self._refs:
            address = start + 8 * place
            word = int(self.block[place + _HEADER_WORDS])
            self.state.refs[address] = SharedRef(ref, address, word, ref.value)
        for ref, plan in self._told:
            ref.holds = Told(plan.value.type, dict(self.state.extents.known))
        return [int(self.block[root]) for root in self.roots]

    @property
    def is_dead(self) -> bool:
        """Whether the program has released the value of an image that it was given, and all in it."""
        counts = self.block[self.objects] - NEVER_FREED
        return not self.objects or (int(counts[0]) == -1 and not counts[1:].any())

    # ---------------------------------------------------------------------------------------------------- tensors

    def _tensor(self, value: Any, plan: TensorPlan, path: str, extents: Extents) -> NDArray[np.generic]:
        array = value
        fits = type(value) is np.ndarray and value.dtype is plan.dtype and value.shape == plan.shape
        if not (fits and is_plain(value)):
            shape = tuple(extent if isinstance(extent, int) else 0 for extent in plan.type.shape)
            array = as_array(value, TensorSpec(path or self.spec.name, shape, plan.type.dtype))
            if not all(map(extents.agree, plan.type.shape, array.shape)):
                known = [f"{each} = {extents.known[each]}" for each in plan.type.shape if each in extents.known]
                where = f", where {', '.join(known)}" if known else ""
                raise self._refusal(path, str(plan.type), f"shape {array.shape}{where}")
        return array

    def _stored_tensor(self, array: NDArray[np.generic]) -> None:
        address = data_address(array)
        self._kept.append(array)
        self.state.arrays[address] = array
        header = self.plans.labels[TensorLabel(dtype_of(array.dtype), array.ndim)] | 1 << 32
        self.words += (NEVER_FREED, header, 0, ANOTHERS_DATA, address, *array.shape)

    # ------------------------------------------------------------------------------------------------------ cells

    def _opened(self, value: Any, plan: Plan | None, path: str, extents: Extents) -> _Opened:
        match plan:
            case None:
                return self._stored(value, extents)
            case TuplePlan(type_, label, plans):
                if not isinstance(value, tuple) or len(cast("tuple[Any, ...]", value)) != len(plans):
                    raise self._refusal(path, f"a tuple {type_}", _kind(value))
                return "", label, cast("tuple[Any, ...]", value), plans, extents
            case DataPlan():
                return self._data(value, plan, path, extents)
            case FunctionPlan():
                return self._function(value, plan, path, extents)
            case RefPlan():
                return self._ref(value, plan, path, extents)
            case TensorPlan():
                raise CompilerBug("runtime", "a tensor is no cell")
            case _:
                assert_never(plan)

    def _data(self, value: Any, plan: DataPlan, path: str, extents: Extents) -> _Opened:
        known = plan.known.get(type(value))
        if known is not None:
            name, read = known
            fields: Sequence[Any] = read(value)
        else:
            made = as_data(value, plan.type.name)
            if made is None or made.type_name != plan.type.name or made.constructor not in plan.constructors:
                raise self._refusal(path, f"{plan.type}: one of " + ", ".join(plan.constructors), _kind(value))
            if made is not value:
                self._kept.append(made)  # an identity belongs to an object only while it lives
                _remember(plan, value)
            name, fields = made.constructor, made.fields
        label, plans = plan.constructors[name]
        if len(fields) != len(plans):
            raise self._refusal(path, f"{len(plans)} fields of {name}", f"{len(fields)}")
        return f" → {name}", label, fields, plans, extents

    def _function(self, value: Any, plan: FunctionPlan, path: str, extents: Extents) -> _Opened:
        """A function of this program as the closure that it is; any other is called back."""
        boundary = self.state.boundary
        is_own = isinstance(value, NativeFunction) and value.program is boundary.program
        if is_own and same_type(plan.type, extents, value.type, value.extents, binds=False):
            self._kept.append(value)
            return self._stored(value.closure, extents)
        if not callable(value) or hasattr(value, "checked_type"):
            raise self._refusal(path, f"a function {plan.type}", _kind(value), _HOW_TO_CALL)
        if not all(is_plain_data(each, self.plans.data) for each in type_parts(plan.type)):
            raise self._refusal(path, f"a function {plan.type}", _kind(value), _ONLY_DATA)
        return self._stored(HostFunction(value, plan, extents), extents)

    def _ref(self, value: Any, plan: RefPlan, path: str, extents: Extents) -> _Opened:
        if not isinstance(value, RefValue):
            raise self._refusal(path, f"a ref, {plan.type}", _kind(value), "wrap it: relay.ref(x)")
        told = value.holds
        if told is None:
            self._told.append((value, plan))
        elif not same_type(plan.type.value, extents, told.type, told.extents, binds=True):
            found = f"a ref that holds {told.type} since it was given to a program"
            raise self._refusal(path, str(plan.type), found, "make a new one: relay.ref(x)")
        return "^", self.state.boundary.label("ref"), (value.value,), (plan.value,), extents

    def _stored(self, value: Any, extents: Extents) -> _Opened:
        boundary = self.state.boundary
        match value:
            case StoredCell(label, fields):
                return "", label, fields, (None,) * len(fields), extents
            case RefValue(content, holds):
                plan = self.plans.of(holds.type) if isinstance(holds, Told) else None
                inside = Extents(dict(holds.extents)) if isinstance(holds, Told) else extents
                self._inside.append(inside)
                return "", boundary.label("ref"), (content,), (plan,), inside
            case HostFunction(_, plan):
                self._kept.append(value)
                self.state.hosts.append(value)
                code = boundary.host_codes[len(plan.parameters)]
                number = 2 * len(self.state.hosts) - 1
                return "", boundary.label("closure"), (code, number), (None, None), extents
            case _:
                raise CompilerBug("runtime", f"a stored {type(value).__name__}")

    def _refusal(self, path: str, expected: str, found: str, remedy: str = "") -> RelayError:
        return RelayError(
            rule="input-value",
            message=f"input `{self.spec.name}` does not fit its type, {self.spec.type}",
            expected=f"at {_shortened(path)}: {expected}",
            found=found,
            remedy=remedy,
        )


_HOW_TO_CALL = "give something that can be called: a Python function, what a program gave, relay.build(f)"
_ONLY_DATA = (
    "a Python function can stand for one that takes and gives data; give a function that this program gave out, or make"
    " it part of the program"
)


def _parts_of(parts: Parts, field: int) -> Parts:
    """What is given away of a field."""
    if () in parts:
        return _WHOLE
    return frozenset(fields[1:] for fields in parts if fields[0] == field)


def _remember(plan: DataPlan, value: Any) -> None:
    """The next values of this class, one that `@relay.datatype` made, are read without asking what they are."""
    kind = type(value)
    variant, names = getattr(kind, "__relay_variant__", ""), list(getattr(kind, "__dataclass_fields__", ()))
    if not variant or kind.__relay_type__.name != plan.type.name:
        return
    label, plans = plan.constructors[variant]
    native = [each.native for each in plans if each.native is not None]
    if len(native) == len(names) and kind not in plan.known:
        learn(plan.native, kind, label | len(names) << 32, names, native)
    if names:
        read = attrgetter(*names)
        plan.known[kind] = (variant, read if len(names) > 1 else lambda each: (read(each),))


def _kind(value: Any) -> str:
    return repr(value) if isinstance(value, DataValue) else f"a {type(value).__name__}"


def _shortened(path: str) -> str:
    """A path whose middle is left out when it is long: a place deep in a list."""
    steps = path.split(" → ")
    return path if len(steps) <= 6 else " → ".join([*steps[:3], f"… {len(steps) - 5} more", *steps[-2:]])
