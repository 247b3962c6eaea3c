"""Loops as recursion: a step for each entry of an axis, or while a condition holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from relay.base.dtypes import DType
from relay.frontend.torch.node import TorchNode
from relay.infer.infer_type import infer_type_expr
from relay.ir.expr import Call, Expr, Function, If, Let, Tuple, Var, const
from relay.ir.types import TensorType, TupleType
from relay.ops.creation.create import shape_of, zeros
from relay.ops.elementwise.comparison import less
from relay.ops.elementwise.elementwise_binary import add, subtract
from relay.ops.framework.build import TupleWrapper, with_known_type
from relay.ops.indexing.index import take
from relay.ops.indexing.strided_set import strided_set
from relay.ops.manipulation.shape import expand_dims, reshape

Exprs: TypeAlias = Sequence[Expr]


def repeated(
    node: TorchNode, first: Exprs, outside: Exprs,
    holds: Callable[[Exprs, Exprs], Expr], step: Callable[[Exprs, Exprs], Exprs],
) -> TupleWrapper:  # fmt: skip
    """The state, `first` at the beginning, after as many steps as the condition holds. Both are given the state and
    what stands `outside`, which is computed once.

    let outside = …; let loop = fn(state) { if holds(state) { loop(step(state)) } else { state } }; loop(first)
    """
    types = [_tensor(node, each) for each in first]
    state = [with_known_type(Var(f"state_{index}", type_)) for index, type_ in enumerate(types)]
    given = [with_known_type(Var(f"outside_{index}", _tensor(node, each))) for index, each in enumerate(outside)]
    loop, ends = Var("loop"), with_known_type(Tuple(tuple(state)))
    turn = If(holds(state, given), Call(loop, tuple(step(state, given))), ends)
    whole: Expr = Let(loop, Function(tuple(state), turn, TupleType(tuple(types))), Call(loop, tuple(first)))
    for var, expr in zip(given, outside, strict=True):
        whole = Let(var, expr, whole)
    infer_type_expr(whole)
    return TupleWrapper(whole, len(types))


def scanned(
    node: TorchNode, first: Exprs, rows: Exprs, outside: Exprs, results: Sequence[TensorType],
    step: Callable[[Exprs, Exprs, Exprs], tuple[Exprs, Exprs]], *, backwards: bool = False,
) -> TupleWrapper:  # fmt: skip
    """A step for each entry of the first axis of `rows`: the state, the entries and what stands `outside` to the next
    state and an entry of each of the `results`. Gives the last state, then the results."""
    extent = _tensor(node, rows[0]).shape[0]
    count: Expr = (
        with_known_type(const(extent, DType.INT64))
        if isinstance(extent, int)
        else take(shape_of(rows[0], DType.INT64), const(0, DType.INT64))
    )
    one = const(1, DType.INT64)

    def turn(state: Exprs, given: Exprs) -> Exprs:
        done, before, filled = state[0], state[1 : 1 + len(first)], state[1 + len(first) :]
        count, sequences, others = given[0], given[1 : 1 + len(rows)], given[1 + len(rows) :]
        place = subtract(subtract(count, one), done) if backwards else done
        after, entries = step(before, [take(each, place, axis=0) for each in sequences], others)
        begin, end = reshape(place, (1,)), reshape(add(place, one), (1,))
        written = [
            strided_set(whole, expand_dims(entry, 0), begin, end) for whole, entry in zip(filled, entries, strict=True)
        ]
        return [add(done, one), *after, *written]

    start = [with_known_type(const(0, DType.INT64)), *first, *(zeros(each.shape, each.dtype) for each in results)]
    found = repeated(node, start, [count, *rows, *outside], lambda state, given: less(state[0], given[0]), turn)
    fields = tuple(found)[1:]
    return TupleWrapper(with_known_type(Tuple(fields)), len(fields))


def _tensor(node: TorchNode, expr: Expr) -> TensorType:
    if not isinstance(expr.checked_type, TensorType):
        node.unsupported("over what has no shape before the program runs")
    return expr.checked_type
