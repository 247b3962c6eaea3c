"""What an evaluation of known values may do: the part in which passes differ."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Generator, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from relay.ir.expr import Call, Expr, Function, Var
from relay.ir.types import Type
from relay.transform.functions.known_values.values import PartialValue

Work: TypeAlias = Generator[Any, Any, PartialValue]


class Policy(ABC):
    """What becomes of calls. Where code is not copied, a policy also says how often each node is used (`counts`), into
    which functions nobody looks (`opaque`), and the variables of which functions need not be made, since their one call
    is entered (`only_called`)."""

    counts: Mapping[Expr, int] = MappingProxyType({})
    opaque: Collection[Function] = ()
    only_called: Collection[Var] = ()

    @abstractmethod
    def call(self, node: Call, callee: PartialValue, values: tuple[PartialValue, ...], type_: Type, name: Var) -> Work:
        """The value of a call of something that is neither an operator nor a constructor."""
