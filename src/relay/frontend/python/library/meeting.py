"""Where ways through a program meet: a variable or a value has one type there, which all ways tell once all have been
read. What is None on one of them, and something on another, may be missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, TypeAlias, cast

from relay.base.diagnostics import RelayError
from relay.base.frozen import mutable
from relay.base.span import Span
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.tuples import form_in, form_of, form_of_list, parts_of_form
from relay.frontend.python.values import applied, as_expr, is_list, is_nothing, is_number, is_option, items
from relay.ir.expr import Expr, Var
from relay.ir.types import (
    ANY,
    GlobalTypeVar,
    IncompleteType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeVar,
    scalar_type,
)
from relay.ir.variables import substitute
from relay.ops.elementwise.convert import cast as convert

Way: TypeAlias = tuple[Block, Any, Span]
"""The end of a way through the program: its block, what a variable or value is there, and the place."""


def alike(ways: Sequence[Way], what: str = "a value") -> list[Expr]:
    """The same variable or value at the end of several ways, as expressions of one type. Raises `RelayError` (rule
    `branch-mismatch`) where they have none."""
    wanted = meeting_type(ways) if len(ways) > 1 else None
    found = [_as_other_ways(block, value, span, wanted) for block, value, span in ways]
    types = [block.type_of(each) for (block, _, _), each in zip(ways, found, strict=True)]
    for type_, (_, _, span) in zip(types, ways, strict=True):
        if not _same_but_for_extents(types[0], type_):
            of_numbers = is_number(types[0]) and is_number(type_)
            raise RelayError(
                rule="branch-mismatch", message=f"{what} has another type on one way than on another", span=span,
                expected=f"{types[0]}, as on another way", found=str(type_),
                remedy="make them of one kind: float(n)" if of_numbers else "give it one type on all ways",
            )  # fmt: skip
    return found


def _as_other_ways(block: Block, value: Any, span: Span, wanted: Type | None) -> Expr:
    """A value as an expression of the type that all ways tell. An int is a float where another way gives one."""
    if type(value) is tuple and isinstance(wanted, TupleType) and len(value) == len(wanted.fields):
        pairs = zip(value, wanted.fields, strict=True)
        value = tuple(_as_other_ways(block, part, span, each) for part, each in pairs)
    if not isinstance(wanted, TensorType) or wanted.shape != () or not wanted.dtype.is_float:
        return as_expr(block, value, span, wanted, declared=False)
    made = as_expr(block, value, span, wanted)
    type_ = block.type_of(made)
    is_int = isinstance(type_, TensorType) and type_.shape == () and type_.dtype.is_integer
    return block.bind("number", convert(made, wanted.dtype), span) if is_int else made


def meeting_type(ways: Sequence[Way]) -> Type | None:
    """The type of what is one of several values, as far as they tell it. What is None on some way may be missing."""
    there = [way for way in ways if not _is_none(way)]
    types = [block.type_of(value) for block, value, _ in there if is_expr(value)]
    option = next(filter(is_option, types), None)
    if option is not None:
        return option
    type_ = _type_of_parts(there) or _type_of_numbers(there) or next(iter(types), None) or _type_of_kinds(there)
    if not there or len(there) == len(ways):
        return type_
    block, value, span = there[0]
    return TypeCall(GlobalTypeVar("Option"), (type_ or block.type_of(as_expr(block, value, span)),))


def _is_none(way: Way) -> bool:
    block, value, _ = way
    return value is None or (is_expr(value) and is_nothing(block.type_of(value)))


def _type_of_parts(ways: Sequence[Way]) -> Type | None:
    """The type of tuples, some of which are written out: that of each part."""
    if not any(type(value) is tuple or form_of(value) is not None for _, value, _ in ways):
        return None
    parts = [(block, _parts(block, value, span), span) for block, value, span in ways]
    counts = {None if each is None else len(each) for _, each, _ in parts}
    if None in counts or len(counts) > 1:
        return None
    fields: list[Type] = []
    for place in range(len(parts[0][1] or ())):
        column = [(block, (each or ())[place], span) for block, each, span in parts]
        block, value, span = column[0]
        fields.append(meeting_type(column) or block.type_of(as_expr(block, value, span)))
    return TupleType(tuple(fields), next(filter(None, (form_of(value) for _, value, _ in ways)), None))


def _parts(block: Block, value: Any, span: Span) -> Sequence[Any] | None:
    """The parts of a tuple."""
    if isinstance(value, list):
        return None
    return items(block, value, span) if form_of(value) is None else parts_of_form(value)


def _type_of_numbers(ways: Sequence[Way]) -> Type | None:
    """The type of numbers some of which are ints and some floats: the widest float's."""
    types = [_number_type(block, value) for block, value, _ in ways]
    floats = [each for each in types if each is not None and each.dtype.is_float]
    return max(floats, key=lambda each: each.dtype.item_bytes) if floats and None not in types else None


def _number_type(block: Block, value: Any) -> TensorType | None:
    """The type of a number that is no bool."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return scalar_type("float32" if isinstance(value, float) else "int32")
    type_ = block.type_of(value) if is_expr(value) else None
    return type_ if isinstance(type_, TensorType) and type_.shape == () and not type_.dtype.is_bool else None


def _type_of_kinds(ways: Sequence[Way]) -> Type | None:
    """The type of what is all known now."""
    kinds = {type(value) for _, value, _ in ways}
    if float in kinds:
        return scalar_type("float32")
    lists = [way for way in ways if isinstance(way[1], list) and way[1]]
    return lists[0][0].type_of(as_expr(*lists[0])) if lists else None


def wider(one: Type, other: Type) -> Type | None:
    """The type of a variable that is of one type here and of another there: a number is as wide as the wider, an extent
    that is not the same is any, and what may be missing somewhere may be missing. None where there is none."""
    match one, other:
        case _ if one == other:
            return one
        case TensorType(shape=()), TensorType(shape=()) if not (one.dtype.is_bool or other.dtype.is_bool):
            return max(one, other, key=lambda number: (number.dtype.is_float, number.dtype.item_bytes))
        case TensorType(), TensorType() if one.dtype == other.dtype and len(one.shape) == len(other.shape):
            extents = zip(one.shape, other.shape, strict=True)
            return TensorType(tuple(a if a == b else ANY for a, b in extents), one.dtype)
        case TupleType(), TupleType() if form_in(one) == form_in(other) and len(one.fields) == len(other.fields):
            fields = _each_wider(one.fields, other.fields)
            return None if fields is None else TupleType(fields, one.form)
        case TupleType(), TypeCall() if is_list(other) and form_in(one) == form_of_list(one.fields):
            as_list = list_type(one)
            return None if as_list is None else wider(as_list, other)
        case TypeCall(func=func, args=own), TypeCall(func=other_func, args=others) if func == other_func:
            args = _each_wider(own, others)
            return None if args is None else TypeCall(func, args)
        case _:
            pass
    for option, there in ((one, other), (other, one)):
        if is_option(option) and isinstance(option, TypeCall):
            inside = wider(option.args[0], there)
            return None if inside is None else TypeCall(option.func, (inside,))
    return None


def list_type(kept: TupleType) -> Type | None:
    """The type of a list that kept its length so far, as of one that does not. None where its elements differ."""
    element: Type | None = kept.fields[0]
    for each in kept.fields[1:]:
        element = None if element is None else wider(element, each)
    return None if element is None else TypeCall(GlobalTypeVar("List"), (element,))


def _each_wider(ones: Sequence[Type], others: Sequence[Type]) -> tuple[Type, ...] | None:
    found = [wider(one, other) for one, other in zip(ones, others, strict=False)]
    return None if None in found or len(ones) != len(others) else tuple(cast("list[Type]", found))


def _same_but_for_extents(one: Type, other: Type) -> bool:
    match one, other:
        case TensorType(), TensorType():
            return one.dtype == other.dtype and len(one.shape) == len(other.shape)
        case TupleType(), TupleType():
            pairs = zip(one.fields, other.fields, strict=False)
            forms = {form_in(one), form_in(other)} - {None}
            return (
                len(forms) < 2
                and len(one.fields) == len(other.fields)
                and all(_same_but_for_extents(*pair) for pair in pairs)
            )
        case TypeCall() | GlobalTypeVar(), TypeCall() | GlobalTypeVar():
            (header, own), (other_header, others) = applied(one), applied(other)
            pairs = zip(own, others, strict=False)
            return header == other_header and all(_same_but_for_extents(*pair) for pair in pairs)
        case (TensorType() | TupleType(), _) | (_, TensorType() | TupleType()):
            return isinstance(one, TypeVar | IncompleteType) or isinstance(other, TypeVar | IncompleteType)
        case _:
            return True  # of functions and cells the inference of types tells more


@mutable
class Meeting:
    """What `names` are where several ways meet. Of each way there is what stands for its end in the program until all
    are known, its block, what it brings, and its place."""

    names: Sequence[str]
    ways: list[tuple[Var, Block, Sequence[Any], Span]] = field(default_factory=list)

    def end(self, block: Block, brings: Sequence[Any], span: Span) -> Expr:
        """The end of a way."""
        stands = Var("end")
        self.ways.append((stands, block, brings, span))
        return stands

    def met(self) -> list[list[Expr]]:
        """For each of the names, what it is on each way, all of one type."""
        return [
            alike([(block, brings[place], span) for _, block, brings, span in self.ways], name)
            for place, name in enumerate(self.names)
        ]

    def closed(self, made: Expr, columns: Sequence[Sequence[Expr]], end: Callable[[Sequence[Expr]], Expr]) -> Expr:
        """What the ways are part of, with the end of each, which is made of what it brings."""
        rows = [[column[number] for column in columns] for number in range(len(self.ways))]
        ends = {stands: block.closed(end(row)) for (stands, block, _, _), row in zip(self.ways, rows, strict=True)}
        return substitute(made, ends)
