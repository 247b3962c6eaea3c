"""From a fused module in A-normal form to a Program: which form each function takes, and how it is entered."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import count
from typing import TypeAlias

from relay.arith.expr import Symbol, free_symbols
from relay.base.diagnostics import CompilerBug
from relay.infer.checks import checks_of
from relay.ir.datatype import held_types
from relay.ir.expr import Call, Expr, Function, GlobalVar, Var
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.operator import Check
from relay.ir.sharing import let_chain, scopes
from relay.ir.type_traversal import free_type_leaves, type_symbols
from relay.ir.types import (
    ANY,
    FuncType,
    RefType,
    Type,
)
from relay.lower.boundary.donation import donated_parts, with_donations
from relay.lower.boundary.foreign_functions import applying_entry, host_procedure
from relay.lower.boundary.inputs import InputTypes
from relay.lower.boundary.interface import (
    determined_symbols,
    extent_checks,
    input_parameters,
    output_parameters,
    result_spec,
)
from relay.lower.code.run_time_checks import group_checks, own_symbols
from relay.lower.kernels.group import is_of_tensors, leaf_types
from relay.lower.planning.kernel_calls import Constants, KernelInfo, KernelOf
from relay.lower.procedures.destinations import with_destinations
from relay.lower.procedures.device_regions import device_region
from relay.lower.procedures.flat import flat_procedure, is_flat
from relay.lower.procedures.outputs import made_in_outputs
from relay.lower.procedures.procedures import Procedures, is_deep
from relay.lower.program.device import Device
from relay.lower.program.procedure import Procedure
from relay.lower.program.program import Entry, Parameter, Program, ValueParameter
from relay.lower.refusal import not_crossing
from relay.runtime.artefact.manifest import CellLabel, ResultSpec
from relay.transform.devices.flows import held_on_devices, result_devices

Checks: TypeAlias = Mapping[GlobalVar, Sequence[Check]]


def lower_module(
    module: IRModule, checks: Checks, kernel_of: KernelOf, apart: bool = False, donate: Sequence[str] = ()
) -> Program:
    """The program of a fused module in A-normal form. `checks` are the statements about extents that each function
    of the program as it was given makes sure of when it is entered; `apart`: values are no parts of others; `donate`:
    the inputs of `@main` whose memory its results take where they can.

    Functions that only run kernels on tensors become flat procedures, which use no heap. Of the functions that were
    given, these and all others that take tensors and give data can be entered from outside; `@main` always can.

    Raises `RelayError` (rule `not-native-yet`) that names the expression which native code cannot run.
    """
    constants = Constants()
    on_devices: dict[str, Function] = {}

    def called(function: Function) -> KernelInfo:
        info = kernel_of(function)
        if info.on_device:
            on_devices.setdefault(info.name, function)
        return info

    devices = {key: Device.parse(each) for key, each in held_on_devices(module).items()}
    procedures = Procedures(module, called, constants, devices, apart)
    entries: list[Entry] = []
    flat: list[Procedure] = []
    types = InputTypes(module, procedures)
    for name, function in module.functions.items():
        if is_flat(function):
            entry = _flat_entry(name, function, checks.get(name, ()), procedures)
            donated = [each.donation.input for each in donated_parts(entry, donate)]
            procedure, donations = flat_procedure(
                entry.procedure, function, entry.symbols, procedures, called, apart, donated
            )
            flat.append(procedure)
            if name in checks:
                entries.append(replace(entry, donations=donations))
        elif name.name_hint == "main" or (name in checks and can_be_entered(function, module)):
            entry = _entry(name, function, checks.get(name, ()), procedures, types)
            entries.append(with_donations(entry, donated_parts(entry, donate), types.data))
    procedures.finish()
    made = procedures.finished
    arities = tuple(sorted(types.arities))
    applying = tuple(map(applying_entry, arities))
    finished = with_destinations(made, procedures.label(CellLabel("tuple"))) if made else made
    finished = made_in_outputs(finished, entries)
    finished = [*flat, *finished, *(each for _, each in applying), *map(host_procedure, arities)]
    regions = tuple(device_region(each, kernel_of(each), procedures, kernel_of) for each in on_devices.values())
    by_name = {each.name: each for each in finished}

    def finish(entry: Entry) -> Entry:
        starts = by_name if arities else [entry.procedure]  # a function that comes in may be any that came out
        return replace(entry, deep=not entry.is_flat and is_deep(by_name, starts))

    return Program(
        tuple(finished),
        tuple(map(finish, entries)),
        tuple(constants.data),
        constants.size_bytes,
        tuple(procedures.labels),
        tuple(types.data.values()),
        device_regions=regions,
        applying=tuple(finish(entry) for entry, _ in applying),
        failures=tuple(procedures.failures),
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
        if (each.node is function or where.of(each.node) is where.root) and _speaks_of(each.check) <= given
    )


def _speaks_of(check: Check) -> AbstractSet[Symbol]:
    return free_symbols(check.condition.left) | free_symbols(check.condition.right)


def can_be_entered(function: Function, module: IRModule) -> bool:
    """Whether callers can make the arguments of a function and take its result: none are on a device."""
    if (
        function.type_params
        or result_devices(function)
        or not all(is_data(each.checked_type, module) for each in function.params)
    ):
        return False
    return is_data(function.body.checked_type, module)


def is_data(type_: Type | None, module: IRModule) -> bool:
    """Whether values of a type hold neither functions nor refs."""
    return type_ is not None and not any(
        isinstance(each, FuncType | RefType) for each in held_types(type_, module.type_definitions)
    )


def can_cross(type_: Type, module: IRModule) -> bool:
    """Whether callers can make values of a type, or take them: neither they nor functions among them are generic."""
    generic = any(
        isinstance(each, FuncType) and each.type_params for each in held_types(type_, module.type_definitions)
    )
    return not generic and not free_type_leaves(type_)


def _flat_entry(name: GlobalVar, function: Function, checks: Sequence[Check], procedures: Procedures) -> Entry:
    inputs = [each for parameter in function.params for each in input_parameters(parameter)]
    symbols = determined_symbols(function, inputs)
    given = known_type(function.body)
    lets, _ = let_chain(function.body)
    kernels = [let.value.op for let in lets if isinstance(let.value, Call) and isinstance(let.value.op, Function)]
    sure = [each for kernel in kernels for each in group_checks(kernel) if _speaks_of(each) <= {*symbols}]
    return Entry(
        name.name_hint,
        procedures.fresh_name(name.name_hint),
        tuple(inputs),
        symbols,
        extent_checks(function, (*checks, *sure), symbols, procedures.failure),  # some are sure since optimization
        is_flat=True,
        outputs=output_parameters(leaf_types(given)),
        copied=result_spec(given, count()),
    )


def _entry(
    name: GlobalVar, function: Function, checks: Sequence[Check], procedures: Procedures, types: InputTypes
) -> Entry:
    types.begin(symbol for each in function.params for symbol in type_symbols(_typed(each)))
    inputs: list[Parameter | ValueParameter] = []
    arguments = tuple(_argument(parameter, inputs, types) for parameter in function.params)
    given = _result_type(function)
    if not can_cross(given, procedures.module):
        raise not_crossing(function, f"`{name.name_hint}` gives a value of type {given}")
    tensors = [each for each in inputs if isinstance(each, Parameter)]
    symbols = determined_symbols(function, tensors)
    told = [each for each in checks if _speaks_of(each) <= {*symbols}]
    made = extent_checks(function, told, symbols, procedures.failure)  # tensors inside values tell theirs in the run
    procedures.label(CellLabel("tuple"))
    for each in tensors:
        procedures.label(each.label)
    code = procedures.boxed_procedure_of(name)
    is_simple = all(is_data(each.checked_type, procedures.module) for each in function.params)
    outputs, copied = _copied(given, symbols) if is_simple else ((), None)
    return Entry(
        name.name_hint,
        code,
        tuple(inputs),
        symbols,
        made,
        arguments,
        result=types.told(given),
        outputs=outputs,
        copied=copied,
    )


def _copied(given: Type, symbols: Collection[Symbol]) -> tuple[tuple[Parameter, ...], ResultSpec | None]:
    """The tensors of a result and how they nest, where it holds nothing else and inputs tell their extents."""
    if not is_of_tensors(given):
        return (), None
    leaves = leaf_types(given)
    if not all(each is not ANY and free_symbols(each) <= set(symbols) for leaf in leaves for each in leaf.shape):
        return (), None
    return output_parameters(leaves), result_spec(given, count())


def _argument(parameter: Var, inputs: list[Parameter | ValueParameter], types: InputTypes) -> ResultSpec:
    """A parameter as the inputs it is made of: tensors, nested as its type says, or one value."""
    type_ = _typed(parameter)
    start = len(inputs)
    if is_of_tensors(type_):
        inputs.extend(input_parameters(parameter))
        return result_spec(type_, count(start))
    if not can_cross(type_, types.module):
        raise not_crossing(parameter, f"%{parameter.name_hint} is of type {type_}")
    inputs.append(ValueParameter(parameter.name_hint, types.told(type_)))
    return start


def _result_type(function: Function) -> Type:
    type_ = _typed(function)
    if not isinstance(type_, FuncType):
        raise CompilerBug("lower", f"a function of type {type_}")
    return type_.ret_type


def _typed(expr: Expr) -> Type:
    if expr.checked_type is None:
        raise CompilerBug("lower", f"a {type(expr).__name__} without a type")
    return expr.checked_type
