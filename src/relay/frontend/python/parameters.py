"""A model's arrays as parameters: attributes of `self` that are arrays become variables, named by their path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, cast

import numpy as np

from relay.base.dtypes import dtype_of
from relay.base.frozen import frozen
from relay.ir.expr import Var
from relay.ir.types import TensorType
from relay.ops.build import with_known_type


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
