"""`@relay.function` and `@relay.model`: Python definitions that run as compiled programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import FunctionType
from typing import Any, TypeVar, cast

from relay.base.arguments import Kind, expect
from relay.driver.build import build
from relay.frontend.python.reader import PythonFunction, read_model
from relay.frontend.python.source import names_around
from relay.ir.module import IRModule
from relay.runtime.executable import Executable

Model = TypeVar("Model", bound=type)


class CompiledFunction(PythonFunction):
    """A function that is read, compiled when it is first called, and then runs natively."""

    @cached_property
    def executable(self) -> Executable:
        return build(self.module)

    def __call__(self, *positional: Any, **named: Any) -> Any:
        """The result for arrays (or data), as the compiled program gives it."""
        return self.executable(*positional, **named)


_FUNCTION = Kind((FunctionType,), "a Python function")
_CLASS = Kind((type,), "a class")


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
    expect(definition, _CLASS, "what is read as a model")
    body, around = definition.__call__, names_around(2)

    def to_relay(self: Any) -> tuple[IRModule, dict[str, Any]]:
        return read_model(self, around=around)

    def call(self: Any, *positional: Any, **named: Any) -> Any:
        executable = vars(self).get("_executable")
        if executable is None:
            module, params = to_relay(self)
            executable = vars(self)["_executable"] = build(module, params=params)
        return executable(*positional, **named)

    call.__wrapped__ = body  # type: ignore[attr-defined]
    changed = cast("Any", definition)
    changed.__relay_model__ = True
    changed.to_relay = to_relay
    changed.__call__ = call
    return definition
