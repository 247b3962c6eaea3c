"""From a decorated function, or a method of a model, to a module: its source is read, with that of all it calls."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from relay.frontend.python.arguments import parameters_of_source
from relay.frontend.python.block import Block
from relay.frontend.python.callables import PythonFunction
from relay.frontend.python.forms import FORMS
from relay.frontend.python.functions import ModelPart, Parameters, begin, body, define, scope, signature
from relay.frontend.python.session import Session
from relay.ir.expr import Call, Function
from relay.ir.module import IRModule
from relay.ir.variables import refresh


def read_function(defined: PythonFunction) -> IRModule:
    """The module of a decorated function: itself as `@main`, and what it calls. Raises `RelayError` for Python outside
    the subset."""
    session = Session()
    name = define(session, FORMS, defined)
    functions = dict(session.functions)
    if not session.called[name]:
        return session.module(functions.pop(name), functions)
    again = refresh(functions[name])
    assert isinstance(again, Function)
    main = Function(again.params, Call(name, again.params), again.ret_type, span=again.span)
    return session.module(main, functions)


def read_model(
    model: Any, method: str = "__call__", around: Mapping[str, Any] = MappingProxyType({})
) -> tuple[IRModule, dict[str, np.ndarray[Any, Any]]]:
    """A method of a model as `@main`, its arrays as parameters behind those of the method; and the arrays, by name.

    `around` are names that annotations may use beside those that the method itself knows.
    """
    function = inspect.unwrap(getattr(type(model), method))
    definition, tree = begin(Session(), FORMS, function, around)
    itself, *arguments = (each.argument for each in parameters_of_source(definition.source))
    params, result = signature(definition, arguments, tree, function)
    parameters = Parameters()
    block = scope(Block(definition, {}), tree, params, {})
    block.names[itself.arg] = ModelPart(model, "", parameters)
    made = body(block, tree.body, result)
    weights = tuple(parameters.variables.values())
    main = Function((*params, *weights), made, result, span=definition.source.span(tree))
    return definition.session.module(main, definition.session.functions), parameters.arrays


__all__ = ["PythonFunction", "read_function", "read_model"]
