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
from relay.frontend.python.datatype import DataTypes
from relay.frontend.python.forms import FORMS
from relay.frontend.python.functions.definitions import define, signature
from relay.frontend.python.functions.templates import body, scope
from relay.frontend.python.models import Parameters, model_part
from relay.frontend.python.session import Session
from relay.frontend.python.syntax.arguments import fixed, parameters_of_source, texts_of
from relay.frontend.python.tuples import has_names_only
from relay.ir.expr import Call, Function, GlobalVar
from relay.ir.module import IRModule
from relay.ir.types import FuncType, Type
from relay.ir.variables import refresh


@frozen(eq=False)
class Reading:
    """A function as a module. `takes` are the types of the parameters whose values are, in Python, no tuples where the
    program has these; `gives` is that of the result where it is known. `types` are the data types, with their
    classes."""

    module: IRModule
    takes: Mapping[str, Type]
    gives: Type | None
    types: DataTypes


def read_function(defined: PythonFunction) -> Reading:
    """The module of a decorated function: itself as `@main`, and what it calls. Raises `RelayError` for Python outside
    the subset."""
    session = Session()
    return session.read(lambda: _function(session, defined))


def _function(session: Session, defined: PythonFunction) -> Reading:
    with session.definition():  # what is wrong with it as a whole is told by the module
        name = define(session, FORMS, defined, texts_of(defined.definition, defined.texts))
        functions = dict(session.functions)
        if not session.called[name]:
            return _reading(session, functions.pop(name), functions)
        again = refresh(functions[name])
        assert isinstance(again, Function)
        main = Function(again.params, Call(name, again.params), again.ret_type, span=again.span)
        return _reading(session, main, functions)


def _reading(session: Session, main: Function, functions: Mapping[GlobalVar, Function]) -> Reading:
    """The finished program."""
    module, types = session.module(main, functions), session.types
    type_ = module["main"].checked_type
    assert isinstance(type_, FuncType)
    pairs = zip(main.params, type_.arg_types, strict=True)
    takes = {each.name_hint: part for each, part in pairs if types.have_forms(part, has_names_only)}
    return Reading(module, takes, type_.ret_type, types)


def read_model(
    model: Any, method: str = "__call__", around: Mapping[str, Any] = MappingProxyType({})
) -> tuple[Reading, dict[str, np.ndarray[Any, Any]]]:
    """A method of a model as `@main`, its arrays as parameters behind those of the method; and the arrays, by name.

    `around` are names that annotations may use beside those that the method itself knows.
    """
    session, arrays = Session(), Parameters()
    return session.read(lambda: _method(model, method, around, session, arrays)), arrays.arrays


def _method(model: Any, method: str, around: Mapping[str, Any], session: Session, arrays: Parameters) -> Reading:
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
    main = Function((*params, *weights), made, result, span=definition.source.span(tree))
    return _reading(session, main, session.functions)


__all__ = ["PythonFunction", "read_function", "read_model"]
