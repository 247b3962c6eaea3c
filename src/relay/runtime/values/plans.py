"""How values of each type become objects, and objects values: types with the labels of a program filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias, Union, assert_never

import numpy as np

from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen, mutable
from relay.runtime.artefact.manifest import CellLabel, Label, TensorLabel
from relay.runtime.artefact.value_types import (
    DataOf,
    DataSpec,
    FunctionOf,
    ParameterOf,
    RefOf,
    TensorOf,
    TupleOf,
    ValueType,
    instantiated,
)
from relay.runtime.cpython.quick_build import NativePlan, data_plan, learn_list, tensor_plan
from relay.runtime.values.values import LIST


@frozen(eq=False)
class TensorPlan:
    """How a tensor becomes an object. `shape` and `native` where every extent is a number."""

    type: TensorOf
    header: int
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...] | None
    native: NativePlan | None


@mutable
class TuplePlan:
    type: TupleOf
    label: int
    fields: tuple[Plan, ...] = ()
    native: NativePlan | None = None


@mutable
class DataPlan:
    """How values of one instance of a data type become objects: for each constructor its label and its fields' plans.
    `known` are the classes met so far that stand for a constructor, and how their fields are read."""

    type: DataOf
    native: NativePlan
    constructors: dict[str, tuple[int, tuple[Plan, ...]]] = field(default_factory=dict)
    known: dict[type, tuple[str, Any]] = field(default_factory=dict)


@frozen(eq=False)
class FunctionPlan:
    type: FunctionOf
    parameters: tuple[Plan, ...]
    result: Plan
    native: None = None


@frozen(eq=False)
class RefPlan:
    type: RefOf
    value: Plan
    native: None = None


Plan: TypeAlias = Union[TensorPlan, TuplePlan, DataPlan, FunctionPlan, RefPlan]


class Plans:
    """The plans of one program, made when they are asked for."""

    def __init__(self, labels: Sequence[Label], data: Sequence[DataSpec]) -> None:
        self.names = tuple(labels)
        self.labels: Mapping[Label, int] = {label: number for number, label in enumerate(labels)}
        self.data = {each.name: each for each in data}
        self._made: dict[ValueType, Plan] = {}

    def of(self, type_: ValueType) -> Plan:
        known = self._made.get(type_)
        if known is not None:
            return known
        match type_:
            case TensorOf(shape, dtype):
                fixed = tuple(each for each in shape if isinstance(each, int))
                header = self.labels[TensorLabel(dtype, len(shape))] | 1 << 32
                is_fixed = len(fixed) == len(shape)
                native = tensor_plan(header, dtype.numpy, fixed) if is_fixed else None
                plan = self._made[type_] = TensorPlan(type_, header, dtype.numpy, fixed if is_fixed else None, native)
            case TupleOf(fields):
                plan = self._made[type_] = TuplePlan(type_, self.labels[CellLabel("tuple")])
                plan.fields = tuple(map(self.of, fields))
            case DataOf(name, arguments):
                constructors = self.data[name].constructors
                native = data_plan(len(constructors) + (name == LIST))
                plan = self._made[type_] = DataPlan(type_, native)  # known while its fields are: types are recursive
                for constructor, fields in constructors.items():
                    label = self.labels[CellLabel("data", f"{name}.{constructor}")]
                    inner = tuple(self.of(instantiated(each, arguments)) for each in fields)
                    plan.constructors[constructor] = label, inner
                if name == LIST:
                    _remember_list(plan)
            case FunctionOf(parameters, result):
                plan = self._made[type_] = FunctionPlan(type_, tuple(map(self.of, parameters)), self.of(result))
            case RefOf(value):
                plan = self._made[type_] = RefPlan(type_, self.of(value))
            case ParameterOf():
                raise CompilerBug("runtime", f"{type_} stands for no type here")
            case _:
                assert_never(type_)
        return plan


def _remember_list(plan: DataPlan) -> None:
    """Python's lists are read natively, where the data type of that name is the prelude's."""
    match plan.constructors:
        case {"Cons": (link, (item, rest)), "Nil": (empty, ())} if rest is plan and item.native is not None:
            learn_list(plan.native, link | 2 << 32, 2 * empty + 1, item.native)
        case _:
            pass
