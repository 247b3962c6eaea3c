"""Functions. Nested ones are their body in place where they are called, and closures as values; decorated ones become
functions of the program; methods of models are put in place."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType, MappingProxyType
from typing import Any, cast

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.dtypes import dtype_of
from relay.base.frozen import frozen
from relay.base.span import Span, reading
from relay.frontend.python import dispatch
from relay.frontend.python.arguments import (
    Arguments,
    bound,
    default_nodes,
    defaults_of,
    parameters_of,
    parameters_of_source,
)
from relay.frontend.python.assigned import changed_lists, leaves_early, local_names
from relay.frontend.python.block import Block, Definition, Exits, Forms, Unset
from relay.frontend.python.callables import LocalFunction, PythonFunction, Template
from relay.frontend.python.session import Session
from relay.frontend.python.source import read_source, refusal
from relay.frontend.python.subset import check_subset
from relay.frontend.python.values import annotated_type, as_expr, meaning
from relay.ir.expr import Call, Expr, Function, GlobalVar, Var
from relay.ir.types import FuncType, TensorType, Type
from relay.ops.framework.build import with_known_type


def template(block: Block, node: ast.FunctionDef | ast.Lambda) -> Template:
    """A function that is defined here. Its defaults are computed now, as Python does."""
    defaults = {name: dispatch.element(block, each) for name, each in default_nodes(node.args).items()}
    parameters = parameters_of(node.args, block.span)
    own = {*local_names(node), *(each.name for each in parameters)}
    for call, name in changed_lists(node):
        if name not in own:
            raise refusal(block.span(call), f"a change of `{name}`, a variable of the function around this one",
                          "return what is to be added, and add it there")  # fmt: skip
    return Template(node, block, parameters, defaults)


def define_template(block: Block, node: ast.FunctionDef) -> None:
    """`def` among statements."""
    block.names[node.name] = template(block, node)


def body(block: Block, statements: Sequence[ast.stmt], result: Type | None) -> Expr:
    """The body of a function, `block` being its scope, as one expression."""

    def give(end: Block, value: Any, span: Span) -> Expr:
        return end.closed(dispatch.as_argument(end, value, span, result))

    first = block.span(statements[0])
    return dispatch.run(block, statements, Exits(lambda end: give(end, None if result else (), first), give))


def call_template(block: Block, callee: Template, arguments: Arguments) -> Any:
    given = bound(callee.name, callee.parameters, callee.defaults, arguments)
    if callee.calls_itself:
        function = _recursive(block, callee)
        return dispatch.call(block, function, Arguments(list(given.values()), {}, arguments.span))
    return inline(block, callee, given)


def inline(block: Block, callee: Template, given: Mapping[str, Any]) -> Any:
    """A call of a nested function: its body, in place."""
    node = callee.node
    inner = block.entering(callee.block, {**_unset(callee.block, node), **given})
    if isinstance(node, ast.Lambda):
        return dispatch.expr(inner, node.body)
    *before, last = node.body
    if isinstance(last, ast.Return) and last.value is not None and not leaves_early(before):
        dispatch.straight(inner, before)
        return dispatch.expr(inner, last.value)
    return body(inner.inside(), node.body, None)


def closure(block: Block, value: Template, span: Span, wanted: Type | None) -> Expr:
    """A nested function as a value. Its parameters need types: annotations, or those of the place that takes it."""
    if value.calls_itself:
        return _recursive(block, value)
    node, around = value.node, value.block
    expected = wanted.arg_types if isinstance(wanted, FuncType) else (None,) * len(value.parameters)
    if len(expected) != len(value.parameters):
        raise RelayError(rule="arity", message="the function has other parameters than are wanted", span=span,
                         expected=str(wanted), found=", ".join(each.name for each in value.parameters))  # fmt: skip
    params = [_parameter(around, p.argument, type_) for p, type_ in zip(value.parameters, expected, strict=True)]
    inner = scope(block.now(around), node, params, block.live)
    if isinstance(node, ast.Lambda):
        return Function(tuple(params), inner.closed(as_expr(inner, dispatch.expr(inner, node.body), span)), span=span)
    result = None if node.returns is None else annotated_type(around.definition, node.returns)
    return Function(tuple(params), body(inner, node.body, result), result, span=span)


def scope(
    around: Block, node: ast.FunctionDef | ast.Lambda, params: Sequence[Var], live: Mapping[object, Block]
) -> Block:
    """Where the body of a function begins: its own names are not set, its parameters are."""
    given = {each.name_hint: each for each in params}
    return Block(around.definition, {**around.names, **_unset(around, node), **given}, live=dict(live))


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
    assert isinstance(node, ast.FunctionDef)
    now = block.now(around)
    known = block.functions.get(value)
    if known is not None and all(now.names.get(name) is each for name, each in known.seen.items()):
        return known.function
    span = around.span(node)
    if node.returns is None:
        raise RelayError(
            rule="needs-annotation", message=f"`{node.name}` calls itself and does not say what it returns",
            span=span, remedy=f"annotate it: def {node.name}(...) -> ...:",
        )  # fmt: skip
    params = [_parameter(around, each.argument, None) for each in value.parameters]
    result = annotated_type(around.definition, node.returns)
    type_ = FuncType(tuple(map(block.type_of, params)), result)
    itself = with_known_type(Var(node.name, type_, span=span))
    inner = scope(now, node, params, block.live)
    inner.names[node.name] = itself
    function = Function(tuple(params), body(inner, node.body, result), result, span=span)
    block.bindings.append((itself, function, span))
    read = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} - {node.name}
    seen = {name: now.names[name] for name in read if name in now.names}
    if any(isinstance(each, Template) for each in seen.values()):  # which read other names
        seen = dict(now.names)
    block.functions[value] = LocalFunction(itself, seen)
    return itself


@dataclass(slots=True, eq=False)
class Parameters:
    """The arrays that were asked for, by path (`layers.0.weight`), and the variables that stand for them."""

    variables: dict[str, Var] = field(default_factory=dict)
    arrays: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)

    def variable(self, path: str, array: np.ndarray[Any, Any]) -> Var:
        if path not in self.variables:
            self.arrays[path] = array
            type_ = TensorType(array.shape, dtype_of(array.dtype))
            self.variables[path] = with_known_type(Var(path, type_))
        return self.variables[path]

    def part(self, path: str, value: Any) -> Any:
        """An attribute of a model as a program sees it."""
        if isinstance(value, np.ndarray):
            return self.variable(path, cast("np.ndarray[Any, Any]", value))
        if isinstance(value, list | tuple):
            return [self.part(f"{path}.{position}", each) for position, each in enumerate(cast("list[Any]", value))]
        if isinstance(getattr(type(value), "__relay_model__", None), bool):
            return ModelPart(value, f"{path}.", self)
        return value


class ModelPart:
    """A model, or one inside it, as its methods see `self`."""

    def __init__(self, model: Any, prefix: str, parameters: Parameters) -> None:
        self.model = model
        self._prefix = prefix
        self._parameters = parameters

    def __getattr__(self, name: str) -> Any:
        found = getattr(type(self.model), name, None)
        if isinstance(found, FunctionType):
            return ModelMethod(self, found)
        return self._parameters.part(self._prefix + name, getattr(self.model, name))


@frozen(eq=False)
class ModelMethod:
    """A method of a model, about to be called."""

    part: ModelPart
    definition: Callable[..., Any]


def begin(
    session: Session, forms: Forms, function: Callable[..., Any], around: Mapping[str, Any] = MappingProxyType({})
) -> tuple[Definition, ast.FunctionDef]:
    """A definition that is about to be read. Raises `RelayError` (rule `python-subset`) for what is outside."""
    source = read_source(function)
    assert isinstance(source.tree, ast.FunctionDef)
    check_subset(source, source.tree.body)
    return Definition(source, _finder(function, around), session, forms), source.tree


def define(session: Session, forms: Forms, function: PythonFunction) -> GlobalVar:
    """Read a decorated function into the session, if it was not yet."""
    if function in session.names:
        return session.names[function]
    name = session.name(function, function.__name__)
    definition, tree = begin(session, forms, function.definition, function.around)
    arguments = [each.argument for each in parameters_of_source(definition.source)]
    params, result = signature(definition, arguments, tree, function.definition)
    if result is not None:
        type_ = FuncType(tuple(map(session.type_of, params)), result)
        session.standing[name] = with_known_type(Var(name.name_hint, type_))
    made = body(scope(Block(definition, {}), tree, params, {}), tree.body, result)
    session.finish(name, Function(params, made, result, span=definition.source.span(tree)))
    return name


def signature(
    definition: Definition, arguments: Sequence[ast.arg], tree: ast.FunctionDef, function: Callable[..., Any]
) -> tuple[tuple[Var, ...], Type | None]:
    """The parameters and the result of a definition, by its annotations: as Python evaluated them, or else here."""
    params: list[Var] = []
    variables: dict[Any, Any] = {}
    evaluated = {name: each for name, each in function.__annotations__.items() if not isinstance(each, str)}

    def type_of(name: str, annotation: ast.expr) -> Type:
        if name in evaluated:
            return meaning(definition, evaluated[name], annotation, variables)
        return annotated_type(definition, annotation, variables)

    for argument in arguments:
        span = definition.source.span(argument)
        if argument.annotation is None:
            raise RelayError(
                rule="needs-annotation", message=f"the parameter `{argument.arg}` of `{tree.name}` has no type",
                span=span, remedy=f'annotate it: {argument.arg}: relay.Tensor[("n", 784), "float32"]',
            )  # fmt: skip
        params.append(with_known_type(Var(argument.arg, type_of(argument.arg, argument.annotation), span=span)))
    return tuple(params), None if tree.returns is None else type_of("return", tree.returns)


def call_function(block: Block, callee: PythonFunction, arguments: Arguments) -> Expr:
    """A call of another decorated function."""
    target = function_value(block, callee, arguments.span)
    given = bound(
        f"`{callee.__name__}`", parameters_of_source(read_source(callee.definition)), defaults_of(callee.definition),
        arguments,
    )  # fmt: skip
    type_ = block.type_of(target)
    wanted = type_.arg_types if isinstance(type_, FuncType) else [None] * len(given)
    pairs = zip(given.values(), wanted, strict=True)
    values = tuple(dispatch.as_argument(block, value, arguments.span, each) for value, each in pairs)
    return Call(target, values, span=arguments.span)


def function_value(block: Block, callee: PythonFunction, span: Span, wanted: Type | None = None) -> Expr:  # noqa: ARG001
    """A decorated function as a value: its name, or what stands for it while it is read."""
    session = block.session
    with reading(span):
        name = define(session, block.definition.forms, callee)
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


def call_model(block: Block, callee: ModelPart, arguments: Arguments) -> Any:
    """`self.layer(x)`, where the layer is a model."""
    return call_model_method(block, ModelMethod(callee, inspect.unwrap(type(callee.model).__call__)), arguments)


def call_model_method(block: Block, callee: ModelMethod, arguments: Arguments) -> Any:
    """A call of a method of a model: its body, in place."""
    inlining, function, span = block.session.inlining, callee.definition, arguments.span
    if function in inlining:
        raise RelayError(
            rule="recursive-method", message=f"the method `{function.__name__}` calls itself", span=span,
            remedy="write the recursion as a nested function with annotations, or with @relay.function",
        )  # fmt: skip
    definition, tree = begin(block.session, block.definition.forms, function)
    method = Template(tree, Block(definition, {}), parameters_of_source(definition.source), defaults_of(function))
    given = Arguments([callee.part, *arguments.positional], arguments.named, span)
    inlining.append(function)
    try:
        return inline(block, method, bound(method.name, method.parameters, method.defaults, given))
    finally:
        inlining.pop()


def _finder(function: Callable[..., Any], around: Mapping[str, Any]) -> Callable[[str], Any]:
    """What names outside a function are worth: those of the functions around it, then those of its file."""
    code = function.__code__
    cells: Mapping[str, Any] = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))

    def find(name: str) -> Any:
        if name in cells:
            try:
                return cells[name].cell_contents
            except ValueError:
                raise KeyError(name) from None
        return around[name] if name in around else function.__globals__[name]

    return find
