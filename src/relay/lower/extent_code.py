"""The code of a procedure that has to do with extents: reading them off values, computing them, checking them.

A procedure knows extents as symbols of its own; `symbols` says which of them stands for a symbol of the types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.arith.expr import Comparison, IntExpr, Symbol, free_symbols, substitute
from relay.base.dtypes import DType
from relay.ir.expr import Call, Expr, Function
from relay.ir.operator import Check
from relay.ir.type_traversal import type_symbols
from relay.ir.types import ANY, TensorType, TupleType, Type
from relay.lower.blocks import OpenBlock, OpenProcedure
from relay.lower.index_faults import FAULT_TYPE, index_user
from relay.lower.kernel_calls import size_bytes
from relay.lower.place import CheckExtents
from relay.lower.procedure import (
    CheckFoundIndex,
    Field,
    NewTensor,
    Operand,
    ReadElement,
    ReadExtent,
    Register,
    Release,
    RunKernel,
    Scalar,
)
from relay.lower.refusal import not_native
from relay.lower.run_time_checks import failure_text
from relay.lower.surroundings import Surroundings
from relay.lower.value_extents import open_symbols, value_extents
from relay.runtime.extents import symbol_sources
from relay.runtime.manifest import TensorLabel
from relay.runtime.status import index_failure_text


def extent_here(extent: IntExpr, symbols: Mapping[Symbol, IntExpr], where: Expr) -> IntExpr:
    """An extent in terms of the symbols that are defined in a procedure.

    Raises `RelayError` (rule `not-native-yet`) when nothing before determines it.
    """
    if isinstance(extent, int):
        return extent
    unknown = [symbol.name for symbol in free_symbols(extent) if symbol not in symbols]
    if unknown:
        raise not_native(where, f"needs the extent `{min(unknown)}`, which no value before determines")
    if extent == ANY:
        raise not_native(where, "needs an extent that only the run knows, inside a value")
    return substitute(extent, symbols)


class ExtentCode:
    """Adds instructions that read, compute and check extents to the blocks of one procedure."""

    def __init__(self, procedure: OpenProcedure, around: Surroundings) -> None:
        self.procedure = procedure
        self.around = around

    def read(self, block: OpenBlock, register: Register, type_: Type, symbols: dict[Symbol, IntExpr]) -> None:
        """Define the symbols of a value's type that are not known yet, those of a tuple's fields included."""
        if isinstance(type_, TupleType):
            for index, field in enumerate(type_.fields):
                if any(symbol not in symbols for symbol in type_symbols(field)):
                    part = self.procedure.register()
                    block.add(Field(part, register, index))
                    self.read(block, part, field, symbols)
        elif isinstance(type_, TensorType):
            for symbol, source in symbol_sources([type_.shape]).items():
                if symbol not in symbols:
                    fresh = symbols[symbol] = Symbol(symbol.name)
                    block.add(ReadExtent(fresh, register, source.axis, source.factor, source.offset))

    def check(
        self, block: OpenBlock, checks: Sequence[Check], symbols: Mapping[Symbol, IntExpr], where: Expr
    ) -> None:  # fmt: skip
        """End the call unless all `checks` hold."""
        for check in checks:
            left, right = (extent_here(side, symbols, where) for side in (check.condition.left, check.condition.right))
            condition = Comparison(left, check.condition.op, right)
            block.add(CheckExtents(condition, self.around.failure(failure_text(check))))

    def run(
        self, block: OpenBlock, function: Function, inputs: tuple[Operand, ...], outputs: tuple[Register | Scalar, ...],
        known: Mapping[Symbol, IntExpr], symbols: Mapping[Symbol, IntExpr], call: Call,
    ) -> None:  # fmt: skip
        """Run a kernel whose parameters have extents as `known` says; other symbols are those of the procedure."""
        kernel = self.around.kernel(function)
        given = [known.get(symbol, symbol) for symbol in kernel.symbols]
        extents = tuple(
            extent_here(extent, symbols, call) if extent is symbol else extent
            for extent, symbol in zip(given, kernel.symbols, strict=True)
        )
        block.add(RunKernel(kernel.name, inputs, outputs, extents))

    def compute(
        self, block: OpenBlock, function: Function, inputs: tuple[Operand, ...], known: Mapping[Symbol, IntExpr],
        symbols: dict[Symbol, IntExpr], call: Call,
    ) -> None:  # fmt: skip
        """Define the symbols of a kernel's result that only the values of its inputs tell, if there are such."""
        extents = value_extents(function)
        if extents is None:
            return
        found = open_symbols(function)
        numbers = self.procedure.register()
        label = self.around.label(TensorLabel(DType.INT64, 1))
        block.add(NewTensor(numbers, label, (len(found),), 8 * len(found)))
        self.run(block, self.around.extents_function(function), inputs, (numbers,), known, symbols, call)
        for index, symbol in enumerate(found):
            fresh = symbols[symbol] = Symbol(symbol.name)
            block.add(ReadElement(fresh, numbers, index))
        block.add(Release(numbers))
        first = symbols[found[0]]
        for reason, text in enumerate(extents.failures):
            block.add(CheckExtents(Comparison(first, "!=", -1 - reason), self.around.failure(text)))

    def refuse(
        self, block: OpenBlock, function: Function, inputs: tuple[Operand, ...], known: Mapping[Symbol, IntExpr],
        symbols: Mapping[Symbol, IntExpr], call: Call,
    ) -> None:  # fmt: skip
        """End the call if a kernel is given an index that it refuses."""
        user = index_user(function)
        if not user:
            return
        found = self.procedure.register()
        label = self.around.label(TensorLabel(DType.INT64, 1))
        block.add(NewTensor(found, label, FAULT_TYPE.shape, size_bytes(FAULT_TYPE)))
        self.run(block, self.around.fault_function(function), inputs, (found,), known, symbols, call)
        block.add(CheckFoundIndex(found, self.around.failure(index_failure_text(user))))
        block.add(Release(found))
