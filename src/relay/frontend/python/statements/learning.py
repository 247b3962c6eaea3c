"""What the types of a loop's variables are, where what they begin as does not tell: its body is read once for that."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias, cast

from relay.base.diagnostics import RelayError
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, Exits, Unset
from relay.frontend.python.places.targets import assign
from relay.frontend.python.statements.stepping import Position, Stepping
from relay.frontend.python.syntax.assigned import reads
from relay.frontend.python.values import as_expr, is_expr
from relay.ir.expr import Expr, Tuple, Var
from relay.ir.type_traversal import tensor_types
from relay.ir.types import TensorType, Type

_WIDE_BYTES = 8
_Seen: TypeAlias = Callable[[Block, str, Any], None]
"""What looks at a variable where a turn ends: the block there, its name, and what it is."""


def learned_types(
    block: Block, node: ast.While | ast.For, stepping: Stepping, names: Sequence[str]
) -> Mapping[str, Type]:
    """The types of those variables that begin as empty lists, and of those that begin as numbers of Python, which have
    no width of their own, and of which a turn makes numbers of 64 bits."""
    learned = _elements(block, node, stepping, [n for n in names if _is_empty(block.names[n])])
    numbers = [n for n in names if _is_number(block.names[n])]
    if numbers and any(_is_wide(block, block.names.get(name)) for name in reads(node)):
        learned |= _widths(block, node, stepping, numbers)
    return learned


def _is_empty(value: Any) -> bool:
    return isinstance(value, list) and not value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_wide(block: Block, value: Any) -> bool:
    """Whether numbers of 64 bits are in a value."""
    if is_expr(value):
        return any(each.dtype.item_bytes == _WIDE_BYTES for each in tensor_types(block.type_of(value)))
    return isinstance(value, list | tuple) and any(_is_wide(block, each) for each in cast("Sequence[Any]", value))


def _elements(block: Block, node: ast.While | ast.For, stepping: Stepping, names: Sequence[str]) -> dict[str, Type]:
    """The types of lists that begin without elements."""
    found: dict[str, Type] = {}

    def see(side: Block, name: str, worth: Any) -> None:
        if name not in found and not _is_empty(worth):
            found[name] = side.type_of(as_expr(side, worth, side.span(node)))

    if names:
        _read_a_turn(block, node, stepping, dict.fromkeys(names), see)
    return found


def _widths(block: Block, node: ast.While | ast.For, stepping: Stepping, names: Sequence[str]) -> dict[str, Type]:
    """The types of numbers that become wider ones of their kind."""
    span, found = block.span(node), dict[str, Type]()

    def see(side: Block, name: str, worth: Any) -> None:
        now, before = side.type_of(worth) if is_expr(worth) else None, types[name]
        if isinstance(now, TensorType) and isinstance(before, TensorType) and not now.shape:
            is_same_kind = now.dtype.is_float == before.dtype.is_float and not now.dtype.is_bool
            if is_same_kind and now.dtype.item_bytes == _WIDE_BYTES:
                found[name] = now

    known = -1
    while known < len(found):  # what one of them becomes may widen another
        known = len(found)
        types = {name: found.get(name) or block.type_of(as_expr(block, block.names[name], span)) for name in names}
        _read_a_turn(block, node, stepping, types, see)
    return found


def _read_a_turn(
    block: Block, node: ast.While | ast.For, stepping: Stepping, types: Mapping[str, Type | None], see: _Seen
) -> None:
    """Read the body for what it makes of variables; those begin as they are, or as values of these `types`."""

    def end(side: Block, *_: Any) -> Expr:
        for name in types:
            if not isinstance(worth := side.names[name], Unset):
                see(side, name, worth)
        return Tuple(())

    def body(side: Block, value: Any, after: Callable[[], Position]) -> Expr:  # noqa: ARG001
        if isinstance(node, ast.For):
            assign(side, node.target, value)
        return dispatch.run(side, node.body, Exits(end, end, end, end))

    inner = block.inside()
    begins = {name: Var(name, type_) for name, type_ in types.items() if type_ is not None}
    position = [Var(stepping.hint, block.type_of(each)) for each in stepping.start]
    for each in (*position, *begins.values()):
        inner.type_of(each)
    inner.names.update(begins)
    with block.ownership.trial(), suppress(RelayError):  # what is wrong in the body is told when it is read for good
        stepping.turn(inner, position, body, end)
