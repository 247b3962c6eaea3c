"""What is known of a value: something, everything, or only its name.

A `PartialValue` has a static part where something is known, and an atom once residual code names it. Its parts are
partial values again, so a list can be known while its elements are not. Nothing is emitted for what only the compiler
looks at: an atom is made when it is first needed, in the block where the value was born.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias, Union

import numpy as np

from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen, mutable
from relay.ir.expr import Constant, Constructor, Expr, Function, GlobalVar, If, Match, Op, Pattern, Tuple, Var
from relay.ir.known_types import known_type
from relay.ir.type_traversal import instantiated
from relay.ir.types import TupleType, Type, TypeVar
from relay.transform.functions.budgets import BUDGETS

if TYPE_CHECKING:
    from numpy.typing import NDArray


@mutable
class PartialValue:
    """`static`: what is known; `atom`: how residual code names it; `home`: the block where a name may be given;
    `name`: the variable of the program that stands for it first."""

    static: Static | None
    type_: Type
    atom: Expr | None
    home: Block | None = None
    name: Var | None = None


class Environment:
    """The values of variables in one activation of a function, and of the scopes around it; what its type parameters
    stand for, those of the functions around included."""

    __slots__ = ("around", "types", "values")

    def __init__(self, around: Environment | None, types: Mapping[TypeVar, Type] | None = None) -> None:
        self.around = around
        self.types = types if types is not None else around.types if around is not None else {}
        self.values: dict[Var, PartialValue] = {}

    def type_of(self, expr: Expr) -> Type:
        """The type of a node in this activation."""
        return instantiated(known_type(expr), self.types)

    def find(self, var: Var) -> PartialValue:
        environment: Environment | None = self
        while environment is not None:
            value = environment.values.get(var)
            if value is not None:
                return value
            environment = environment.around
        raise CompilerBug("known values", f"%{var.name_hint} has no value")


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
    """A closure: its free variables and type variables are those of `environment`."""

    function: Function
    environment: Environment


@frozen(eq=False)
class KnownName:
    """A function that has a name everywhere."""

    name: GlobalVar | Op | Constructor


@frozen(eq=False)
class KnownRef:
    """The cell that one evaluation of a `ref(...)` made; the store tells what is in it."""

    location: int


@mutable
class Choice:
    """An `if`, or a match where there are patterns, whose branches may still be added to: a block for each."""

    node: If | Match
    asked: Expr
    patterns: tuple[Pattern, ...] = ()
    is_complete: bool = True
    blocks: list[Block] = field(default_factory=list)


@mutable
class Block:
    """The bindings of a scope so far, in the order in which they are evaluated, each once; None where one was moved.
    `type_` is that of its result, where it is recorded; `choices` tells where choices are bound."""

    type_: Type | None = None
    bindings: list[tuple[Var, Expr | Choice] | None] = field(default_factory=list)
    result: PartialValue | None = None
    choices: dict[Var, int] = field(default_factory=dict)


Static: TypeAlias = Union[KnownTensor, KnownTuple, KnownData, KnownFunction, KnownName, KnownRef]


def title_of(name: Var | None) -> str:
    """What to call a value. Names that A-normal form numbered are numbered anew by the printer."""
    title = "" if name is None else name.name_hint
    return "v" if title[:1] == "v" and title[1:].isdecimal() else title


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
            return 1 + number if 0 <= number < BUDGETS.counted_number else 1
        case _:
            return 1


def shrinks(old: tuple[PartialValue, ...], new: tuple[PartialValue, ...]) -> bool:
    """Whether some argument that was known is known again and is smaller: a recursion that follows it ends."""
    for before, after in zip(old, new, strict=True):
        same_kind = before.static is not None and type(before.static) is type(after.static)
        if same_kind and not isinstance(before.static, KnownFunction) and size_of(after) < size_of(before):
            return True
    return False


def constant_of(value: PartialValue) -> Expr | None:
    """The value as a constant, or as a tuple of constants; None when a part of it is not known."""
    match value.static:
        case KnownTensor():
            return value.atom
        case KnownTuple(fields):
            constants = [constant_of(each) for each in fields]
            known = [each for each in constants if each is not None]
            return Tuple(tuple(known)) if len(known) == len(fields) else None
        case _:
            return None


def value_of(expr: Expr, type_: Type, home: Block) -> PartialValue:
    """What an operator gave for constants: one, or a tuple of them."""
    if isinstance(expr, Tuple) and isinstance(type_, TupleType):
        fields = tuple(value_of(each, part, home) for each, part in zip(expr.fields, type_.fields, strict=True))
        return PartialValue(KnownTuple(fields), type_, None, home)
    if not isinstance(expr, Constant):
        raise CompilerBug("known values", "an operator on constants gave no constant")
    return PartialValue(KnownTensor(expr.data), type_, expr)
