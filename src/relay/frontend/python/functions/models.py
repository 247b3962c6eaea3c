"""Models: what their methods see of them, and calls of those, whose body is put in place."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import field
from types import FunctionType
from typing import Any, cast

import numpy as np

from relay.base.dtypes import dtype_of
from relay.base.frozen import mutable
from relay.frontend.python.arguments import Arguments, defaults_of, parameters_of_source
from relay.frontend.python.block import Block, Forms, begin
from relay.frontend.python.callables import Template
from relay.frontend.python.functions.templates import call_template
from relay.frontend.python.session import Session
from relay.ir.expr import Var
from relay.ir.types import TensorType
from relay.ops.framework.build import with_known_type


@mutable
class Parameters:
    """The arrays that were asked for, by path (`layers.0.weight`), and the variables that stand for them; and the
    methods, by the path of their model."""

    session: Session
    forms: Forms
    methods: dict[tuple[str, Any], Template] = field(default_factory=dict)
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
        method = self.own_method(name)
        return method or self._parameters.part(self._prefix + name, getattr(self.model, name))

    def own_method(self, name: str) -> Template | None:
        """The method of a name, if that is what it is of."""
        found = getattr(type(self.model), name, None)
        return self.method(inspect.unwrap(found)) if isinstance(found, FunctionType) else None

    def method(self, function: Callable[..., Any]) -> Template:
        """A method, which knows the model: a nested function, as others are."""
        key = (self._prefix, function)
        if key not in self._parameters.methods:
            definition, tree = begin(self._parameters.session, self._parameters.forms, function)
            itself, *parameters = parameters_of_source(definition.source)
            around = Block(definition, {itself.name: self})
            self._parameters.methods[key] = Template(tree, around, tuple(parameters), defaults_of(function))
        return self._parameters.methods[key]


def call_model(block: Block, callee: ModelPart, arguments: Arguments) -> Any:
    """`self.layer(x)`, where the layer is a model."""
    return call_template(block, callee.method(inspect.unwrap(type(callee.model).__call__)), arguments)
