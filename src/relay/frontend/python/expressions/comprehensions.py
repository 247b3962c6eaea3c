"""`[f(x) for x in xs if p(x)]` over what loops go over; `{k: v for …}` over what is known now."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, Unset, is_expr
from relay.frontend.python.callables import Counted, Repeated, Together
from relay.frontend.python.expressions.displays import put
from relay.frontend.python.facts.ownership import Held
from relay.frontend.python.facts.ranges import UNKNOWN, Range
from relay.frontend.python.library.lists.sequences import (
    by_elements,
    count_of,
    element_of,
    flattened,
    known,
    known_range,
    lifted,
    list_of,
)
from relay.frontend.python.library.options import what_is_there
from relay.frontend.python.places.targets import assign
from relay.frontend.python.syntax.assigned import asks_for_none, named_in, names_there
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import as_expr, is_list, is_number, is_option
from relay.ir.expr import Expr, Function
from relay.ir.types import Type, scalar_type


def comprehension(block: Block, node: ast.ListComp | ast.GeneratorExp) -> Any:
    """A list; a generator is made at once."""
    made = _comprehension(block, node, block.span(node))
    for name in named_in(node):
        block.names.setdefault(name, Unset(block.span(node)))
    return block.ownership.own(made, max(block.ownership.held(made), Held.ALONE))


def dict_comprehension(block: Block, node: ast.DictComp) -> dict[Any, Any]:
    made: dict[Any, Any] = {}

    def entry(inner: Block, rest: Sequence[ast.comprehension]) -> None:
        if not rest:
            put(inner, made, node.key, dispatch.expr(inner, node.value))
            return
        generator, *others = rest
        source = _source(inner, generator.iter)
        found = known(inner, source, inner.span(generator.iter))
        turns = None if found is None else _kept(inner, generator, found, lambda turn: entry(turn, others))
        if turns is None:
            raise refusal(block.span(node), "a dict with as many entries as the program finds", "use a list of pairs")

    entry(block, node.generators)
    return block.ownership.own(made)


def _comprehension(block: Block, node: ast.ListComp | ast.GeneratorExp, span: Span) -> Any:
    generator, *others = node.generators
    source = _source(block, generator.iter)
    found = known(block, source, span)
    inner = ast.copy_location(ast.ListComp(node.elt, others), node) if others else None
    value = dispatch.expr if inner is None else dispatch.operand
    part = node.elt if inner is None else inner
    made = None if found is None else _kept(block, generator, found, lambda turn: value(turn, part))
    if made is not None and (made or found == []):
        return made if inner is None else _joined(block, made, span)
    if inner is not None:
        outer = ast.copy_location(ast.ListComp(inner, [generator]), inner)
        return flattened(block, _mapped(block, outer, list_of(block, source, span), span), span)
    if isinstance(source, Counted) and source.start == 0 and source.step == 1 and not (generator.ifs or source.place):
        if _has_no_type(node.elt):
            count = block.bind("count", as_expr(block, count_of(block, source, span), span), span)
            return block.ownership.own(Repeated([] if isinstance(node.elt, ast.List) else None, count), Held.WITH_PARTS)
        positions = _function(block, node.elt, generator, scalar_type("int32"), span, known_range(block, source))
        count = as_expr(block, count_of(block, source, span), span)
        return _held_as(block, positions, block.session.library("tabulate", span)(positions, count), span)
    numbers = known_range(block, source) if isinstance(source, Counted) else UNKNOWN
    return _mapped(block, node, list_of(block, source, span), span, numbers)


def _source(block: Block, node: ast.expr) -> Any:
    """What a comprehension goes over. What it makes may hold elements of what it goes over together."""
    source = dispatch.gone_over(block, node)
    waiting: list[Any] = [source] if isinstance(source, Together) else []
    while waiting:
        part = waiting.pop()
        if isinstance(part, Together):
            waiting.extend(part.parts)
        elif not is_expr(part) or not is_list(block.type_of(part)) or not is_number(element_of(block, part)):
            block.ownership.share(part)
            block.ownership.share_parts(part)
    return source


def _has_no_type(item: ast.expr) -> bool:
    """Whether an item is None or an empty list."""
    return (isinstance(item, ast.List) and not item.elts) or (isinstance(item, ast.Constant) and item.value is None)


def _joined(block: Block, lists: Sequence[Any], span: Span) -> Any:
    """The lists that a comprehension inside makes, one behind another."""
    if all(isinstance(each, list) for each in lists):
        return [part for each in lists for part in each]
    made = [as_expr(block, each, span) for each in lists]
    whole = made[0]
    for each in made[1:]:
        whole = block.bind("items", block.session.library("concat", span)(whole, each), span)
    return whole


def _kept(
    block: Block, generator: ast.comprehension, source: Sequence[Any], value: Callable[[Block], Any]
) -> list[Any] | None:
    """What `value` gives for the elements that pass conditions which are known now; None where the program decides. The
    turns are one scope, as in Python: functions that are made there see the last element."""
    turn = block.entering(block, {})
    verdicts: list[bool] = []
    for item in source:
        assign(turn, generator.target, item)
        holds = [dispatch.truth(turn, each) for each in generator.ifs]
        if any(is_expr(each) for each in holds):
            return None
        verdicts.append(all(holds))
    made: list[Any] = []
    for item, passes in zip(source, verdicts, strict=True):
        if passes:
            assign(turn, generator.target, item)
            _name_again(turn, generator.ifs)
            made.append(value(turn))
    for name in (each for part in (*generator.ifs, generator.iter) for each in named_in(part)):
        block.names[name] = turn.names[name]
    return made


def _name_again(block: Block, conditions: Sequence[ast.expr]) -> None:
    """What conditions name by `:=` is known where they hold, and what they say is there is there."""
    for each in conditions:
        if named_in(each):
            dispatch.truth(block, each)
        for name in names_there(each):
            worth = block.names.get(name)
            if is_expr(worth) and is_option(block.type_of(worth)):
                block.names[name] = block.bind(name, what_is_there(block, worth, block.span(each)))


def _mapped(
    block: Block, node: ast.ListComp | ast.GeneratorExp, source: Expr, span: Span, numbers: Range = UNKNOWN
) -> Expr:
    """The elements of a Relay list that pass, each as the comprehension makes it."""
    (generator,) = node.generators
    owner, conditions = source, [part for each in generator.ifs for part in _one_by_one(each)]
    for place, each in enumerate((*conditions, node.elt)):
        is_condition = place < len(conditions)
        source = block.bind("items", source, span)
        function = _function(
            block, each, generator, element_of(block, source), span, numbers,
            dispatch.truth if is_condition else dispatch.expr, behind=conditions[:place], owner=owner,
        )  # fmt: skip
        found = by_elements(block, "filter" if is_condition else "map", function, source, span)
        source = _held_as(block, function, found, span)
    return source


def _one_by_one(condition: ast.expr) -> Sequence[ast.expr]:
    """The parts of a condition that tell something by themselves, which is known behind them."""
    match condition:
        case ast.BoolOp(op=ast.And(), values=values) if asks_for_none(condition) or named_in(condition):
            return values
        case _:
            return [condition]


def _held_as(block: Block, function: Function, items: Expr, span: Span) -> Expr:
    """A list whose elements a function made, held as those are."""
    made = block.bind("items", items, span)
    return block.ownership.own(made, block.ownership.held(function))


def _function(
    block: Block, result: ast.expr, generator: ast.comprehension, element: Type, span: Span, numbers: Range = UNKNOWN,
    value: Callable[[Block, ast.expr], Any] = dispatch.expr, *, behind: Sequence[ast.expr] = (),
    owner: Expr | None = None,
) -> Function:  # fmt: skip
    """`fn (target: element) { result }`, where the conditions that it stands `behind` hold."""
    alone: list[bool] = []

    def body(inner: Block, parameter: Expr) -> Any:
        inner.session.ranges[parameter] = numbers
        if owner is not None and not is_number(element):
            inner.ownership.view(owner, parameter)
        assign(inner, generator.target, parameter)
        _name_again(inner, behind)
        found = value(inner, result)
        alone.append(inner.ownership.is_alone(found))
        return found

    target = generator.target
    hint = target.id if isinstance(target, ast.Name) else "element"
    made = lifted(block, ((hint, element),), body, span)
    return block.ownership.own(made, Held.WITH_PARTS if all(alone) else Held.ALONE)
