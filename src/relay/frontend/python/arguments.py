"""How the arguments of a call meet the parameters of a definition: by position, by name, or by default."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.span import Span
from relay.frontend.python.source import PythonSource


@frozen
class Parameter:
    """One parameter of a definition. `takes_position`, `takes_name`: how it may be given."""

    argument: ast.arg
    takes_position: bool = True
    takes_name: bool = True

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


def parameters_of(arguments: ast.arguments, span: Callable[[ast.AST], Span]) -> tuple[Parameter, ...]:
    """The parameters of a definition. Raises `RelayError` (rule `python-subset`) for `*args` and `**kwargs`."""
    for each, what in ((arguments.vararg, "*"), (arguments.kwarg, "**")):
        if each is not None:
            raise RelayError(
                rule="python-subset", message=f"`{what}{each.arg}` cannot be a parameter of a program",
                span=span(each), remedy="name the parameters",
            )  # fmt: skip
    return (
        *(Parameter(each, takes_name=False) for each in arguments.posonlyargs),
        *(Parameter(each) for each in arguments.args),
        *(Parameter(each, takes_position=False) for each in arguments.kwonlyargs),
    )


def parameters_of_source(source: PythonSource) -> tuple[Parameter, ...]:
    """The parameters of a `def` that was read."""
    assert isinstance(source.tree, ast.FunctionDef)
    return parameters_of(source.tree.args, source.span)


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
    """What each parameter is, in order. Raises `RelayError` (rule `arity`)."""
    positions = [each.name for each in parameters if each.takes_position]
    names = {each.name for each in parameters if each.takes_name}
    positional, named = arguments.positional, arguments.named
    given = {**dict(zip(positions, positional, strict=False)), **named}
    fits = len(positional) <= len(positions) and len(given) == len(positional) + len(named) and named.keys() <= names
    filled = {**defaults, **given}
    if not fits or any(each.name not in filled for each in parameters):
        raise RelayError(
            rule="arity", message=f"{name} is called with other arguments than it has", span=arguments.span,
            expected=", ".join(each.name for each in parameters) or "none",
            found=", ".join([f"{len(positional)} by position", *named]),
        )  # fmt: skip
    return {each.name: filled[each.name] for each in parameters}
