"""Lists, tuples, dicts and strings that are written out."""

from __future__ import annotations

import ast
from typing import Any, cast

from relay.frontend.python import dispatch
from relay.frontend.python.block import Block
from relay.frontend.python.library.lists.unpacking import display, spread
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import holds_expr, known_now


def tuple_display(block: Block, node: ast.Tuple) -> tuple[Any, ...]:
    return tuple(spread(block, node.elts, dispatch.expr))


def list_display(block: Block, node: ast.List) -> Any:
    return block.ownership.own(display(block, node.elts, dispatch.expr, block.span(node)))


def dict_display(block: Block, node: ast.Dict) -> dict[Any, Any]:
    """`{key: value, **others}`, with keys that are known now."""
    made: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        worth = dispatch.expr(block, value)
        if key is not None:
            put(block, made, key, worth)
        elif isinstance(worth, dict):
            block.ownership.share_parts(worth)
            made.update(cast("dict[Any, Any]", worth))
        else:
            raise refusal(block.span(value), "`**` of what is no dict known now", "write its entries out")
    return block.ownership.own(made)


def put(block: Block, made: dict[Any, Any], key: ast.expr, value: Any) -> None:
    """An entry of a dict. Raises `RelayError` (rule `python-subset`) for a key that the program computes."""
    name = dispatch.operand(block, key)
    if holds_expr((name,)):
        raise refusal(block.span(key), "a key that the program computes", "use a list, and numbers as places")
    known_now(block.span(key), made.__setitem__, name, value)


def formatted(block: Block, node: ast.JoinedStr) -> str:
    """`f"layer {i}"` of what is known now."""
    return "".join(_piece(block, each) for each in node.values)


def _piece(block: Block, node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.FormattedValue(value=value, conversion=conversion, format_spec=spec):
            worth, span = dispatch.operand(block, value), block.span(value)
            if holds_expr((worth,)):
                raise refusal(span, "a string with what the program computes", "format the results in Python")
            shown = {-1: lambda each: each, 115: str, 114: repr, 97: ascii}[conversion]
            kind = "" if spec is None else formatted(block, cast("ast.JoinedStr", spec))
            return known_now(span, lambda: format(shown(worth), kind))
        case _:
            raise refusal(block.span(node), "this part of a string", "write a plain string")
