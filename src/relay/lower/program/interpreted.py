"""Calling an entry of a program that is interpreted: arguments as objects, results as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import Symbol, evaluate
from relay.base.diagnostics import CompilerBug
from relay.base.dtypes import dtype_of
from relay.lower.program.interpreter import KernelCode, Machine
from relay.lower.program.objects import Bytes, Object, Word
from relay.lower.program.program import Entry, Parameter, Program
from relay.runtime.arguments.extents import symbol_sources
from relay.runtime.artefact.manifest import CellLabel, Label, ResultSpec, TensorLabel
from relay.runtime.values.heap import cell_value
from relay.runtime.values.values import DataValue


def interpreted(program: Program, kernels: Mapping[str, KernelCode], entry: str = "main") -> Callable[..., Any]:
    """What runs an entry on arrays and values, whose tuples are opened, as an executable is called. Functions and refs
    do not cross.

    It raises `RelayError` (rule `check-failed`) where the program fails, and `CompilerBug` where objects are left.
    """
    spec = program.entry(entry)

    def run(*arguments: Any) -> Any:
        call = _Call(Machine(program, kernels, _no_host))
        return call.flat(spec, arguments) if spec.is_flat else call.on_heap(spec, arguments)

    return run


def _no_host(closure: Object, arguments: Sequence[Word]) -> Word:  # noqa: ARG001
    raise CompilerBug("interpret program", "a function of the caller's is called, and none was given")


class _Call:
    """One call of an entry."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.names = machine.program.labels
        self.labels: dict[Label, int] = {each: number for number, each in enumerate(self.names)}

    def flat(self, entry: Entry, arguments: Sequence[Any]) -> Any:
        symbols = self._symbols(entry, arguments)
        shapes = [tuple(evaluate(extent, symbols) for extent in each.type.shape) for each in entry.outputs]
        outputs = [np.empty(shape, each.type.dtype.numpy) for shape, each in zip(shapes, entry.outputs, strict=True)]
        memory = [_bytes(each) for each in (*map(np.asarray, arguments), *outputs)]
        self.machine.call(entry.procedure, memory, [symbols[each] for each in entry.symbols])
        return _nested(entry.copied, outputs, tuple)

    def on_heap(self, entry: Entry, arguments: Sequence[Any]) -> Any:
        self._symbols(entry, arguments)
        words = list(map(self._word, arguments))
        given = [_nested(spec, words, self._tuple) for spec in entry.arguments]
        result = cast("Word", self.machine.call(entry.procedure, given)[0])
        value = self._value(result)
        self.machine.heap.release(result)
        if self.machine.heap.alive:
            left = ", ".join(str(self.names[each.label]) for each in self.machine.heap.alive)
            raise CompilerBug("interpret program", f"when @{entry.name} has ended, these are left: {left}")
        return value

    def _symbols(self, entry: Entry, arguments: Sequence[Any]) -> dict[Symbol, int]:
        """The extents of a call, which its checks hold for."""
        shapes = [each.type.shape if isinstance(each, Parameter) else () for each in entry.inputs]
        found: dict[Symbol, int] = {}
        for symbol, source in symbol_sources(shapes).items():
            value = source.value(np.shape(arguments[source.position])[source.axis])
            if value is None:
                raise CompilerBug("interpret program", f"input {source.position} has no extent `{symbol.name}`")
            found[symbol] = value
        for check in entry.checks:
            self.machine.check(check, found)
        return found

    def _word(self, value: Any) -> Word:
        """A value as a word. Without recursion: lists may be long."""
        order, waiting = list[Any](), [value]
        while waiting:
            order.append(waiting.pop())
            waiting += _fields(order[-1])
        words: list[Word] = []
        for each in reversed(order):
            first = len(words) - len(_fields(each))
            words[first:] = [self._made(each, words[first:])]
        return words[0]

    def _made(self, value: Any, fields: list[Word]) -> Word:
        match value:
            case tuple():
                return self._tuple(fields)
            case DataValue(type_name, constructor):
                return self._cell(CellLabel("data", f"{type_name}.{constructor}"), fields)
            case _:
                array = np.asarray(value)
                label = self.labels[TensorLabel(dtype_of(array.dtype), array.ndim)]
                return self.machine.heap.new(Object(label, [], _bytes(array), array.shape))

    def _tuple(self, fields: Sequence[Word]) -> Word:
        return self._cell(CellLabel("tuple"), fields)

    def _cell(self, label: CellLabel, fields: Sequence[Word]) -> Word:
        number = self.labels[label]
        return self.machine.heap.new(Object(number, [*fields])) if fields else number

    def _value(self, word: Word) -> Any:
        """What a word is worth, copied. Without recursion."""
        order, waiting = list[Word](), [word]
        while waiting:
            order.append(waiting.pop())
            waiting += self._parts(order[-1])
        values: list[Any] = []
        for each in reversed(order):
            label, first = self.names[self.machine.heap.label(each)], len(values) - len(self._parts(each))
            if isinstance(label, TensorLabel):
                values.append(_array(self.machine.heap.used(each), label))
            else:
                values[first:] = [cell_value(label, tuple(values[first:]))]
        return values[0]

    def _parts(self, word: Word) -> list[Word]:
        """The fields of a cell; a tensor has none that is a value."""
        is_cell = isinstance(word, Object) and word.data is None
        return cast("list[Word]", self.machine.heap.used(word).fields) if is_cell else []


def _fields(value: Any) -> tuple[Any, ...]:
    match value:
        case tuple():
            return cast("tuple[Any, ...]", value)
        case DataValue(fields=fields):
            return fields
        case _:
            return ()


def _nested(spec: ResultSpec | None, leaves: Sequence[Any], made: Callable[[list[Any]], Any]) -> Any:
    """Leaves as they nest, by their positions."""
    if spec is None or isinstance(spec, int):
        return leaves[spec or 0]
    return made([_nested(each, leaves, made) for each in spec.fields])


def _bytes(array: NDArray[Any]) -> Bytes:
    """The memory of an array."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _array(tensor: Object, label: TensorLabel) -> NDArray[Any]:
    size = int(np.prod(tensor.shape, dtype=np.int64)) * label.dtype.item_bytes
    data = cast("Bytes", tensor.data)
    return data[:size].view(label.dtype.numpy).reshape(tensor.shape).copy()
