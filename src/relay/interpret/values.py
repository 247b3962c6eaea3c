"""What a program is worth: arrays, tuples, data, functions and cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TypeAlias, Union, cast

import numpy as np
from numpy.typing import NDArray

from relay.base.dtypes import dtype_of
from relay.base.frozen import frozen
from relay.base.identity import IdentityMap
from relay.ir.expr import Constructor, Function, Op
from relay.ir.sharing import Scopes
from relay.ir.types import GlobalTypeVar, TupleType, Type, TypeCall
from relay.runtime.values.values import DataValue, RefValue, as_data, data_list


class Environment:
    """The values known in one evaluation of a scope, by node, variable and dimension symbol; and the scope around."""

    __slots__ = ("parent", "values")

    def __init__(self, parent: Environment | None) -> None:
        self.values: dict[object, Value | int] = {}
        self.parent = parent

    def find(self, key: object) -> Value | int | None:
        """The value of a node, variable or symbol; None when there is none."""
        environment: Environment | None = self
        while environment is not None:
            value = environment.values.get(key)
            if value is not None:
                return value
            environment = environment.parent
        return None


@frozen(eq=False)
class Closure:
    """A function with the values of its free variables. Python may call it, with what `to_value` takes."""

    function: Function
    environment: Environment | None = field(repr=False)
    scopes: Scopes = field(repr=False)
    apply: Callable[[Closure, tuple[Value, ...], str], Value] = field(repr=False)

    def __call__(self, *arguments: ValueLike) -> Value:
        """The result for these arguments. Raises `RelayError` as a call in the program does."""
        types = [param.checked_type or param.type_annotation for param in self.function.params]
        given = map(to_value_of, arguments, types) if len(types) == len(arguments) else map(to_value, arguments)
        return self.apply(self, tuple(given), "the function")


MAX_SHOWN_DEPTH = 8
Array: TypeAlias = NDArray[np.generic]
Value: TypeAlias = Union[Array, "tuple[Value, ...]", Closure, DataValue, RefValue, Constructor, Op, "HostFunction"]
HostFunction: TypeAlias = Callable[..., object]
"""A function of Python's that stands where a program takes one."""
ValueLike: TypeAlias = Union[Value, bool, int, float, "Sequence[ValueLike]"]


def to_value(like: object) -> Value:
    """A Python number, array, or nested tuple or list of them as a value; floats are float32 and ints int32.

    >>> to_value((1, 2.5))
    (array(1, dtype=int32), array(2.5, dtype=float32))
    """
    match like:
        case Closure() | DataValue() | RefValue() | Constructor() | Op():
            return like
        case tuple() | list():
            return tuple(map(to_value, like))
        case np.ndarray() | np.generic():
            array = np.asarray(like)
            dtype_of(array.dtype)
            return array
        case bool():
            return np.asarray(like)
        case int():
            return np.asarray(like, np.int32)
        case float():
            return np.asarray(like, np.float32)
        case _ if callable(like):
            return like
        case _:
            array = np.asarray(like)
            dtype_of(array.dtype)
            return array


def to_value_of(like: object, type_: Type | None) -> Value:
    """A value where a type is wanted: Python lists become Relay's, None and other values options, instances of classes
    that `@relay.datatype` made values of that type."""
    if isinstance(type_, TupleType) and isinstance(like, tuple):
        parts = cast("tuple[object, ...]", like)
        return tuple(map(to_value_of, parts, type_.fields)) if len(parts) == len(type_.fields) else to_value(parts)
    if not isinstance(type_, TypeCall | GlobalTypeVar):
        return to_value(like)
    name = type_.func.name if isinstance(type_, TypeCall) else type_.name
    made = as_data(like, name)
    if made is None:
        return to_value(like)
    inner = type_.args[0] if isinstance(type_, TypeCall) and name in ("List", "Option") else None
    if len(made.fields) == 1 and made.fields[0] is like:
        return DataValue(made.type_name, made.constructor, (to_value_of(like, inner),))  # an option
    if name == "List" and inner is not None:
        return data_list(to_value_of(item, inner) for item in made)
    stack: list[object] = [like]
    known = IdentityMap[object, Value]()
    while stack:
        each = stack[-1]
        data = as_data(each, name if each is like else "")
        fields = () if data is None else data.fields
        waiting = [part for part in fields if part not in known]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        if data is None:
            known[each] = to_value_of(each, inner)
        else:
            parts = tuple(known[part] for part in fields)
            known[each] = DataValue(data.type_name, data.constructor, parts)
    return known[like]


def show_value(value: Value) -> str:
    """A value in one short line: what is deep or large is cut.

    >>> show_value(to_value((1, [2.5, True])))
    '(1, (2.5, True))'
    """
    return _show(value, MAX_SHOWN_DEPTH)


def _show(value: Value, depth: int) -> str:
    match value:
        case np.ndarray() if value.size == 1 and value.ndim == 0:
            return str(value)
        case np.ndarray():
            return f"Tensor[{value.shape}, {dtype_of(value.dtype)}]"
        case _ if depth == 0:
            return "..."
        case tuple():
            return f"({', '.join(_show(part, depth - 1) for part in value)}{',' if len(value) == 1 else ''})"
        case DataValue(_, constructor, fields):
            inner = ", ".join(_show(part, depth - 1) for part in fields)
            return f"{constructor}({inner})" if fields else constructor
        case RefValue(inside):
            return f"ref({_show(inside, depth - 1)})"
        case Closure():
            return "a function"
        case Constructor(name):
            return f"the constructor {name}"
        case Op():
            return f"the operator {value.name}"
        case _:
            return "a function of Python's"
