"""Models as programs see them: their methods are nested functions that know the model."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import field
from types import FunctionType
from typing import Any, cast

import numpy as np

from relay.base.dtypes import dtype_of
from relay.base.frozen import mutable
from relay.frontend.python.block import Block, Forms
from relay.frontend.python.callables import Template, template_of
from relay.frontend.python.session import Session
from relay.ir.expr import Var
from relay.ir.types import TensorType
from relay.ops.framework.build import with_known_type


@mutable
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


class ModelPart:
    """A model, or one inside it, as programs see it. Its arrays are parameters of the program, at a path, or constants
    where it is none that becomes a program (`parameters` is None)."""

    def __init__(self, model: Any, session: Session, forms: Forms, parameters: Parameters | None, prefix: str) -> None:
        self.model = model
        self._session = session
        self._forms = forms
        self._parameters = parameters
        self._prefix = prefix
        self._methods: dict[Callable[..., Any], Template] = {}

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride] (what `isinstance` asks for)
        return type(self.model)

    def __getattr__(self, name: str) -> Any:
        return self.own_method(name) or self._part(self._prefix + name, getattr(self.model, name))

    def _part(self, path: str, value: Any) -> Any:
        """An attribute as a program sees it."""
        if isinstance(value, np.ndarray) and self._parameters is not None:
            return self._parameters.variable(path, cast("np.ndarray[Any, Any]", value))
        if isinstance(value, list | tuple):
            parts = [self._part(f"{path}.{place}", each) for place, each in enumerate(cast("list[Any]", value))]
            return parts if isinstance(value, list) else type(value)(*parts) if _has_names(value) else tuple(parts)
        if is_model(value):
            return model_part(value, self._session, self._forms, self._parameters, f"{path}.")
        return value

    def own_method(self, name: str) -> Template | None:
        """The method of a name, if that is what it is of."""
        found = inspect.getattr_static(type(self.model), name, None)
        match found:
            case FunctionType():
                return self.method(inspect.unwrap(found), self)
            case classmethod():
                return self.method(inspect.unwrap(found.__func__), type(self.model))
            case staticmethod():
                return self.method(inspect.unwrap(found.__func__))
            case _:
                return None

    def method(self, function: Callable[..., Any], *owner: Any) -> Template:
        """A method, which knows the model or the class that owns it: a nested function, as others are."""
        if function not in self._methods:
            self._methods[function] = template_of(self._session, self._forms, function, *owner)
        return self._methods[function]


def _has_names(value: object) -> bool:
    return hasattr(value, "_fields")


def model_part(
    model: Any, session: Session, forms: Forms, parameters: Parameters | None = None, prefix: str = ""
) -> ModelPart:
    """A model as a program sees it: the same part wherever it is met, under the first path that leads to it."""
    return session.models.setdefault(id(model), ModelPart(model, session, forms, parameters, prefix))


def is_model(value: object) -> bool:
    """Whether a value of Python is an instance of a class that `@relay.model` decorates."""
    return isinstance(getattr(type(value), "__relay_model__", None), bool)


def as_seen(block: Block, value: Any) -> Any:
    """A value of Python as a program sees it."""
    return model_part(value, block.session, block.definition.forms) if is_model(value) else value


def as_python(value: Any) -> Any:
    """A value, or values in lists and tuples, as Python has them."""
    if type(value) is ModelPart:
        return value.model
    return type(value)(map(as_python, value)) if type(value) in (list, tuple) else value
