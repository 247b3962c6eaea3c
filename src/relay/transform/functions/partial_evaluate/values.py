"""What partial evaluation knows of a value: something, everything, or only its name.

A `PartialValue` has a static part where something is known, and an atom once residual code names it. Its parts are
partial values again, so a list can be known while its elements are not. Nothing is emitted for what only the compiler
looks at: an atom is made when it is first needed, in the block where the value was born.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, Union

import numpy as np

from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen
from relay.ir.expr import Constructor, Expr, Function, GlobalVar, Op, Var
from relay.ir.types import Type, TypeVar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from relay.transform.functions.partial_evaluate.block import Block

TypeArguments: TypeAlias = Mapping[TypeVar, Type]
"""What the type parameters of the functions around stand for."""
LARGEST_COUNTED_NUMBER = 1 << 16


@dataclass(slots=True, eq=False)
class PartialValue:
    """`static`: what is known; `atom`: how residual code names it; `home`: the block where a name may be given;
    `hint`: what to call it."""

    static: Static | None
    type_: Type
    atom: Expr | None
    home: Block | None = None
    hint: str = ""


class Environment:
    """The values of variables in one activation of a function, and of the scopes around it."""

    __slots__ = ("around", "values")

    def __init__(self, around: Environment | None) -> None:
        self.around = around
        self.values: dict[Var, PartialValue] = {}

    def find(self, var: Var) -> PartialValue:
        environment: Environment | None = self
        while environment is not None:
            value = environment.values.get(var)
            if value is not None:
                return value
            environment = environment.around
        raise CompilerBug("PartialEvaluate", f"%{var.name_hint} has no value")


@frozen(eq=False)
class KnownTensor:
    data: NDArray[np.generic]


@frozen(eq=False)
class KnownTuple:
    fields: tuple[PartialValue, ...]
    size: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(map(size_of, self.fields)))


@frozen(eq=False)
class KnownData:
    """A cell of a data type, made by `constructor`."""

    constructor: Constructor
    fields: tuple[PartialValue, ...]
    size: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(map(size_of, self.fields)))


@frozen(eq=False)
class KnownFunction:
    """A closure: its free variables are those of `environment`, its free type variables those of `types`."""

    function: Function
    environment: Environment
    types: TypeArguments


@frozen(eq=False)
class KnownName:
    """A function that has a name everywhere."""

    name: GlobalVar | Op | Constructor


@frozen(eq=False)
class KnownRef:
    """The cell that one evaluation of a `ref(...)` made; the store tells what is in it."""

    location: int


Static: TypeAlias = Union[KnownTensor, KnownTuple, KnownData, KnownFunction, KnownName, KnownRef]


def is_known(value: PartialValue) -> bool:
    """Whether something is known that a function could be made for; where a ref came from is nothing to it."""
    return value.static is not None and not isinstance(value.static, KnownRef)


def size_of(value: PartialValue) -> int:
    """How many cells of the value are known; a small natural number counts as that many."""
    match value.static:
        case KnownTuple(size=size) | KnownData(size=size):
            return size
        case KnownTensor(data) if data.shape == () and data.dtype.kind in "iu":
            number = int(data.item())
            return 1 + number if 0 <= number < LARGEST_COUNTED_NUMBER else 1
        case _:
            return 1


def shrinks(old: tuple[PartialValue, ...], new: tuple[PartialValue, ...]) -> bool:
    """Whether some argument that was known is known again and is smaller: a recursion that follows it ends."""
    for before, after in zip(old, new, strict=True):
        same_kind = before.static is not None and type(before.static) is type(after.static)
        if same_kind and not isinstance(before.static, KnownFunction) and size_of(after) < size_of(before):
            return True
    return False


def parts_of(value: PartialValue, free_vars: Callable[[Function], tuple[Var, ...]]) -> Iterator[PartialValue]:
    """The partial values that stand directly in one; for a closure those of its free variables."""
    match value.static:
        case KnownTuple(fields) | KnownData(_, fields):
            yield from fields
        case KnownFunction(function, environment):
            yield from (environment.find(var) for var in free_vars(function))
        case _:
            pass
