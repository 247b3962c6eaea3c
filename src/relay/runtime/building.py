"""Values from Python as objects that native code reads: one block of words, laid out as the heap's objects are.

The objects live as long as the call, in memory of the caller's: their counts begin so high that they never reach zero.
Tensors are not copied. Layout: see `runtime/heap.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, TypeAlias, Union, assert_never

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.runtime.arguments import as_array
from relay.runtime.manifest import CellLabel, Label, TensorLabel, TensorSpec, ValueSpec
from relay.runtime.quick_build import NativePlan, QuickBuild, data_plan, learn, learn_list, tensor_plan
from relay.runtime.quick_call import data_address, is_plain
from relay.runtime.value_types import DataOf, DataSpec, ParameterOf, TensorOf, TupleOf, ValueType, instantiated
from relay.runtime.values import LIST, DataValue, as_data

NEVER_FREED = 1 << 60
_HEADER_WORDS = 3


@dataclass(frozen=True, slots=True, eq=False)
class _TensorPlan:
    """How a tensor becomes an object. `shape` and `native` where every extent is a number."""

    type: TensorOf
    header: int
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...] | None
    native: NativePlan | None


@dataclass(slots=True, eq=False)
class _TuplePlan:
    type: TupleOf
    label: int
    fields: tuple[_Plan, ...] = ()
    native: NativePlan | None = None


@dataclass(slots=True, eq=False)
class _DataPlan:
    """How values of one instance of a data type become objects: for each constructor its label and its fields' plans.
    `known` are the classes met so far that stand for a constructor, and how their fields are read."""

    type: DataOf
    native: NativePlan
    constructors: dict[str, tuple[int, tuple[_Plan, ...]]] = field(default_factory=dict)
    known: dict[type, tuple[str, Any]] = field(default_factory=dict)


_Plan: TypeAlias = Union[_TensorPlan, _TuplePlan, _DataPlan]


class ValueBuilder:
    """Makes objects for the entries of one program."""

    def __init__(self, labels: Sequence[Label], data: Sequence[DataSpec], quick: QuickBuild) -> None:
        self.quick = quick
        self.labels: Mapping[Label, int] = {label: number for number, label in enumerate(labels)}
        self.data = {each.name: each for each in data}
        self.plans: dict[ValueType, _Plan] = {}

    def build(self, spec: ValueSpec, value: Any) -> tuple[int, object]:
        """The word of a value, and what must be kept while it is used.

        Raises `RelayError` (rule `input-value`, or as for tensors) that names the path to what does not fit.
        """
        plan = self._plan(spec.type)
        quick = self.quick(value, plan.native) if plan.native is not None else None
        if quick is not None:
            return quick
        try:
            return _Image(spec).made(value, plan, "")
        except RelayError:
            _Image(spec).made(value, plan, spec.name)  # again, with the path of each part: raises
            raise

    def _plan(self, type_: ValueType) -> _Plan:
        known = self.plans.get(type_)
        if known is not None:
            return known
        match type_:
            case TensorOf(shape, dtype):
                fixed = tuple(each for each in shape if isinstance(each, int))
                header = self.labels[TensorLabel(dtype, len(shape))] | 1 << 32
                is_fixed = len(fixed) == len(shape)
                native = tensor_plan(header, dtype.numpy, fixed) if is_fixed else None
                plan = self.plans[type_] = _TensorPlan(type_, header, dtype.numpy, fixed if is_fixed else None, native)
            case TupleOf(fields):
                plan = self.plans[type_] = _TuplePlan(type_, self.labels[CellLabel("tuple")])
                plan.fields = tuple(map(self._plan, fields))
            case DataOf(name, arguments):
                constructors = self.data[name].constructors
                native = data_plan(len(constructors) + (name == LIST))
                plan = self.plans[type_] = _DataPlan(type_, native)  # known while its fields are: types are recursive
                for constructor, fields in constructors.items():
                    label = self.labels[CellLabel("data", f"{name}.{constructor}")]
                    inner = tuple(self._plan(instantiated(each, arguments)) for each in fields)
                    plan.constructors[constructor] = label, inner
                if name == LIST:
                    _remember_list(plan)
            case ParameterOf():
                raise AssertionError(type_)
            case _:
                assert_never(type_)
        return plan


class _Image:
    """The objects of one value. Each gets its place when it is met, and the words that speak of it are filled in then;
    so nothing is recursive, and what is shared stays shared."""

    def __init__(self, spec: ValueSpec) -> None:
        self.spec = spec
        self.words = [0]  # the first word is the value's
        self.addresses: list[int] = []  # the positions of words that are addresses inside
        self.kept: list[object] = []
        self.extents: dict[str, int] = {}

    def made(self, value: Any, plan: _Plan, path: str) -> tuple[int, object]:
        words, addresses, kept = self.words, self.addresses, self.kept
        known: dict[tuple[int, _Plan], int] = {}
        stack: list[tuple[Any, _Plan, int, str]] = [(value, plan, 0, path)]
        while stack:
            each, plan, position, path = stack.pop()
            place = len(words)
            if isinstance(plan, _TensorPlan):
                if (
                    type(each) is np.ndarray
                    and each.dtype is plan.dtype
                    and each.shape == plan.shape
                    and is_plain(each)
                ):
                    array = each
                else:
                    array = self._fitting(each, plan, path)
                kept.append(array)
                words += (NEVER_FREED, plan.header, 0, 1, data_address(array), *array.shape)
            else:
                key = (id(each), plan)
                if key in known:
                    place = known[key]
                else:
                    name, label, fields, plans = self._opened(each, plan, path)
                    if not fields:
                        words[position] = 2 * label + 1
                        continue
                    known[key] = place
                    count = len(fields)
                    words += (NEVER_FREED, label | count << 32, 0, *(0,) * count)
                    slot = place + _HEADER_WORDS
                    for index in range(count):
                        inner = f"{path}{name}.{index}" if path else ""
                        stack.append((fields[index], plans[index], slot + index, inner))
            words[position] = 8 * place
            addresses.append(position)
        block = np.array(words, np.int64)
        start = data_address(block)
        block[addresses] += start
        return int(block[0]), (block, kept)

    def _opened(
        self, value: Any, plan: _TuplePlan | _DataPlan, path: str
    ) -> tuple[str, int, Sequence[Any], tuple[_Plan, ...]]:
        """The step that a path takes into a cell, its label, and its fields with their plans."""
        if isinstance(plan, _TuplePlan):
            if not isinstance(value, tuple) or len(value) != len(plan.fields):
                raise self._refusal(path, f"a tuple {plan.type}", _kind(value))
            return "", plan.label, value, plan.fields
        known = plan.known.get(type(value))
        if known is not None:
            name, read = known
            fields: Sequence[Any] = read(value)
        else:
            made = as_data(value, plan.type.name)
            if made is None or made.type_name != plan.type.name or made.constructor not in plan.constructors:
                raise self._refusal(path, f"{plan.type}: one of " + ", ".join(plan.constructors), _kind(value))
            if made is not value:
                self.kept.append(made)  # an identity belongs to an object only while it lives
                _remember(plan, value)
            name, fields = made.constructor, made.fields
        label, plans = plan.constructors[name]
        if len(fields) != len(plans):
            raise self._refusal(path, f"{len(plans)} fields of {name}", f"{len(fields)}")
        return f" → {name}", label, fields, plans

    def _fitting(self, value: Any, plan: _TensorPlan, path: str) -> NDArray[np.generic]:
        """The array of a value that is taken, though it is not an array as it is wanted."""
        shape = tuple(extent if isinstance(extent, int) else 0 for extent in plan.type.shape)
        array = as_array(value, TensorSpec(path or self.spec.name, shape, plan.type.dtype))
        for wanted, found in zip(plan.type.shape, array.shape, strict=True):
            expected = self.extents.setdefault(wanted, found) if isinstance(wanted, str) else wanted
            if expected is not None and expected != found:
                raise self._refusal(path, str(plan.type), f"shape {array.shape}")
        return array

    def _refusal(self, path: str, expected: str, found: str) -> RelayError:
        return RelayError(
            rule="input-value",
            message=f"input `{self.spec.name}` does not fit its type, {self.spec.type}",
            expected=f"at {_shortened(path)}: {expected}",
            found=found,
        )


def _remember(plan: _DataPlan, value: Any) -> None:
    """The next values of this class, one that `@relay.datatype` made, are read without asking what they are."""
    kind = type(value)
    variant, names = getattr(kind, "__relay_variant__", ""), list(getattr(kind, "__dataclass_fields__", ()))
    if not variant:
        return
    label, plans = plan.constructors[variant]
    native = [each.native for each in plans if each.native is not None]
    if len(native) == len(names) and kind not in plan.known:
        learn(plan.native, kind, label | len(names) << 32, names, native)
    if names:
        read = attrgetter(*names)
        plan.known[kind] = (variant, read if len(names) > 1 else lambda each: (read(each),))


def _remember_list(plan: _DataPlan) -> None:
    """Python's lists are read natively, where the data type of that name is the prelude's."""
    match plan.constructors:
        case {"Cons": (link, (item, rest)), "Nil": (empty, ())} if rest is plan and item.native is not None:
            learn_list(plan.native, link | 2 << 32, 2 * empty + 1, item.native)
        case _:
            pass


def _kind(value: Any) -> str:
    return repr(value) if isinstance(value, DataValue) else f"a {type(value).__name__}"


def _shortened(path: str) -> str:
    """A path whose middle is left out when it is long: a place deep in a list."""
    steps = path.split(" → ")
    return path if len(steps) <= 6 else " → ".join([*steps[:3], f"… {len(steps) - 5} more", *steps[-2:]])
