"""Lists of Python as lists of Relay: joining, comprehensions, `append` and `pop`, patterns."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from relay.base.span import Span
from relay.frontend.python.arithmetic import combined
from relay.frontend.python.assigned import CHANGING_METHODS
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.known import holds_expr, known_now
from relay.frontend.python.ranges import UNKNOWN, Range, range_of
from relay.frontend.python.source import refusal
from relay.frontend.python.values import as_expr, is_list, list_expr
from relay.ir.expr import Expr, Function, Pattern, PatternConstructor, Var
from relay.ir.type_traversal import map_type
from relay.ir.types import Type, TypeCall, TypeVar, scalar_type
from relay.ops.build import with_known_type
from relay.ops.elementwise_binary import add

if TYPE_CHECKING:
    from relay.frontend.python.calls import Calls
    from relay.frontend.python.expressions import Expressions
    from relay.frontend.python.flow import Statements


def joined(block: Block, left: Any, right: Any, types: Sequence[Type | None], span: Span) -> Expr:
    """`left + right`, one of them a Relay list."""
    wanted = next(type_ for type_ in types if type_ is not None)
    sides = [as_expr(block, each, span, wanted) for each in (left, right)]
    return block.session.library("concat", span)(*sides)


def change_list(
    statements: Statements, block: Block, name: str, method: str, arguments: Sequence[ast.expr], span: Span
) -> Any:
    """`xs.append(x)`, `xs.pop()` or `xs.pop(0)` on a variable, which is then another list. Gives the element, or None
    when it is no such call."""
    value = block.names.get(name)
    ownership = block.session.ownership
    remedy = f"make a new list: {name} = {name} + [...], or {name} = list({name}) before"
    if isinstance(value, list) and method in CHANGING_METHODS:
        ownership.change(value, f"`{name}.{method}`", remedy, span)
        return _change_known(statements, block, name, method, arguments, span)
    if not is_expr(value) or not is_list(block.type_of(value)):
        return None
    items = value
    if method in CHANGING_METHODS:
        ownership.change(items, f"`{name}.{method}`", remedy, span)
    type_ = cast("TypeCall", block.type_of(items))
    library = block.session.library
    match method, arguments:
        case "append", [argument]:
            item = as_expr(block, statements.element(block, argument), span, type_.args[0], declared=False)
            end = list_expr(block, [item], span, type_)
            block.names[name] = ownership.own(block.bind(name, library("concat", span)(items, end), span))
            return item
        case "pop", [ast.Constant(value=0)]:
            item = block.bind("first", library("hd", span)(items), span)
            block.names[name] = ownership.own(block.bind(name, library("tl", span)(items), span))
            return item
        case "pop", []:
            backwards = block.bind("backwards", library("rev", span)(items), span)
            item = block.bind("last", library("hd", span)(backwards), span)
            rest = block.bind("rest", library("tl", span)(backwards), span)
            block.names[name] = ownership.own(block.bind(name, library("rev", span)(rest), span))
            return item
        case _:
            raise refusal(span, f"`.{method}` of a list", "use append(x), pop() or pop(0)")


def _change_known(
    statements: Statements, block: Block, name: str, method: str, arguments: Sequence[ast.expr], span: Span
) -> Any:
    """The same on a list whose elements are known now."""
    items, own = cast("list[Any]", block.names[name]), block.session.ownership.own
    match method, [statements.element(block, each) for each in arguments]:
        case "append", [item]:
            block.names[name] = own([*items, item])
            return item
        case "pop", [] | [int()] as place:
            left = list(items)
            item = known_now(span, left.pop, *place)
            block.names[name] = own(left)
            return item
        case _:
            raise refusal(span, f"`.{method}` of a list", "use append(x), pop() or pop(0)")


def comprehension(calls: Expressions, block: Block, node: ast.ListComp) -> Any:
    """`[f(x) for x in xs if p(x)]` over one Relay list, a Python list or a range."""
    span = calls.span(node)
    if len(node.generators) != 1:
        raise refusal(span, "a comprehension over several lists", "nest two comprehensions, or write a loop")
    generator = node.generators[0]
    match generator.iter:
        case ast.Call(func=ast.Name(id="range"), args=bounds, keywords=[]):
            values = [calls.operand(block, each) for each in bounds]
            items = [] if holds_expr(values) else list(known_now(span, range, *values))
            if not items:
                return _over_range(calls, block, node, values, span)
        case _:
            items = calls.expr(block, generator.iter)
            known = calls.items(block, items, span)
            items = items if known is None else list(known)
    if isinstance(items, list):
        kept = _kept(calls, block, generator, cast("list[Any]", items))
        if kept:
            return [_element(calls, block, node, each) for each in kept]
    source = as_expr(block, items, span)
    type_ = block.type_of(source)
    if not is_list(type_):
        raise refusal(calls.span(generator.iter), f"a comprehension over a {type_}", "loop over it with `for`")
    return _mapped(calls, block, node, _filtered(calls, block, source, generator, span), span)


def _kept(calls: Expressions, block: Block, generator: ast.comprehension, items: list[Any]) -> list[Any] | None:
    """The elements that pass conditions which are known now; None where the program decides. Where none pass, the
    elements that might have tell what the list is one of."""
    kept: list[Any] = []
    for item in items:
        inner = block.entering(block, {})
        _bind_target(calls, inner, generator.target, item)
        verdicts = [calls.truth(inner, each) for each in generator.ifs]
        if any(is_expr(each) for each in verdicts):
            return None
        kept += [item] if all(verdicts) else []
    return kept


def _over_range(calls: Expressions, block: Block, node: ast.ListComp, bounds: Sequence[Any], span: Span) -> Expr:
    """A comprehension over `range(stop)` or `range(start, stop)`, which the program computes."""
    if len(bounds) > 2:
        raise refusal(span, "a comprehension over a range with steps", "write a loop with append")
    start, stop = (0, bounds[0]) if len(bounds) == 1 else bounds
    count = calls.binary(block, ast.Sub(), stop, start, span) if len(bounds) == 2 else stop
    generator = node.generators[0]
    count = block.bind("count", combined("maximum", count, 0), span)
    known = Range(0, range_of(block, stop).exactly)
    if len(bounds) == 1 and not generator.ifs:
        positions = _function(calls, block, node.elt, generator.target, scalar_type("int32"), span, known)
        return block.session.library("tabulate", span)(positions, count)
    at = with_known_type(Var("i", scalar_type("int32")))
    first = block.bind("start", as_expr(block, start, span), span)
    items = block.session.library("tabulate", span)(Function((at,), add(at, first)), count)
    return _mapped(calls, block, node, _filtered(calls, block, items, generator, span), span)


def _mapped(calls: Expressions, block: Block, node: ast.ListComp, source: Expr, span: Span) -> Expr:
    """The elements that are left, each as the comprehension makes it."""
    source, generator = block.bind("items", source, span), node.generators[0]
    element = cast("TypeCall", block.type_of(source)).args[0]
    mapped = _function(calls, block, node.elt, generator.target, element, span)
    return block.session.library("map", span)(mapped, source)


def _filtered(calls: Expressions, block: Block, items: Expr, generator: ast.comprehension, span: Span) -> Expr:
    for condition in generator.ifs:
        items = block.bind("items", items, span)
        element = cast("TypeCall", block.type_of(items)).args[0]
        keep = _function(calls, block, condition, generator.target, element, span)
        items = block.session.library("filter", span)(keep, items)
    return items


def _element(calls: Expressions, block: Block, node: ast.ListComp, value: Any) -> Any:
    inner = block.entering(block, {})
    _bind_target(calls, inner, node.generators[0].target, value)
    return calls.element(inner, node.elt)


def _function(
    calls: Expressions,
    block: Block,
    result: ast.expr,
    target: ast.expr,
    element: Type,
    span: Span,
    known: Range = UNKNOWN,
) -> Function:
    """`fn (target: element) { result }`"""
    from_name = target.id if isinstance(target, ast.Name) else "element"
    parameter = with_known_type(Var(from_name, element, span=calls.span(target)))
    block.session.ranges[parameter] = known
    inner = block.inside()
    _bind_target(calls, inner, target, parameter)
    return Function((parameter,), inner.closed(as_expr(inner, calls.expr(inner, result), span)), span=span)


def _bind_target(calls: Expressions, block: Block, target: ast.expr, value: Any) -> None:
    match target:
        case ast.Name(id=name):
            block.names[name] = value
        case ast.Tuple(elts=targets):
            for each, part in zip(targets, calls.parts(block, value, len(targets), calls.span(target)), strict=True):
                _bind_target(calls, block, each, part)
        case _:
            raise refusal(calls.span(target), "this loop variable", "use a name, or a tuple of names")


def pattern(calls: Calls, block: Block, patterns: Sequence[ast.pattern], type_: TypeCall, span: Span) -> Pattern:
    """`[]`, `[first]`, `[first, *rest]` for a Relay list."""
    data = block.session.types[type_.func]
    cons, nil = sorted(data.constructors, key=lambda each: each.name_hint)
    result: Pattern = PatternConstructor(nil)
    heads = list(patterns)
    if heads and isinstance(heads[-1], ast.MatchStar):
        star = cast("ast.MatchStar", heads.pop())
        result = calls.pattern(block, ast.copy_location(ast.MatchAs(None, star.name), star), type_)
    if any(isinstance(each, ast.MatchStar) for each in heads):
        raise refusal(span, "`*` before the end of a pattern", "put it last: [first, *rest]")
    found = [calls.pattern(block, each, type_.args[0]) for each in heads]
    for each in reversed(found):
        result = PatternConstructor(cons, (each, result))
    return result


def instances(types: Sequence[Type], chosen: dict[TypeVar, Type]) -> tuple[Type, ...]:
    """The types with their parameters replaced."""
    return tuple(map_type(each, lambda part: chosen.get(part, part)) for each in types)  # type: ignore[arg-type]
