"""Calling an entry of a program that is interpreted: arguments as objects, results as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from relay.arith.expr import Symbol, evaluate
from relay.base.diagnostics import CompilerBug
from relay.lower.program.interpretation.crossing import Crossing, bytes_of
from relay.lower.program.interpretation.interpreter import KernelCode, Machine
from relay.lower.program.interpretation.objects import Object, Word
from relay.lower.program.program import Entry, Parameter, Program, ValueParameter
from relay.runtime.arguments.extents import symbol_sources
from relay.runtime.artefact.manifest import CellLabel, ResultSpec
from relay.runtime.artefact.value_types import TensorOf, ValueType


def interpreted(program: Program, kernels: Mapping[str, KernelCode], entry: str = "main") -> Callable[..., Any]:
    """What runs an entry on arrays and values, as an executable is called; tuples of tensors may be opened.

    It raises `RelayError` (rule `check-failed`) where the program fails, and `CompilerBug` where objects are left.
    """
    spec = program.entry(entry)
    machine = Machine(program, kernels, _no_host)
    crossing = Crossing(machine)

    def run(*arguments: Any) -> Any:
        given = _leaves(spec, arguments)
        symbols = _symbols(spec, machine, given)
        return _flat(spec, machine, given, symbols) if spec.is_flat else _on_heap(spec, crossing, given)

    return run


def _no_host(closure: Object, arguments: Sequence[Word]) -> Word:  # noqa: ARG001
    raise CompilerBug("interpret program", "a function of the caller's is called, and none was given")


def _leaves(entry: Entry, arguments: Sequence[Any]) -> list[Any]:
    """The inputs, each alone."""
    specs = entry.arguments or tuple(range(len(entry.inputs)))
    if len(arguments) == len(entry.inputs) != len(specs):
        return list(arguments)
    waiting = list(zip(reversed(specs), reversed(arguments), strict=True))
    found: list[Any] = []
    while waiting:
        spec, value = waiting.pop()
        if isinstance(spec, int):
            found.append(value)
        else:
            waiting += zip(reversed(spec.fields), reversed(value), strict=True)
    return found


def _symbols(entry: Entry, machine: Machine, arguments: Sequence[Any]) -> dict[Symbol, int]:
    """The extents of a call, which its checks hold for."""
    shapes = [each.type.shape if isinstance(each, Parameter) else () for each in entry.inputs]
    found: dict[Symbol, int] = {}
    for symbol, source in symbol_sources(shapes).items():
        value = source.value(np.shape(arguments[source.position])[source.axis])
        if value is None:
            raise CompilerBug("interpret program", f"input {source.position} has no extent `{symbol.name}`")
        found[symbol] = value
    for check in entry.checks:
        machine.check(check, found)
    return found


def _flat(entry: Entry, machine: Machine, arguments: Sequence[Any], symbols: Mapping[Symbol, int]) -> Any:
    shapes = [tuple(evaluate(extent, symbols) for extent in each.type.shape) for each in entry.outputs]
    outputs = [np.empty(shape, each.type.dtype.numpy) for shape, each in zip(shapes, entry.outputs, strict=True)]
    memory = [bytes_of(each) for each in (*map(np.asarray, arguments), *outputs)]
    machine.call(entry.procedure, memory, [symbols[each] for each in entry.symbols])
    return _nested(entry.copied, outputs, tuple)


def _on_heap(entry: Entry, crossing: Crossing, arguments: Sequence[Any]) -> Any:
    def as_tuple(fields: list[Word]) -> Word:
        return crossing.cell(CellLabel("tuple"), fields)

    def words() -> list[Word]:
        made = [crossing.word(value, _type(each)) for value, each in zip(arguments, entry.inputs, strict=True)]
        return [_nested(spec, made, as_tuple) for spec in entry.arguments]

    return crossing.call(entry.procedure, words, entry.result)


def _type(parameter: Parameter | ValueParameter) -> ValueType:
    """What callers hand in; the extents of tensors do not matter."""
    if isinstance(parameter, ValueParameter):
        return parameter.type
    return TensorOf((None,) * len(parameter.type.shape), parameter.type.dtype)


def _nested(spec: ResultSpec | None, leaves: Sequence[Any], made: Callable[[list[Any]], Any]) -> Any:
    """Leaves as they nest, by their positions."""
    if spec is None or isinstance(spec, int):
        return leaves[spec or 0]
    return made([_nested(each, leaves, made) for each in spec.fields])
