"""`relay.specialize`: programs some of whose arguments are known."""

from __future__ import annotations

import inspect
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast, overload

import numpy as np

from relay.arith.expr import free_symbols
from relay.base.arguments import MAPPING, Kind, described, expect
from relay.base.diagnostics import RelayError
from relay.base.names.fresh_names import FreshNames
from relay.base.span import caller_span
from relay.base.trampoline import run
from relay.driver.derived.gradients import PROGRAM_OR_PYTHON, AnyPythonProgram, CompiledGradient
from relay.driver.notations.python_source import CompiledFunction, CompiledProgram, Defaults
from relay.frontend.python.tuples import form_of, parts_of_form
from relay.infer.infer_type import infer_type
from relay.ir.expr import Call, Constant, Constructor, Expr, Function, GlobalVar, Op, Tuple
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.rewriting import renamed_functions
from relay.ir.type_traversal import instantiated
from relay.ir.types import ANY, FuncType, GlobalTypeVar, TensorType, TupleType, Type, TypeCall
from relay.ir.variables import free_vars
from relay.ops.transformations import parameter_places
from relay.runtime.arguments.arguments import as_array, solve_symbols
from relay.runtime.arguments.extents import symbol_sources
from relay.runtime.artefact.manifest import EntrySpec, TensorSpec
from relay.runtime.values.values import as_data
from relay.transform.functions.extents import Extents
from relay.transform.functions.known_arguments import specialized
from relay.transform.functions.remove_unused_functions import MAIN
from relay.transform.gradients.apply_transformations import with_derivatives

_PARAMETER = Kind((int, str), "a parameter, by place or name")
Work: TypeAlias = Generator[Any, Any, Expr]


@overload
def specialize(program: AnyPythonProgram, places: Mapping[int, Any] = ..., /, **named: Any) -> CompiledProgram: ...
@overload
def specialize(program: IRModule | Function, places: Mapping[int, Any] = ..., /, **named: Any) -> IRModule: ...
def specialize(
    program: AnyPythonProgram | IRModule | Function, places: Mapping[int, Any] | None = None, /, **named: Any
) -> IRModule | CompiledProgram:
    """The program for known values of some parameters, which it has no more: what they decide is computed now.

    Known parameters are given by name, or by place (`{0: value}`). Their values are what a call takes (arrays, numbers,
    tuples, lists, values of data types), which are copied, or functions: those of Relay, and Python's under
    `@relay.function`. Recursion along them is unrolled, matches, conditions and calls that they decide are gone, and so
    is every function that nothing reaches any more. This always ends: what would grow without end stays a call.

    The result is of the same kind, a module for a function. It means what the program means with these arguments; what
    fails then still does.

    Raises `RelayError`: `unknown-parameter`, `bad-input-name` for one that is given twice, `known-value` for a value
    that is no constant of the parameter's type, `input-…` for an array that does not fit.

    >>> import relay
    >>> @relay.function
    ... def power(x: float, n: int) -> float:
    ...     return 1.0 if n == 0 else x * power(x, n - 1)
    >>> cube = relay.specialize(power, n=3)
    >>> float(cube(2.0)), "if" in str(cube)
    (8.0, False)
    """
    expect(program, PROGRAM_OR_PYTHON, "what is specialized")
    by_place: Mapping[int, Any] = {} if places is None else places
    expect(by_place, MAPPING, "what is known by place")
    given: Mapping[int | str, Any] = {**by_place, **named}
    match program:
        case CompiledFunction() | CompiledProgram():
            module, known = _specialized(program.module, given)
            return CompiledProgram(replace(program.reading, module=module), _remaining(program.defaults, known))
        case CompiledGradient():
            module, _ = _specialized(program.module, given)
            return CompiledProgram(replace(program.reading, module=module))
        case Function():
            return _specialized(IRModule.from_expr(program), given)[0]
        case IRModule():
            return _specialized(program, given)[0]


def _remaining(defaults: Defaults, known: Sequence[str]) -> Defaults:
    return tuple((name, default) for name, default in defaults if name not in known)


def _specialized(module: IRModule, given: Mapping[int | str, Any]) -> tuple[IRModule, Sequence[str]]:
    """The module without the parameters that are known, and their names."""
    module = with_derivatives(infer_type(module))
    params = module["main"].params
    names = [each.name_hint for each in params]
    known = _Known(module)
    values: dict[int, Expr] = {}
    for key, value in given.items():
        expect(key, _PARAMETER, "what is known")
        (place,) = parameter_places(names, key, caller_span())
        if place in values:
            raise RelayError(
                rule="bad-input-name", message=f"`{names[place]}` was given twice", span=caller_span(),
                remedy="give it by name or by place",
            )  # fmt: skip
        values[place] = run(known.expr(names[place], value, known_type(params[place])))
    made = specialized(known.module, values, known.extents())
    return made, [names[place] for place in values]


class _Known:
    """Values as expressions of a module, which gets the functions among them."""

    def __init__(self, module: IRModule) -> None:
        self.module = module
        self._titles = FreshNames(lambda name: GlobalVar(name) in self.module, "_", 0)
        self._arrays: list[tuple[TensorSpec, np.ndarray[Any, Any]]] = []
        self._data: dict[tuple[int, Type], Expr] = {}

    def expr(self, name: str, value: Any, type_: Type) -> Work:
        """A value of a type. Raises `RelayError`."""
        match type_:
            case TensorType():
                return self._tensor(name, value, type_)
            case TupleType(fields):
                value = value if form_of(value) is None else parts_of_form(value)
                parts: list[Expr] = []
                if not isinstance(value, tuple) or len(cast("tuple[Any, ...]", value)) != len(fields):
                    raise _refused(name, value, type_)
                for each, inner in zip(cast("tuple[Any, ...]", value), fields, strict=True):
                    parts.append((yield self.expr(name, each, inner)))
                return Tuple(tuple(parts))
            case TypeCall() | GlobalTypeVar():
                key = (id(value), type_)
                if key not in self._data:
                    self._data[key] = yield self._datum(name, value, type_)
                return self._data[key]
            case FuncType():
                return self._function(name, value, type_)
            case _:
                raise _refused(name, value, type_)

    def _tensor(self, name: str, value: Any, type_: TensorType) -> Constant:
        open_shape = type_.shape if len(type_.shape) == np.ndim(value) else ()
        shape = (
            tuple(np.shape(value)[axis] if extent is ANY else extent for axis, extent in enumerate(open_shape))
            or type_.shape
        )
        spec = TensorSpec(name, shape, type_.dtype)
        array = as_array(value, spec)
        self._arrays.append((spec, array))
        return Constant(array.copy())

    def _datum(self, name: str, value: Any, type_: TypeCall | GlobalTypeVar) -> Work:
        header, arguments = (type_.func, type_.args) if isinstance(type_, TypeCall) else (type_, ())
        definition = self.module.type_definitions[header]
        data = as_data(value, header.name)
        made = next((each for each in definition.constructors if data and each.name_hint == data.constructor), None)
        if data is None or made is None or data.type_name != header.name or len(data.fields) != len(made.inputs):
            raise _refused(name, value, type_)
        types = dict(zip(definition.type_vars, arguments, strict=True))
        parts: list[Expr] = []
        for each, inner in zip(data.fields, made.inputs, strict=True):
            parts.append((yield self.expr(name, each, instantiated(inner, types))))
        return Call(made, tuple(parts), type_args=arguments)

    def _function(self, name: str, value: Any, type_: FuncType) -> Expr:
        match value:
            case CompiledFunction() | CompiledGradient() | CompiledProgram():
                return self._joined(value.module)
            case IRModule() if MAIN in value:
                return self._joined(value)
            case Function() if not free_vars(value):
                return value
            case GlobalVar() if value in self.module:
                return value
            case Op() | Constructor():
                return value
            case _:
                raise _refused(name, value, type_)

    def _joined(self, module: IRModule) -> GlobalVar:
        own = {each: GlobalVar(self._titles.take("known" if each == MAIN else each.name_hint)) for each in module}
        functions = renamed_functions(with_derivatives(infer_type(module)).functions, own)
        types = {**self.module.type_definitions, **module.type_definitions}
        self.module = IRModule({**self.module.functions, **functions}, types)
        return own[MAIN]

    def extents(self) -> Extents:
        """What the arrays tell of the symbols in the types of parameters. Raises `RelayError` where they disagree."""
        specs = tuple(spec for spec, _ in self._arrays)
        sources = symbol_sources(spec.shape for spec in specs)
        open_extents = [
            extent for spec in specs for extent in spec.shape if not set(free_symbols(extent)) <= sources.keys()
        ]
        if open_extents:
            raise RelayError(
                rule="known-value", message=f"nothing tells what the extent {open_extents[0]} is made of",
                span=caller_span(), remedy="give the arrays whose axes are its symbols, too",
            )  # fmt: skip
        entry = EntrySpec("main", specs, (), 0, tuple(sources), 0)
        return solve_symbols(entry, sources, [array for _, array in self._arrays])


def _refused(name: str, value: Any, type_: Type) -> RelayError:
    remedy = ""
    if isinstance(type_, FuncType) and inspect.isfunction(value):
        remedy = "put @relay.function above its definition"
    return RelayError(
        rule="known-value", message=f"what is known of `{name}` is no constant of its type", span=caller_span(),
        expected=str(type_), found=described(value), remedy=remedy,
    )  # fmt: skip
