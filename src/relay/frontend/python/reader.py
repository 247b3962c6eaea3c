"""From a decorated function to a module: its source is read, with that of all it calls."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.fresh_names import FreshNames
from relay.base.span import Span, reading
from relay.frontend.python.arguments import bound, defaults_of, parameters_of_source
from relay.frontend.python.block import Block
from relay.frontend.python.callables import Template
from relay.frontend.python.flow import Statements
from relay.frontend.python.parameters import ModelMethod, ModelPart, Parameters
from relay.frontend.python.session import Session
from relay.frontend.python.source import PythonSource, read_source
from relay.frontend.python.subset import check_subset
from relay.ir.expr import Call, Expr, Function, GlobalVar, Var
from relay.ir.module import IRModule
from relay.ir.types import FuncType, Type
from relay.ir.variables import refresh
from relay.ops.build import with_known_type


class PythonFunction:
    """A Python function that is read as a program: what `@relay.function` makes of it."""

    def __init__(self, definition: Callable[..., Any], around: Mapping[str, Any] = MappingProxyType({})) -> None:
        """`around` are names that annotations may use beside those that the function itself knows."""
        self.definition = definition
        self.around = around
        self.__name__ = definition.__name__
        self.__doc__ = definition.__doc__
        self.__wrapped__ = definition

    @cached_property
    def module(self) -> IRModule:
        """The program, with this function as its `@main`. Raises `RelayError` for Python outside the subset."""
        return read_function(self)

    def to_relay(self) -> IRModule:
        return self.module

    def astext(self) -> str:
        return self.module.astext()

    def __str__(self) -> str:
        return str(self.module)


def read_function(defined: PythonFunction) -> IRModule:
    """The module of a decorated function: itself as `@main`, and what it calls."""
    reader = _Reader()
    name = reader.define(defined)
    functions = dict(reader.session.functions)
    function = functions[name]
    if reader.called.get(name, 0):
        again = refresh(function)
        assert isinstance(again, Function)
        main = Function(again.params, Call(name, again.params), function.ret_type, span=function.span)
        return reader.session.module(main, functions)
    del functions[name]
    return reader.session.module(function, functions)


def read_model(
    model: Any, method: str = "__call__", around: Mapping[str, Any] = MappingProxyType({})
) -> tuple[IRModule, dict[str, np.ndarray[Any, Any]]]:
    """A method of a model as `@main`, its arrays as parameters behind those of the method; and the arrays, by name.

    `around` are names that annotations may use beside those that the method itself knows.
    """
    reader = _Reader()
    parameters = Parameters()
    part = ModelPart(model, "", parameters)
    definition = inspect.unwrap(getattr(type(model), method))
    source = read_source(definition)
    statements = reader.statements(source, definition, around)
    itself, *arguments = (each.argument for each in parameters_of_source(source))
    params, result = reader.signature(statements, arguments, source, definition)
    assert isinstance(source.tree, ast.FunctionDef)
    given = {itself.arg: part, **{each.name_hint: each for each in params}}
    scope = Block(reader.session, statements.own_names(source.tree) | given)
    body = statements.body(scope, source.tree.body, result)
    weights = tuple(parameters.variables.values())
    main = Function((*params, *weights), body, result, span=source.span(source.tree))
    return reader.session.module(main, reader.session.functions), parameters.arrays


@dataclass(slots=True, eq=False)
class _Reader:
    """Reads functions into one session. `called` counts the calls of each."""

    session: Session = field(default_factory=Session)
    names: dict[PythonFunction, GlobalVar] = field(default_factory=dict)
    called: dict[GlobalVar, int] = field(default_factory=dict)
    inlining: list[Any] = field(default_factory=list)
    _fresh: FreshNames = field(init=False)

    def __post_init__(self) -> None:
        self._fresh = FreshNames(lambda name: GlobalVar(name) in self.session.functions, "_")

    def statements(
        self, source: PythonSource, definition: Callable[..., Any], around: Mapping[str, Any] = MappingProxyType({})
    ) -> Statements:
        check_subset(source, source.tree.body)
        return Statements(source, _finder(definition, around), self, self.session.types)

    def define(self, defined: PythonFunction) -> GlobalVar:
        """Read a function, if it was not yet."""
        if defined in self.names:
            return self.names[defined]
        name = self.names[defined] = GlobalVar(self._fresh.take(defined.__name__))
        source = read_source(defined.definition)
        statements = self.statements(source, defined.definition, defined.around)
        arguments = [each.argument for each in parameters_of_source(source)]
        params, result = self.signature(statements, arguments, source, defined.definition)
        if result is not None:
            type_ = FuncType(tuple(map(self.session.type_of, params)), result)
            self.session.standing[name] = with_known_type(Var(name.name_hint, type_))
        assert isinstance(source.tree, ast.FunctionDef)
        scope = Block(self.session, statements.own_names(source.tree) | {each.name_hint: each for each in params})
        body = statements.body(scope, source.tree.body, result)
        self.session.finish(name, Function(params, body, result, span=source.span(source.tree)))
        return name

    def signature(
        self, statements: Statements, arguments: list[ast.arg], source: PythonSource, definition: Callable[..., Any]
    ) -> tuple[tuple[Var, ...], Type | None]:
        """The parameters and the result of a definition, by its annotations: as Python evaluated them, or else here."""
        params: list[Var] = []
        variables: dict[Any, Any] = {}
        evaluated = {name: each for name, each in definition.__annotations__.items() if not isinstance(each, str)}

        def type_of(name: str, annotation: ast.expr) -> Type:
            if name in evaluated:
                return statements.meaning(evaluated[name], annotation, variables)
            return statements.annotation(annotation, variables)

        for argument in arguments:
            if argument.annotation is None:
                raise RelayError(
                    rule="needs-annotation",
                    message=f"the parameter `{argument.arg}` of `{source.tree.name}` has no type",
                    span=source.span(argument),
                    remedy=f'annotate it: {argument.arg}: relay.Tensor[("n", 784), "float32"]',
                )  # fmt: skip
            type_ = type_of(argument.arg, argument.annotation)
            params.append(with_known_type(Var(argument.arg, type_, span=source.span(argument))))
        assert isinstance(source.tree, ast.FunctionDef)
        returns = source.tree.returns
        return tuple(params), None if returns is None else type_of("return", returns)

    def call_defined(
        self, statements: Statements, block: Block, callee: Any, arguments: list[Any], named: dict[str, Any], span: Span
    ) -> Expr | None:
        """A call of another decorated function or of a method of a model; None for anything else."""
        if isinstance(callee, ModelPart):
            callee = ModelMethod(callee, inspect.unwrap(type(callee.model).__call__))
        if isinstance(callee, ModelMethod):
            return self._inlined(block, callee, arguments, named, span)
        if not isinstance(callee, PythonFunction):
            return None
        target = self._target(callee, span)
        parameters, defaults = parameters_of_source(read_source(callee.definition)), defaults_of(callee.definition)
        given = bound(f"`{callee.__name__}`", parameters, defaults, arguments, named, span)
        type_ = self.session.type_of(target)
        wanted = type_.arg_types if isinstance(type_, FuncType) else [None] * len(given)
        values = [statements.as_argument(block, each, span, w) for each, w in zip(given.values(), wanted, strict=True)]
        return Call(target, tuple(values), span=span)

    def reference(self, value: Any, span: Span) -> Expr | None:
        """A decorated function as a value; None for anything else."""
        return self._target(value, span) if isinstance(value, PythonFunction) else None

    def _target(self, callee: PythonFunction, span: Span) -> Expr:
        with reading(span):
            name = self.define(callee)
        self.called[name] = self.called.get(name, 0) + 1
        if name in self.session.functions:
            return name
        standing = self.session.standing.get(name)
        if standing is None:
            raise RelayError(
                rule="needs-annotation", message=f"`{callee.__name__}` is recursive and does not say what it returns",
                span=span, remedy=f"annotate it: def {callee.__name__}(...) -> ...:",
            )  # fmt: skip
        return standing

    def _inlined(
        self, block: Block, method: ModelMethod, arguments: list[Any], named: dict[str, Any], span: Span
    ) -> Any:
        if method.definition in self.inlining:
            raise RelayError(
                rule="recursive-method", message=f"the method `{method.definition.__name__}` calls itself", span=span,
                remedy="write the recursion as a nested function with annotations, or with @relay.function",
            )  # fmt: skip
        source = read_source(method.definition)
        statements = self.statements(source, method.definition)
        assert isinstance(source.tree, ast.FunctionDef)
        self.inlining.append(method.definition)
        try:
            parameters, defaults = parameters_of_source(source), defaults_of(method.definition)
            template = Template(source.tree, Block(self.session, {}), parameters, defaults)
            return statements.inline(block, template, [method.part, *arguments], named, span)
        finally:
            self.inlining.pop()


def _finder(definition: Callable[..., Any], around: Mapping[str, Any]) -> Callable[[str], Any]:
    """What names outside a function are worth: those of the functions around it, then those of its file."""
    code = definition.__code__
    cells: Mapping[str, Any] = dict(zip(code.co_freevars, definition.__closure__ or (), strict=True))

    def find(name: str) -> Any:
        if name in cells:
            try:
                return cells[name].cell_contents
            except ValueError:
                raise KeyError(name) from None
        return around[name] if name in around else definition.__globals__[name]

    return find


__all__ = ["PythonFunction", "read_function", "read_model"]
