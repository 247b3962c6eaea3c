"""What the types of a loop's variables are, where what they begin as does not tell: its body is read once for that."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from relay.arith.expr import free_symbols
from relay.base.diagnostics import RelayError
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, Exits, Unset
from relay.frontend.python.datatype import DataInstance, define
from relay.frontend.python.library.meeting import meeting_type
from relay.frontend.python.places.targets import assign, is_untyped
from relay.frontend.python.statements.stepping import Position, Stepping
from relay.frontend.python.syntax.assigned import changed_lists, reads
from relay.frontend.python.values import as_expr, is_expr, is_number
from relay.ir.expr import Expr, Tuple, Var
from relay.ir.type_traversal import map_type, tensor_types, type_symbols
from relay.ir.types import ANY, TensorType, Type

_WIDE_BYTES = 8
_Seen: TypeAlias = Callable[[Block, str, Any], None]
"""What looks at a variable where a turn ends: the block there, its name, and what it is."""


def learned_types(
    block: Block, node: ast.While | ast.For, stepping: Stepping, names: Sequence[str]
) -> Mapping[str, Type]:
    """The types of those variables that begin as empty lists, as None or as constructors without fields of generic
    types, or become None; and of those that begin as
    numbers of Python, which have no width of their own, and of which a turn makes numbers of 64 bits."""
    span, found = block.span(node), dict[str, Type]()
    is_wide = any(_is_wide(block, block.names.get(name)) for name in reads(node))
    emptied = _set_to_none(node)
    begins: dict[str, Type | None] = {}
    for name in names:
        worth = block.names[name]
        if _is_empty(worth) or _holds_none(worth) or _is_generic(block, worth) or name in emptied:
            begins[name] = None
        elif is_wide and _is_number(worth):
            begins[name] = block.type_of(as_expr(block, worth, span))

    def see(side: Block, name: str, worth: Any) -> None:
        before, type_ = begins[name], None
        if before is not None:
            type_ = side.type_of(worth) if is_expr(worth) and _is_wider(side.type_of(worth), before) else None
        elif not _is_empty(worth):
            type_ = meeting_type([(block, block.names[name], span), (side, worth, span)])
        if type_ is not None:
            found.setdefault(name, _from_outside(block, type_))

    known, wrong = -1, list[RelayError]()
    while known < len(found) < len(begins):  # what one of them becomes may tell what another does
        known = len(found)
        wrong = _read_a_turn(block, node, stepping, {**begins, **found}, see)
    if wrong and any(_is_empty(block.names[name]) for name in begins if name not in found):
        raise wrong[0]  # and not that nothing says what is in the list
    return found


def _from_outside(block: Block, type_: Type) -> Type:
    """A type, where extents that a turn makes are any: the next one makes others."""
    worth = [each.checked_type for each in block.names.values() if is_expr(each) and each.checked_type is not None]
    known = block.definition.extents.union(*map(type_symbols, worth))
    return map_type(type_, dimension=lambda extent: extent if known.issuperset(free_symbols(extent)) else ANY)


def kept_lists(block: Block, node: ast.While | ast.For, names: Sequence[str]) -> set[str]:
    """The variables that begin as lists of known length, of more than numbers, and that the loop only assigns anew: as
    long as no turn tells otherwise, they keep their length, and their elements may be of several types."""
    changed = {name for _, name in changed_lists(node)}
    changed |= {target.id for each in ast.walk(node) if isinstance(each, ast.AugAssign) for target in [each.target]
                if isinstance(target, ast.Name)}  # fmt: skip
    return {name for name in names if name not in changed and _is_of_parts(block, block.names[name])}


def _is_of_parts(block: Block, value: Any) -> bool:
    """Whether a value is a list known now that has an array in it, or something else with parts."""
    elements = cast("list[Any]", value) if isinstance(value, list) else []
    return any(not is_number(block.type_of(each)) if is_expr(each) else not _is_scalar(each) for each in elements)


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _is_empty(value: Any) -> bool:
    """Whether a value is a list, or several, of which nothing says what is in it."""
    return (isinstance(value, list) and not value) or is_untyped(value)


def _holds_none(value: Any) -> bool:
    return value is None or (isinstance(value, tuple) and any(map(_holds_none, cast("tuple[Any, ...]", value))))


def _is_generic(block: Block, value: Any) -> bool:
    """Whether a value is of a data type which is applied to what that does not tell."""
    return isinstance(value, DataInstance) and bool(define(type(value), block.session.types).type_vars)


def _set_to_none(node: ast.While | ast.For) -> set[str]:
    """The variables that a loop may set to None, as its text says."""
    return {target for each in ast.walk(node) if isinstance(each, ast.Assign) for target in _given_none(each)}


def _given_none(node: ast.Assign) -> Sequence[str]:
    parts = [node.value.body, node.value.orelse] if isinstance(node.value, ast.IfExp) else [node.value]
    is_none = any(isinstance(each, ast.Constant) and each.value is None for each in parts)
    return [each.id for each in node.targets if isinstance(each, ast.Name)] if is_none else []


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_wide(block: Block, value: Any) -> bool:
    """Whether numbers of 64 bits are in a value."""
    if is_expr(value):
        return any(each.dtype.item_bytes == _WIDE_BYTES for each in tensor_types(block.type_of(value)))
    return isinstance(value, list | tuple) and any(_is_wide(block, each) for each in cast("Sequence[Any]", value))


def _is_wider(now: Type, before: Type) -> bool:
    """Whether a number became a wide one of its kind."""
    if not isinstance(now, TensorType) or not isinstance(before, TensorType) or now.shape:
        return False
    is_same_kind = now.dtype.is_float == before.dtype.is_float and not now.dtype.is_bool
    return is_same_kind and now.dtype.item_bytes == _WIDE_BYTES


def _read_a_turn(
    block: Block, node: ast.While | ast.For, stepping: Stepping, types: Mapping[str, Type | None], see: _Seen
) -> list[RelayError]:
    """Read the body for what it makes of variables; those begin as they are, or as values of these `types`. Gives what
    is wrong in it."""

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
    with block.session.trial() as wrong:
        stepping.turn(inner, position, body, end)
    return wrong
