"""Lists as the run has them, each element after the other: element, length, insertion, removal, and one tensor of all.

Functions are made for one type of elements, so that elements whose extents differ (`?`) are no matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from relay.base.dtypes import DType
from relay.frontend.shared.control.loops import variables, written_at
from relay.frontend.shared.structures import LIST, constructor, declared, typed
from relay.ir.expr import (
    Call,
    Clause,
    Expr,
    Function,
    If,
    Let,
    Match,
    PatternConstructor,
    PatternVar,
    Tuple,
    Var,
    const,
)
from relay.ir.types import ANY, TensorType, TupleType, Type, TypeCall
from relay.ops.checked import checked
from relay.ops.creation.create import arange, zeros
from relay.ops.elementwise.comparison import equal, less, less_equal, where
from relay.ops.elementwise.elementwise_binary import add, logical_and, subtract
from relay.ops.framework.build import with_known_type
from relay.ops.manipulation.combine import concatenate
from relay.ops.manipulation.shape import expand_dims

Each: TypeAlias = Callable[[Callable[..., Expr], Var, Var, Sequence[Var]], Expr]
"""What a list that is not empty gives: the walk itself, the first element, the rest, and what the walk takes along."""

_INDEX = TensorType((), DType.INT64)


def nil(element: Type) -> Expr:
    return typed(Call(constructor("Nil"), (), type_args=(element,)))


def cons(head: Expr, tail: Expr, element: Type) -> Expr:
    return typed(Call(constructor("Cons"), (head, tail), type_args=(element,)))


def walked(
    items: Expr,
    element: Type,
    along: Sequence[tuple[Expr, Type]],
    result: Type,
    each: Each,
    end: Callable[[Sequence[Var]], Expr] | None,
) -> Expr:
    """A recursion over a list that takes values along. Without an `end` the list must not end before the walk does.

    let walk = fn(list, along) { match list { Cons(head, rest) => each(…), Nil => end(along) } }; walk(items, first)
    """
    kind = TypeCall(LIST, (element,))
    walk, whole = Var("walk"), with_known_type(Var("list", kind))
    state = variables("along", [type_ for _, type_ in along])
    head, rest = with_known_type(Var("head", element)), with_known_type(Var("rest", kind))
    again = lambda *arguments: Call(walk, arguments)  # noqa: E731
    clauses = [
        Clause(
            PatternConstructor(constructor("Cons"), (PatternVar(head), PatternVar(rest))),
            each(again, head, rest, state),
        )
    ]
    if end is not None:
        clauses.append(Clause(PatternConstructor(constructor("Nil"), ()), end(state)))
    body = Match(whole, tuple(clauses), end is not None)
    return typed(
        Let(walk, Function((whole, *state), body, result), Call(walk, (items, *(first for first, _ in along))))
    )


def length(items: Expr, element: Type) -> Expr:
    zero, one = with_known_type(const(0, DType.INT64)), const(1, DType.INT64)

    def each(walk: Callable[..., Expr], _: Var, rest: Var, along: Sequence[Var]) -> Expr:
        return walk(rest, add(along[0], one))

    return walked(items, element, [(zero, _INDEX)], _INDEX, each, lambda along: along[0])


def place_in(items: Expr, element: Type, place: Expr, who: str, *, behind: bool = False) -> Expr:
    """A place that counts from the end where it is negative; the run ends where it lies outside. The one `behind` the
    last element may be inside, too."""
    count, zero = length(items, element), const(0, DType.INT64)
    from_front = where(less(place, zero), add(place, count), place)
    inside = (less_equal if behind else less)(from_front, count)
    return checked(
        from_front, logical_and(less_equal(zero, from_front), inside), f"{who}: the position lies outside of the list"
    )


def element_at(items: Expr, element: Type, place: Expr) -> Expr:
    """The element at a place, which must lie inside."""

    def each(walk: Callable[..., Expr], head: Var, rest: Var, along: Sequence[Var]) -> Expr:
        return If(_is_here(along), head, walk(rest, _nearer(along)))

    return walked(items, element, [(place, _INDEX)], element, each, None)


def erased_at(items: Expr, element: Type, place: Expr) -> Expr:
    def each(walk: Callable[..., Expr], head: Var, rest: Var, along: Sequence[Var]) -> Expr:
        return If(_is_here(along), rest, _cell(head, walk(rest, _nearer(along)), element))

    return walked(items, element, [(place, _INDEX)], TypeCall(LIST, (element,)), each, None)


def inserted_at(items: Expr, element: Type, place: Expr, new: Expr) -> Expr:
    """The list with `new` before the element at a place, or behind all where the place is the length."""

    def each(walk: Callable[..., Expr], head: Var, rest: Var, along: Sequence[Var]) -> Expr:
        here = _cell(along[1], _cell(head, rest, element), element)
        return If(_is_here(along), here, _cell(head, walk(rest, _nearer(along), along[1]), element))

    def end(along: Sequence[Var]) -> Expr:
        return _cell(along[1], nil(element), element)

    return walked(items, element, [(place, _INDEX), (new, element)], TypeCall(LIST, (element,)), each, end)


def _is_here(along: Sequence[Var]) -> Expr:
    return equal(along[0], const(0, DType.INT64))


def _nearer(along: Sequence[Var]) -> Expr:
    return subtract(along[0], const(1, DType.INT64))


def _cell(head: Expr, tail: Expr, element: Type) -> Expr:
    return Call(constructor("Cons"), (head, tail), type_args=(element,))


def mapped(items: Sequence[Var], heads: Sequence[Var], results: Sequence[tuple[Expr, Type]]) -> Expr:
    """Lists of results of the `heads` of lists as long as each other, with the types of these: a tuple of them, the
    last result first."""
    kinds = [TypeCall(LIST, (element,)) for _, element in results]
    walk, made = Var("map"), variables("made", kinds)
    given = [declared(each) for each in items]
    whole, rests = variables("list", given), variables("rest", given)
    longer = [_cell(expr, into, element) for (expr, element), into in zip(results, made, strict=True)]
    body: Expr = Call(walk, (*rests, *longer))
    for place in reversed(range(len(items))):
        pattern = PatternConstructor(constructor("Cons"), (PatternVar(heads[place]), PatternVar(rests[place])))
        clauses = [Clause(pattern, body)]
        if place == 0:
            clauses.append(Clause(PatternConstructor(constructor("Nil"), ()), with_known_type(Tuple(tuple(made)))))
        body = Match(whole[place], tuple(clauses), place == 0)
    start = Call(walk, (*items, *(nil(element) for _, element in results)))
    return Let(walk, Function((*whole, *made), body, TupleType(tuple(kinds))), start)


def backwards(items: Expr, element: Type) -> Expr:
    """The last element first."""
    kind = TypeCall(LIST, (element,))

    def each(walk: Callable[..., Expr], head: Var, rest: Var, along: Sequence[Var]) -> Expr:
        return walk(rest, _cell(head, along[0], element))

    return walked(items, element, [(nil(element), kind)], kind, each, lambda along: along[0])


def cut(element: Type, extent: Expr, step: Expr, part: Callable[[Expr, Expr], Expr]) -> Expr:
    """A list of `part(begin, end)` for each begin below an extent, a step apart; the last part may end beyond it."""
    kind = TypeCall(LIST, (element,))
    again, begin, (limit, distance) = (
        Var("cut"),
        with_known_type(Var("begin", _INDEX)),
        variables("given", [_INDEX] * 2),
    )
    end = add(begin, distance)
    more = _cell(part(begin, end), Call(again, (end,)), element)
    body = If(less(begin, limit), more, nil(element))
    whole: Expr = Let(again, Function((begin,), body, kind), Call(again, (with_known_type(const(0, DType.INT64)),)))
    return typed(Let(limit, extent, Let(distance, step, whole)))


def concatenated(items: Expr, element: TensorType, axis: int) -> Expr:
    """All elements, one after another along an axis; there must be one."""
    shape = tuple(ANY if place == axis else extent for place, extent in enumerate(element.shape))
    whole = TensorType(shape, element.dtype)

    def more(walk: Callable[..., Expr], head: Var, rest: Var, along: Sequence[Var]) -> Expr:
        return walk(rest, concatenate([along[0], head], axis))

    def first(_: Callable[..., Expr], head: Var, rest: Var, __: Sequence[Var]) -> Expr:
        return walked(rest, element, [(head, whole)], whole, more, lambda along: along[0])

    return walked(items, element, [], whole, first, None)


def stacked(items: Expr, element: TensorType, *, backwards: bool = False) -> Expr:
    """[count, ..]: all elements, of one shape, beside each other along a new axis; the last first if `backwards`."""
    whole = TensorType((ANY, *element.shape), element.dtype)
    one = const(1, DType.INT64)
    count = length(items, element)

    def each(walk: Callable[..., Expr], head: Var, rest: Var, along: Sequence[Var]) -> Expr:
        filled, place = along
        return walk(rest, written_at(filled, head, place), subtract(place, one) if backwards else add(place, one))

    def first(_: Callable[..., Expr], head: Var, rest: Var, along: Sequence[Var]) -> Expr:
        del rest
        start = subtract(along[0], one) if backwards else with_known_type(const(0, DType.INT64))
        room = blank(along[0], head)
        return walked(items_var, element, [(room, whole), (start, _INDEX)], whole, each, lambda along: along[0])

    items_var = with_known_type(Var("items", TypeCall(LIST, (element,))))
    none = zeros(tuple(0 if extent is ANY else extent for extent in (0, *element.shape)), element.dtype)
    found = walked(items_var, element, [(count, _INDEX)], whole, first, lambda _: none)
    return typed(Let(items_var, items, found))


def blank(count: Expr, entry: Expr) -> Expr:
    """[count, ..] zeros, for as many entries as the run says."""
    type_ = entry.checked_type
    assert isinstance(type_, TensorType)
    places = arange(const(0, DType.INT64), count, const(1, DType.INT64), dtype=DType.INT64)
    nothing = less(places, const(0, DType.INT64))
    if type_.shape:
        nothing = expand_dims(nothing, 1, len(type_.shape))
    return where(nothing, expand_dims(entry, 0), const(0, type_.dtype))
