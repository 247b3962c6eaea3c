"""What is in lists, and where: `x in xs`, and the methods of lists that change nothing."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, cast

from relay import op
from relay.base.span import Span
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.callables import Counted, Together
from relay.frontend.python.library import arithmetic
from relay.frontend.python.library.comparisons import compared
from relay.frontend.python.library.lists.sequences import folded, known, list_of
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import as_expr, holds_expr, is_list
from relay.ir.expr import Expr, TupleGetItem
from relay.ir.types import TensorType


def contains(block: Block, values: Any, wanted: Any, span: Span) -> Any:
    """`wanted in values`, of what is gone over."""
    found = known(block, values, span)
    if found is not None:
        return _is_one_of(block, found, wanted, span)
    type_ = block.type_of(values) if is_expr(values) else None
    if isinstance(type_, TensorType) and type_.shape:
        return op.any(arithmetic.equated("equal", values, wanted))
    if not isinstance(values, Counted | Together) and (type_ is None or not is_list(type_)):
        raise refusal(
            span, f"`in` of a {type(values).__name__ if type_ is None else type_}", "search a list, a tuple or a tensor"
        )

    def step(inner: Block, so_far: Expr, each: Expr) -> Expr:
        return op.logical_or(so_far, _same(inner, each, wanted, span))

    return folded(block, list_of(block, values, span), False, step, span)


def _is_one_of(block: Block, values: Any, wanted: Any, span: Span) -> Any:
    found: Any = False
    for each in values:
        same = compared(block, ast.Eq(), wanted, each, span) if holds_expr((wanted, each)) else wanted == each
        if same is True:
            return True
        if same is not False:
            found = same if found is False else op.logical_or(found, same)
    return found


def _same(block: Block, one: Any, other: Any, span: Span) -> Expr:
    return as_expr(block, compared(block, ast.Eq(), one, other, span), span)


def index_of(block: Block, span: Span, values: Any, wanted: Any) -> Expr:
    """Where a list has a value first; the run ends where it has not."""
    pairs = list_of(block, Together((Counted(0, None), as_expr(block, values, span))), span)

    def step(inner: Block, so_far: Expr, pair: Expr) -> Any:
        place, each = _both(inner, pair)
        same = _same(inner, each, wanted, span)
        return op.where(op.logical_and(same, arithmetic.equated("less", so_far, 0)), place, so_far)

    found = folded(block, pairs, -1, step, span)
    holds = arithmetic.equated("greater_equal", found, 0)
    return arithmetic.require(block, found, holds, "the value is not in the list", span)


def _count(block: Block, span: Span, values: Any, wanted: Any) -> Expr:
    def step(inner: Block, so_far: Expr, each: Expr) -> Any:
        return arithmetic.combined("add", so_far, op.cast(_same(inner, each, wanted, span), "int32"))

    return folded(block, as_expr(block, values, span), 0, step, span)


def _both(block: Block, pair: Expr) -> tuple[Expr, Expr]:
    parts = TupleGetItem(pair, 0), TupleGetItem(pair, 1)
    for each in parts:
        block.type_of(each)
    return parts


def _copied(block: Block, span: Span, values: Any) -> Any:
    """Another list with the same elements."""
    if isinstance(values, list):
        block.ownership.share_parts(values)
        return list(cast("list[Any]", values))
    return block.bind_as("items", values, block.type_of(values), span)


LIST_METHODS: Mapping[str, Callable[..., Any]] = {"index": index_of, "count": _count, "copy": _copied}
"""Each is called with the block, the place, and the arguments."""
