"""What callers of a program see: the tensors that they hand in and are given, how they nest, and what their extents
must be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from relay.arith.expr import Symbol, free_symbols
from relay.base.diagnostics import CompilerBug, RelayError
from relay.ir.expr import Function, Var
from relay.ir.known_types import known_type
from relay.ir.operator import Check
from relay.ir.types import TensorType, Type
from relay.lower.code.run_time_checks import failure_of
from relay.lower.kernels.group import leaf_types
from relay.lower.program.place import CheckExtents
from relay.lower.program.program import Parameter
from relay.lower.refusal import not_native
from relay.runtime.arguments.extents import symbol_sources
from relay.runtime.artefact.failures import Failure
from relay.runtime.artefact.manifest import ResultSpec, TupleSpec


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


def input_parameters(parameter: Var) -> list[Parameter]:
    """The tensors that callers hand in for a parameter. Raises `RelayError` (rule `not-native-yet`) for what holds
    anything else."""
    type_ = known_type(parameter)
    try:
        leaves = leaf_types(type_)
    except CompilerBug:
        raise not_native(parameter, f"takes a parameter of type {type_}") from None
    if isinstance(type_, TensorType):
        return [Parameter(parameter.name_hint, type_)]
    return [Parameter(f"{parameter.name_hint}.{index}", leaf) for index, leaf in enumerate(leaves)]


def extent_checks(
    function: Function, checks: Sequence[Check], symbols: Sequence[Symbol], failure: Callable[[Failure], int]
) -> tuple[CheckExtents, ...]:
    """The checks as instructions; `failure` numbers what it means that one does not hold."""
    found: dict[int, CheckExtents] = {}
    for check in checks:
        unknown = (free_symbols(check.condition.left) | free_symbols(check.condition.right)) - set(symbols)
        if unknown:
            raise not_native(function, f"checks `{check.text}`, an extent that its inputs do not determine")
        number = failure(failure_of(check))
        found.setdefault(number, CheckExtents(check.condition, number))
    return tuple(found.values())


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
