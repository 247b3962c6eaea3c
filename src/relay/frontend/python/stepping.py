"""How loops step: by a condition, over a range, over the rows of a tensor, over a Relay list."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from relay.base.diagnostics import RelayError
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.callables import Method
from relay.frontend.python.ranges import UNKNOWN, Range, range_of
from relay.frontend.python.source import refusal
from relay.frontend.python.values import as_expr, is_list
from relay.ir.expr import Clause, Constructor, Expr, If, Match, PatternConstructor, PatternVar, Var, const
from relay.ir.types import TensorType, Type, TypeCall, scalar_type
from relay.ops.build import with_known_type
from relay.ops.comparison import greater, less
from relay.ops.elementwise_binary import add
from relay.ops.index import take

if TYPE_CHECKING:
    from relay.frontend.python.flow import Statements

Body = Callable[[Block], Expr]
Assign = Callable[[Block, Any], None]


@dataclass(slots=True, eq=False)
class Condition:
    """`while`: no position, a test before each turn. `always` is a test that is known to hold."""

    test: Callable[[Block], Expr]
    always: bool
    counters: Sequence[tuple[str, Expr, Type]] = ()

    def step(self, block: Block, position: Sequence[Var]) -> Callable[[Body, Body], Expr]:  # noqa: ARG002
        if self.always:
            return lambda body, end: body(block.inside())  # noqa: ARG005
        condition = self.test(block)
        return lambda body, end: If(condition, body(block.inside()), end(block.inside()))

    def begin(self, block: Block, position: Sequence[Var]) -> None:  # noqa: ARG002
        return

    def next(self, block: Block, position: Sequence[Var]) -> tuple[Expr, ...]:  # noqa: ARG002
        return ()


@dataclass(slots=True, eq=False)
class Counting:
    """`for target in range(start, stop, stride)`; over the rows of `rows` where that is given. `known` is what is of
    the position; `runs`: the body runs at least once."""

    counters: Sequence[tuple[str, Expr, Type]]
    stop: Expr
    stride: int
    assign: Assign
    rows: Expr | None = None
    known: Range = UNKNOWN
    runs: bool = False

    def step(self, block: Block, position: Sequence[Var]) -> Callable[[Body, Body], Expr]:
        condition = (less if self.stride > 0 else greater)(position[0], self.stop)
        return lambda body, end: If(condition, body(block.inside()), end(block.inside()))

    def begin(self, block: Block, position: Sequence[Var]) -> None:
        block.session.ranges[position[0]] = self.known
        if self.rows is None:
            self.assign(block, position[0])
        else:
            row = block.bind("row", take(self.rows, position[0], axis=0))
            self.assign(block, block.session.ownership.view(self.rows, row))

    def next(self, block: Block, position: Sequence[Var]) -> tuple[Expr, ...]:
        stride = const(self.stride, block.type_of(position[0]).dtype)  # pyright: ignore[reportAttributeAccessIssue]
        return (add(position[0], stride),)


@dataclass(slots=True, eq=False)
class Walking:
    """`for target in items`, a Relay list."""

    counters: Sequence[tuple[str, Expr, Type]]
    cons: Constructor
    nil: Constructor
    assign: Assign
    head: Var | None = None
    tail: Var | None = None

    def step(self, block: Block, position: Sequence[Var]) -> Callable[[Body, Body], Expr]:
        (_, _, type_) = self.counters[0]
        assert isinstance(type_, TypeCall)
        self.head = with_known_type(Var("head", type_.args[0]))
        self.tail = with_known_type(Var("tail", type_))
        found = PatternConstructor(self.cons, (PatternVar(self.head), PatternVar(self.tail)))
        return lambda body, end: Match(
            position[0],
            (Clause(found, body(block.inside())), Clause(PatternConstructor(self.nil), end(block.inside()))),
        )

    def begin(self, block: Block, position: Sequence[Var]) -> None:  # noqa: ARG002
        self.assign(block, self.head)

    def next(self, block: Block, position: Sequence[Var]) -> tuple[Expr, ...]:  # noqa: ARG002
        assert self.tail is not None
        return (self.tail,)


Stepping = Condition | Counting | Walking


def stepping_of(statements: Statements, block: Block, node: ast.While | ast.For) -> Stepping | Sequence[Any]:
    """How a loop steps; or the elements, where their number is known now: of a Python list or tuple, or of a tuple of
    the program. Raises `RelayError` for what cannot be looped over."""
    if isinstance(node, ast.While):
        return _while(statements, node)

    def assign(side: Block, value: Any) -> None:
        statements.assign(side, node.target, value)

    span = statements.span(node.iter)
    match node.iter:
        case ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[]) if 1 <= len(arguments) <= 3:
            return _range(statements, block, [statements.expr(block, each) for each in arguments], assign, node.iter)
        case _:
            value = statements.expr(block, node.iter)
            known = statements.items(block, value, span)
            if known is not None:
                return known
    items = None if isinstance(value, Method) else as_expr(block, value, span)
    type_ = None if items is None else block.type_of(items)
    if items is not None and isinstance(type_, TypeCall) and is_list(type_):
        data = block.session.types[type_.func]  # pyright: ignore[reportArgumentType]
        cons, nil = sorted(data.constructors, key=lambda each: each.name_hint)
        return Walking((("rest", block.bind("items", items, span), type_),), cons, nil, assign)
    if items is not None and isinstance(type_, TensorType) and type_.shape:
        rows = block.bind("rows", items, span)
        count = as_expr(block, statements.attribute(block, rows, "shape", span)[0], span)
        counter = scalar_type("int32")
        return Counting((("i", const(0), counter),), block.bind("count", count, span), 1, assign, rows)
    raise refusal(span, "a loop over this", "loop over range(...), a list, or the rows of a tensor")


def _while(statements: Statements, node: ast.While) -> Condition:
    known = isinstance(node.test, ast.Constant)
    if known and not node.test.value:  # pyright: ignore[reportAttributeAccessIssue]
        raise refusal(statements.span(node), "a loop that never runs", "leave it out")

    def test(inner: Block) -> Expr:
        return as_expr(inner, statements.truth(inner, node.test), statements.span(node.test))

    return Condition(test, known)


def _range(statements: Statements, block: Block, bounds: list[Any], assign: Assign, node: ast.expr) -> Counting:
    span = statements.span(node)
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
    known = block.type_of(bounded[0]) if bounded else scalar_type("int32")
    if not isinstance(known, TensorType) or known.shape != () or known.dtype.is_float or known.dtype.is_bool:
        raise RelayError(
            rule="bad-range", message="a range counts with integers", span=span, expected="an integer scalar",
            found=str(known),
        )  # fmt: skip
    first, last = as_expr(block, start, span, known), block.bind("stop", as_expr(block, stop, span, known), span)
    bounds_known = range_of(block, start), range_of(block, stop)
    within = Range(bounds_known[0].low, bounds_known[1].exactly) if stride > 0 else _downwards(bounds_known)
    runs = not bounded and len(range(start, stop, stride)) > 0
    return Counting((("i", first, known),), last, stride, assign, None, within, runs)


def _downwards(bounds: tuple[Range, Range]) -> Range:
    """What is known of a position that counts down to behind `bounds[1]`."""
    start, stop = bounds
    return Range(None if stop.low is None else stop.low + 1, start.stop)
