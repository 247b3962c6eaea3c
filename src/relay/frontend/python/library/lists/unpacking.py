"""`a, *rest = xs` and `f(*xs)`, `[*xs, y]`: values taken apart, and put into calls and displays."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from relay import op
from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.facts.ownership import Held
from relay.frontend.python.library import arithmetic
from relay.frontend.python.library.heads import dropped
from relay.frontend.python.library.indexing import extent_of, index_list, joined
from relay.frontend.python.library.lists.sequences import known, list_of, sliced
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import is_list, known_now
from relay.ir.expr import Expr, const
from relay.ir.types import TensorType
from relay.ops.indexing.index import take


def taken(block: Block, value: Any, targets: Sequence[ast.expr], span: Span) -> Sequence[Any]:
    """What each target of an assignment takes. One with `*` takes a list. Raises `RelayError` (rule `unpack-count`)."""
    star = next((place for place, each in enumerate(targets) if isinstance(each, ast.Starred)), None)
    if is_expr(value) and is_list(block.type_of(value)):
        return _of_list(block, value, len(targets), star, span)
    found = elements(block, value, span)
    type_ = block.type_of(value) if is_expr(value) else None
    if found is None and isinstance(type_, TensorType) and type_.shape:
        held = block.bind("rows", value, span)
        if star is not None:
            return _of_list(block, list_of(block, held, span), len(targets), star, span)
        _require_length(block, "equal", extent_of(block, held, type_.shape[0], 0), len(targets), span)
        return _rows(block, held, len(targets), span)
    if found is None:
        type_ = type_ or type(value).__name__
        raise refusal(span, f"taking a {type_} apart", "unpack tuples, lists, or tensors of known first extent")
    if (star is None and len(found) != len(targets)) or len(found) < len(targets) - 1:
        raise RelayError(
            rule="unpack-count", message="the value has another number of parts than there are variables",
            span=span, found=f"{len(found)}",
            expected=f"{len(targets)} parts" if star is None else f"at least {len(targets) - 1} parts",
        )  # fmt: skip
    if is_expr(value) and block.ownership.held(value) is Held.WITH_PARTS:
        found = [block.ownership.own(part, Held.WITH_PARTS) for part in found]
        block.ownership.share(value)  # its parts are held instead
    if star is None:
        return found
    end = len(found) - (len(targets) - 1 - star)
    return [*found[:star], block.ownership.own(list(found[star:end])), *found[end:]]


def elements(block: Block, value: Any, span: Span) -> Sequence[Any] | None:
    """The elements of what has a number of them that is known now: the rows of a tensor, too."""
    if isinstance(value, np.ndarray) and value.ndim:
        rows = [known_now(span, operator.getitem, value, position) for position in range(len(value))]
        return [block.ownership.view(value, row) if isinstance(row, np.ndarray) else row for row in rows]
    found = known(block, value, span)
    if found is not None or not is_expr(value):
        return found
    match block.type_of(value):
        case TensorType(shape=(int() as extent, *_)):
            return _rows(block, value, extent, span)
        case _:
            return None


def _rows(block: Block, value: Expr, count: int, span: Span) -> list[Expr]:
    rows = [block.bind("row", take(value, position, axis=0), span) for position in range(count)]
    return [block.ownership.view(value, row) for row in rows]


def _of_list(block: Block, value: Expr, count: int, star: int | None, span: Span) -> list[Any]:
    """The same of a Relay list, whose length is checked when the program runs."""
    held = block.bind("items", value, span)
    length = block.bind("count", block.session.library("length", span)(held), span)
    least = count if star is None else count - 1
    _require_length(block, "equal" if star is None else "greater_equal", length, least, span)
    before, behind = (count, 0) if star is None else (star, count - 1 - star)
    first = [index_list(block, held, place, span) for place in range(before)]
    last = [index_list(block, held, place - behind, span) for place in range(behind)]
    if star is None:
        return first
    rest = dropped(block, held, const(before), span) if before else held
    return [*first, sliced(block, rest, slice(None, -behind), span) if behind else rest, *last]


def _require_length(block: Block, relation: str, length: Any, wanted: int, span: Span) -> None:
    """The run ends where a value has another number of elements than is unpacked."""
    fits = arithmetic.equated(relation, length, wanted)
    block.bind("fits", op.checked(const(True), fits, "a value has another number of elements than is unpacked"), span)


def spread(block: Block, nodes: Sequence[ast.expr], value: Callable[[Block, ast.expr], Any]) -> list[Any]:
    """What expressions are worth, each of those with `*` being its elements. Raises `RelayError` (rule
    `python-subset`) where the program computes how many there are."""
    found: list[Any] = []
    for node in nodes:
        if not isinstance(node, ast.Starred):
            found.append(value(block, node))
            continue
        span = block.span(node)
        several = elements(block, value(block, node.value), span)
        if several is None:
            raise refusal(span, "`*` of what has as many elements as the program finds", "pass the list itself")
        found += several
    return found


def display(block: Block, nodes: Sequence[ast.expr], value: Callable[[Block, ast.expr], Any], span: Span) -> Any:
    """`[a, *xs, b]`: a list of Python's, or a Relay list where `xs` is one."""
    whole: Any = []
    for node in nodes:
        several: Any = [value(block, node)] if not isinstance(node, ast.Starred) else value(block, node.value)
        if isinstance(node, ast.Starred):
            found = elements(block, several, block.span(node))
            several = list_of(block, several, span) if found is None else list(found)
        if isinstance(whole, list) and isinstance(several, list):
            whole = [*cast("list[Any]", whole), *cast("list[Any]", several)]
        elif isinstance(whole, list) and not whole:
            whole = several
        else:
            types = [block.type_of(each) if is_expr(each) else None for each in (whole, several)]
            whole = block.bind("items", joined(block, whole, several, types, span), span)
    return whole


def as_known(block: Block, value: Any, span: Span, what: str) -> Sequence[Any]:
    """The elements, for what needs to know now how many there are."""
    found = elements(block, value, span)
    if found is None:
        raise refusal(span, f"{what} of what has as many elements as the program finds", "go over it in a loop")
    return found
