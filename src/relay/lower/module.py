"""From a fused module in A-normal form to a Program: which form each function takes, and how it is entered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from relay.arith.expr import free_symbols
from relay.infer.checks import checks_of
from relay.ir.expr import Call, Constant, Expr, Function, GlobalVar, Let, Tuple, TupleGetItem, Var
from relay.ir.module import IRModule
from relay.ir.operator import Check
from relay.ir.sharing import scopes
from relay.ir.types import (
    FuncType,
    GlobalTypeVar,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    type_children,
)
from relay.lower.destinations import with_destinations
from relay.lower.inputs import InputTypes
from relay.lower.kernel_calls import Constants, KernelOf
from relay.lower.lowering import determined_symbols, extent_checks, input_value, lower_function, result_spec
from relay.lower.place import CheckExtents
from relay.lower.procedures import Procedures, is_deep
from relay.lower.program import Parameter, ProcedureEntry, Program, ProgramFunction, ValueParameter
from relay.lower.refusal import not_native
from relay.lower.run_time_checks import own_symbols
from relay.lower.value_extents import value_extents
from relay.runtime.manifest import CellLabel, ResultSpec, TensorLabel

Checks: TypeAlias = Mapping[GlobalVar, Sequence[Check]]


def lower_module(module: IRModule, checks: Checks, kernel_of: KernelOf) -> Program:
    """The program of a fused module in A-normal form. `checks` are the statements about extents that each function
    makes sure of when it is entered.

    Straight-line functions of tensors get a place for every value; all others become procedures, and those of them
    that take tensors and give data can be entered from outside. `@main` always can.

    Raises `RelayError` (rule `not-native-yet`) that names the expression which native code cannot run.
    """
    constants = Constants()
    procedures = Procedures(module, kernel_of, constants)
    functions: list[ProgramFunction] = []
    entries: list[ProcedureEntry] = []
    types = InputTypes(module, procedures)
    for name, function in module.functions.items():
        if is_straight(function):
            functions.append(lower_function(name, function, checks.get(name, ()), kernel_of, constants))
        elif name.name_hint == "main" or can_be_entered(function, module):
            entries.append(_entry(name, function, checks.get(name, ()), procedures, types))
    procedures.finish()
    made = procedures.finished
    finished = with_destinations(made, procedures.label(CellLabel("tuple"))) if made else made
    by_name = {each.name: each for each in finished}
    failures = tuple(procedures.failures)
    return Program(
        tuple(functions),
        tuple(constants.data),
        constants.size_bytes,
        tuple(finished),
        tuple(replace(each, failures=failures, deep=is_deep(by_name, each.procedure)) for each in entries),
        tuple(procedures.labels),
        tuple(types.data.values()),
    )


def entry_checks(function: Function, module: IRModule) -> tuple[Check, ...]:
    """The run-time checks of a typed function that can be made when it is entered: they speak of its parameters alone,
    and what they belong to is evaluated for certain. The others wait until the run gets there."""
    found = checks_of(function, module)
    if not found:
        return ()
    where = scopes(function.body)
    given = own_symbols(function)
    return tuple(
        each.check
        for each in found
        if (each.node is function or where.of(each.node) is where.root)
        and free_symbols(each.check.condition.left) | free_symbols(each.check.condition.right) <= given
    )


def is_straight(function: Function) -> bool:
    """Whether a function only runs kernels on tensors, one after another, of extents known when it is entered."""
    body: Expr = function.body
    while isinstance(body, Let):
        match body.value:
            case Call(op=Function() as callee) if callee.attrs.get("Primitive"):
                if value_extents(callee) is not None:
                    return False
            case Var() | Constant() | Tuple() | TupleGetItem():
                pass
            case _:
                return False
        body = body.body
    return isinstance(body, (Var, Constant, Tuple)) and all(
        is_of_tensors(each.checked_type) for each in function.params
    )


def is_of_tensors(type_: Type | None) -> bool:
    """Whether a type is a tensor, or a tuple of such."""
    match type_:
        case TensorType():
            return True
        case TupleType(fields):
            return all(map(is_of_tensors, fields))
        case _:
            return False


def can_be_entered(function: Function, module: IRModule) -> bool:
    """Whether callers can make the arguments of a function and take its result."""
    if function.type_params or not all(is_data(each.checked_type, module) for each in function.params):
        return False
    return is_data(function.body.checked_type, module)


def is_data(type_: Type | None, module: IRModule) -> bool:
    """Whether values of a type hold neither functions nor refs."""
    stack: list[Type | None] = [type_]
    met: set[GlobalTypeVar] = set()
    while stack:
        each = stack.pop()
        match each:
            case FuncType() | RefType() | None:
                return False
            case GlobalTypeVar() | TypeCall():
                name = each if isinstance(each, GlobalTypeVar) else each.func
                if name not in met and name in module.type_definitions:
                    met.add(name)
                    stack += [part for made in module.type_definitions[name].constructors for part in made.inputs]
            case _:
                pass
        stack += type_children(each)
    return True


def _entry(
    name: GlobalVar, function: Function, checks: Sequence[Check], procedures: Procedures, types: InputTypes
) -> ProcedureEntry:
    inputs: list[Parameter | ValueParameter] = []
    arguments = tuple(_argument(parameter, inputs, types) for parameter in function.params)
    if not is_data(function.body.checked_type, procedures.module):
        raise not_native(function, f"gives a value of type {function.body.checked_type} to its caller")
    tensors = [each for each in inputs if isinstance(each, Parameter)]
    symbols = determined_symbols(function, tensors)
    made, texts = extent_checks(function, checks, symbols)
    numbered = tuple(
        CheckExtents(check.condition, procedures.failure(text)) for check, text in zip(made, texts, strict=True)
    )
    procedures.label(CellLabel("tuple"))
    labels = tuple(
        procedures.label(TensorLabel(each.type.dtype, len(each.type.shape))) if isinstance(each, Parameter) else None
        for each in inputs
    )
    code = procedures.boxed_procedure_of(name)
    return ProcedureEntry(name.name_hint, code, tuple(inputs), labels, arguments, symbols, numbered, deep=True)


def _argument(parameter: Var, inputs: list[Parameter | ValueParameter], types: InputTypes) -> ResultSpec:
    """A parameter as the inputs it is made of: tensors, nested as its type says, or one value."""
    type_ = parameter.checked_type
    start = len(inputs)
    if is_of_tensors(type_):
        tensors: list[Parameter] = []
        value = input_value(parameter, tensors)
        inputs.extend(tensors)
        return result_spec(value, iter(range(start, len(inputs))))
    if not is_data(type_, types.module):
        raise not_native(parameter, f"takes a parameter of type {type_}")
    inputs.append(ValueParameter(parameter.name_hint, types.told(type_)))
    return start
