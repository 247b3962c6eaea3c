"""What can be iterated over: ranges, lists, the rows of tensors, and several of them together."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from relay import op
from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.callables import Counted, Repeated, Together
from relay.frontend.python.facts.ownership import Held
from relay.frontend.python.facts.ranges import UNKNOWN, Range
from relay.frontend.python.library import arithmetic
from relay.frontend.python.library.indexing import extent_of
from relay.frontend.python.syntax.arguments import Arguments
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import as_expr, holds_expr, is_list, items, known_now, list_expr
from relay.infer.unification.dimensions import close_symbols, has_unknown_dimension
from relay.ir.expr import Call, Expr, Function, Tuple, TupleGetItem, Var
from relay.ir.types import ANY, FuncType, GlobalTypeVar, TensorType, Type, TypeCall, scalar_type
from relay.ops.framework.build import with_known_type
from relay.ops.indexing.index import take


def counted(block: Block, callee: Any, arguments: Arguments) -> Any:  # noqa: ARG001
    """`range(…)`. Raises `RelayError` (rule `bad-range`)."""
    given, span = arguments.positional, arguments.span
    if not holds_expr(given):
        return known_now(span, range, *given, **arguments.named)
    start, stop, step = (0, given[0], 1) if len(given) == 1 else (*given, 1)[:3]
    if type(step) is int and step == 0:
        return known_now(span, range, 0, 1, 0)
    for each in (start, stop, step):
        type_ = block.type_of(each) if is_expr(each) else None
        is_integer = isinstance(type_, TensorType) and type_.shape == () and type_.dtype.is_integer
        if not is_integer and type(each) is not int:
            raise RelayError(
                rule="bad-range", message="a range counts with integers", span=span, expected="an integer scalar",
                found=type(each).__name__ if type_ is None else str(type_),
            )  # fmt: skip
    return Counted(start, stop, step) if type(step) is int else _in_steps(block, start, stop, step, span)


def _in_steps(block: Block, start: Any, stop: Any, step: Any, span: Span) -> Counted:
    """A range whose step the program computes, either way: so many numbers from 0, and what they stand for."""
    step = block.bind("step", step, span)
    step = arithmetic.require(block, step, arithmetic.equated("not_equal", step, 0), "a range in steps of 0", span)
    ahead = arithmetic.combined("subtract", stop, start)
    width = arithmetic.combined("add", ahead, arithmetic.combined("subtract", step, op.sign(step)))
    whole = arithmetic.combined("maximum", arithmetic.combined("floor_divide", width, step), 0)
    count = block.bind("count", whole, span)

    def place(inner: Block, at: Any) -> Expr:
        inner.type_of(at)
        return arithmetic.combined("add", arithmetic.combined("multiply", at, step), start)

    return Counted(0, count, 1, place)


def together(block: Block, callee: Any, arguments: Arguments) -> Any:
    """`zip`, `enumerate`, `reversed`: the list of what is known now, else what a loop or a list is made of."""
    span = arguments.span
    if callee is enumerate:
        start = next(iter((*arguments.positional[1:], *arguments.named.values())), 0)
        found = known(block, arguments.positional[0], span)
        if found is not None and not is_expr(start):
            return known_now(span, lambda: list(enumerate(found, start)))
        return Together((Counted(start, None), arguments.positional[0]))
    sequences = [known(block, each, span) for each in arguments.positional]
    if all(each is not None for each in sequences):
        return known_now(span, lambda: list(callee(*sequences, **arguments.named)))
    if callee is reversed:
        return backwards(block, arguments.positional[0], span)
    if arguments.named.get("strict") and len({_extent(block, each) for each in arguments.positional}) > 1:
        raise refusal(span, "`zip` that is strict, of what may differ in length", "compare their lengths before")
    return Together(tuple(arguments.positional))


def _extent(block: Block, value: Any) -> Any:
    """How many elements something has, as far as that is known now; itself where it is not."""
    type_ = block.type_of(value) if is_expr(value) else None
    if isinstance(type_, TensorType) and type_.shape and type_.shape[0] is not ANY:
        return type_.shape[0]
    return len(value) if isinstance(value, list | tuple | range) else value


def known(block: Block, value: Any, span: Span) -> Sequence[Any] | None:
    """The elements, where their number is known now."""
    if isinstance(value, range):
        return value
    return None if isinstance(value, Counted | Together) else items(block, value, span)


def count_of(block: Block, value: Counted, span: Span) -> Any:
    """How many elements a range has."""
    ahead = value.step if value.step > 0 else -value.step
    first, last = (value.start, value.stop) if value.step > 0 else (value.stop, value.start)
    width = _minus(block, last, first, span)
    if ahead > 1:
        width = arithmetic.combined("floor_divide", arithmetic.combined("add", width, ahead - 1), ahead)
    return block.bind("count", arithmetic.combined("maximum", width, 0), span)


def _minus(block: Block, left: Any, right: Any, span: Span) -> Any:
    if right == 0 and not is_expr(right):
        return left
    return arithmetic.binary(block, ast.Sub(), left, right, span)


def backwards(block: Block, value: Any, span: Span) -> Any:
    """`reversed` of what the program computes."""
    match value:
        case Counted(place=place) if place is not None:
            raise refusal(span, "`reversed` of a range in computed steps", "count the other way")
        case Counted(start, stop, step) if abs(step) == 1:
            last, before = (arithmetic.combined("subtract", each, step) for each in (stop, start))
            return Counted(block.bind("last", last, span), block.bind("before", before, span), -step)
        case Counted(start, _, step):
            ahead = arithmetic.combined(
                "multiply", arithmetic.combined("subtract", count_of(block, value, span), 1), step
            )
            last = block.bind("last", arithmetic.combined("add", start, ahead), span)
            return Counted(last, block.bind("before", arithmetic.combined("subtract", start, step), span), -step)
        case Together():
            raise refusal(span, "`reversed` of `zip` or `enumerate`", "reverse what they go over, as Python asks")
        case _:
            type_ = block.type_of(value)
            if is_list(type_):
                return block.bind("backwards", block.session.library("rev", span)(value), span)
            if isinstance(type_, TensorType) and type_.shape:
                return block.bind("backwards", op.reverse(value, axis=0), span)
            raise refusal(span, f"`reversed` of a {type_}", "reverse a range, a list, or the rows of a tensor")


def list_of(block: Block, value: Any, span: Span) -> Expr:
    """The Relay list of what is iterated over. Raises `RelayError` for what cannot be."""
    match value:
        case Counted(start, _, step):
            integer = scalar_type("int32")
            at = with_known_type(Var("i", integer))
            element = at if step == 1 else arithmetic.combined("multiply", at, step)
            if is_expr(start) or start != 0:
                element = arithmetic.combined("add", element, start)
            elif step == 1 and is_expr(value.stop):
                block.session.ranges[at] = Range(0, block.range_of(value.stop).exactly)
            element = element if value.place is None else value.place(block, at)
            return _tabulated(block, Function((at,), element), count_of(block, value, span), span)
        case Together(parts):
            return _list_of_several(block, parts, span)
        case range():
            numbers = TypeCall(GlobalTypeVar("List"), (scalar_type("int32"),))
            return list_expr(block, list(value), span, numbers)
        case tuple() | dict():
            return as_expr(block, list(cast("Iterable[Any]", value)), span)
        case _:
            found = as_expr(block, value, span)
            type_ = block.type_of(found)
            if isinstance(type_, TensorType) and type_.shape:
                rows = block.bind("rows", found, span)
                at = with_known_type(Var("i", scalar_type("int32")))
                count = as_expr(block, extent_of(block, rows, type_.shape[0], 0), span)
                return _tabulated(block, Function((at,), take(rows, at, axis=0)), count, span)
            if not is_list(type_):
                raise refusal(span, f"going over a {type_}", "go over range(...), a list, or the rows of a tensor")
            return found


def _tabulated(block: Block, function: Function, count: Any, span: Span) -> Expr:
    made = block.session.library("tabulate", span)(function, as_expr(block, count, span))
    return block.bind("items", made, span)


def _list_of_several(block: Block, parts: Sequence[Any], span: Span) -> Expr:
    """A list of tuples, as long as the shortest part."""
    endless = [isinstance(each, Counted) and each.stop is None for each in parts]
    lists = [None if no_end else list_of(block, each, span) for each, no_end in zip(parts, endless, strict=True)]
    bound = [None if each is None else block.bind("items", each, span) for each in lists]
    first = next(each for each in bound if each is not None)
    length = block.session.library("length", span)
    for position, each in enumerate(bound):
        if each is None:
            start = cast("Counted", parts[position]).start
            stop = arithmetic.combined("add", block.bind("count", length(first), span), start)
            bound[position] = list_of(block, Counted(start, block.bind("stop", stop, span)), span)
    pairs = cast("list[Expr]", bound)
    zipped = pairs[-1]
    for each in reversed(pairs[:-1]):
        zipped = block.bind("pairs", block.session.library("zip", span)(each, zipped), span)
    return zipped if len(pairs) == 2 else _flat(block, zipped, len(pairs), span)


def _flat(block: Block, zipped: Expr, count: int, span: Span) -> Expr:
    """`(a, (b, c))` as `(a, b, c)`, for each element."""
    element = with_known_type(Var("element", element_of(block, zipped)))
    fields: list[Expr] = []
    rest: Expr = element
    for _ in range(count - 1):
        fields.append(TupleGetItem(rest, 0))
        rest = TupleGetItem(rest, 1)
    flat = Function((element,), Tuple((*fields, rest)) if count > 1 else Tuple((element,)))
    return block.bind("items", block.session.library("map", span)(flat, zipped), span)


def repeated(block: Block, values: Any, count: Any, span: Span) -> Any:
    """`values * count` of a list, by a number that the program computes."""
    block.ownership.share_parts(values)
    if isinstance(values, list) and len(cast("list[Any]", values)) == 1:
        if values[0] is None:
            times = block.bind("count", as_expr(block, arithmetic.combined("maximum", count, 0), span), span)
            return block.ownership.own(Repeated(None, times), Held.WITH_PARTS)
        item = as_expr(block, values[0], span)
        held = block.bind("item", item, span)
        return _tabulated(block, lifted(block, (("i", scalar_type("int32")),), lambda *_: held, span), count, span)
    whole = block.bind("items", as_expr(block, values, span), span)
    copies = _tabulated(block, lifted(block, (("i", scalar_type("int32")),), lambda *_: whole, span), count, span)
    return flattened(block, copies, span)


def flattened(block: Block, lists: Expr, span: Span) -> Expr:
    """The elements of lists, one behind another."""
    lists = block.bind("lists", lists, span)
    type_ = element_of(block, lists)
    concat = block.session.library("concat", span)
    join = lifted(block, (("one", type_), ("rest", type_)), lambda _, *both: concat(*both), span)
    nothing = list_expr(block, [], span, type_)
    return block.bind("items", block.session.library("foldr", span)(join, nothing, lists), span)


def element_of(block: Block, found: Expr) -> Type:
    return cast("TypeCall", block.type_of(found)).args[0]


def known_range(block: Block, value: Counted) -> Range:
    """What is known of the numbers of a range."""
    if value.stop is None or value.place is not None:
        return UNKNOWN
    start, stop = block.range_of(value.start), block.range_of(value.stop)
    if value.step > 0:
        return Range(start.low, stop.exactly)
    return Range(None if stop.low is None else stop.low + 1, start.stop)


def lifted(block: Block, parameters: Sequence[tuple[str, Type]], result: Callable[..., Any], span: Span) -> Function:
    """The function of the program whose body is what `result` gives for a block and its parameters."""
    params = tuple(with_known_type(Var(hint, type_, span=span)) for hint, type_ in parameters)
    inner = block.inside()
    return Function(params, inner.closed(as_expr(inner, result(inner, *params), span)), span=span)


def folded(block: Block, values: Expr, start: Any, step: Callable[..., Any], span: Span) -> Expr:
    """The elements of a Relay list, one after another, by `step(block, what is known so far, element)`."""
    element, begin = element_of(block, values), as_expr(block, start, span)
    total = block.type_of(begin)
    if has_unknown_dimension(element):
        total = close_symbols(total, block.definition.extents)
    function = lifted(block, (("so_far", total), ("each", element)), step, span)
    return block.bind("folded", _called(block, "foldl", (total, element), (function, begin, values), span), span)


def by_elements(block: Block, name: str, function: Expr, values: Expr, span: Span) -> Expr:
    """`map` or `filter` of a Relay list."""
    types = [element_of(block, values)]
    if name == "map" and has_unknown_dimension(types[0]):
        result = cast("FuncType", block.type_of(function)).ret_type
        types.append(close_symbols(result, block.definition.extents))
    return _called(block, name, types, (function, values), span)


def _called(block: Block, name: str, types: Sequence[Type], given: Sequence[Expr], span: Span) -> Expr:
    """A call of the prelude with a function of elements. Its type arguments are told where elements have extents that
    only the run knows: inference takes those of the function's parameter for one extent, that of all elements."""
    told = tuple(types) if any(map(has_unknown_dimension, types)) else ()
    return Call(block.session.library(name, span), tuple(given), type_args=told, span=span)


def sliced(block: Block, values: Expr, part: slice, span: Span) -> Expr:
    """`xs[start:stop:step]` of a Relay list."""
    step = 1 if part.step is None else part.step
    if not is_expr(step) and (type(step) is not int or step == 0):
        raise RelayError(rule="bad-index", message="the step of a slice is a whole number, and not 0", span=span)
    values = block.bind("items", values, span)
    count = block.bind("count", block.session.library("length", span)(values), span)
    if is_expr(step):
        forwards = arithmetic.equated("greater", step, 0)
        step = arithmetic.require(
            block, step, forwards, "a list is sliced in computed steps that are not forwards", span
        )
    elif step < 0:
        turned = block.bind("backwards", block.session.library("rev", span)(values), span)
        low, high = (_from_behind(block, each, count, span) for each in (part.start, part.stop))
        return sliced(block, turned, slice(low, high, -step), span)
    low, high = (_bound(block, each, count, span) for each in (part.start, part.stop))
    pairs = list_of(block, Together((Counted(0, None), values)), span)
    kept = with_known_type(Var("pair", element_of(block, pairs)))
    place = TupleGetItem(kept, 0)
    block.type_of(place)
    tests = [] if low is None else [arithmetic.equated("greater_equal", place, low)]
    tests += [] if high is None else [arithmetic.equated("less", place, high)]
    if is_expr(step) or step > 1:
        ahead = place if low is None else arithmetic.combined("subtract", place, low)
        tests.append(arithmetic.equated("equal", arithmetic.combined("floor_mod", ahead, step), 0))
    if not tests:
        return values
    holds = tests[0]
    for each in tests[1:]:
        holds = op.logical_and(holds, each)
    left = block.bind("kept", by_elements(block, "filter", Function((kept,), holds), pairs, span), span)
    again = with_known_type(Var("pair", element_of(block, pairs)))
    part_of_pair = Function((again,), TupleGetItem(again, 1))
    return block.bind("items", by_elements(block, "map", part_of_pair, left, span), span)


def spliced(block: Block, values: Expr, part: slice, more: Any, span: Span) -> Expr:
    """`values` after `values[start:stop] = more`. Raises `RelayError` (rule `python-subset`) for a slice in steps."""
    if part.step not in (None, 1):
        raise refusal(span, "an assignment to a slice of a list in steps", "assign to the elements in a loop")
    values = block.bind("items", values, span)
    concat, count = block.session.library("concat", span), block.session.library("length", span)(values)
    count = block.bind("count", count, span)
    low, high = (_bound(block, each, count, span) for each in (part.start, part.stop))
    low, high = 0 if low is None else low, count if high is None else high
    last = block.bind("bound", as_expr(block, arithmetic.combined("maximum", low, high), span), span)
    before = sliced(block, values, slice(None, low), span)
    behind = sliced(block, values, slice(last, None), span)
    added = as_expr(block, more, span, block.type_of(values)) if isinstance(more, list) else list_of(block, more, span)
    return concat(before, block.bind("behind", concat(added, behind), span))


def _bound(block: Block, bound: Any, count: Expr, span: Span) -> Any:
    """A bound of a slice as a position: negative ones count from the end. What is beyond an end is there."""
    if bound is None:
        return None
    if not is_expr(bound):
        return bound if bound >= 0 else block.bind("bound", _from_end(block, count, bound, span), span)
    from_end = _from_end(block, count, bound, span)
    return block.bind("bound", op.where(arithmetic.equated("less", bound, 0), from_end, bound), span)


def _from_behind(block: Block, bound: Any, count: Expr, span: Span) -> Any:
    """A bound of a slice as a position in the list backwards."""
    if bound is None:
        return None
    before = arithmetic.combined("subtract", -1, bound) if is_expr(bound) else -1 - bound
    if not is_expr(bound) and bound < 0:
        return before
    place = op.maximum(arithmetic.combined("add", count, before), as_expr(block, 0, span))
    if is_expr(bound):
        place = op.where(arithmetic.equated("less", bound, 0), before, place)
    return block.bind("bound", place, span)


def _from_end(block: Block, count: Expr, bound: Any, span: Span) -> Expr:
    return op.maximum(arithmetic.combined("add", count, bound), as_expr(block, 0, span))
