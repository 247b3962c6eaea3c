"""Python functions that are not decorated: they are as nested functions where a program calls them."""

from __future__ import annotations

import sysconfig
from contextlib import suppress
from functools import cache
from types import FunctionType
from typing import TypeGuard

from relay.base.span import Span
from relay.frontend.python.block import Block
from relay.frontend.python.callables import Template, template_of
from relay.frontend.python.functions.templates import closure
from relay.frontend.python.library.other_libraries.remedies import instead
from relay.frontend.python.syntax.source import refusal
from relay.ir.expr import Expr
from relay.ir.types import Type


def is_undecorated(value: object) -> TypeGuard[FunctionType]:
    """Whether a value is a function of the user's, and not of a library."""
    if not isinstance(value, FunctionType) or value.__name__ == "<lambda>":
        return False
    is_ours = value.__module__.partition(".")[0] in ("relay", "numpy", "jax", "torch")
    return not is_ours and not value.__code__.co_filename.startswith(_places_of_libraries())


@cache
def _places_of_libraries() -> tuple[str, ...]:
    places = sysconfig.get_paths()
    return places["stdlib"], places["purelib"], places["platlib"]


def as_nested(block: Block, function: FunctionType) -> Template:
    """A function of the user's as a nested one."""
    found = block.session.undecorated
    if function not in found:
        made = found[function] = template_of(block.session, block.definition.forms, function)
        name = function.__name__
        with suppress(KeyError):
            if made.block.definition.find(name) is function:  # it may call itself
                made.block.names[name] = made
    return found[function]


def nested_value(block: Block, function: FunctionType, span: Span, wanted: Type | None) -> Expr:
    """The same as a value. Raises `RelayError` for functions of libraries."""
    if not is_undecorated(function):
        raise refusal(span, f"the function `{function.__name__}` as a value", instead(function))
    return closure(block, as_nested(block, function), span, wanted)
