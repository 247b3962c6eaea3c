"""Methods that change a list, a dict or an array: `xs.append(x)`, `rows[-1].pop()`, `d.update(e)`, `x.sort()`. A
program makes a new one for the name that has it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from relay import op
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.callables import Repeated
from relay.frontend.python.facts.ownership import Held
from relay.frontend.python.library.arithmetic import converted
from relay.frontend.python.library.heads import first_and_rest
from relay.frontend.python.library.indexing import OUTSIDE, joined, list_from
from relay.frontend.python.library.lists.ordering import ordered
from relay.frontend.python.library.lists.searching import index_of
from relay.frontend.python.library.lists.sequences import known, list_of, sliced
from relay.frontend.python.library.spellings import libraries_named
from relay.frontend.python.places.targets import change_place, is_tensor, root_of
from relay.frontend.python.syntax.arguments import Arguments
from relay.frontend.python.syntax.assigned import CHANGING_METHODS
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import as_expr, holds_expr, is_list, known_now, list_expr
from relay.ir.expr import Expr
from relay.ir.types import TensorType, TypeCall

Changed: TypeAlias = tuple[Any, Any]
"""What a method gives, and what the list is behind it."""


def changes(block: Block, node: ast.Call) -> bool:
    """Whether this calls a method that changes a variable, or a part of one."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in CHANGING_METHODS:
        return False
    root = root_of(node.func.value)
    owner = _worth(block, root.id) if isinstance(root, ast.Name) else None
    if isinstance(owner, list | dict | Repeated):
        return True
    if is_tensor(block, owner) or isinstance(owner, np.ndarray):
        return "torch" not in libraries_named(block)  # its methods of these names make something new
    return is_expr(owner) and is_list(block.type_of(owner))


def _worth(block: Block, name: str) -> Any:
    """What a variable is worth, here or outside the function."""
    if name in block.names:
        return block.names[name]
    try:
        return block.definition.find(name)
    except KeyError:
        return None


def change(block: Block, node: ast.Call) -> Any:
    """What such a method gives. Raises `RelayError` (rule `python-subset`) for what something else may hold too."""
    assert isinstance(node.func, ast.Attribute)
    method, span = node.func.attr, block.span(node)
    value = dispatch.operand if method == "extend" else dispatch.expr
    given = Arguments(
        [value(block, each) for each in node.args], {str(each.arg): value(block, each.value) for each in node.keywords},
        span,
    )  # fmt: skip
    results: list[Any] = []

    def changed(read: Callable[[], Any]) -> Any:
        before = read()
        result, left = _changed(block, before, method, given)
        results.append(result)
        kept = block.ownership.held(before) if all(map(block.ownership.is_alone, given.values)) else Held.ALONE
        return block.ownership.own(left, max(kept, Held.ALONE))  # it is a new one, of one place alone

    change_place(block, node.func.value, changed, f"`{ast.unparse(node.func)}`", at_part=False)
    return results[0]


def _changed(block: Block, before: Any, method: str, given: Arguments) -> Changed:
    if isinstance(before, list | dict) and not _is_of_program(block, before, method, given):
        return _known(block, before, method, given)
    if method == "extend" and isinstance(before, list) and not before:
        return None, list_of(block, given.positional[0], given.span)
    held = as_expr(block, before, given.span)
    type_ = block.type_of(held)
    if isinstance(type_, TensorType) and method in _OF_TENSORS and type_.shape:
        return None, block.bind("tensor", _OF_TENSORS[method](held, *given.positional, **given.named), given.span)
    form = _OF_LISTS.get(method)
    if not is_list(type_) or form is None or len(given.positional) not in form[0]:
        raise refusal(given.span, f"`.{method}` of a {type_} here", f"use one of {', '.join(_OF_LISTS)}")
    result, left = form[1](block, block.bind("items", held, given.span), cast("TypeCall", type_), given)
    return result, block.bind("items", left, given.span)


def _is_of_program(block: Block, before: Any, method: str, given: Arguments) -> bool:
    """Whether the program computes where a list changes, or what becomes of it."""
    if isinstance(before, dict) or (not before and len(given.positional) > 1):  # the first element, wherever it goes
        return False
    by_place = given.positional[:1] if len(given.positional) > 1 or not given.positional else ()
    if method == "extend":
        return any(known(block, each, given.span) is None for each in given.positional)
    return holds_expr(by_place)


def _known(block: Block, before: Any, method: str, given: Arguments) -> Changed:
    """The change of what is known now, as Python makes it."""
    left, span = before.copy(), given.span
    if method == "insert" and not before:
        return None, given.positional[1:]
    if isinstance(before, list) and method == "sort":
        return None, ordered(block, before, span, **given.named)
    by_value = method == "remove" and holds_expr((before, *given.positional))
    if isinstance(before, list) and (by_value or (method == "pop" and holds_expr(given.positional))):
        return _changed(block, as_expr(block, before, span), method, given)
    positional = list(given.positional)
    if method == "extend":
        positional = [known(block, each, span) for each in positional]
    return known_now(span, getattr(left, method), *positional, **given.named), left


def _append(block: Block, items: Expr, type_: TypeCall, given: Arguments) -> Changed:
    item = as_expr(block, given.positional[0], given.span, type_.args[0], declared=False)
    added = list_expr(block, [item], given.span, type_)
    return None, block.session.library("concat", given.span)(items, added)


def _extend(block: Block, items: Expr, type_: TypeCall, given: Arguments) -> Changed:
    more = given.positional[0]
    more = more if isinstance(more, list) else list_of(block, more, given.span)
    return None, joined(block, items, more, [type_], given.span)


def _insert(block: Block, items: Expr, type_: TypeCall, given: Arguments) -> Changed:
    place, item = given.positional
    span, concat = given.span, block.session.library("concat", given.span)
    added = list_expr(block, [as_expr(block, item, span, type_.args[0], declared=False)], span, type_)
    if type(place) is int and place == 0:
        return None, concat(added, items)
    before, behind = (sliced(block, items, part, span) for part in (slice(None, place), slice(place, None)))
    return None, concat(before, block.bind("behind", concat(added, behind), span))


def _pop(block: Block, items: Expr, type_: TypeCall, given: Arguments) -> Changed:  # noqa: ARG001
    span, rev = given.span, block.session.library("rev", given.span)
    place = given.positional[0] if given.positional else -1
    if type(place) is int and place == -1:
        item, rest = first_and_rest(block, block.bind("backwards", rev(items), span), _EMPTY, span)
        return item, rev(rest)
    item, rest = first_and_rest(block, list_from(block, items, place, span), _EMPTY if place == 0 else OUTSIDE, span)
    if type(place) is int and place == 0:
        return item, rest
    before = sliced(block, items, slice(None, place), span)
    return item, block.session.library("concat", span)(before, rest)


def _remove(block: Block, items: Expr, type_: TypeCall, given: Arguments) -> Changed:
    place = index_of(block, given.span, items, given.positional[0])
    return None, _pop(block, items, type_, Arguments([place], {}, given.span))[1]


def _reverse(block: Block, items: Expr, type_: TypeCall, given: Arguments) -> Changed:  # noqa: ARG001
    return None, block.session.library("rev", given.span)(items)


def _sort(block: Block, items: Expr, type_: TypeCall, given: Arguments) -> Changed:  # noqa: ARG001
    return None, ordered(block, items, given.span, **given.named)


def _clear(block: Block, items: Expr, type_: TypeCall, given: Arguments) -> Changed:  # noqa: ARG001
    return None, list_expr(block, [], given.span, type_)


_EMPTY = "pop from an empty list"
_OF_LISTS: Mapping[str, tuple[Sequence[int], Callable[[Block, Expr, TypeCall, Arguments], Changed]]] = {
    "append": ((1,), _append), "extend": ((1,), _extend), "insert": ((2,), _insert), "pop": ((0, 1), _pop),
    "remove": ((1,), _remove),
    "reverse": ((0,), _reverse), "sort": ((0,), _sort), "clear": ((0,), _clear),
}  # fmt: skip
_OF_TENSORS: Mapping[str, Callable[..., Any]] = {
    "sort": lambda x, axis=-1: op.sort(x, axis),
    "fill": lambda x, value: op.full_like(x, converted(value, x.checked_type.dtype)),
}  # fmt: skip
