"""A procedure that runs: what its registers and symbols hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, Union, cast

import numpy as np

from relay.arith.expr import IntExpr, Symbol, evaluate
from relay.base.frozen import mutable
from relay.lower.program.interpretation.objects import Bytes, Word
from relay.lower.program.place import Held, Register, Scalar, register_of
from relay.lower.program.procedure import Procedure

Value: TypeAlias = Union[Word, Bytes]
SCALAR_BYTES = 8


@mutable
class Frame:
    """Registers hold words, scalars as their bits, and addresses as the memory there. `results` are registers of the
    frame before, which called it."""

    procedure: Procedure
    values: dict[int, Value]
    symbols: dict[Symbol, int]
    results: Sequence[Held] = ()
    block: int = 0
    position: int = 0

    def word(self, register: Register) -> Word:
        return cast("Word", self.values[register.number])

    def read_all(self, held: Sequence[Held]) -> tuple[Value, ...]:
        return tuple(self.values[register_of(each).number] for each in held)

    def write_all(self, held: Sequence[Held], values: Sequence[Value]) -> None:
        for each, value in zip(held, values, strict=True):
            self.values[register_of(each).number] = value

    def scalar(self, scalar: Scalar) -> Bytes:
        """Memory that holds a scalar."""
        bits = cast("int", self.values[scalar.register.number])
        return np.frombuffer(bytearray(bits.to_bytes(SCALAR_BYTES, "little")), np.uint8)

    def hold(self, scalar: Scalar, memory: Bytes) -> None:
        bits = int.from_bytes(memory[: scalar.dtype.item_bytes].tobytes(), "little")
        self.values[scalar.register.number] = bits

    def number(self, expr: IntExpr) -> int:
        return evaluate(expr, self.symbols)

    def shape(self, shape: Sequence[IntExpr]) -> tuple[int, ...]:
        return tuple(map(self.number, shape))
