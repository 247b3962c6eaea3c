"""Calls: of values, of methods of values, of constructors, and of Python's own functions and NumPy's."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Callable, Hashable, Sequence
from typing import Any, cast

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.frontend.python import dispatch, transformed
from relay.frontend.python.arguments import Arguments
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.callables import Counted, Method, Together, ref
from relay.frontend.python.datatype import DataInstance, constructor_of, field_names
from relay.frontend.python.library.arithmetic import as_operand
from relay.frontend.python.library.builtin_functions import BUILTINS, OF_SEQUENCES
from relay.frontend.python.library.numpy_functions import METHODS, NUMPY, VIEWS
from relay.frontend.python.library.numpy_more import MORE_OF_NUMPY
from relay.frontend.python.notation import PLAIN
from relay.frontend.python.records import is_named_tuple, replaced
from relay.frontend.python.source import refusal
from relay.frontend.python.values import as_expr, holds_expr, is_list, known_now
from relay.ir.expr import Call, Expr, RefCreate
from relay.ir.types import FuncType, TensorType
from relay.ops.framework.build import is_builder
from relay.ops.transformations import meant_by


def called(block: Block, node: ast.Call) -> Any:
    callee = dispatch.expr(block, node.func)
    value = dispatch.read if _only_reads(callee) else dispatch.expr
    positional = [value(block, each) for each in node.args]
    named = {str(each.arg): value(block, each.value) for each in node.keywords}
    return dispatch.call(block, callee, Arguments(positional, named, block.span(node)))


def _only_reads(callee: Any) -> bool:
    """Whether what is called keeps no array or list that it is given."""
    if isinstance(callee, Method):
        return True
    module = str(getattr(callee, "__module__", ""))
    return not any(callee is each for each in (ref, zip, enumerate, reversed)) and (
        (module.startswith("relay.") and inspect.isfunction(callee)) or module.split(".")[0] in ("numpy", "builtins")
    )


def call_value(block: Block, callee: Expr, arguments: Arguments) -> Expr:
    """A function that is a value of the program."""
    type_, given, span = block.type_of(callee), arguments.positional, arguments.span
    if not isinstance(type_, FuncType):
        raise RelayError(rule="not-a-function", message=f"a value of type {type_} is called", span=span)
    if arguments.named or len(given) != len(type_.arg_types):
        raise RelayError(
            rule="arity", message="a function that is a value is called with other arguments than it has",
            span=span, expected=f"{len(type_.arg_types)}, by position", remedy="give all of them, in order",
            found=", ".join([f"{len(given)} by position", *arguments.named]),
        )  # fmt: skip
    pairs = zip(given, type_.arg_types, strict=True)
    return Call(callee, tuple(dispatch.as_argument(block, value, span, each) for value, each in pairs), span=span)


def call_method(block: Block, callee: Method, arguments: Arguments) -> Any:
    owner, name, span = callee.owner, f"`.{callee.name}`", arguments.span
    type_ = block.type_of(owner)
    if is_list(type_):
        raise refusal(span, f"{name} of a list here", "append to or pop from a variable, on a line of its own")
    if not cast("TensorType", type_).shape:
        raise refusal(span, f"{name} of a number", "write the operator: round(x), abs(x), float(n)")
    made = _applied(block, METHODS[callee.name], name, Arguments([owner, *arguments.positional], arguments.named, span))
    return _made_of(block, callee.name in VIEWS, owner, made, span)


def call_class(block: Block, callee: type, arguments: Arguments) -> Any:
    """A constructor of a data type; or a class of Python's, which is a function like others."""
    if is_named_tuple(callee) and holds_expr(arguments.values):
        return known_now(arguments.span, callee, *arguments.positional, **arguments.named)
    if not issubclass(callee, DataInstance):
        return call_python(block, callee, arguments)
    constructor, span = constructor_of(callee, block.session.types), arguments.span
    order = field_names(callee)
    values = {**dict(zip(order, arguments.positional, strict=False)), **arguments.named}
    if len(arguments.values) != len(order) or values.keys() != set(order):
        raise RelayError(
            rule="arity", message=f"`{constructor.name_hint}` is given {len(arguments.values)} fields",
            span=span, expected=", ".join(order) or "none",
        )  # fmt: skip
    fields = zip(order, constructor.inputs, strict=True)
    return Call(constructor, tuple(as_expr(block, values[name], span, type_) for name, type_ in fields), span=span)


def call_python(block: Block, callee: Any, arguments: Arguments) -> Any:
    """A function that Python, NumPy or relay has: computed now where all is known, else by what stands for it."""
    given, span, own = arguments.positional, arguments.span, block.ownership.own
    transformation = meant_by(callee)
    if transformation is not None:
        return transformed.transform(transformation, arguments)
    name = f"`{getattr(callee, '__name__', callee)}`"
    known = callee if _has_hash(callee) else None  # what has none is in no table
    if known in OF_SEQUENCES:
        return OF_SEQUENCES[known](block, callee, arguments)
    if callee is ref and len(given) == 1 and not arguments.named:
        return RefCreate(as_expr(block, given[0], span), span=span)
    if callee is dataclasses.replace and given and is_expr(given[0]):
        return replaced(block, given[0], arguments.named, span)
    if callee is dataclasses.replace or isinstance(getattr(callee, "__self__", None), tuple):
        return known_now(span, callee, *given, **arguments.named)  # of a value of Python, whose parts may be any
    if not holds_expr(arguments.values) and not any(isinstance(each, Counted | Together) for each in given):
        return own(_computed_now(callee, arguments))
    if known in BUILTINS:
        return own(_applied(block, BUILTINS[known], name, Arguments([block, span, *given], arguments.named, span)))
    function = MORE_OF_NUMPY.get(known) or NUMPY.get(known)
    if function is not None:
        made = _applied(block, function, name, arguments)
        return _made_of(block, callee.__name__ in VIEWS, given[0] if given else None, made, span)
    if is_builder(callee):
        return own(callee(*given, **arguments.named))
    raise refusal(
        span, f"the call of {name}", "call an operator of relay, or decorate the function with @relay.function"
    )


def _has_hash(value: object) -> bool:
    return isinstance(value, Hashable)


def _applied(block: Block, function: Callable[..., Any], name: str, arguments: Arguments) -> Any:
    """An operator's function on arguments whose types are known. Raises `RelayError` (rule `python-subset`) for
    arguments that it does not have."""
    span = arguments.span
    try:
        inspect.signature(function).bind(*arguments.positional, **arguments.named)
    except TypeError as error:
        raise RelayError(
            rule="python-subset", message=f"{name} cannot be called so in a program", span=span, found=str(error),
            remedy="leave that argument out, and write what it does with other operators",
        ) from error  # fmt: skip
    named = {key: _typed(block, each, span) for key, each in arguments.named.items()}
    return function(*(_typed(block, each, span) for each in arguments.positional), **named)


def _typed(block: Block, value: Any, span: Span) -> Any:
    """An argument of an operator's function: expressions have types, and arrays are expressions."""
    if isinstance(value, list | tuple):
        parts = [_typed(block, each, span) for each in cast("Sequence[Any]", value)]
        return parts if isinstance(value, list) else tuple(parts)
    if is_expr(value):
        block.type_of(value)
        return value
    return as_operand(block, value, span) if isinstance(value, np.ndarray | np.generic) else value


def _made_of(block: Block, is_view: bool, owner: Any, made: Any, span: Span) -> Any:
    """The result of a function on arrays: a new one, or a view of its first argument."""
    return block.ownership.view(owner, block.bind("view", made, span)) if is_view else block.ownership.own(made)


def _is_plain(value: Any) -> bool:
    """Whether a value is `int`, `float` or `bool`, which are 32-bit numbers in a program."""
    return isinstance(value, type) and value in PLAIN


def _computed_now(callee: Any, arguments: Arguments) -> Any:
    """What Python gives; arrays that NumPy makes of 64-bit numbers unless it is told are of 32 bits in a program."""
    result = known_now(arguments.span, callee, *arguments.positional, **arguments.named)
    told = any(isinstance(each, type | np.dtype | str) for each in arguments.values if not _is_plain(each))
    of_numpy = getattr(callee, "__module__", "") == "numpy" or isinstance(getattr(callee, "__self__", None), np.ndarray)
    if isinstance(result, np.ndarray) and not told and of_numpy:
        made = cast("np.ndarray[Any, Any]", result)
        return made.astype({"float64": np.float32, "int64": np.int32}.get(made.dtype.name, made.dtype))
    return result
