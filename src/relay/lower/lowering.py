"""From a fused function in A-normal form to a function of the Program: each binding becomes instructions, each value
gets its place.

Reshapes are views: their result lives where their input lives, and nothing runs. So are slices of what lies together;
and the parts of a concatenation are written to their place in it (`parts.py`). Results that a kernel makes are written
where the caller wants them; the others are copied there at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count

from relay.arith.expr import Symbol, free_symbols
from relay.base.diagnostics import CompilerBug, RelayError
from relay.ir.expr import Call, Constant, Expr, Function, GlobalVar, Let, Tuple, TupleGetItem, Var
from relay.ir.known_types import known_tensor_type, known_type
from relay.ir.operator import Check
from relay.ir.types import TensorType, Type
from relay.lower.group import leaf_types
from relay.lower.index_faults import FAULT_TYPE, fault_function, index_user
from relay.lower.kernel_calls import Constants, KernelOf, size_bytes
from relay.lower.parts import slices, write_parts_in_place
from relay.lower.place import CheckExtents, InputPlace, Place
from relay.lower.placing import placed
from relay.lower.program import Parameter, ProgramFunction
from relay.lower.refusal import not_native
from relay.lower.run_time_checks import failure_text
from relay.lower.straight_line import KernelStep, Part, Storage, StoredTensor, StoredValue
from relay.lower.views import is_view
from relay.runtime.extents import symbol_sources
from relay.runtime.manifest import ResultSpec, TupleSpec
from relay.runtime.status import index_failure_text


def lower_function(
    name: GlobalVar,
    function: Function,
    checks: Sequence[Check],
    kernel_of: KernelOf,
    constants: Constants,
    apart: bool = False,
) -> ProgramFunction:
    """A straight-line function, every value of which gets a place. `checks` hold when it is entered; `apart`: no value
    is a part of another.

    Raises `RelayError` (rule `not-native-yet`) that names the expression which it cannot hold.
    """
    environment: dict[Var, StoredValue] = {}
    inputs: list[Parameter] = []
    for parameter in function.params:
        environment[parameter] = input_value(parameter, inputs)
    symbols = determined_symbols(function, inputs)
    instructions, texts = extent_checks(function, checks, symbols)
    failures = {text: number for number, text in enumerate(texts, start=1)}
    steps: list[KernelStep] = []
    parts: dict[Storage, Part] = {}
    body: Expr = function.body
    while isinstance(body, Let):
        environment[body.var] = _bound(body.value, environment, steps, None if apart else parts, constants, failures)
        body = body.body
    result = _atom(body, environment, constants)
    leaves = _leaves(result)
    if not apart:
        steps = write_parts_in_place(steps, parts, [leaf.storage for leaf in leaves])
    code = placed(steps, parts, leaves, kernel_of)
    return ProgramFunction(
        name.name_hint,
        tuple(inputs),
        output_parameters([leaf.type for leaf in leaves]),
        result_spec(known_type(function.body), count()),
        symbols,
        code.workspace_bytes,
        (*instructions, *code.instructions),
        tuple(failures),
        code.arena,
    )


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


def input_value(parameter: Var, inputs: list[Parameter]) -> StoredValue:
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


def _tensor(type_: TensorType, fixed: Place | None = None) -> StoredTensor:
    return StoredTensor(type_, Storage(size_bytes(type_), fixed))


def _nested(type_: Type, leaf: Callable[[TensorType], StoredTensor]) -> StoredValue:
    if isinstance(type_, TensorType):
        return leaf(type_)
    fields: tuple[Type, ...] = getattr(type_, "fields", ())
    return tuple(_nested(each, leaf) for each in fields)


def _bound(
    value: Expr,
    environment: Mapping[Var, StoredValue],
    steps: list[KernelStep],
    parts: dict[Storage, Part] | None,
    constants: Constants,
    failures: dict[str, int],
) -> StoredValue:
    """The value of a let binding; a kernel call adds a step, or one of `parts`, if there may be any. `failures` are the
    numbers of those that the function knows."""
    match value:
        case Call(op=Function() as function, args=args) if function.attrs.get("Primitive"):
            arguments = tuple(_as_tensor(_atom(argument, environment, constants)) for argument in args)
            user = index_user(function)
            if user:
                number = failures.setdefault(index_failure_text(user), len(failures) + 1)
                found = (Storage(size_bytes(FAULT_TYPE)),)
                steps.append(KernelStep(fault_function(function), arguments, found, failure=number))
            if is_view(function):
                return StoredTensor(known_tensor_type(value), arguments[0].storage)
            result = _nested(known_type(value), _tensor)
            outputs = tuple(leaf.storage for leaf in _leaves(result))
            found = None if parts is None else slices(function, arguments)
            if parts is not None and found is not None:
                parts.update(zip(outputs, found, strict=True))
            else:
                steps.append(KernelStep(function, arguments, outputs))
            return result
        case Tuple(fields=fields):
            return tuple(_atom(each, environment, constants) for each in fields)
        case TupleGetItem(tuple_value=whole, index=index):
            fields = _atom(whole, environment, constants)
            if isinstance(fields, StoredTensor):
                raise CompilerBug("lower", "a field is taken of a tensor")
            return fields[index]
        case _:
            return _atom(value, environment, constants)


def _leaves(value: StoredValue) -> list[StoredTensor]:
    return [value] if isinstance(value, StoredTensor) else [leaf for part in value for leaf in _leaves(part)]


def _atom(expr: Expr, environment: Mapping[Var, StoredValue], constants: Constants) -> StoredValue:
    match expr:
        case Var():
            return environment[expr]
        case Constant(data=data):
            return _tensor(TensorType(data.shape, expr.dtype), constants.place(data))
        case Tuple(fields=fields):
            return tuple(_atom(each, environment, constants) for each in fields)
        case _:
            raise not_native(expr, f"holds the expression {type(expr).__name__}")


def _as_tensor(value: StoredValue) -> StoredTensor:
    if not isinstance(value, StoredTensor):
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
            raise not_native(function, f"checks `{check.text}`, an extent that its inputs do not determine")
        found.setdefault(text, CheckExtents(check.condition, len(found) + 1))
    return list(found.values()), tuple(found)


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
