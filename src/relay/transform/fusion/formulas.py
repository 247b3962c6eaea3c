"""What an operator computes for one element of its result, and where it reads for that: its tensor expression tells."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import field

from relay.arith.expr import IntExpr, Product, Symbol, free_symbols, linear_parts
from relay.arith.expr import Node as IndexNode
from relay.base.frozen import frozen
from relay.ir.expr import Call, Expr, Tuple
from relay.ir.known_types import known_type
from relay.ir.types import TensorType
from relay.ops.framework.record import OperatorRecord
from relay.te.compute import placeholder
from relay.te.operation import Compute, body_values, input_tensors, scalar_indices
from relay.te.tensor import Axis, Tensor
from relay.tir.expr import Binary, BinaryOp, Compare, Load, Unary, UnaryOp, Value
from relay.tir.traversal import walk_value

_POLYNOMIAL = 10  # operations of exp and its like
_LIKELY_EXTENT = 64  # of an axis that is a symbol
_CHEAP = frozenset({UnaryOp.NEGATIVE, UnaryOp.ABS, UnaryOp.NOT, UnaryOp.FLOOR, UnaryOp.CEIL, UnaryOp.TRUNC})


@frozen
class Read:
    """A place at which an operator reads its operand number `operand`.

    `is_in_place`: where its own result is; `is_once`: no element twice; `runs`: how many elements of the result in a
    row are made of the same one; `is_across`: the innermost axis of the result is not that of the operand.
    """

    operand: int
    is_in_place: bool
    is_once: bool
    runs: int
    is_across: bool


@frozen
class Formula:
    """What one element of an operator's result takes: operations, and reads. `scatters`: it reads elements that do not
    lie as those of the result do, so vectors of them are gathered. A read across is an operation: no vector of it is
    contiguous, or it is turned in registers. `across` and `elsewhere`: the operands that are read across, and those
    that are not read in place alone."""

    operations: int
    reads: tuple[Read, ...]
    scatters: bool
    across: frozenset[int] = field(init=False)
    elsewhere: frozenset[int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "across", frozenset(read.operand for read in self.reads if read.is_across))
        object.__setattr__(self, "elsewhere", frozenset(read.operand for read in self.reads if not read.is_in_place))


_MOST_OPERANDS = 64
"""Of an operator that can be in a group."""
NO_FORMULA = Formula(0, (), scatters=False)
"""Of what has several results, or none that formulas give."""


def elements(expr: Expr) -> int:
    """The elements of a tensor; where extents are symbols, a likely number."""
    type_ = expr.checked_type
    return _size(type_.shape) if isinstance(type_, TensorType) else 1


class Formulas:
    """The formulas of the operator calls of a program: what has the same attributes and types has the same one."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Formula] = {}

    def of(self, call: Call, record: OperatorRecord, operands: Sequence[Expr]) -> Formula:
        """The formula of an operator call, of which these are the operands, tuples opened."""
        key = (record, call.attrs, known_type(call), *map(known_type, call.args))
        if key not in self._known:
            self._known[key] = _formula_of(call, record, operands)
        return self._known[key]


def _formula_of(call: Call, record: OperatorRecord, operands: Sequence[Expr]) -> Formula:
    """The formula of an operator call, of which these are the operands, tuples opened."""
    types = [known_type(operand) for operand in operands]
    if len(operands) > _MOST_OPERANDS or not callable(record.compute):
        return NO_FORMULA
    if not all(isinstance(type_, TensorType) for type_ in types):
        return NO_FORMULA
    inputs = [placeholder(type_.shape, type_.dtype) for type_ in types if isinstance(type_, TensorType)]
    given = iter(inputs)
    arguments = tuple(
        tuple(next(given) for _ in argument.fields) if isinstance(argument, Tuple) else next(given)
        for argument in call.args
    )
    result = record.compute(call.attrs, arguments, known_type(call))
    if not isinstance(result, Tensor) or not isinstance(result.operation, Compute):
        return NO_FORMULA
    return _of_compute(result.operation, inputs)


def _of_compute(result: Compute, inputs: Sequence[Tensor]) -> Formula:
    stages = _stages(result)
    size = max(1, _size([axis.extent for axis in result.axes]))
    operations = 0.0
    reads: dict[object, Read] = {}
    scatters = False
    for stage in stages:
        axes = (*stage.axes, *stage.reduce_axes)
        times = _size([axis.extent for axis in axes]) / size
        for value in body_values(stage.body):
            operations += times * sum(map(_operations, walk_value(value)))
        for load in stage.reads:
            if load.buffer in inputs:
                read = _read(inputs.index(load.buffer), load, axes, is_alone=len(stages) == 1)
                reads[(load.buffer, load.indices)] = read
                operations += times if read.is_across else 0
                is_rearranged = _size(load.buffer.shape) == size and not operations
                scatters = scatters or not (_is_linear(load) or is_rearranged)
    return Formula(round(operations), tuple(reads.values()), scatters)


def _stages(result: Compute) -> list[Compute]:
    found: dict[Compute, None] = {}
    waiting = [result]
    while waiting:
        stage = waiting.pop()
        found[stage] = None
        makers = [tensor.operation for tensor in input_tensors(stage)]
        waiting += [each for each in makers if isinstance(each, Compute) and each not in found]
    return list(found)


def _read(operand: int, load: Load, axes: Sequence[Axis], *, is_alone: bool) -> Read:
    indices = scalar_indices(load)
    long = [axis for axis in axes if axis.extent != 1]
    moved = [index for index in indices if not isinstance(index, int)]
    alone = {symbols[0] for index in moved if len(symbols := _terms(index)) == 1}
    used = frozenset[object]().union(*map(free_symbols, moved)) if moved else frozenset[object]()
    runs = 1
    for axis in reversed(axes):
        if axis in used:
            break
        runs *= _size([axis.extent])
    in_place = len(indices) == len(axes) and all(
        index == axis or (index == 0 and axis.extent == 1) for index, axis in zip(indices, axes, strict=True)
    )
    innermost = next((axis for axis in reversed(axes) if axis in used), None)
    last = moved[-1] if moved else 0
    return Read(
        operand,
        is_in_place=is_alone and in_place and all(a.extent == b for a, b in zip(axes, load.buffer.shape, strict=True)),
        is_once=all(axis in alone for axis in long),
        runs=max(1, runs),
        is_across=innermost is not None and innermost not in free_symbols(last),
    )


def _terms(index: IntExpr) -> list[IndexNode]:
    """What an index is a sum of, besides a number."""
    return [term for term, _ in linear_parts(index)[1]]


def _is_linear(load: Load) -> bool:
    return all(isinstance(term, (Symbol, Product)) for index in scalar_indices(load) for term in _terms(index))


def _operations(value: Value) -> int:
    match value:
        case Unary(op):
            return 1 if op in _CHEAP else _POLYNOMIAL
        case Binary(op):
            return 0 if value.dtype.is_bool else _POLYNOMIAL if op is BinaryOp.POWER else 1
        case Compare():
            return 1
        case _:
            return 0


def _size(extents: Sequence[IntExpr]) -> int:
    return math.prod(extent if isinstance(extent, int) else _LIKELY_EXTENT for extent in extents)
