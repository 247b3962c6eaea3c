"""What is assigned to: names, several at once, and parts of arrays, lists and dicts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.callables import Repeated
from relay.frontend.python.facts.ownership import Held
from relay.frontend.python.library.arithmetic import as_operand
from relay.frontend.python.library.indexing import changed, changed_list, index_list, index_tensor, is_basic
from relay.frontend.python.library.list_arrays import as_array, index_of_arrays
from relay.frontend.python.library.lists.sequences import sliced, spliced
from relay.frontend.python.library.lists.unpacking import taken
from relay.frontend.python.library.meeting import meeting_type
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import as_expr, holds_expr, is_list, known_now
from relay.ir.expr import Expr, RefWrite
from relay.ir.types import GlobalTypeVar, TensorType, TypeCall

Change: TypeAlias = Callable[[Callable[[], Any]], Any]
"""What becomes of the value at a place; it may ask what that was."""


def assign(block: Block, target: ast.expr, value: Any) -> None:
    """A target is worth a value from here on."""
    span = block.span(target)
    match target:
        case ast.Name(id=name):
            block.names[name] = block.named(block.bind(name, value, span), span) if is_expr(value) else value
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            for each, part in zip(targets, taken(block, value, targets, span), strict=True):
                assign(block, each.value if isinstance(each, ast.Starred) else each, part)
        case ast.Subscript():
            change_place(block, target, lambda before: value, "an assignment to a part")  # noqa: ARG005
        case ast.Attribute(value=owner, attr="value"):
            cell = as_expr(block, dispatch.expr(block, owner), span)
            stored = as_expr(block, value, span, getattr(block.type_of(cell), "value", None))
            block.bind("done", RefWrite(cell, stored, span=span))
        case _:
            raise refusal(
                span, "an assignment to part of a value",
                "values do not change: make a new one (relay.where, relay.concatenate), or keep it in a relay.ref",
            )  # fmt: skip


def root_of(target: ast.expr) -> ast.expr:
    """The variable that `name[i][j]` is a part of."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target


def change_place(
    block: Block, target: ast.expr, change: Change, what: str, *, at_part: bool = True, held: Held | None = None
) -> None:
    """A change in place of what is at `name`, or at `name[i][j]`, which `name` alone holds: of what has the part
    (`at_part`), or of the part. How it is `held` was seen before the place was read (None: now)."""
    span, name = block.span(target), root_of(target)
    if not isinstance(name, ast.Name):
        raise refusal(span, f"{what} of what has no name", "give it a name first")
    before = block.names[name.id] if name.id in block.names else dispatch.operand(block, name)
    held = block.ownership.held(before) if held is None else held
    places: list[Any] = []
    while isinstance(target, ast.Subscript):
        places.insert(0, dispatch.index(block, target.slice))
        target = target.value
    is_inside = len(places) > at_part and not is_tensor(block, before)
    remedy = f"make a copy first: {name.id} = {name.id}.copy()"
    if is_inside:
        remedy = "put a new value at that place, which is made of the old one: xs[i] = xs[i] + ..."
    block.ownership.change(before, what, remedy, span, Held.WITH_PARTS if is_inside else Held.ALONE, held)
    put: list[Any] = []

    def noted(read: Callable[[], Any]) -> Any:
        put.append(change(read))
        return put[0]

    made = _changed(block, before, places, noted, span)
    if not places:
        held = block.ownership.held(made)
    elif not all(map(block.ownership.is_alone, put)):
        held = min(held, Held.ALONE)
    made = block.ownership.own(made, held)
    block.names[name.id] = block.bind(name.id, made, span) if is_expr(made) else made


def is_tensor(block: Block, value: Any) -> bool:
    """Whether a value is a tensor of the program."""
    return is_expr(value) and isinstance(block.type_of(value), TensorType)


def _changed(block: Block, before: Any, places: Sequence[Any], change: Change, span: Span) -> Any:
    """A value with another part at the places, of which each is inside that of the one before."""
    if not places:
        return change(lambda: before)
    own, (first, *inner) = block.ownership.own, places
    if isinstance(before, list | dict) and not holds_expr((first,)):
        made: Any = before.copy()
        if isinstance(first, slice):
            known_now(span, made.__setitem__, first, change(lambda: known_now(span, made.__getitem__, first)))
            return own(made)
        part = known_now(span, made.__getitem__, first) if inner or first in _keys(before) else None
        known_now(span, made.__setitem__, first, _changed(block, part, inner, change, span))
        return own(made)
    if is_untyped(before):  # what is put in the place of one tells the type of all
        item = before.item if isinstance(before, Repeated) else before[0]
        inside = _changed(block, item, inner, change, span) if inner else change(lambda: item)
        element = meeting_type([(block, inside, span), (block, item, span)]) or block.type_of(
            as_expr(block, inside, span)
        )
        before = as_expr(block, before, span, TypeCall(GlobalTypeVar("List"), (element,)))
        change, inner = lambda _: inside, []
    held = as_expr(block, before, span)
    type_ = block.type_of(held)
    if is_list(type_):

        def of_list() -> Expr:
            return block.bind("part", index_list(block, held, first, span), span)

        if isinstance(first, slice) and not inner:
            part = change(lambda: block.bind("part", sliced(block, held, first, span), span))
            return own(block.bind("items", spliced(block, held, first, part, span), span))
        value = _changed(block, of_list(), inner, change, span) if inner else change(of_list)
        return own(block.bind("items", changed_list(block, held, cast("TypeCall", type_), first, value, span), span))
    if isinstance(type_, TensorType) and type_.shape:
        first = index_of_arrays(block, first, span)

        def of_tensor() -> Expr:
            return block.bind("part", index_tensor(block, held, type_, first, span), span)

        if inner and not is_basic(block, first):
            raise refusal(span, "an assignment to a part of a copy, which NumPy forgets", "use one index: x[i, j] = y")
        value = _changed(block, of_tensor(), inner, change, span) if inner else change(of_tensor)
        value = as_operand(block, as_array(block, value, span), span)
        return own(block.bind("tensor", changed(block, held, first, value, span), span))
    raise refusal(span, f"an assignment to a part of a {type_}", "assign to parts of tensors, lists and dicts")


def is_untyped(value: Any) -> bool:
    """Whether a value is several empty lists, or Nones, of which nothing says what they are lists of, or what may be
    missing."""
    elements = cast("list[Any]", value) if isinstance(value, list) else []
    is_empty = all(isinstance(each, list) and not each for each in elements)
    return isinstance(value, Repeated) or (bool(elements) and (is_empty or all(each is None for each in elements)))


def _keys(value: Any) -> Any:
    """The places that a list or a dict has."""
    return value if isinstance(value, dict) else range(-len(value), len(value))
