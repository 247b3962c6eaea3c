"""Transformations of functions in programs: `relay.grad(f)(x)`, where `f` is any function that the program knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block
from relay.frontend.python.callables import PythonFunction, Template, Transformed
from relay.frontend.python.syntax.arguments import Arguments, parameters_of_source
from relay.frontend.python.syntax.source import read_source
from relay.frontend.python.values import as_expr
from relay.ir.expr import Call, Expr
from relay.ir.operator import Operator
from relay.ir.types import FuncType, IncompleteType, Type
from relay.ops.transformations import CHECKPOINT, CUSTOM_GRADIENT, called, pullback_type, with_pullback


@frozen
class _Second:
    """What a transformation takes besides the function: the `name` of that argument ("" for none), and how messages
    speak of it."""

    name: str
    what: str
    written: str
    is_needed: bool = False
    remedy: str = ""


_WRT = _Second("wrt", ", and what it is differentiated by", 'wrt="x"')
_SECOND: Mapping[Operator, _Second] = {
    CHECKPOINT: _Second(
        "", " alone", "", remedy="say it where it is differentiated: relay.grad(relay.checkpoint(f), wrt)"
    ),
    CUSTOM_GRADIENT: _Second("pullback", ", and its pullback", "pullback", is_needed=True),
}


def transform(transformation: Operator, arguments: Arguments) -> Transformed:
    """`relay.grad(f, wrt)`: the function has no types before it is called or becomes a value."""
    second = _SECOND.get(transformation, _WRT)
    names = ("function", second.name) if second.name else ("function",)
    needed = names if second.is_needed else names[:1]
    given = dict(zip(names, arguments.positional, strict=False)) | dict(arguments.named)
    if len(arguments.values) != len(given) or not set(needed) <= given.keys() <= set(names):
        alone = [] if second.is_needed else [f"relay.{transformation.name}(f)"]
        both = [f"relay.{transformation.name}(f, {second.written})"] if second.name else []
        raise RelayError(
            rule="arity", message=f"`{transformation.name}` takes a function{second.what}", span=arguments.span,
            expected=", ".join((*alone, *both)), remedy=second.remedy,
        )  # fmt: skip
    return Transformed(transformation, given["function"], given.get("wrt"), given.get("pullback"))


def call_transformed(block: Block, callee: Transformed, arguments: Arguments) -> Expr:
    """`relay.grad(f)(x)`. Parameters of `f` without annotations have the types of what the call gives."""
    given, span = arguments.positional, arguments.span
    if arguments.named:
        raise RelayError(
            rule="arity", message=f"what `{callee.transformation.name}` gives is called by position", span=span,
            found=", ".join(arguments.named), remedy="give all arguments, in order",
        )  # fmt: skip
    types = [None if _is_function(each) else block.type_of(as_expr(block, each, span)) for each in given]
    function = value(block, callee, span, None, types)
    return dispatch.call(block, function, arguments)


def value(
    block: Block, callee: Transformed, span: Span, wanted: Type | None = None, given: Sequence[Type | None] = ()
) -> Expr:
    """The function that a transformation gives, as an expression; `given` are the types of what it is called with."""
    types = wanted.arg_types if isinstance(wanted, FuncType) else given
    names = _names(callee.function)
    own = types[: len(names)]
    inner = callee.function
    expected = None
    if len(own) == len(names) and all(each is not None for each in own):
        expected = FuncType(tuple(each for each in own if each is not None), IncompleteType())
    function = dispatch.as_argument(block, inner, span, expected)
    if callee.transformation is CUSTOM_GRADIENT:
        type_ = block.type_of(function)
        wanted = pullback_type(type_, IncompleteType()) if isinstance(type_, FuncType) else None
        made = with_pullback(function, dispatch.as_argument(block, callee.pullback, span, wanted))
    else:
        made = called(callee.transformation, function, callee.wrt, names)
    return block.bind("function", Call(made.op, made.args, made.attrs, span=span), span)


def _is_function(value: Any) -> bool:
    return isinstance(value, Template | PythonFunction | Transformed)


def _names(function: Any) -> tuple[str, ...]:
    """The names of the parameters of a function, as far as they are known."""
    while isinstance(function, Transformed):
        function = function.function
    match function:
        case Template(parameters=parameters):
            return tuple(each.name for each in parameters)
        case PythonFunction():
            return tuple(each.name for each in parameters_of_source(read_source(function.definition)))
        case _:
            return ()
