"""From a fused function in A-normal form to a function of the Program: each binding becomes instructions, each value
gets its place.

Reshapes are views: their result lives where their input lives, and nothing runs. So are slices of what lies together;
and the parts of a concatenation are written to their place in it (`parts.py`). Results that a kernel makes are written
where the caller wants them; the others are copied there at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from relay.arith.expr import Symbol, free_symbols
from relay.base.diagnostics import CompilerBug, RelayError
from relay.ir.expr import Constant, Expr, Function, GlobalVar, Let, Var
from relay.ir.known_types import known_type
from relay.ir.operator import Check
from relay.ir.types import TensorType, Type
from relay.lower.group import leaf_types
from relay.lower.index_faults import fault_function
from relay.lower.kernel_calls import Constants, KernelOf
from relay.lower.kernel_line import KernelLine, leaves, nested, stored
from relay.lower.parts import write_parts_in_place
from relay.lower.place import CheckExtents, InputPlace, OutputPlace, Place
from relay.lower.placing import placed
from relay.lower.program import Parameter, ProgramFunction
from relay.lower.refusal import not_native
from relay.lower.run_time_checks import failure_text
from relay.lower.straight_line import StoredValue
from relay.runtime.extents import symbol_sources
from relay.runtime.manifest import ResultSpec, TupleSpec


@dataclass(slots=True, eq=False)
class _Entered:
    """What a straight-line function knows: the program's constants, and the failures that it has met."""

    constants: Constants
    failures: dict[str, int]

    def place(self, constant: Constant) -> Place:
        return self.constants.place(constant.data)

    def failure(self, meaning: str) -> int:
        return self.failures.setdefault(meaning, len(self.failures) + 1)

    def fault_function(self, function: Function) -> Function:
        return fault_function(function)


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
    inputs: list[Parameter] = []
    values: dict[Var, StoredValue] = {parameter: input_value(parameter, inputs) for parameter in function.params}
    symbols = determined_symbols(function, inputs)
    instructions, texts = extent_checks(function, checks, symbols)
    failures = {text: number for number, text in enumerate(texts, start=1)}
    line = KernelLine(_Entered(constants, failures), values.__getitem__, lambda type_, _: type_)
    body: Expr = function.body
    while isinstance(body, Let):
        line.bind(body.var, body.value, not apart)
        body = body.body
    results = list(leaves(line.value(body)))
    wanted = [(leaf.storage, OutputPlace(index)) for index, leaf in enumerate(results)]
    steps = line.steps
    if not apart:
        steps = write_parts_in_place(steps, line.parts, [leaf.storage for leaf in results])
    region = placed(steps, line.parts, wanted, kernel_of, {symbol: symbol for symbol in symbols})
    return ProgramFunction(
        name.name_hint,
        tuple(inputs),
        output_parameters([leaf.type for leaf in results]),
        result_spec(known_type(function.body), count()),
        symbols,
        region.arena_bytes,
        (*instructions, *region.instructions),
        tuple(failures),
        region.arena,
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
    return nested(type_, lambda leaf: stored(leaf, next(places)))


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
