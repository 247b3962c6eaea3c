"""Decorated functions, which become functions of the program."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from relay.arith.expr import free_symbols
from relay.base.diagnostics import RelayError
from relay.base.span import Span, reading
from relay.frontend.python.block import Block, Definition, Forms, begin
from relay.frontend.python.callables import PythonFunction
from relay.frontend.python.functions.results import called
from relay.frontend.python.functions.templates import body, scope
from relay.frontend.python.session import Session
from relay.frontend.python.syntax.arguments import Arguments, bound, defaults_of, fixed, parameters_of_source, texts_of
from relay.frontend.python.syntax.source import read_source
from relay.frontend.python.values import annotation_of, meaning
from relay.ir.expr import Expr, Function, GlobalVar, Var
from relay.ir.types import FuncType, TensorType, Type
from relay.ops.framework.build import with_known_type


def define(session: Session, forms: Forms, function: PythonFunction, texts: Mapping[str, str]) -> GlobalVar:
    """Read a decorated function, for those of its parameters that are strings, into the session, if it was not yet."""
    key = (function.definition, *texts.items())
    if key in session.names:
        return session.names[key]
    return session.read(lambda: _defined(session, forms, function, texts))


def _defined(session: Session, forms: Forms, function: PythonFunction, texts: Mapping[str, str]) -> GlobalVar:
    with session.definition():
        name = session.name((function.definition, *texts.items()), function.__name__)
        definition, tree = begin(session, forms, function.definition, function.around)
        parameters = fixed(parameters_of_source(definition.source), definition.source.span)
        arguments = [each.argument for each in parameters if each.name not in texts]
        params, result = signature(definition, arguments, tree, function.definition)
        if result is not None:
            type_ = FuncType(tuple(map(session.type_of, params)), result)
            session.standing[name] = with_known_type(Var(name.name_hint, type_))
        block = scope(Block(definition, {}), tree, params, {})
        block.names.update(texts)
        made = body(block, tree.body, result)
        session.gives[name] = session.ownership.held(made)
        session.finish(name, Function(params, made, result, span=definition.source.span(tree)))
    return name


def signature(
    definition: Definition, arguments: Sequence[ast.arg], tree: ast.FunctionDef, function: Callable[..., Any]
) -> tuple[tuple[Var, ...], Type | None]:
    """The parameters and the result of a definition, by its annotations: as Python evaluated them, or else here."""
    params: list[Var] = []
    variables: dict[Any, Any] = {}
    evaluated = {name: each for name, each in function.__annotations__.items() if not isinstance(each, str)}

    def meant(stands_for: str, annotation: ast.expr) -> Type:
        value = evaluated[stands_for] if stands_for in evaluated else annotation_of(definition, annotation)
        return meaning(definition, value, annotation, variables)

    for argument in arguments:
        span = definition.source.span(argument)
        if argument.annotation is None:
            raise RelayError(
                rule="needs-annotation", message=f"the parameter `{argument.arg}` of `{tree.name}` has no type",
                span=span, remedy=f'annotate it: {argument.arg}: relay.Tensor[("n", 784), "float32"]',
            )  # fmt: skip
        type_ = meant(argument.arg, argument.annotation)
        params.append(with_known_type(Var(argument.arg, type_, span=span)))
        if isinstance(type_, TensorType):
            definition.extents.update(each for extent in type_.shape for each in free_symbols(extent))
    return tuple(params), None if tree.returns is None else meant("return", tree.returns)


def call_function(block: Block, callee: PythonFunction, arguments: Arguments) -> Expr:
    """A call of another decorated function."""
    parameters, defaults = parameters_of_source(read_source(callee.definition)), defaults_of(callee.definition)
    given = bound(f"`{callee.__name__}`", parameters, defaults, arguments)
    texts = texts_of(callee.definition, given, arguments.span)
    target = _target(block, callee, texts, arguments.span)
    values = [value for name, value in given.items() if name not in texts]
    return called(block, target, values, arguments.span)


def function_value(block: Block, callee: PythonFunction, span: Span, wanted: Type | None = None) -> Expr:  # noqa: ARG001
    """A decorated function as a value: its name, or what stands for it while it is read."""
    return _target(block, callee, texts_of(callee.definition, {}, span), span)


def _target(block: Block, callee: PythonFunction, texts: Mapping[str, str], span: Span) -> Expr:
    session = block.session
    with reading(span):
        name = define(session, block.definition.forms, callee, texts)
    session.called[name] += 1
    if name in session.functions:
        return name
    standing = session.standing.get(name)
    if standing is None:
        raise RelayError(
            rule="needs-annotation", message=f"`{callee.__name__}` is recursive and does not say what it returns",
            span=span, remedy=f"annotate it: def {callee.__name__}(...) -> ...:",
        )  # fmt: skip
    return standing
