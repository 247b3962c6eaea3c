"""Functions of operators on what a program gives them: the names of their parameters say what those are."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.library.arithmetic import as_operand
from relay.frontend.python.library.indexing import known_extents
from relay.frontend.python.library.list_arrays import as_array
from relay.frontend.python.library.lists.unpacking import as_known
from relay.frontend.python.syntax.arguments import Arguments

ARRAYS = frozenset({"x", "y", "left", "right", "condition", "weights", "bins", "xp", "fp", "prepend", "append"})
"""What parameters are called that are arrays: lists and tuples become arrays there."""
LISTS_OF_ARRAYS = frozenset({"arrays", "parts", "conditions", "choices"})
EXTENTS = frozenset({"shape", "rows", "columns"})
"""What parameters are called that are extents: those of parameters of the program stand there by their names."""

_REMEDIES: Mapping[str, str] = {
    "out": "assign what it gives: y = ...",
    "where": "choose by np.where afterwards, or multiply by the condition before",
    "initial": "combine the result with it: np.maximum(np.max(x), initial)",
    "generator": "make random numbers outside of the program, and give it them",
    "mode": "leave it out: an index outside ends the run",
}
_REMEDY = "leave that argument out, and write what it does with other operators"


def applied(block: Block, function: Callable[..., Any], name: str, arguments: Arguments) -> Any:
    """An operator's function on arguments whose types are known. Raises `RelayError` (rule `python-subset`) for
    arguments that it does not have."""
    span = arguments.span
    try:
        bound = inspect.signature(function).bind(*arguments.positional, **arguments.named)
    except TypeError as error:
        raise RelayError(
            rule="python-subset", message=f"{name} cannot be called so in a program", span=span, found=str(error),
            remedy=next((text for given, text in _REMEDIES.items() if given in arguments.named), _REMEDY),
        ) from error  # fmt: skip
    for parameter, value in bound.arguments.items():
        bound.arguments[parameter] = _meant(block, parameter, value, span)
    return function(*bound.args, **bound.kwargs)


def _meant(block: Block, parameter: str, value: Any, span: Span) -> Any:
    if parameter in EXTENTS:
        return _extents(block, value)
    if parameter in LISTS_OF_ARRAYS:
        return [_typed(block, as_array(block, each, span), span) for each in as_known(block, value, span, "this")]
    return _typed(block, as_array(block, value, span) if parameter in ARRAYS else value, span)


def _extents(block: Block, value: Any) -> Any:
    """A shape or an extent, known as far as it can be."""
    if isinstance(value, tuple) and len(cast("tuple[Any, ...]", value)) == 1 and isinstance(value[0], tuple | list):
        return (_extents(block, value[0]),)  # *shape
    found = known_extents(block, value)
    return found if isinstance(value, tuple | list) or not isinstance(found, tuple) else found[0]


def _typed(block: Block, value: Any, span: Span) -> Any:
    """An argument of an operator's function: expressions have types, and arrays are expressions."""
    if isinstance(value, list | tuple):
        parts = [_typed(block, each, span) for each in cast("Sequence[Any]", value)]
        return parts if isinstance(value, list) else tuple(parts)
    if is_expr(value):
        block.type_of(value)
        return value
    return as_operand(block, value, span) if isinstance(value, np.ndarray | np.generic) else value
