"""From a fused function in A-normal form to a function of the Program: each binding becomes instructions, each value
gets its place.

Reshapes are views: their result lives where their input lives, and nothing runs. Results that a kernel makes are
written where the caller wants them; the others are copied there at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import TypeAlias, Union

from relay.arith.expr import IntExpr, Symbol, free_symbols
from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.frozen import frozen
from relay.ir.expr import Call, Constant, Expr, Function, GlobalVar, Let, Tuple, TupleGetItem, Var
from relay.ir.known_types import known_tensor_type, known_type
from relay.ir.operator import Check
from relay.ir.types import (
    TensorType,
    Type,
)
from relay.lower.group import leaf_types
from relay.lower.kernel_calls import Constants, KernelInfo, KernelOf, extents_of, size_bytes
from relay.lower.place import CheckExtents, InputPlace, OutputPlace, Place, WorkspacePlace
from relay.lower.program import (
    CallKernel,
    CopyBytes,
    Instruction,
    Parameter,
    ProgramFunction,
)
from relay.lower.refusal import not_native
from relay.lower.run_time_checks import failure_text
from relay.lower.storage import Lifetime, plan_storage
from relay.lower.views import is_view
from relay.runtime.extents import symbol_sources
from relay.runtime.manifest import ResultSpec, TupleSpec


@frozen(eq=False)
class _Storage:
    """Memory of one tensor, before it has a place; `fixed` is the place of an input or a constant."""

    size_bytes: IntExpr
    fixed: Place | None = None


@frozen(eq=False)
class _Tensor:
    """A tensor in some storage; the views of one tensor share it."""

    type: TensorType
    storage: _Storage


_Value: TypeAlias = Union[_Tensor, "tuple[_Value, ...]"]


@frozen(eq=False)
class _KernelStep:
    kernel: KernelInfo
    inputs: tuple[_Storage, ...]
    outputs: tuple[_Storage, ...]
    extents: tuple[IntExpr, ...]


def lower_function(
    name: GlobalVar, function: Function, checks: Sequence[Check], kernel_of: KernelOf, constants: Constants
) -> ProgramFunction:
    """A straight-line function, every value of which gets a place. `checks` hold when it is entered.

    Raises `RelayError` (rule `not-native-yet`) that names the expression which it cannot hold.
    """
    environment: dict[Var, _Value] = {}
    inputs: list[Parameter] = []
    for parameter in function.params:
        environment[parameter] = input_value(parameter, inputs)
    symbols = determined_symbols(function, inputs)
    steps: list[_KernelStep] = []
    body: Expr = function.body
    while isinstance(body, Let):
        environment[body.var] = _bound(body.value, environment, steps, kernel_of, constants)
        body = body.body
    result = _atom(body, environment, constants)
    instructions, failures = extent_checks(function, checks, symbols)
    spec = result_spec(known_type(function.body), count())
    return _placed(name.name_hint, inputs, symbols, steps, result, spec, instructions, failures)


def determined_symbols(function: Function, inputs: Sequence[Parameter]) -> tuple[Symbol, ...]:
    """The dimension symbols of a function, all of which its inputs must determine."""
    shapes = [each.type.shape for each in inputs]
    known = tuple(symbol_sources(shapes))
    used = dict.fromkeys(s for shape in shapes for e in shape for s in sorted(free_symbols(e), key=lambda s: s.name))
    unknown = [symbol.name for symbol in used if symbol not in known]
    if unknown:
        raise RelayError(
            rule="undetermined-extent",
            message=f"the extents of the inputs do not determine `{unknown[0]}`",
            span=function.span,
            expected="an axis of an input that is the symbol, or a multiple of it plus a constant",
            found=", ".join(f"%{each.name}: {each.type}" for each in inputs),
        )
    return known


def input_value(parameter: Var, inputs: list[Parameter]) -> _Value:
    type_ = known_type(parameter)
    try:
        leaves = leaf_types(type_)
    except CompilerBug:
        raise not_native(parameter, f"takes a parameter of type {type_}") from None
    names = [parameter.name_hint] if isinstance(type_, TensorType) else [
        f"{parameter.name_hint}.{i}" for i in range(len(leaves))
    ]  # fmt: skip
    start = len(inputs)
    inputs.extend(Parameter(name, leaf) for name, leaf in zip(names, leaves, strict=True))
    places = iter(InputPlace(start + i) for i in range(len(leaves)))
    return _nested(type_, lambda leaf: _tensor(leaf, next(places)))


def _tensor(type_: TensorType, fixed: Place | None = None) -> _Tensor:
    return _Tensor(type_, _Storage(size_bytes(type_), fixed))


def _nested(type_: Type, leaf: Callable[[TensorType], _Tensor]) -> _Value:
    if isinstance(type_, TensorType):
        return leaf(type_)
    fields: tuple[Type, ...] = getattr(type_, "fields", ())
    return tuple(_nested(each, leaf) for each in fields)


def _bound(
    value: Expr,
    environment: Mapping[Var, _Value],
    steps: list[_KernelStep],
    kernel_of: KernelOf,
    constants: Constants,
) -> _Value:
    """The value of a let binding; a kernel call adds a step."""
    match value:
        case Call(op=Function() as function, args=args) if function.attrs.get("Primitive"):
            arguments = [_as_tensor(_atom(argument, environment, constants)) for argument in args]
            if is_view(function):
                return _Tensor(known_tensor_type(value), arguments[0].storage)
            result = _nested(known_type(value), _tensor)
            kernel = kernel_of(function)
            known = extents_of(function, [argument.type for argument in arguments])
            extents = tuple(known.get(symbol, symbol) for symbol in kernel.symbols)
            outputs = tuple(leaf.storage for leaf in _leaves(result))
            steps.append(_KernelStep(kernel, tuple(a.storage for a in arguments), outputs, extents))
            return result
        case Tuple(fields=fields):
            return tuple(_atom(each, environment, constants) for each in fields)
        case TupleGetItem(tuple_value=whole, index=index):
            parts = _atom(whole, environment, constants)
            if isinstance(parts, _Tensor):
                raise CompilerBug("lower", "a field is taken of a tensor")
            return parts[index]
        case _:
            return _atom(value, environment, constants)


def _leaves(value: _Value) -> list[_Tensor]:
    return [value] if isinstance(value, _Tensor) else [leaf for part in value for leaf in _leaves(part)]


def _atom(expr: Expr, environment: Mapping[Var, _Value], constants: Constants) -> _Value:
    match expr:
        case Var():
            return environment[expr]
        case Constant(data=data):
            return _tensor(TensorType(data.shape, expr.dtype), constants.place(data))
        case Tuple(fields=fields):
            return tuple(_atom(each, environment, constants) for each in fields)
        case _:
            raise not_native(expr, f"holds the expression {type(expr).__name__}")


def _as_tensor(value: _Value) -> _Tensor:
    if not isinstance(value, _Tensor):
        raise CompilerBug("lower", "a kernel is given a tuple")
    return value


def extent_checks(
    function: Function, checks: Sequence[Check], symbols: tuple[Symbol, ...]
) -> tuple[list[CheckExtents], tuple[str, ...]]:
    """The checks as instructions, and what each failure means."""
    found: dict[str, CheckExtents] = {}
    for check in checks:
        text = failure_text(check)
        unknown = (free_symbols(check.condition.left) | free_symbols(check.condition.right)) - set(symbols)
        if unknown:
            raise not_native(function, f"checks `{check.condition}`, an extent that its inputs do not determine")
        found.setdefault(text, CheckExtents(check.condition, len(found) + 1))
    return list(found.values()), tuple(found)


def _placed(
    name: str,
    inputs: list[Parameter],
    symbols: tuple[Symbol, ...],
    steps: list[_KernelStep],
    result: _Value,
    spec: ResultSpec,
    checks: list[CheckExtents],
    failures: tuple[str, ...],
) -> ProgramFunction:
    leaves = _leaves(result)
    outputs = output_parameters([leaf.type for leaf in leaves])
    places: dict[_Storage, Place] = {}
    copied: list[tuple[_Storage, OutputPlace]] = []
    for i, leaf in enumerate(leaves):
        if leaf.storage.fixed is not None or leaf.storage in places:
            copied.append((leaf.storage, OutputPlace(i)))
        else:
            places[leaf.storage] = OutputPlace(i)
    workspace_bytes = _plan_workspace(steps, places)
    instructions: list[Instruction] = [*checks]
    for step in steps:
        arguments = tuple(_place(storage, places) for storage in (*step.inputs, *step.outputs))
        instructions.append(CallKernel(step.kernel.name, arguments, len(step.outputs), step.extents))
    for storage, destination in copied:
        instructions.append(CopyBytes(_place(storage, places), destination, storage.size_bytes))
    return ProgramFunction(name, tuple(inputs), outputs, spec, symbols, workspace_bytes, tuple(instructions), failures)


def output_parameters(types: Sequence[TensorType]) -> tuple[Parameter, ...]:
    """The results of a function, as those who call it know them."""
    names = ["output"] if len(types) == 1 else [f"output{i}" for i in range(len(types))]
    return tuple(map(Parameter, names, types))


def result_spec(type_: Type, positions: Iterator[int]) -> ResultSpec:
    """How tensors nest in a value of a type; those of its leaves have these positions."""
    if isinstance(type_, TensorType):
        return next(positions)
    fields: tuple[Type, ...] = getattr(type_, "fields", ())
    return TupleSpec(tuple(result_spec(each, positions) for each in fields))


def _plan_workspace(steps: list[_KernelStep], places: dict[_Storage, Place]) -> IntExpr:
    """Give every storage that is neither an input, a constant nor a result an offset of the workspace. Gives the bytes
    that this needs."""
    last = {storage: time for time, step in enumerate(steps) for storage in (*step.inputs, *step.outputs)}
    first: dict[_Storage, int] = {}
    owner: dict[_Storage, _Storage] = {}  # whose bytes a storage has
    for time, step in enumerate(steps):
        for storage in step.outputs:
            if storage not in places:
                owner[storage] = _overwritten(step, storage, time, last, owner) or storage
                first.setdefault(owner[storage], time)
    end = dict.fromkeys(first, 0)
    for storage, whose in owner.items():
        end[whose] = max(end[whose], last[storage])
    planned = list(first)
    plan = plan_storage([Lifetime(storage.size_bytes, first[storage], end[storage]) for storage in planned])
    offsets = dict(zip(planned, plan.offsets_bytes, strict=True))
    for storage, whose in owner.items():
        places[storage] = WorkspacePlace(offsets[whose])
    return plan.total_bytes


def _overwritten(
    step: _KernelStep, result: _Storage, time: int, last: Mapping[_Storage, int], owner: Mapping[_Storage, _Storage]
) -> _Storage | None:
    """The owner of the bytes of an input that dies here and that the result may be written over."""
    for position in step.kernel.in_place:
        storage = step.inputs[position]
        once = sum(other is storage for other in step.inputs) == 1
        if storage in owner and once and last[storage] == time and storage.size_bytes == result.size_bytes:
            return owner[storage]
    return None


def _place(storage: _Storage, places: Mapping[_Storage, Place]) -> Place:
    return storage.fixed if storage.fixed is not None else places[storage]
