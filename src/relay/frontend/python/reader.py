"""From a decorated function, or a method of a model, to a module: its source is read, with that of all it calls."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from relay.base.frozen import frozen
from relay.frontend.python.block import Block, begin
from relay.frontend.python.callables import PythonFunction
from relay.frontend.python.forms import FORMS
from relay.frontend.python.functions.definitions import define, signature
from relay.frontend.python.functions.templates import body, scope
from relay.frontend.python.models import Parameters, model_part
from relay.frontend.python.session import Session
from relay.frontend.python.syntax.arguments import fixed, parameters_of_source, texts_of
from relay.frontend.python.tuples import has_forms
from relay.ir.expr import Call, Function
from relay.ir.module import IRModule
from relay.ir.types import FuncType, Type
from relay.ir.variables import refresh


@frozen(eq=False)
class Reading:
    """A function as a module; `takes` says whether its arguments have parts with names, `gives` is the type of its
    result where that has."""

    module: IRModule
    takes: bool
    gives: Type | None


def read_function(defined: PythonFunction) -> Reading:
    """The module of a decorated function: itself as `@main`, and what it calls. Raises `RelayError` for Python outside
    the subset."""
    session = Session()
    return session.read(lambda: _reading(session, defined))


def _reading(session: Session, defined: PythonFunction) -> Reading:
    with session.definition():  # what is wrong with it as a whole is told by the module
        name = define(session, FORMS, defined, texts_of(defined.definition, defined.texts))
        functions = dict(session.functions)
        type_ = functions[name].checked_type
        assert isinstance(type_, FuncType)
        takes, gives = any(map(has_forms, type_.arg_types)), type_.ret_type if has_forms(type_.ret_type) else None
        if not session.called[name]:
            return Reading(session.module(functions.pop(name), functions), takes, gives)
        again = refresh(functions[name])
        assert isinstance(again, Function)
        main = Function(again.params, Call(name, again.params), again.ret_type, span=again.span)
        return Reading(session.module(main, functions), takes, gives)


def read_model(
    model: Any, method: str = "__call__", around: Mapping[str, Any] = MappingProxyType({})
) -> tuple[IRModule, dict[str, np.ndarray[Any, Any]]]:
    """A method of a model as `@main`, its arrays as parameters behind those of the method; and the arrays, by name.

    `around` are names that annotations may use beside those that the method itself knows.
    """
    session, arrays = Session(), Parameters()

    def reading() -> IRModule:
        return session.module(_main(model, method, around, session, arrays), session.functions)

    return session.read(reading), arrays.arrays


def _main(model: Any, method: str, around: Mapping[str, Any], session: Session, arrays: Parameters) -> Function:
    function = inspect.unwrap(getattr(type(model), method))
    definition, tree = begin(session, FORMS, function, around)
    parameters = fixed(parameters_of_source(definition.source), definition.source.span)
    texts = texts_of(function, {})
    itself, *arguments = (each.argument for each in parameters if each.name not in texts)
    params, result = signature(definition, arguments, tree, function)
    block = scope(Block(definition, {}), tree, params, {})
    block.names |= {itself.arg: model_part(model, session, FORMS, arrays), **texts}
    made = body(block, tree.body, result)
    weights = tuple(arrays.variables.values())
    return Function((*params, *weights), made, result, span=definition.source.span(tree))


__all__ = ["PythonFunction", "read_function", "read_model"]
