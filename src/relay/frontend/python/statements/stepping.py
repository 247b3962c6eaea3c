"""How loops step: by a condition, over a range, over the rows of a tensor, over a Relay list."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from relay.base.frozen import frozen
from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, End, is_expr
from relay.frontend.python.callables import Counted, Method, Together
from relay.frontend.python.facts.ranges import UNKNOWN
from relay.frontend.python.library.indexing import extent_of
from relay.frontend.python.library.lists.sequences import known, known_range
from relay.frontend.python.session import Turns
from relay.frontend.python.syntax.assigned import changed_names
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import as_expr, constructor_named, is_list, is_number
from relay.ir.expr import Clause, Expr, If, Match, PatternConstructor, PatternVar, Var, const
from relay.ir.types import TensorType, TypeCall, scalar_type
from relay.ops.elementwise.comparison import greater, less
from relay.ops.elementwise.elementwise_binary import add
from relay.ops.framework.build import with_known_type
from relay.ops.indexing.index import take

Position: TypeAlias = tuple[Expr, ...]
"""Where a loop is: nothing for `while`, else a number, or what is left of a list."""
After: TypeAlias = Callable[[], Position]
Body: TypeAlias = Callable[[Block, Any, After], Expr]
"""The rest of a turn, for an element; it is told what makes the position after it."""


@frozen(eq=False)
class Stepping:
    """`turn` is what a turn at a position is, by what it does if there is one, and by what follows the last one.
    `first` is the first value of the loop variable, where the loop runs at least once."""

    turn: Callable[[Block, Sequence[Var], Body, End], Expr]
    start: Position = ()
    hint: str = ""
    first: Any = None


def stepping_of(block: Block, node: ast.While | ast.For) -> Stepping | Sequence[Any]:
    """How a loop steps; or the elements, where their number is known now: of a Python list or tuple, or of a tuple of
    the program. Raises `RelayError` for what cannot be looped over."""
    if isinstance(node, ast.While):
        return _while(block, node)
    span = block.span(node.iter)
    value = (dispatch.expr if _changes(block, node) else dispatch.gone_over)(block, node.iter)
    if isinstance(value, range):
        place = block.span(node)
        count = max(0, (value.stop - value.start) // value.step + 1)  # at most; `len` has no such numbers
        block.session.counted[place] = Turns(count, place.line + (node.end_lineno or node.lineno) - node.lineno)
        return list(value) if place in block.session.unrolled else stepping_over(block, value, span)
    found = known(block, value, span)
    return stepping_over(block, value, span) if found is None else found


def _changes(block: Block, node: ast.For) -> bool:
    """Whether a loop changes what it goes over, before it has gone over it. The keys of a dict are known by then."""
    names = {each.id for each in ast.walk(node.iter) if isinstance(each, ast.Name)}
    gone_over = {name for name in names if not isinstance(block.names.get(name), dict)}
    return bool(gone_over & set(_changed(node.body)))


def _changed(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """The variables that statements change in place, but for those after whose change the loop ends."""
    for each in statements:
        inside = [part for name in ("body", "orelse") for part in [getattr(each, name, None)] if part]
        if isinstance(each, ast.If):
            yield from changed_names(each.test)
            for part in inside:
                yield from _changed(part)
        elif not isinstance(statements[-1], ast.Break | ast.Return):
            yield from changed_names(each)


def stepping_over(block: Block, value: Any, span: Span) -> Stepping:
    """How a loop over a value steps. Raises `RelayError` for what cannot be looped over."""
    match value:
        case range():
            return _over_range(block, Counted(value.start, value.stop, value.step), span)
        case Counted():
            return _over_range(block, value, span)
        case Together(parts):
            return _together([stepping_over(block, each, span) for each in parts])
        case _:
            pass
    source = None if isinstance(value, Method) else as_expr(block, value, span)
    type_ = None if source is None else block.type_of(source)
    if source is not None and isinstance(type_, TypeCall) and is_list(type_):
        return _over_list(block, source, type_, span)
    if source is not None and isinstance(type_, TensorType) and type_.shape:
        return _over_rows(block, source, type_, span)
    raise refusal(span, "a loop over this", "loop over range(...), a list, or the rows of a tensor")


def _while(block: Block, node: ast.While) -> Stepping:
    always = isinstance(node.test, ast.Constant)
    if isinstance(node.test, ast.Constant) and not node.test.value:
        raise refusal(block.span(node), "a loop that never runs", "leave it out")

    def turn(side: Block, position: Sequence[Var], body: Body, end: End) -> Expr:  # noqa: ARG001
        if always:
            return body(side.inside(), None, tuple)
        condition = as_expr(side, dispatch.truth(side, node.test), side.span(node.test))
        return If(condition, body(side.inside(), None, tuple), end(side.inside()))

    return Stepping(turn)


def _together(parts: Sequence[Stepping]) -> Stepping:
    """A turn of each at once, until the first of them has no more; an element is a tuple of theirs."""
    counts = [len(each.start) for each in parts]

    def turn(side: Block, position: Sequence[Var], body: Body, end: End) -> Expr:
        def of_part(number: int, at: Block, values: tuple[Any, ...], so_far: tuple[After, ...]) -> Expr:
            begin = sum(counts[:number])

            def inner(deeper: Block, value: Any, after: After) -> Expr:
                if number + 1 == len(parts):
                    following = (*so_far, after)
                    return body(deeper, (*values, value), lambda: tuple(each for one in following for each in one()))
                return deeper.closed(of_part(number + 1, deeper, (*values, value), (*so_far, after)))

            return parts[number].turn(at, position[begin : begin + counts[number]], inner, end)

        return of_part(0, side, (), ())

    first = [each.first for each in parts]
    start = tuple(position for each in parts for position in each.start)
    return Stepping(turn, start, "at", tuple(first) if all(each is not None for each in first) else None)


def _counting(stop: Expr | None, stride: int, element: Callable[[Block, Var], Any]) -> Callable[..., Expr]:
    """The turns of a loop that counts up, or down, to `stop`, or without end."""

    def turn(side: Block, position: Sequence[Var], body: Body, end: End) -> Expr:
        (at,) = position
        inner, type_ = side.inside(), side.type_of(at)
        assert isinstance(type_, TensorType)
        value = element(inner, at)
        made = body(inner, value, lambda: (add(at, const(stride, type_.dtype)),))
        if stop is None:
            return made
        return If((less if stride > 0 else greater)(at, stop), made, end(side.inside()))

    return turn


def _over_rows(block: Block, source: Expr, type_: TensorType, span: Span) -> Stepping:
    rows = block.bind("rows", source, span)
    count = block.bind("count", as_expr(block, extent_of(block, rows, type_.shape[0], 0), span), span)

    def element(inner: Block, at: Var) -> Any:
        inner.session.ranges[at] = UNKNOWN
        return inner.ownership.view(rows, inner.bind("row", take(rows, at, axis=0)))

    return Stepping(_counting(count, 1, element), (const(0),), "i")


def _over_range(block: Block, given: Counted, span: Span) -> Stepping:
    bounded = [each for each in (given.start, given.stop) if is_expr(each)]
    type_ = block.type_of(bounded[0]) if bounded else scalar_type("int32")
    first = as_expr(block, given.start, span, type_)
    last = None if given.stop is None else block.bind("stop", as_expr(block, given.stop, span, type_), span)
    known = known_range(block, given)

    def element(inner: Block, at: Var) -> Any:
        inner.session.ranges[at] = known
        return at if given.place is None else inner.bind("i", given.place(inner, at))

    runs = given.stop is None or (not bounded and len(range(given.start, given.stop, given.step)) > 0)
    return Stepping(
        _counting(last, given.step, element), (first,), "i", first if runs and given.place is None else None
    )


def _over_list(block: Block, source: Expr, type_: TypeCall, span: Span) -> Stepping:
    cons, nil = (constructor_named(block, "List", name) for name in ("Cons", "Nil"))
    items = block.bind("items", source, span)

    def turn(side: Block, position: Sequence[Var], body: Body, end: End) -> Expr:
        head, tail = with_known_type(Var("head", type_.args[0])), with_known_type(Var("tail", type_))
        found = PatternConstructor(cons, (PatternVar(head), PatternVar(tail)))
        if not is_number(type_.args[0]):
            side.ownership.view(items, head)
        made = body(side.inside(), head, lambda: (tail,))
        return Match(position[0], (Clause(found, made), Clause(PatternConstructor(nil), end(side.inside()))))

    return Stepping(turn, (items,), "rest")
