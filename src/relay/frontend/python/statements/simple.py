"""Simple statements: assignments, expressions that stand alone, and the ways out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from relay import op
from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, Exits, is_expr
from relay.frontend.python.expressions.operators import combined, narrows, tested_name
from relay.frontend.python.facts.ownership import changes_in_place
from relay.frontend.python.library.arithmetic import ended
from relay.frontend.python.places.targets import assign, change_place, is_tensor, root_of
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import annotated_type, as_expr, is_list
from relay.ir.expr import Expr, const
from relay.ir.types import TensorType

Rest = Sequence[ast.stmt]


def going_on(add: Callable[[Block, Any], None]) -> Callable[[Block, Any, Rest, Exits], None]:
    """The handler of a statement that always goes on to the next: `add` adds it to the block."""
    return lambda block, node, rest, exits: add(block, node)  # noqa: ARG005


def returned(block: Block, node: ast.Return, rest: Rest, exits: Exits) -> Expr:  # noqa: ARG001
    return exits.give(block, None if node.value is None else dispatch.given(block, node.value), block.span(node))


def broken(block: Block, node: ast.Break, rest: Rest, exits: Exits) -> Expr:  # noqa: ARG001
    return exits.leave(block)


def continued(block: Block, node: ast.Continue, rest: Rest, exits: Exits) -> Expr:  # noqa: ARG001
    return exits.again(block)


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
        case [ast.Subscript(value=ast.Name(id=name))], _ if is_tensor(block, block.names.get(name)):
            return dispatch.operand(block, node)  # it is copied to where it goes
        case [ast.Subscript()], _:
            return dispatch.expr(block, node)
        case [ast.Tuple()], ast.Tuple(elts=elements):  # a, b = x + 1, y + 1: no tuple is made
            return tuple(dispatch.expr(block, each) for each in elements)
        case _:
            return dispatch.expr(block, node)


def augmented(block: Block, node: ast.AugAssign) -> None:
    """`y += x`. An array or a list changes in place: only one that nothing else holds may."""
    read, span, ownership = _as_read(node.target), block.span(node), block.ownership
    root = root_of(node.target)
    owner = block.names.get(root.id) if isinstance(root, ast.Name) else None
    held = ownership.held(owner)
    before = dispatch.operand(block, read)
    result = combined(block, node.op, before, dispatch.operand(block, node.value), span)
    type_ = block.type_of(before) if is_expr(before) else None
    has_axes = isinstance(type_, TensorType) and type_.shape != ()
    in_place = has_axes or changes_in_place(before) or (type_ is not None and is_list(type_))
    if isinstance(node.target, ast.Subscript):
        at_part = not in_place or is_tensor(block, owner)
        made = ownership.own(result) if in_place else result
        change_place(block, node.target, lambda _: made, "a change in place", at_part=at_part, held=held)
        return
    if in_place:
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
    block.names[node.target.id] = block.named(block.ownership.hand_on(found, made), block.span(node.target))


def asserted(block: Block, node: ast.Assert, rest: Rest, exits: Exits) -> Expr | None:
    """`assert holds, "message"`: where it does not hold, the run ends with the message. What holds is known behind."""
    holds, span = dispatch.truth(block, node.test), block.span(node)
    if holds is True:
        return None
    text = "an assertion does not hold" if node.msg is None else dispatch.operand(block, node.msg)
    if not isinstance(text, str):
        raise refusal(span, "a message that the program computes", "write a string")
    block.bind("asserted", op.checked(const(True), as_expr(block, holds, span), text), span)
    if tested_name(block, node.test) is None and not narrows(block, node.test):
        return None
    goes_on, ends = (ast.copy_location(each, node) for each in (ast.Pass(), ast.Raise(None, None)))
    return dispatch.some(block, [ast.copy_location(ast.If(node.test, [goes_on], [ends]), node)], rest, exits)


def raised(block: Block, node: ast.Raise, rest: Rest, exits: Exits) -> Expr:  # noqa: ARG001
    """The run ends with what the exception says."""
    return ended(block, told(block, node.exc), block.span(node))


def told(block: Block, raised: ast.expr | None) -> str:
    """What an exception says, as far as it is known now."""
    match raised:
        case ast.Call(func=ast.Name(id=name), args=[message]):
            try:
                text = dispatch.operand(block.inside(), message)
            except RelayError:
                return name
            return f"{name}: {text}" if isinstance(text, str) else name
        case None:
            return "an exception"
        case _:
            return ast.unparse(raised)


def effect(block: Block, node: ast.Expr) -> None:
    """An expression statement: done for what it does; what it gives is dropped."""
    if isinstance(node.value, ast.Constant):
        return  # a docstring
    result = dispatch.expr(block, node.value)
    if is_expr(result):
        block.bind("unused", result, block.span(node.value))
