"""The code of a procedure that has to do with extents: reading them off values, computing them, checking them.

A procedure knows extents as symbols of its own; `symbols` says which of them stands for a symbol of the types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.arith.expr import Comparison, IntExpr, Symbol
from relay.base.dtypes import DType
from relay.ir.expr import Expr, Function
from relay.ir.operator import Check
from relay.ir.type_traversal import type_symbols
from relay.ir.types import TensorType, TupleType, Type
from relay.lower.code.blocks import OpenBlock, OpenProcedure
from relay.lower.code.context import LoweringContext
from relay.lower.code.run_time_checks import failure_of
from relay.lower.kernels.value_extents import open_symbols, value_extents
from relay.lower.planning.kernel_calls import extent_here, size_bytes
from relay.lower.planning.placing import placed
from relay.lower.planning.straight_line import KernelStep, Storage, StoredTensor
from relay.lower.program.place import CheckExtents, DataPlace, Register
from relay.lower.program.procedure import Field, NewTensor, ReadElement, ReadExtent, Release
from relay.runtime.arguments.extents import symbol_sources
from relay.runtime.artefact.failures import Failure, FailureKind
from relay.runtime.artefact.manifest import TensorLabel


class ExtentCode:
    """Adds instructions that read, compute and check extents to the blocks of one procedure."""

    def __init__(self, procedure: OpenProcedure, context: LoweringContext) -> None:
        self.procedure = procedure
        self.context = context

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
            block.add(CheckExtents(condition, self.context.failure(failure_of(check))))

    def compute(
        self, block: OpenBlock, function: Function, inputs: Sequence[StoredTensor], symbols: dict[Symbol, IntExpr],
    ) -> None:  # fmt: skip
        """Define the symbols of a kernel's result that only the values of its inputs tell, if there are such."""
        extents = value_extents(function)
        if extents is None:
            return
        found = open_symbols(function)
        type_ = TensorType((len(found),), DType.INT64)
        numbers = self.procedure.register()
        block.add(NewTensor(numbers, self.context.label(TensorLabel(DType.INT64, 1)), type_.shape, size_bytes(type_)))
        told = Storage(size_bytes(type_), DataPlace(numbers))
        step = KernelStep(self.context.extents_function(function), tuple(inputs), (told,))
        block.add(placed([step], {}, (), self.context.kernel, symbols))
        for index, symbol in enumerate(found):
            fresh = symbols[symbol] = Symbol(symbol.name)
            block.add(ReadElement(fresh, numbers, index))
        block.add(Release(numbers))
        first = symbols[found[0]]
        for reason, text in enumerate(extents.failures):
            failure = self.context.failure(Failure(FailureKind.EXTENTS, text))
            block.add(CheckExtents(Comparison(first, "!=", -1 - reason), failure))
