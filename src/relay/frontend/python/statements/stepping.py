"""How loops step: by a condition, over a range, over the rows of a tensor, over a Relay list."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, End, is_expr
from relay.frontend.python.callables import Method
from relay.frontend.python.library.indexing import extent_of
from relay.frontend.python.ranges import UNKNOWN, Range
from relay.frontend.python.source import refusal
from relay.frontend.python.statements.simple import assign
from relay.frontend.python.values import as_expr, constructor_named, is_list, items
from relay.ir.expr import Clause, Expr, If, Match, PatternConstructor, PatternVar, Var, const
from relay.ir.types import TensorType, TypeCall, scalar_type
from relay.ops.elementwise.comparison import greater, less
from relay.ops.elementwise.elementwise_binary import add
from relay.ops.framework.build import with_known_type
from relay.ops.indexing.index import take

Position: TypeAlias = tuple[Expr, ...]
"""Where a loop is: nothing for `while`, else a number, or what is left of a list."""
Body: TypeAlias = Callable[[Block, Callable[[], Position]], Expr]
"""The rest of a turn, in a block whose loop variable is set; it is told what makes the position after it."""


@frozen(eq=False)
class Stepping:
    """`turn` is what a turn at a position is, by what it does if there is one, and by what follows the last one.
    `first` is the first value of the loop variable, where the loop runs at least once."""

    turn: Callable[[Block, Sequence[Var], Body, End], Expr]
    start: Position = ()
    hint: str = ""
    first: Expr | None = None


def stepping_of(block: Block, node: ast.While | ast.For) -> Stepping | Sequence[Any]:
    """How a loop steps; or the elements, where their number is known now: of a Python list or tuple, or of a tuple of
    the program. Raises `RelayError` for what cannot be looped over."""
    if isinstance(node, ast.While):
        return _while(block, node)
    span = block.span(node.iter)
    match node.iter:
        case ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[]) if 1 <= len(arguments) <= 3:
            return _over_range(block, [dispatch.expr(block, each) for each in arguments], node.target, span)
        case _:
            value = dispatch.expr(block, node.iter)
            known = items(block, value, span)
            if known is not None:
                return known
    source = None if isinstance(value, Method) else as_expr(block, value, span)
    type_ = None if source is None else block.type_of(source)
    if source is not None and isinstance(type_, TypeCall) and is_list(type_):
        return _over_list(block, source, type_, node.target, span)
    if source is not None and isinstance(type_, TensorType) and type_.shape:
        return _over_rows(block, source, type_, node.target, span)
    raise refusal(span, "a loop over this", "loop over range(...), a list, or the rows of a tensor")


def _while(block: Block, node: ast.While) -> Stepping:
    always = isinstance(node.test, ast.Constant)
    if isinstance(node.test, ast.Constant) and not node.test.value:
        raise refusal(block.span(node), "a loop that never runs", "leave it out")

    def turn(side: Block, position: Sequence[Var], body: Body, end: End) -> Expr:  # noqa: ARG001
        if always:
            return body(side.inside(), tuple)
        condition = as_expr(side, dispatch.truth(side, node.test), side.span(node.test))
        return If(condition, body(side.inside(), tuple), end(side.inside()))

    return Stepping(turn)


def _counting(stop: Expr, stride: int, begin: Callable[[Block, Var], None]) -> Callable[..., Expr]:
    """The turns of a loop that counts up, or down, to `stop`; each begins with `begin`, which sets its variable."""

    def turn(side: Block, position: Sequence[Var], body: Body, end: End) -> Expr:
        (at,) = position
        condition = (less if stride > 0 else greater)(at, stop)
        inner, type_ = side.inside(), side.type_of(at)
        assert isinstance(type_, TensorType)
        begin(inner, at)
        return If(condition, body(inner, lambda: (add(at, const(stride, type_.dtype)),)), end(side.inside()))

    return turn


def _over_rows(block: Block, source: Expr, type_: TensorType, target: ast.expr, span: Span) -> Stepping:
    rows = block.bind("rows", source, span)
    count = block.bind("count", as_expr(block, extent_of(block, rows, type_.shape[0], 0), span), span)

    def begin(inner: Block, at: Var) -> None:
        inner.session.ranges[at] = UNKNOWN
        assign(inner, target, inner.ownership.view(rows, inner.bind("row", take(rows, at, axis=0))))

    return Stepping(_counting(count, 1, begin), (const(0),), "i")


def _over_range(block: Block, bounds: Sequence[Any], target: ast.expr, span: Span) -> Stepping:
    start, stop = (0, bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
    stride = bounds[2] if len(bounds) == 3 else 1
    if type(stride) is not int or stride == 0:
        raise RelayError(
            rule="bad-range", message="the step of a range is a number known now, and not 0", span=span,
            remedy="count by 1 and compute the position in the loop",
        )  # fmt: skip
    if any(isinstance(each, float | bool) for each in (start, stop)):
        raise RelayError(rule="bad-range", message="a range counts with integers", span=span)
    bounded = [each for each in (start, stop) if is_expr(each)]
    type_ = block.type_of(bounded[0]) if bounded else scalar_type("int32")
    if not isinstance(type_, TensorType) or type_.shape != () or type_.dtype.is_float or type_.dtype.is_bool:
        raise RelayError(
            rule="bad-range", message="a range counts with integers", span=span, expected="an integer scalar",
            found=str(type_),
        )  # fmt: skip
    first, last = as_expr(block, start, span, type_), block.bind("stop", as_expr(block, stop, span, type_), span)
    known = _within(block.range_of(start), block.range_of(stop), stride)

    def begin(inner: Block, at: Var) -> None:
        inner.session.ranges[at] = known
        assign(inner, target, at)

    runs = not bounded and len(range(start, stop, stride)) > 0
    return Stepping(_counting(last, stride, begin), (first,), "i", first if runs else None)


def _within(start: Range, stop: Range, stride: int) -> Range:
    """What is known of a position that counts from `start` on, to before `stop`."""
    if stride > 0:
        return Range(start.low, stop.exactly)
    return Range(None if stop.low is None else stop.low + 1, start.stop)


def _over_list(block: Block, source: Expr, type_: TypeCall, target: ast.expr, span: Span) -> Stepping:
    cons, nil = (constructor_named(block, "List", name) for name in ("Cons", "Nil"))

    def turn(side: Block, position: Sequence[Var], body: Body, end: End) -> Expr:
        head, tail = with_known_type(Var("head", type_.args[0])), with_known_type(Var("tail", type_))
        inner = side.inside()
        assign(inner, target, head)
        found = PatternConstructor(cons, (PatternVar(head), PatternVar(tail)))
        clauses = Clause(found, body(inner, lambda: (tail,))), Clause(PatternConstructor(nil), end(side.inside()))
        return Match(position[0], clauses)

    return Stepping(turn, (block.bind("items", source, span),), "rest")
