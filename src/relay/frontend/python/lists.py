"""Lists of Python as lists of Relay: joining, comprehensions, `append` and `pop`, patterns."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from relay.base.span import Span
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.source import refusal
from relay.frontend.python.values import as_expr, is_list, list_expr
from relay.ir.expr import Expr, Function, Pattern, PatternConstructor, Var
from relay.ir.type_traversal import map_type
from relay.ir.types import Type, TypeCall, TypeVar, scalar_type
from relay.ops.build import with_known_type

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
    if method == "append" and isinstance(value, list) and len(arguments) == 1:
        item = statements.expr(block, arguments[0])
        block.names[name] = [*cast("list[Any]", value), item]
        return item
    if not is_expr(value) or not is_list(block.type_of(value)):
        return None
    items = value
    type_ = cast("TypeCall", block.type_of(items))
    library = block.session.library
    match method, arguments:
        case "append", [argument]:
            item = as_expr(block, statements.expr(block, argument), span, type_.args[0])
            end = list_expr(block, [item], span, type_)
            block.names[name] = block.bind(name, library("concat", span)(items, end), span)
            return item
        case "pop", [ast.Constant(value=0)]:
            item = block.bind("first", library("hd", span)(items), span)
            block.names[name] = block.bind(name, library("tl", span)(items), span)
            return item
        case "pop", []:
            backwards = block.bind("backwards", library("rev", span)(items), span)
            item = block.bind("last", library("hd", span)(backwards), span)
            rest = block.bind("rest", library("tl", span)(backwards), span)
            block.names[name] = block.bind(name, library("rev", span)(rest), span)
            return item
        case _:
            raise refusal(span, f"`.{method}` of a list", "use append(x), pop() or pop(0)")


def comprehension(calls: Expressions, block: Block, node: ast.ListComp) -> Expr:
    """`[f(x) for x in xs if p(x)]` over one Relay list, a Python list or a range."""
    span = calls.span(node)
    if len(node.generators) != 1:
        raise refusal(span, "a comprehension over several lists", "nest two comprehensions, or write a loop")
    generator = node.generators[0]
    match generator.iter:
        case ast.Call(func=ast.Name(id="range"), args=[stop], keywords=[]):
            count = calls.expr(block, stop)
            if isinstance(count, int) and not generator.ifs:
                return list_expr(block, [_element(calls, block, node, position) for position in range(count)], span)
            positions = _function(calls, block, node.elt, generator.target, "int32", span)
            made = block.session.library("tabulate", span)(positions, as_expr(block, count, span))
            return _filtered(calls, block, made, generator, span)
        case _:
            items = calls.expr(block, generator.iter)
    if isinstance(items, list | tuple) and not generator.ifs:
        return list_expr(block, [_element(calls, block, node, each) for each in cast("list[Any]", items)], span)
    source = as_expr(block, items, span)
    type_ = block.type_of(source)
    if not is_list(type_):
        raise refusal(calls.span(generator.iter), f"a comprehension over a {type_}", "loop over it with `for`")
    element = cast("TypeCall", type_).args[0]
    source = _filtered(calls, block, source, generator, span)
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
    return calls.expr(inner, node.elt)


def _function(
    calls: Expressions, block: Block, result: ast.expr, target: ast.expr, element: Type | str, span: Span
) -> Function:
    """`fn (target: element) { result }`"""
    from_name = target.id if isinstance(target, ast.Name) else "element"
    annotation = element if not isinstance(element, str) else scalar_type(element)
    parameter = with_known_type(Var(from_name, annotation, span=calls.span(target)))
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
