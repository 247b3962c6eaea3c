"""The key of a program that draws random numbers."""

from __future__ import annotations

from collections.abc import Callable

from relay.base.dtypes import DType
from relay.frontend.shared.building import ProgramBuilder
from relay.ir.expr import Expr
from relay.ir.types import TensorType
from relay.ops.creation.threefry import KEY_WORDS
from relay.ops.framework.build import TupleWrapper

KEY = TensorType((KEY_WORDS,), DType.UINT64)
"""The type of a key."""


class RandomKey:
    """The last input of a program, `key`, once an operator needs it: each uses up a key and leaves one to the next."""

    def __init__(self, builder: ProgramBuilder) -> None:
        self._builder = builder
        self._next: Expr | None = None

    @property
    def is_used(self) -> bool:
        return self._next is not None

    def drawn(self, numbers: Callable[[Expr], TupleWrapper]) -> Expr:
        """What `numbers` gives beside the next key, for a key."""
        key = self._builder.input("key", KEY).expr if self._next is None else self._next
        self._next, found = numbers(key)
        return found
