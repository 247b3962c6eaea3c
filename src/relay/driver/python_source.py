"""`@relay.function` and `@relay.model`: Python definitions that run as compiled programs."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from types import FunctionType
from typing import Any, TypeAlias, TypeVar, cast

from relay.base.arguments import CLASS, Kind, expect, refuse
from relay.driver.build import build
from relay.frontend.python.reader import PythonFunction, Reading, read_function, read_model
from relay.frontend.python.source import names_around
from relay.frontend.python.tuples import plain
from relay.ir.module import IRModule
from relay.runtime.executable import Executable

Model = TypeVar("Model", bound=type)
Defaults: TypeAlias = tuple[tuple[str, Any], ...]
"""The parameters of a definition, in order, each with its default (`inspect.Parameter.empty` where it has none)."""


class Compiled(ABC):
    """A program that is compiled when it is first called, and takes and gives what a Python function does."""

    @property
    @abstractmethod
    def reading(self) -> Reading: ...

    @property
    @abstractmethod
    def defaults(self) -> Defaults: ...

    @property
    def module(self) -> IRModule:
        """The program, as `@main`. Raises `RelayError` for Python outside the subset."""
        return self.reading.module

    def to_relay(self) -> IRModule:
        return self.module

    def astext(self) -> str:
        return self.module.astext()

    def __str__(self) -> str:
        return str(self.module)

    def _repr_html_(self) -> str | None:
        return self.module._repr_html_()  # pyright: ignore[reportPrivateUsage] # as notebooks call it

    @cached_property
    def executable(self) -> Executable:
        return build(self.module)

    @cached_property
    def _run(self) -> Callable[..., Any]:
        """The executable, between values whose parts have names where the function takes or gives such."""
        run, takes, gives = self.executable, self.reading.takes, self.reading.gives
        if not takes and gives is None:
            return run

        def converted(*positional: Any, **named: Any) -> Any:
            found: Any = run(*map(plain, positional), **{name: plain(each) for name, each in named.items()})
            return found if gives is None else gives.of_result(found)

        return converted

    def __call__(self, *positional: Any, **named: Any) -> Any:
        """The result for arrays (or data), as the compiled program gives it. What is not given has its default."""
        return self._run(*positional, **with_defaults(self.defaults, positional, named))


class CompiledFunction(PythonFunction, Compiled):
    """A Python function that is read, compiled when it is first called, and then runs natively."""

    @cached_property
    def reading(self) -> Reading:  # pyright: ignore[reportIncompatibleMethodOverride] # a property that is kept
        return read_function(self)

    @cached_property
    def defaults(self) -> Defaults:  # pyright: ignore[reportIncompatibleMethodOverride] # a property that is kept
        return defaults_by_position(self.definition)


class CompiledProgram(Compiled):
    """What is made of a Python function, and has no source of its own: `reading` is the program."""

    def __init__(self, reading: Reading, defaults: Defaults = ()) -> None:
        self._reading = reading
        self._defaults = defaults

    @property
    def reading(self) -> Reading:
        return self._reading

    @property
    def defaults(self) -> Defaults:
        return self._defaults


def defaults_by_position(definition: Callable[..., Any]) -> Defaults:
    signature = inspect.signature(definition)
    return tuple((name, each.default) for name, each in signature.parameters.items())


def with_defaults(defaults: Defaults, positional: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name, with the defaults of those that a call leaves out.

    >>> def power(x, n=2): ...
    >>> with_defaults(defaults_by_position(power), (3,), {})
    {'n': 2}
    """
    if len(positional) >= len(defaults):
        return named
    left = {n: value for n, value in defaults[len(positional) :] if value is not inspect.Parameter.empty}
    return {**left, **named}


CLASS_OF_USER = Kind((), "a class with a method __call__ in Python")
_FUNCTION = Kind((FunctionType,), "a Python function")


def function(definition: Callable[..., Any]) -> CompiledFunction:
    """Read a Python function as a Relay program. Its source is read, not run; annotations give the types.

    The result prints as Relay text, has a `module`, and can be called: it is then compiled for this machine.
    Raises `RelayError` at the line of what is outside the subset (see docs/python_front_end.md), when the program is
    first asked for.
    """
    expect(definition, _FUNCTION, "what is read as a program")
    return CompiledFunction(definition, names_around(2))


def model(definition: Model) -> Model:
    """Read a class as a model: its method `__call__` is the program, arrays among its attributes are parameters.

    Instances get `to_relay()`, which gives the module and the parameters, and calling one runs the compiled program
    (compiled when first called, with the arrays that the instance has then).
    """
    expect(definition, CLASS, "what is read as a model")
    body, around = definition.__call__, names_around(2)
    defaults = defaults_by_position(body)[1:]  # self is none of the program's

    def to_relay(self: Any) -> tuple[IRModule, dict[str, Any]]:
        return read_model(self, around=around)

    def call(self: Any, *positional: Any, **named: Any) -> Any:
        executable = vars(self).get("_executable")
        if executable is None:
            module, params = to_relay(self)
            executable = vars(self)["_executable"] = build(module, params=params)
        return executable(*positional, **with_defaults(defaults, positional, named))

    call.__wrapped__ = body  # type: ignore[attr-defined]
    if definition.__module__ == "builtins":
        refuse(definition, CLASS_OF_USER, "what is read as a model")
    changed = cast("Any", definition)
    changed.__relay_model__ = True
    changed.to_relay = to_relay
    changed.__call__ = call
    return definition
