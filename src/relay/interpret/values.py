"""What a program is worth: arrays, tuples, data, functions and cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from relay.base.dtypes import dtype_of
from relay.ir.expr import Constructor, Function, Op
from relay.ir.sharing import Scopes


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


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function with the values of its free variables."""

    function: Function
    environment: Environment | None = field(repr=False)
    scopes: Scopes = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class ConstructorValue:
    """A value of a data type."""

    tag: int
    fields: tuple[Value, ...]
    constructor: Constructor = field(repr=False)


@dataclass(slots=True, eq=False)
class RefValue:
    """A mutable cell: the one thing in the language that changes."""

    value: Value


Array: TypeAlias = NDArray[np.generic]
Value: TypeAlias = Union[Array, "tuple[Value, ...]", Closure, ConstructorValue, RefValue, Constructor, Op]
ValueLike: TypeAlias = Union[Value, bool, int, float, "Sequence[ValueLike]"]


def to_value(like: object) -> Value:
    """A Python number, array, or nested tuple or list of them as a value; floats are float32 and ints int32.

    >>> to_value((1, 2.5))
    (array(1, dtype=int32), array(2.5, dtype=float32))
    """
    match like:
        case Closure() | ConstructorValue() | RefValue() | Constructor() | Op():
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
        case _:
            array = np.asarray(like)
            dtype_of(array.dtype)
            return array
