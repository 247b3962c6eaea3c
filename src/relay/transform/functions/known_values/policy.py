"""What an evaluation of known values may do: the part in which passes differ."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

from relay.ir.expr import Call, Function, Var
from relay.ir.types import Type
from relay.transform.functions.known_values.values import PartialValue

Work: TypeAlias = Generator[Any, Any, PartialValue]


class Policy(Protocol):
    """What becomes of calls, and, where code is not copied, of functions."""

    @property
    def counts(self) -> Mapping[Var, int]:
        """How often each variable is used, where code is not copied."""
        ...

    @property
    def opaque(self) -> Collection[Function]:
        """Functions into which nobody looks."""
        ...

    @property
    def only_called(self) -> Collection[Var]:
        """Variables of functions whose one call is entered, so that they need not be made."""
        ...

    def call(self, node: Call, callee: PartialValue, values: tuple[PartialValue, ...], type_: Type, name: Var) -> Work:
        """The value of a call of something that is neither an operator nor a constructor."""
        ...


class Copying:
    """A policy where code is copied: what is asked only where it is not is empty."""

    __slots__ = ()

    @property
    def counts(self) -> Mapping[Var, int]:
        return MappingProxyType({})

    @property
    def opaque(self) -> Collection[Function]:
        return ()

    @property
    def only_called(self) -> Collection[Var]:
        return ()
