"""What a program may call that is neither a value of Relay nor a plain Python function."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from relay.base.frozen import frozen
from relay.frontend.python.block import Block, Forms, begin
from relay.frontend.python.session import Session
from relay.frontend.python.syntax.arguments import Parameter, defaults_of, parameters_of_source
from relay.ir.expr import Expr, Var
from relay.ir.operator import Operator
from relay.ops.transformations import Wrt
from relay.runtime.values.values import RefValue


class PythonFunction:
    """A Python function that is read as a program. `around` are names that its annotations may use beside those that
    the function itself knows, `texts` the strings that some of its parameters are."""

    def __init__(
        self, definition: Callable[..., Any], around: Mapping[str, Any] = MappingProxyType({}),
        texts: Mapping[str, str] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        self.definition = definition
        self.around = around
        self.texts = texts
        self.__name__ = definition.__name__
        self.__doc__ = definition.__doc__
        self.__wrapped__ = definition


@frozen(eq=False)
class Template:
    """A nested function or lambda, defined in `block`, or a method of a model. A call of it is its body, in place.
    `defaults` are what its parameters are where a call does not give them."""

    node: ast.FunctionDef | ast.Lambda
    block: Block
    parameters: tuple[Parameter, ...]
    defaults: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"`{self.node.name}`" if isinstance(self.node, ast.FunctionDef) else "a lambda"


def template_of(session: Session, forms: Forms, function: Callable[..., Any], *owner: Any) -> Template:
    """A function that stands elsewhere, as a nested one. Its first parameters are its `owner`, where it has one."""
    definition, tree = begin(session, forms, function)
    parameters = parameters_of_source(definition.source)
    around = Block(definition, {each.name: owned for each, owned in zip(parameters, owner, strict=False)})
    return Template(tree, around, tuple(parameters[len(owner) :]), defaults_of(function))


@frozen(eq=False)
class LocalFunction:
    """A nested function that calls itself, as a local function of the program; `seen` is what the names around it that
    it reads were worth when it was made."""

    function: Var
    seen: Mapping[str, Any]


class Transformed:
    """A function that a transformation gives, such as `relay.grad`, about to be called. `pullback` is what
    `custom_gradient` is given."""

    def __init__(self, transformation: Operator, function: Any, wrt: Wrt = None, pullback: Any = None) -> None:
        self.transformation = transformation
        self.function = function
        self.wrt = wrt
        self.pullback = pullback


@frozen(eq=False)
class Partial:
    """A function some of whose arguments are given: `functools.partial(f, x)`."""

    function: Any
    positional: tuple[Any, ...]
    named: Mapping[str, Any]


@frozen(eq=False)
class Counted:
    """`range(start, stop, step)`, where the program computes a bound. `place` makes an element of a number of it, where
    the elements are others."""

    start: Any
    stop: Any
    step: int = 1
    place: Callable[[Block, Any], Any] | None = None


@frozen(eq=False)
class Repeated:
    """`[[] for _ in range(count)]` or `[None] * count`: as many of an `item` as the program computes. Where they stand
    tells of what type it is, or what is put in its place."""

    item: list[Any] | None
    count: Expr


@frozen(eq=False)
class Together:
    """`zip` of what is iterated over: one of them at least has a number of elements that the program computes.
    `enumerate` is that of a count without end, whose `stop` is None."""

    parts: tuple[Any, ...]


@frozen(eq=False)
class Method:
    """A method of a Relay value, or of an array that is known now, about to be called."""

    owner: Any
    name: str


def ref(value: Any) -> Any:
    """A mutable cell, in a program that `@relay.function` reads and outside, to be given to one: `r = relay.ref(x)`,
    then `r.value`.
    """
    return RefValue(value)
