"""Simple statements: assignments, changes of lists, expressions that stand alone, and the ways out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, cast

from relay import op
from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.assigned import CHANGING_METHODS
from relay.frontend.python.block import Block, Exits, is_expr
from relay.frontend.python.expressions import combined
from relay.frontend.python.library.arithmetic import as_operand
from relay.frontend.python.library.indexing import changed, changed_list
from relay.frontend.python.ownership import changes_in_place
from relay.frontend.python.source import refusal
from relay.frontend.python.values import annotated_type, as_expr, is_list, is_option, known_now, list_expr, parts
from relay.ir.expr import Expr, RefWrite, const
from relay.ir.types import TensorType, TypeCall

Rest = Sequence[ast.stmt]


def going_on(add: Callable[[Block, Any], None]) -> Callable[[Block, Any, Rest, Exits], None]:
    """The handler of a statement that always goes on to the next: `add` adds it to the block."""
    return lambda block, node, rest, exits: add(block, node)  # noqa: ARG005


def returned(block: Block, node: ast.Return, rest: Rest, exits: Exits) -> Expr:  # noqa: ARG001
    return exits.give(block, None if node.value is None else dispatch.read(block, node.value), block.span(node))


def broken(block: Block, node: ast.Break, rest: Rest, exits: Exits) -> Expr:  # noqa: ARG001
    return exits.leave(block)


def continued(block: Block, node: ast.Continue, rest: Rest, exits: Exits) -> Expr:  # noqa: ARG001
    return exits.again(block)


def assign(block: Block, target: ast.expr, value: Any) -> None:
    """A target is worth a value from here on."""
    span = block.span(target)
    match target:
        case ast.Name(id=name):
            before = block.names.get(name)
            if is_expr(before) and is_option(block.type_of(before)):  # what may be missing stays so
                value = as_expr(block, value, span, block.type_of(before))
            block.names[name] = block.bind(name, value, span) if is_expr(value) else value
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            for each, part in zip(targets, parts(block, value, len(targets), span), strict=True):
                assign(block, each, part)
        case ast.Subscript(value=ast.Name(id=name), slice=index):
            _assign_part(block, name, dispatch.index(block, index), value, span)
        case ast.Attribute(value=owner, attr="value"):
            cell = as_expr(block, dispatch.expr(block, owner), span)
            stored = as_expr(block, value, span, getattr(block.type_of(cell), "value", None))
            block.bind("done", RefWrite(cell, stored, span=span))
        case _:
            raise refusal(
                span, "an assignment to part of a value",
                "values do not change: make a new one (relay.where, relay.concatenate), or keep it in a relay.ref",
            )  # fmt: skip


def _assign_part(block: Block, name: str, index: Any, value: Any, span: Span) -> None:
    """`name[index] = value`: a change in place of what `name` alone holds."""
    before = dispatch.operand(block, ast.copy_location(ast.Name(name, ast.Load()), ast.Pass(lineno=span.line)))
    what, remedy = "an assignment to a part", f"make a copy first: {name} = {name}.copy()"
    block.ownership.change(before, what, remedy, span)
    if isinstance(before, list) and not is_expr(index):
        made: Any = list(cast("list[Any]", before))
        known_now(span, made.__setitem__, index, value)
    else:
        held = as_expr(block, before, span)
        type_ = block.type_of(held)
        if is_list(type_):
            made = changed_list(block, held, cast("TypeCall", type_), index, value, span)
        elif isinstance(type_, TensorType) and type_.shape:
            made = changed(block, held, index, as_operand(block, value, span), span)
        else:
            raise refusal(span, f"an assignment to a part of a {type_}", "assign to parts of tensors and lists")
        made = block.bind(name, made, span)
    block.names[name] = block.ownership.own(made)


def assignment(block: Block, node: ast.Assign) -> None:
    """`x = y = ...`"""
    value = _right_side(block, node.targets, node.value)
    if len(node.targets) > 1:
        block.ownership.share(value)
    for target in node.targets:
        assign(block, target, value)


def _right_side(block: Block, targets: Sequence[ast.expr], node: ast.expr) -> Any:
    """What is assigned: an expression, or an element that leaves a list."""
    match targets, node:
        case _, ast.Call(func=ast.Attribute(attr="pop")) as change if changes_list(block, change):
            return change_list(block, change)
        case [ast.Subscript(value=ast.Name(id=name))], _ if _is_tensor(block, name):
            return dispatch.operand(block, node)  # it is copied to where it goes
        case [ast.Subscript()], _:
            return dispatch.element(block, node)
        case [ast.Tuple()], ast.Tuple(elts=elements):  # a, b = x + 1, y + 1: no tuple is made
            return tuple(dispatch.expr(block, each) for each in elements)
        case _:
            return dispatch.expr(block, node)


def _is_tensor(block: Block, name: str) -> bool:
    value = block.names.get(name)
    return is_expr(value) and isinstance(block.type_of(value), TensorType)


def augmented(block: Block, node: ast.AugAssign) -> None:
    """`y += x`. An array or a list changes in place: only one that nothing else holds may."""
    read, span, ownership = _as_read(node.target), block.span(node), block.ownership
    before = dispatch.operand(block, read)
    result = combined(block, node.op, before, dispatch.operand(block, node.value), span)
    type_ = block.type_of(before) if is_expr(before) else None
    has_axes = isinstance(type_, TensorType) and type_.shape != ()
    if isinstance(node.target, ast.Subscript):
        assign(block, node.target, result)
        return
    if has_axes or changes_in_place(before) or (type_ is not None and is_list(type_)):
        text = ast.unparse(read)
        remedy = f"make a new value: {text} = {text} {ast.unparse(node).split()[1].removesuffix('=')} ..."
        ownership.change(before, "a change in place", remedy, span)
        _check_same_type(block, before, result, span, remedy)
    assign(block, node.target, ownership.own(result))


def _as_read(target: ast.expr) -> ast.expr:
    """An assignment's target as the expression that reads it."""
    match target:
        case ast.Name(id=name):
            return ast.copy_location(ast.Name(name, ast.Load()), target)
        case ast.Attribute(value=value, attr=attr):
            return ast.copy_location(ast.Attribute(value, attr, ast.Load()), target)
        case ast.Subscript(value=value, slice=index):
            return ast.copy_location(ast.Subscript(value, index, ast.Load()), target)
        case _:
            return target


def _check_same_type(block: Block, before: Any, result: Any, span: Span, remedy: str) -> None:
    """Refuse what NumPy refuses, or rounds: a change in place keeps the element type and the shape."""
    if not is_expr(result) or not is_expr(before):
        return
    types = block.type_of(before), block.type_of(result)
    if types[0] != types[1]:
        raise RelayError(
            rule="changes-type", message="a change in place keeps the type of an array", span=span,
            expected=str(types[0]), found=str(types[1]), remedy=remedy,
        )  # fmt: skip


def annotated(block: Block, node: ast.AnnAssign) -> None:
    """`x: T = ...`"""
    if not isinstance(node.target, ast.Name) or node.value is None:
        raise refusal(block.span(node), "a declaration without a value", "assign the variable where it is declared")
    type_ = annotated_type(block.definition, node.annotation)
    found = dispatch.expr(block, node.value)
    given = as_expr(block, found, block.span(node.value), type_)
    made = block.bind_as(node.target.id, given, type_, block.span(node.target))
    block.names[node.target.id] = block.ownership.hand_on(found, made)


def asserted(block: Block, node: ast.Assert) -> None:
    """`assert holds, "message"`: where it does not hold, the run ends with the message."""
    holds, span = dispatch.truth(block, node.test), block.span(node)
    if holds is True:
        return
    text = "an assertion does not hold" if node.msg is None else dispatch.operand(block, node.msg)
    if not isinstance(text, str):
        raise refusal(span, "a message that the program computes", "write a string")
    block.bind("asserted", op.checked(const(True), as_expr(block, holds, span), text), span)


def effect(block: Block, node: ast.Expr) -> None:
    """An expression statement: done for what it does; what it gives is dropped."""
    if isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node.value, ast.Call) and changes_list(block, node.value):
        change_list(block, node.value)
        return
    result = dispatch.expr(block, node.value)
    if is_expr(result):
        block.bind("unused", result, block.span(node.value))


def changes_list(block: Block, node: ast.Call) -> bool:
    """Whether this calls a method that changes a list which is known now, or any of a list of the program."""
    match node.func:
        case ast.Attribute(value=ast.Name(id=name), attr=method):
            value = block.names.get(name)
            if isinstance(value, list):
                return method in CHANGING_METHODS
            return is_expr(value) and is_list(block.type_of(value))
        case _:
            return False


def change_list(block: Block, node: ast.Call) -> Any:
    """The element that is added, or leaves the list. Raises `RelayError` (rule `python-subset`) for a list that
    something else may hold too."""
    assert isinstance(node.func, ast.Attribute)
    assert isinstance(node.func.value, ast.Name)
    name, method, span = node.func.value.id, node.func.attr, block.span(node)
    value = block.names[name]
    if method in CHANGING_METHODS:
        remedy = f"make a new list: {name} = {name} + [...], or {name} = list({name}) before"
        block.ownership.change(value, f"`{name}.{method}`", remedy, span)
    if isinstance(value, list):
        item, left = _changed_known(block, cast("list[Any]", value), method, node.args, span)
    else:
        item, left = _changed(block, value, method, node.args, span)
        left = block.bind(name, left, span)
    block.names[name] = block.ownership.own(left)
    return item


def _changed(block: Block, items: Expr, method: str, arguments: Sequence[ast.expr], span: Span) -> tuple[Expr, Expr]:
    """The element, and the list as it is then."""
    type_, library = cast("TypeCall", block.type_of(items)), block.session.library
    match method, arguments:
        case "append", [argument]:
            item = as_expr(block, dispatch.element(block, argument), span, type_.args[0], declared=False)
            return item, library("concat", span)(items, list_expr(block, [item], span, type_))
        case "pop", [ast.Constant(value=0)]:
            return block.bind("first", library("hd", span)(items), span), library("tl", span)(items)
        case "pop", []:
            backwards = block.bind("backwards", library("rev", span)(items), span)
            item = block.bind("last", library("hd", span)(backwards), span)
            return item, library("rev", span)(block.bind("rest", library("tl", span)(backwards), span))
        case _:
            raise _no_such_change(method, span)


def _changed_known(
    block: Block, items: Sequence[Any], method: str, arguments: Sequence[ast.expr], span: Span
) -> tuple[Any, list[Any]]:
    """The same of a list whose elements are known now."""
    match method, [dispatch.element(block, each) for each in arguments]:
        case "append", [item]:
            return item, [*items, item]
        case "pop", [] | [int()] as place:
            left = list(items)
            return known_now(span, left.pop, *place), left
        case _:
            raise _no_such_change(method, span)


def _no_such_change(method: str, span: Span) -> Exception:
    return refusal(span, f"`.{method}` of a list", "use append(x), pop() or pop(0)")
