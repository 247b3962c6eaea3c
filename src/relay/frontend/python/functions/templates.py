"""Nested functions: their body in place where they are called, closures where they are values, local functions of the
program where they call themselves."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, Exits, Unset
from relay.frontend.python.callables import LocalFunction, Template
from relay.frontend.python.facts.ownership import Held
from relay.frontend.python.functions.results import called
from relay.frontend.python.library.meeting import Meeting
from relay.frontend.python.models import ModelPart, as_seen
from relay.frontend.python.syntax.arguments import Arguments, bound, default_nodes, fixed, parameters_of
from relay.frontend.python.syntax.assigned import changed_lists, leaves_early, local_names
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import annotated_type, as_expr
from relay.ir.expr import Expr, Function, Let, Var
from relay.ir.types import FuncType, TupleType, Type
from relay.ops.framework.build import with_known_type


def template(block: Block, node: ast.FunctionDef | ast.Lambda) -> Template:
    """A function that is defined here. Its defaults are computed now, as Python does."""
    defaults = {name: dispatch.expr(block, each) for name, each in default_nodes(node.args).items()}
    for each in defaults.values():  # every call that does not give one has it
        block.ownership.share(each)
    parameters = parameters_of(node.args)
    own = {*local_names(node), *(each.name for each in parameters)}
    for call, name in changed_lists(node):
        if name not in own and name in block.names:
            raise refusal(block.span(call), f"a change of `{name}`, a variable of the function around this one",
                          "return what is to be added, and add it there")  # fmt: skip
    return Template(node, block, parameters, defaults)


def define_template(block: Block, node: ast.FunctionDef) -> None:
    """`def` among statements."""
    block.names[node.name] = template(block, node)


def body(block: Block, statements: Sequence[ast.stmt], result: Type | None) -> Expr:
    """The body of a function, `block` being its scope, as one expression. It is owned as what all ways give."""
    meeting, held = Meeting(["the result"]), list[Held]()

    def give(end: Block, value: Any, span: Span) -> Expr:
        held.append(block.ownership.give_back(value))
        if result is not None:
            return end.closed(dispatch.as_argument(end, value, span, result))
        return meeting.end(end, [dispatch.as_value(end, value, span)], span)

    first = block.span(statements[0])
    made = dispatch.run(block, statements, Exits(lambda end: give(end, None, first), give))
    if result is None and not meeting.ways:  # it raises, or never ends
        nothing = with_known_type(Var("nothing", TupleType(()), span=first))
        return Let(nothing, made, nothing, span=first)
    whole = meeting.closed(made, meeting.met(), lambda values: values[0])
    return block.ownership.own(whole, min(held, default=Held.SHARED))


def call_template(block: Block, callee: Template, arguments: Arguments) -> Any:
    given = bound(callee.name, callee.parameters, callee.defaults, arguments)
    if calls_itself(block, callee):
        function = _recursive(block, callee)
        return called(block, function, list(given.values()), arguments.span)
    inlining = block.session.inlining
    if len(inlining) > _DEEPEST:
        raise RelayError(
            rule="nested-calls", message=f"calls of functions inside one another do not end: {callee.name} is one",
            span=arguments.span, remedy="give a function that calls itself a name and annotations, with `def`",
        )  # fmt: skip
    inlining.append(callee)
    try:
        with block.ownership.call(block.names.values()):
            return inline(block, callee, given)
    finally:
        inlining.pop()


def call_model(block: Block, callee: ModelPart, arguments: Arguments) -> Any:
    """`self.layer(x)`, where the layer is a model."""
    return call_template(block, callee.method(inspect.unwrap(type(callee.model).__call__), callee), arguments)


_DEEPEST = 24
"""Calls that are put in place inside one another. Functions that get at themselves as arguments do not end."""


def calls_itself(block: Block, value: Template) -> bool:
    """Whether a function gets at itself by the names of functions around it, and by theirs."""
    seen: list[Template] = []
    waiting = _mentioned(block, value)
    while waiting:
        each = waiting.pop()
        if each is value:
            return True
        if each not in seen:
            seen.append(each)
            waiting += _mentioned(block, each)
    return False


def _mentioned(block: Block, value: Template) -> list[Template]:
    """The nested functions that a function speaks of, and the methods of its model."""
    around = block.now(value.block).names
    own = {*local_names(value.node), *(each.name for each in value.parameters)}
    found: list[Any] = []
    for node in ast.walk(value.node):
        match node:
            case ast.Call(func=ast.Name(id=name)) if isinstance(model := as_seen(block, around.get(name)), ModelPart):
                found.append(model.own_method("__call__"))
            case ast.Name(id=name) if name not in own:
                found.append(around.get(name))
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if isinstance(
                model := as_seen(block, around.get(name)), ModelPart
            ):
                found.append(model.own_method(attr))
            case _:
                pass
    return [each for each in found if isinstance(each, Template)]


def inline(block: Block, callee: Template, given: Mapping[str, Any]) -> Any:
    """A call of a nested function: its body, in place."""
    node = callee.node
    inner = block.entering(callee.block, {**_unset(callee.block, node), **given})
    if isinstance(node, ast.Lambda):
        return _given(inner, node.body)
    *before, last = node.body
    if isinstance(last, ast.Return) and last.value is not None and not leaves_early(before):
        dispatch.straight(inner, before)
        return _given(inner, last.value)
    return body(inner.inside(), node.body, None)


def _given(block: Block, node: ast.expr) -> Any:
    value = dispatch.given(block, node)
    block.ownership.give_back(value)
    return value


def closure(block: Block, value: Template, span: Span, wanted: Type | None) -> Expr:
    """A nested function as a value. Its parameters need types: annotations, or those of the place that takes it."""
    if calls_itself(block, value):
        return _recursive(block, value)
    node, around = value.node, value.block
    expected = wanted.arg_types if isinstance(wanted, FuncType) else (None,) * len(value.parameters)
    if len(expected) != len(value.parameters):
        raise RelayError(rule="arity", message="the function has other parameters than are wanted", span=span,
                         expected=str(wanted), found=", ".join(each.name for each in value.parameters))  # fmt: skip
    parameters = zip(fixed(value.parameters, around.span), expected, strict=True)
    params = [_parameter(around, each.argument, type_) for each, type_ in parameters]
    inner = scope(block.now(around), node, params, block.live)
    if isinstance(node, ast.Lambda):
        return Function(tuple(params), inner.closed(as_expr(inner, dispatch.expr(inner, node.body), span)), span=span)
    result = None if node.returns is None else annotated_type(around.definition, node.returns)
    return Function(tuple(params), body(inner, node.body, result), result, span=span)


def scope(
    around: Block, node: ast.FunctionDef | ast.Lambda, params: Sequence[Var], live: Mapping[object, Block]
) -> Block:
    """Where the body of a function begins: its own names are not set, its parameters are."""
    inner = Block(around.definition, {**around.names, **_unset(around, node)}, live=dict(live))
    inner.names.update({each.name_hint: inner.named(each) for each in params})
    return inner


def _unset(around: Block, node: ast.FunctionDef | ast.Lambda) -> dict[str, Unset]:
    """The names that a function assigns: where it begins, nothing is."""
    return dict.fromkeys(local_names(node), Unset(around.span(node)))


def _parameter(around: Block, argument: ast.arg, wanted: Type | None) -> Var:
    type_ = wanted if argument.annotation is None else annotated_type(around.definition, argument.annotation)
    if type_ is None:
        raise RelayError(
            rule="needs-annotation", span=around.span(argument),
            message=f"the parameter `{argument.arg}` of a function that is used as a value has no type",
            remedy=f"annotate it, in a `def`: {argument.arg}: relay.Tensor[...]",
        )  # fmt: skip
    return with_known_type(Var(argument.arg, type_, span=around.span(argument)))


def _recursive(block: Block, value: Template) -> Expr:
    """A nested function that calls itself: a local function of the program, which sees the names around it as they
    are now. It needs all its annotations."""
    node, around = value.node, value.block
    now = block.now(around)
    known = block.functions.get(value)
    if known is not None and all(now.names.get(name) is each for name, each in known.seen.items()):
        return known.function
    span = around.span(node)
    if isinstance(node, ast.Lambda) or node.returns is None:
        raise RelayError(
            rule="needs-annotation", message=f"{value.name} calls itself and does not say what it returns",
            span=span, remedy="write it with `def`, and annotate it: def f(x: int) -> int:",
        )  # fmt: skip
    params = [_parameter(around, each.argument, None) for each in fixed(value.parameters, around.span)]
    result = annotated_type(around.definition, node.returns)
    itself = with_known_type(Var(node.name, FuncType(tuple(map(block.type_of, params)), result), span=span))
    inner = scope(now, node, params, block.live)
    inner.functions = {**block.functions, value: LocalFunction(itself, {})}
    made = body(inner, node.body, result)
    block.session.gives[itself] = block.ownership.held(made)
    block.bindings.append((itself, Function(tuple(params), made, result, span=span), span))
    read = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    seen = {name: now.names[name] for name in read if name in now.names}
    if any(isinstance(each, Template) and each is not value for each in seen.values()):  # which read other names
        seen = dict(now.names)
    block.functions[value] = LocalFunction(itself, seen)
    return itself
