"""`@relay.function` and `@relay.model`: Python definitions that run as compiled programs."""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from types import FunctionType
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

from relay.base.arguments import CLASS, Kind, expect, refuse
from relay.base.kept_files import KeptFiles
from relay.base.target import Target, target_kind
from relay.base.version import compiler_fingerprint
from relay.driver.build import build
from relay.driver.libraries.export import export_library
from relay.driver.notations.python_values import between_python, call_with_copies
from relay.driver.roofline import machine_roofline
from relay.driver.targets import targets_for
from relay.frontend.python.identity import identity
from relay.frontend.python.reader import PythonFunction, Reading, read_function, read_model
from relay.frontend.python.syntax.arguments import text_parameters, texts_of
from relay.frontend.python.syntax.source import names_around
from relay.ir.module import IRModule
from relay.runtime.artefact.artefact import Artefact
from relay.runtime.artefact.kept import kept_artefact, kept_artefacts
from relay.runtime.executable import Executable, instantiate
from relay.transform.framework.context import PassContext

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
        """The executable, between values of Python."""
        return between_python(self.executable, self.reading)

    @cached_property
    def _left_out(self) -> tuple[Mapping[str, Any], ...]:
        return left_out(self.defaults)

    def __call__(self, *positional: Any, **named: Any) -> Any:
        """The result for arrays (or data), as the compiled program gives it. What is not given has its default."""
        return call_with_copies(self._run, positional, with_defaults(self._left_out, positional, named))


class CompiledFunction(PythonFunction, Compiled):
    """A Python function that is read, compiled when it is first called, and then runs natively. What it was compiled to
    is kept, under its `identity`, and is mapped by the next process without that anything is read."""

    @cached_property
    def reading(self) -> Reading:  # pyright: ignore[reportIncompatibleMethodOverride] # a property that is kept
        return read_function(self)

    @cached_property
    def defaults(self) -> Defaults:  # pyright: ignore[reportIncompatibleMethodOverride] # a property that is kept
        return tuple(each for each in defaults_by_position(self.definition) if each[0] not in self._texts)

    @cached_property
    def _texts(self) -> list[str]:
        """The parameters that are strings."""
        return text_parameters(self.definition)

    @cached_property
    def _for_texts(self) -> dict[tuple[str, ...], CompiledFunction]:
        """The function for each of the strings that it was called with."""
        return {}

    def __call__(self, *positional: Any, **named: Any) -> Any:
        if not self._texts or self.texts:
            return super().__call__(*positional, **named)
        given = inspect.signature(self.definition).bind(*positional, **named)
        given.apply_defaults()
        texts = texts_of(self.definition, given.arguments)
        key = tuple(texts.values())
        if key not in self._for_texts:
            self._for_texts[key] = CompiledFunction(self.definition, self.around, texts)
        return self._for_texts[key](**{name: each for name, each in given.arguments.items() if name not in texts})

    @cached_property
    def _kept(self) -> Executable | None:
        """What was kept when it was compiled before."""
        kept, key = self._kept_under
        artefact = None if kept is None else kept_artefact(kept, key)
        return artefact and instantiate(artefact, partial(_export, Target.parse(_TARGET)), machine_roofline)

    @cached_property
    def _kept_under(self) -> tuple[KeptFiles | None, str | None]:
        """Where, and under which key, it is kept; nowhere once it has been read, when names may have been worth
        something else, and under a `PassContext` of its own."""
        if "reading" in vars(self) or PassContext.current() != PassContext():
            return None, None
        kept = kept_artefacts(os.environ)
        return kept, None if kept is None else self._key()

    def _key(self) -> str | None:
        known = identity(self)
        return (
            known
            and hashlib.sha256(
                f"{compiler_fingerprint()} {sys.version} {np.__version__} "
                f"{target_kind(_TARGET).resolve(Target.parse(_TARGET))} {known}".encode()
            ).hexdigest()
        )

    @cached_property
    def executable(self) -> Executable:  # pyright: ignore[reportIncompatibleMethodOverride] # a property that is kept
        if self._kept is not None:
            return self._kept
        kept, key = self._kept_under
        executable, reading = build(self.module, _TARGET), self.reading
        has_forms = reading.gives is not None and reading.types.have_forms(reading.gives)
        is_plain = not reading.takes and not has_forms  # what is kept knows no names
        if is_plain and kept is not None and key is not None and executable.artefact is not None and key == self._key():
            kept.put(key, executable.artefact.chunks())
            kept.trim()
        return executable

    @cached_property
    def _run(self) -> Callable[..., Any]:  # pyright: ignore[reportIncompatibleMethodOverride] # a property that is kept
        executable = self.executable
        return between_python(executable) if executable is self._kept else super()._run


_TARGET = "llvm"


def _export(target: Target, artefact: Artefact, path: Path, name: str | None) -> None:
    export_library(targets_for(target).host, artefact, path, name)


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


def left_out(defaults: Defaults) -> tuple[Mapping[str, Any], ...]:
    """The defaults of what a call leaves out that gives so many arguments by position."""
    known = [(name, value, value is not inspect.Parameter.empty) for name, value in defaults]
    return tuple({name: value for name, value, is_there in known[given:] if is_there} for given in range(len(known)))


def with_defaults(
    left: tuple[Mapping[str, Any], ...], positional: tuple[Any, ...], named: dict[str, Any]
) -> dict[str, Any]:
    """The arguments by name, with the defaults of those that a call leaves out.

    >>> def power(x, n=2): ...
    >>> with_defaults(left_out(defaults_by_position(power)), (3,), {})
    {'n': 2}
    """
    return {**left[len(positional)], **named} if len(positional) < len(left) else named


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
    left = left_out(defaults_by_position(body)[1:])  # self is none of the program's

    def to_relay(self: Any) -> tuple[IRModule, dict[str, Any]]:
        reading, params = read_model(self, around=around)
        return reading.module, params

    def call(self: Any, *positional: Any, **named: Any) -> Any:
        run = vars(self).get("__relay_run__")
        if run is None:
            reading, params = read_model(self, around=around)
            run = vars(self)["__relay_run__"] = between_python(build(reading.module, params=params), reading)
        return call_with_copies(run, positional, with_defaults(left, positional, named))

    call.__wrapped__ = body  # type: ignore[attr-defined]
    if definition.__module__ == "builtins":
        refuse(definition, CLASS_OF_USER, "what is read as a model")
    changed = cast("Any", definition)
    changed.__relay_model__ = True
    changed.to_relay = to_relay
    changed.__call__ = call
    return definition
