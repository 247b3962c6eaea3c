"""What can be seen of a result: its arrays and constructors, and what the functions in it give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import Symbol
from relay.base.frozen import frozen
from relay.driver.verification.inputs import Draw, data_of, fields_of
from relay.ir.expr import Constructor
from relay.ir.module import IRModule
from relay.ir.types import FuncType, GlobalTypeVar, RefType, TupleType, Type, TypeCall
from relay.runtime.values.values import DataValue, RefValue

MOST_CALLS = 32
"""How many functions of a result are called, at most: data may hold functions that give more of it, without end."""
MOST_LEAVES = 10_000
Leaf: TypeAlias = "NDArray[Any] | str"


@frozen(eq=False)
class Seen:
    """One part of a result: where it stands, and an array or the name of a constructor."""

    path: str
    leaf: Leaf


def observed(
    values: Sequence[tuple[str, object, Type]], module: IRModule, draw: Draw, extents: Mapping[Symbol, int]
) -> list[Seen]:
    """The parts of values with names and types, left to right. Functions are called twice with what `draw` makes, where
    symbols stand for `extents`: they may keep what they are given."""
    found: list[Seen] = []
    calls = 0
    stack = list(reversed(values))
    while stack and len(found) < MOST_LEAVES:
        path, value, type_ = stack.pop()
        parts: list[tuple[str, object, Type]] = []
        match type_, value:
            case TupleType(fields), tuple():
                items = cast("tuple[object, ...]", value)
                parts = [(f"{path}.{at}", *pair) for at, pair in enumerate(zip(items, fields, strict=True))]
            case RefType(inside), RefValue(value=held):
                parts = [(f"{path}^", held, inside)]
            case ((TypeCall() | GlobalTypeVar()), DataValue(constructor=name, fields=fields)):
                found.append(Seen(path, name))
                made = next(each for each in data_of(type_, module).constructors if each.name_hint == name)
                inner = fields_of(made, type_, data_of(type_, module))
                parts = [(f"{path}.{name}.{at}", *pair) for at, pair in enumerate(zip(fields, inner, strict=True))]
            case ((TypeCall() | GlobalTypeVar()), Constructor(name_hint=name)):
                found.append(Seen(path, name))
            case FuncType(arg_types, ret_type, ()), _ if callable(value) and calls < MOST_CALLS:
                calls += 2
                results = [value(*draw.values(arg_types, module, extents)) for _ in range(2)]
                parts = [(f"{path}()", each, ret_type) for each in results]
            case FuncType(), _:
                found.append(Seen(path, "a function"))
            case _:
                found.append(Seen(path, np.asarray(value)))
        stack += reversed(parts)
    return found
