"""Loops as recursion: a step for each entry of an axis, or while a condition holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from relay.base.dtypes import DType
from relay.frontend.shared.node import Node
from relay.frontend.shared.structures import declared, joined_type, typed
from relay.ir.expr import Call, Constant, Expr, Function, If, Let, Tuple, Var, const
from relay.ir.types import ANY, TensorType, TupleType, Type, TypeCall
from relay.ops.creation.create import shape_of, zeros
from relay.ops.elementwise.comparison import less
from relay.ops.elementwise.elementwise_binary import add, subtract
from relay.ops.framework.build import TupleWrapper, with_known_type
from relay.ops.indexing.index import take
from relay.ops.indexing.strided_set import strided_set
from relay.ops.manipulation.shape import expand_dims, reshape

Exprs: TypeAlias = Sequence[Expr]
Made = TypeVar("Made")


def variables(name: str, types: Sequence[Type]) -> list[Var]:
    """A variable of each type."""
    return [with_known_type(Var(f"{name}_{index}", type_)) for index, type_ in enumerate(types)]


def loop(
    state: Sequence[Var], first: Exprs, holds: Expr, after: Exprs, given: Sequence[Var] = (), outside: Exprs = ()
) -> TupleWrapper:
    """The state, `first` at the beginning, and `after` a step as long as it `holds`; what is `given` is computed once.

    let given = outside; let loop = fn(state) { if holds { loop(after) } else { state } }; loop(first)
    """
    types = tuple(map(declared, state))
    again = Var("loop")
    turn = If(holds, Call(again, tuple(after)), with_known_type(Tuple(tuple(state))))
    whole: Expr = Let(again, Function(tuple(state), turn, TupleType(types)), Call(again, tuple(first)))
    for var, expr in zip(given, outside, strict=True):
        whole = Let(var, expr, whole)
    return TupleWrapper(typed(whole), len(types))


def settled(types: Sequence[Type], body: Callable[[Sequence[Type]], tuple[Sequence[Type], Made]]) -> Made | None:
    """What `body` makes for types of its state that hold those of the next state, too, which it tells: extents that
    change become `?`. None where no types do."""
    for _ in range(_ROUNDS):
        after, made = body(types)
        wider = _joined(types, after)
        if wider is None or wider == list(types):
            return None if wider is None else made
        types = wider
    after, made = body([_without_extents(each) for each in types])
    return made if _joined(types, after) is not None else None


_ROUNDS = 3
"""Of many states each may be what changes the next: after so many rounds no extent is taken to stay what it is."""


def _joined(types: Sequence[Type], others: Sequence[Type]) -> list[Type] | None:
    joined = [joined_type(left, right) for left, right in zip(types, others, strict=True)]
    known = [each for each in joined if each is not None]
    return known if len(known) == len(joined) else None


def _without_extents(type_: Type) -> Type:
    match type_:
        case TensorType():
            return TensorType((ANY,) * len(type_.shape), type_.dtype)
        case TypeCall():
            return TypeCall(type_.func, tuple(_without_extents(part) for part in type_.args))
        case _:
            return type_


def repeated(
    node: Node, first: Exprs, outside: Exprs,
    holds: Callable[[Exprs, Exprs], Expr], step: Callable[[Exprs, Exprs], Exprs],
) -> TupleWrapper:  # fmt: skip
    """The state, `first` at the beginning, after as many steps as the condition holds. Both are given the state and
    what stands `outside`, which is computed once; leaves of the program are given as they are, so that what is done
    with a constant inside can be done before."""
    state = variables("state", [node.type_of(each) for each in first])
    computed: list[Expr] = [each for each in outside if not isinstance(each, (Var, Constant))]
    bound = dict(zip(computed, variables("outside", [node.type_of(each) for each in computed]), strict=True))
    given = [bound.get(each, each) for each in outside]
    return loop(state, first, holds(state, given), step(state, given), list(bound.values()), list(bound))


def scanned(
    node: Node, first: Exprs, rows: Exprs, outside: Exprs, results: Sequence[TensorType],
    step: Callable[[Exprs, Exprs, Exprs], tuple[Exprs, Exprs]], *, backwards: bool = False,
) -> TupleWrapper:  # fmt: skip
    """A step for each entry of the first axis of `rows`: the state, the entries and what stands `outside` to the next
    state and an entry of each of the `results`. Gives the last state, then the results."""
    count = extent_of(node, rows[0])
    one = const(1, DType.INT64)

    def turn(state: Exprs, given: Exprs) -> Exprs:
        done, before, filled = state[0], state[1 : 1 + len(first)], state[1 + len(first) :]
        count, sequences, others = given[0], given[1 : 1 + len(rows)], given[1 + len(rows) :]
        place = subtract(subtract(count, one), done) if backwards else done
        after, entries = step(before, [take(each, place, axis=0) for each in sequences], others)
        written = [written_at(whole, entry, place) for whole, entry in zip(filled, entries, strict=True)]
        return [add(done, one), *after, *written]

    start = [with_known_type(const(0, DType.INT64)), *first, *(zeros(each.shape, each.dtype) for each in results)]
    found = repeated(node, start, [count, *rows, *outside], lambda state, given: less(state[0], given[0]), turn)
    fields = tuple(found)[1:]
    return TupleWrapper(with_known_type(Tuple(fields)), len(fields))


def extent_of(node: Node, expr: Expr, axis: int = 0) -> Expr:
    """The extent of an axis, as a scalar of int64."""
    extent = node.type_of(expr).shape[axis]
    if isinstance(extent, int):
        return with_known_type(const(extent, DType.INT64))
    return take(shape_of(expr, DType.INT64), const(axis, DType.INT64))


def written_at(whole: Expr, entry: Expr, place: Expr) -> Expr:
    """whole[count, ..] with entry[..] at a place of the first axis."""
    begin, end = reshape(place, (1,)), reshape(add(place, const(1, DType.INT64)), (1,))
    return strided_set(whole, expand_dims(entry, 0), begin, end)
