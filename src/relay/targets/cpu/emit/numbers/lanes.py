"""Arithmetic on values of one LLVM type, written as method calls: what formulas are made with.

`Lanes(function, "float", 16)` works on `<16 x float>`; with one lane, on `float`. Operands and results are LLVM operand
texts. Comparisons give masks of the same number of lanes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from relay.targets.cpu.emit.numbers.typenames import constant, sequence, vector_of
from relay.targets.cpu.emit.text import FunctionText

NO_SCALERS: Mapping[str, str] = MappingProxyType({})
_INTEGER_OF = {"float": "i32", "double": "i64"}


class Lanes:
    """One type's arithmetic. `fused` says whether `fma` may become one instruction with one rounding; `scalers` names
    the machine's instructions that multiply by powers of two, by type."""

    __slots__ = ("element", "function", "fused", "lanes", "scalers", "type")

    def __init__(
        self,
        function: FunctionText,
        element: str,
        lanes: int,
        fused: bool = False,
        scalers: Mapping[str, str] = NO_SCALERS,
    ) -> None:
        self.function = function
        self.element = element
        self.lanes = lanes
        self.fused = fused
        self.scalers = scalers
        self.type = vector_of(element, lanes)

    def like(self, element: str) -> Lanes:
        """The same number of lanes of another element type."""
        return Lanes(self.function, element, self.lanes, self.fused, self.scalers)

    @property
    def integer(self) -> Lanes:
        """The integers as wide as this floating-point type."""
        return self.like(_INTEGER_OF[self.element])

    def const(self, value: float | int | bool) -> str:
        return constant(value, self.element, self.lanes)

    def op(self, name: str, left: str, right: str) -> str:
        """Any two-operand instruction: `fadd`, `xor`, `shl`."""
        return self.function.op(f"{name} {self.type} {left}, {right}")

    def add(self, left: str, right: str) -> str:
        return self.op("fadd", left, right)

    def sub(self, left: str, right: str) -> str:
        return self.op("fsub", left, right)

    def mul(self, left: str, right: str) -> str:
        return self.op("fmul", left, right)

    def div(self, left: str, right: str) -> str:
        return self.op("fdiv", left, right)

    def neg(self, operand: str) -> str:
        return self.function.op(f"fneg {self.type} {operand}")

    def call(self, intrinsic: str, *operands: str) -> str:
        """An LLVM intrinsic on this type: `fabs`, `sqrt`, `floor`."""
        return self.function.intrinsic(intrinsic, self.element, self.lanes, *operands)

    def fma(self, left: str, right: str, addend: str) -> str:
        """`left * right + addend`, rounded once where the machine can, else twice."""
        if self.fused:
            return self.call("fma", left, right, addend)
        return self.add(self.mul(left, right), addend)

    def polynomial(self, x: str, coefficients: tuple[float, ...]) -> str:
        """Σ coefficients[k] · x^k by Horner's rule."""
        result = self.const(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            result = self.fma(result, x, self.const(coefficient))
        return result

    def fcmp(self, predicate: str, left: str, right: str) -> str:
        return self.function.op(f"fcmp {predicate} {self.type} {left}, {right}")

    def icmp(self, predicate: str, left: str, right: str) -> str:
        return self.function.op(f"icmp {predicate} {self.type} {left}, {right}")

    def scale(self, operand: str, power: str) -> str | None:
        """`operand · 2^power` by one instruction a register, for a whole power; None on a machine without it."""
        name = self.scalers.get(self.type)
        if name is None:
            return self._scale_halves(operand, power) if self.scales else None
        mask = f"i{max(8, self.lanes)}"
        rounding = (", i32", ", i32 4") if name.endswith("512") else ("", "")  # 4: as the machine is set to round
        module = self.function.module
        module.declare(name, f"{self.type} @{name}({self.type}, {self.type}, {self.type}, {mask}{rounding[0]})")
        operands = f"{self.type} {operand}, {self.type} {power}, {self.type} zeroinitializer, {mask} -1{rounding[1]}"
        return self.function.op(f"call {self.type} @{name}({operands})")

    @property
    def scales(self) -> bool:
        """Whether `scale` has instructions for this type, or for halves of it."""
        return self.type in self.scalers or (self.lanes % 2 == 0 and self._half.scales)

    @property
    def _half(self) -> Lanes:
        return Lanes(self.function, self.element, self.lanes // 2, self.fused, self.scalers)

    def _scale_halves(self, operand: str, power: str) -> str | None:
        half = self._half
        scaled = [half.scale(self._half_of(operand, at), self._half_of(power, at)) for at in (0, half.lanes)]
        order = sequence(range(self.lanes), "i32")
        operands = ", ".join(f"{half.type} {part}" for part in scaled)
        return self.function.op(f"shufflevector {operands}, <{self.lanes} x i32> {order}")

    def _half_of(self, operand: str, first: int) -> str:
        order = sequence(range(first, first + self.lanes // 2), "i32")
        return self.function.op(
            f"shufflevector {self.type} {operand}, {self.type} poison, <{self.lanes // 2} x i32> {order}"
        )

    def select(self, mask: str, then: str, otherwise: str) -> str:
        """Lane by lane: `then` where `mask` holds."""
        return self.function.op(
            f"select {vector_of('i1', self.lanes)} {mask}, {self.type} {then}, {self.type} {otherwise}"
        )

    def convert(self, instruction: str, operand: str, to: Lanes) -> str:
        """`bitcast`, `sext`, `fptrunc`, … of a value of this type to another."""
        return self.function.op(f"{instruction} {self.type} {operand} to {to.type}")

    def to_bits(self, operand: str) -> str:
        return self.convert("bitcast", operand, self.integer)

    def from_bits(self, operand: str) -> str:
        return self.integer.convert("bitcast", operand, self)

    def clamp_above(self, operand: str, limit: float) -> str:
        """The smaller of operand and limit; NaN stays NaN."""
        bound = self.const(limit)
        return self.select(self.fcmp("ogt", operand, bound), bound, operand)

    def clamp_below(self, operand: str, limit: float) -> str:
        """The larger of operand and limit; NaN stays NaN."""
        bound = self.const(limit)
        return self.select(self.fcmp("olt", operand, bound), bound, operand)
