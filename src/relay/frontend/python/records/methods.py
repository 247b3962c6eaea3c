"""Methods, properties and operators that classes of records define: nested functions, which know the record."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, begin, is_expr
from relay.frontend.python.callables import Template
from relay.frontend.python.syntax.arguments import Arguments, defaults_of, parameters_of_source
from relay.frontend.python.tuples import is_named_tuple, record
from relay.frontend.python.values import holds_expr, known_now
from relay.ops.elementwise.elementwise_unary import logical_not

_OPERATORS: Mapping[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.MatMult: "matmul", ast.USub: "neg", ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt",
    ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip


def member(block: Block, owner: Any, name: str, span: Span) -> Any:
    """A method or a property of a record, by its name; None where its class defines none."""
    found = _defined(owner, name)
    if isinstance(found, property) and found.fget is not None:
        return dispatch.call(block, _template(block, owner, found.fget), Arguments([], {}, span))
    return _template(block, owner, found) if isinstance(found, FunctionType) else None


def operated(block: Block, operator: ast.AST, values: tuple[Any, ...], span: Span) -> tuple[Any] | None:
    """What an operator that the class of an operand defines gives; None where none does."""
    name = _OPERATORS.get(type(operator))
    if name is None or not any(is_named_tuple(type(each)) for each in values):
        return None
    first, others = values[0], list(values[1:])
    if isinstance(operator, ast.NotEq) and not isinstance(first, tuple) and _defined(first, "__ne__") is None:
        made = operated(block, ast.Eq(), values, span)  # as Python does, but for tuples
        return made and (logical_not(made[0]) if is_expr(made[0]) else not made[0],)
    if isinstance(found := _defined(first, f"__{name}__"), FunctionType):
        return (dispatch.call(block, _template(block, first, found), Arguments(others, {}, span)),)
    if others and isinstance(found := _defined(others[0], f"__r{name}__"), FunctionType):
        return (dispatch.call(block, _template(block, others[0], found), Arguments([first], {}, span)),)
    return None


def constructed(block: Block, cls: type, arguments: Arguments) -> Any:
    """A call of a class of records."""
    span, check = arguments.span, _defined_by(cls, "__post_init__")
    if check is None or not holds_expr(arguments.values):
        return known_now(span, cls, *arguments.positional, **arguments.named)
    given = known_now(span, inspect.signature(cls).bind, *arguments.positional, **arguments.named)
    given.apply_defaults()
    made = record(cls, given.arguments)
    checked = dispatch.call(block, _template(block, made, check), Arguments([], {}, span))
    if is_expr(checked):
        block.bind("checked", checked, span)
    return made


def _defined(owner: Any, name: str) -> Any:
    """What the class of a record defines under a name in its source, besides its fields."""
    return _defined_by(type(owner), name)


def _defined_by(cls: type, name: str) -> Any:
    if not is_named_tuple(cls):
        return None
    found = inspect.getattr_static(cls, name, None)
    function = found.fget if isinstance(found, property) else found
    if not isinstance(function, FunctionType) or function.__module__ in ("collections", "dataclasses"):
        return None
    return found if function.__code__.co_filename != "<string>" else None


def _template(block: Block, owner: Any, function: Callable[..., Any]) -> Template:
    definition, tree = begin(block.session, block.definition.forms, function)
    itself, *parameters = parameters_of_source(definition.source)
    around = Block(definition, {itself.name: owner})
    return Template(tree, around, tuple(parameters), defaults_of(function))
