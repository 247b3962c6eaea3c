"""How the arguments of a call meet the parameters of a definition: by position, by name, or by default."""

from __future__ import annotations

import ast
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.span import Span
from relay.frontend.python.syntax.source import PythonSource


@frozen
class Parameter:
    """One parameter of a definition; `meant` is its name and how it may be given, as Python says that."""

    argument: ast.arg
    meant: inspect.Parameter

    @property
    def name(self) -> str:
        return self.argument.arg


@frozen(eq=False)
class Arguments:
    """What a call gives, by position and by name, and the place of the call."""

    positional: Sequence[Any]
    named: Mapping[str, Any]
    span: Span

    @property
    def values(self) -> list[Any]:
        return [*self.positional, *self.named.values()]


def parameters_of(arguments: ast.arguments) -> tuple[Parameter, ...]:
    """The parameters of a definition, in order."""
    python = inspect.Parameter
    groups = (
        (arguments.posonlyargs, python.POSITIONAL_ONLY), (arguments.args, python.POSITIONAL_OR_KEYWORD),
        ((arguments.vararg,), python.VAR_POSITIONAL), (arguments.kwonlyargs, python.KEYWORD_ONLY),
        ((arguments.kwarg,), python.VAR_KEYWORD),
    )  # fmt: skip
    return tuple(
        Parameter(each, python(each.arg, kind)) for group, kind in groups for each in group if each is not None
    )


def fixed(parameters: Sequence[Parameter], span: Callable[[ast.AST], Span]) -> Sequence[Parameter]:
    """The parameters of a function that is a value or part of the program. Raises `RelayError` (rule `python-subset`)
    for `*args` and `**kwargs`: functions of a program have as many parameters as they have."""
    for each in parameters:
        if each.meant.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise RelayError(
                rule="python-subset", message=f"`{each.meant!s}` cannot be a parameter of a program",
                span=span(each.argument), remedy="name the parameters, or take a list",
            )  # fmt: skip
    return parameters


def parameters_of_source(source: PythonSource) -> tuple[Parameter, ...]:
    """The parameters of a `def` that was read."""
    assert isinstance(source.tree, ast.FunctionDef)
    return parameters_of(source.tree.args)


def defaults_of(definition: Callable[..., Any]) -> dict[str, Any]:
    """The values that parameters of a Python function have where a call gives none."""
    signature = inspect.signature(definition)
    return {n: p.default for n, p in signature.parameters.items() if p.default is not inspect.Parameter.empty}


def default_nodes(arguments: ast.arguments) -> dict[str, ast.expr]:
    """The same of a nested function, as its source has them."""
    by_position = [*arguments.posonlyargs, *arguments.args]
    found = dict(zip([each.arg for each in reversed(by_position)], reversed(arguments.defaults), strict=False))
    by_name = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return {**found, **{each.arg: value for each, value in by_name if value is not None}}


def bound(
    name: str, parameters: Sequence[Parameter], defaults: Mapping[str, Any], arguments: Arguments
) -> dict[str, Any]:
    """What each parameter is, in order, as Python gives calls to parameters. Raises `RelayError` (rule `arity`)."""
    empty = inspect.Parameter.empty
    signature = inspect.Signature([each.meant.replace(default=defaults.get(each.name, empty)) for each in parameters])
    try:
        found = signature.bind(*arguments.positional, **arguments.named)
    except TypeError as error:
        raise RelayError(
            rule="arity", message=f"{name} is called with other arguments than it has", span=arguments.span,
            expected=", ".join(str(each.meant) for each in parameters) or "none",
            found=", ".join([f"{len(arguments.positional)} by position", *arguments.named]),
        ) from error  # fmt: skip
    found.apply_defaults()
    return found.arguments


def text_parameters(definition: Callable[..., Any]) -> list[str]:
    """The parameters of a Python function that are strings, by their annotations: a program is read for each of their
    values.

    >>> from typing import Literal
    >>> def scaled(x: float, how: str = "half", mode: Literal["a", "b"] = "a"): ...
    >>> text_parameters(scaled)
    ['how', 'mode']
    """
    annotations = {name: each for name, each in definition.__annotations__.items() if name != "return"}
    return [name for name, each in annotations.items() if _is_text(each)]


def _is_text(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation == "str" or annotation.removeprefix("typing.").startswith("Literal[")
    is_literal = typing.get_origin(annotation) is typing.Literal
    return annotation is str or (is_literal and all(isinstance(each, str) for each in typing.get_args(annotation)))


def texts_of(definition: Callable[..., Any], given: Mapping[str, Any], span: Span | None = None) -> dict[str, str]:
    """What those parameters are, where `given` has what a call says. Raises `RelayError` (rule `python-value`)."""
    worth = {**defaults_of(definition), **given}
    found = {name: worth.get(name) for name in text_parameters(definition)}
    for name, each in found.items():
        if not isinstance(each, str):
            raise RelayError(
                rule="python-value", message=f"`{name}` of `{definition.__name__}` is a string, which has to be known",
                span=span, found="nothing" if each is None else type(each).__name__,
                remedy=f'give a string where it is called, or a default: {name}: str = "..."',
            )  # fmt: skip
    return cast("dict[str, str]", found)
