"""Values that cross the boundary of a program that is interpreted: objects of its heap, and what Python has for them.

Data are copied. A function that comes out holds its closure, and is run where that was made; one of Python's that goes
in is a closure whose code asks for it. A ref is one object on either side: each has what the other wrote when a call
begins, when it ends, and around what Python does in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, assert_never, cast
from weakref import WeakSet, finalize

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen, mutable
from relay.lower.program.interpretation.interpreter import Machine
from relay.lower.program.interpretation.objects import Bytes, Heap, Object, Word
from relay.runtime.artefact.manifest import CellLabel, Label, TensorLabel
from relay.runtime.artefact.value_types import (
    DataOf,
    FunctionOf,
    ParameterOf,
    RefOf,
    TensorOf,
    TupleOf,
    ValueType,
    instantiated,
)
from relay.runtime.values.heap import cell_value
from relay.runtime.values.values import RefValue, as_data


class InterpretedFunction:
    """A function that came out, with what it took along."""

    __slots__ = ("__weakref__", "closure", "crossing", "type")

    def __init__(self, crossing: Crossing, closure: Object, type_: FunctionOf) -> None:
        self.crossing, self.closure, self.type = crossing, closure, type_

    def __call__(self, *arguments: Any) -> Any:
        crossing, heap = self.crossing, self.crossing.machine.heap

        def words() -> list[Word]:
            given = [crossing.word(each, type_) for each, type_ in zip(arguments, self.type.parameters, strict=True)]
            heap.retain(self.closure)
            return [self.closure, *given]

        return crossing.call(str(self.closure.fields[0]), words, self.type.result)


@frozen(eq=False)
class _Given:
    """A function of Python's, and its type."""

    function: Callable[..., Any]
    type: FunctionOf


@mutable
class _Shared:
    """A ref that is known on both sides: the type of what it holds, the word that it held last, and the value of
    Python's that stands for that."""

    ref: RefValue
    type: ValueType
    word: Word | None = None
    value: Any = None


class Crossing:
    """The values of one program. It is its machine's host."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        machine.host = self._call_python
        self._names = machine.program.labels
        self._labels: Mapping[Label, int] = {each: number for number, each in enumerate(self._names)}
        self._data = {each.name: each.constructors for each in machine.program.data}
        self._shared: dict[Object, _Shared] = {}
        self._objects: dict[RefValue, Object] = {}
        self._given: dict[Object, _Given] = {}
        self._functions: WeakSet[InterpretedFunction] = WeakSet()
        self._running = 0

    # ------------------------------------------------------------------------------------------------------- calls

    def call(self, procedure: str, words: Callable[[], Sequence[Word]], type_: ValueType | None) -> Any:
        """What a procedure gives for words that are made when refs are what Python has written. Raises `RelayError`
        where the program fails, and `CompilerBug` where counts are wrong when it has ended."""
        heap = self.machine.heap
        if not self._running:
            self._objects = {ref: each for ref, each in self._objects.items() if each in heap.alive}
            self._shared = {each: self._shared[each] for each in self._objects.values()}
            for each in self._shared:
                heap.retain(each)
        self._running += 1
        has_ended = False
        try:
            self._take_refs()
            (result,) = cast("tuple[Word]", self.machine.call(procedure, words()))
            value = self.value(result, type_)
            heap.release(result)
            has_ended = True
            return value
        finally:
            self._running -= 1
            self._give_refs()
            if not self._running:
                for each in self._shared:
                    heap.release(each)
                self._check(procedure if has_ended else "")

    def _check(self, procedure: str) -> None:
        """Make sure that every count is that of the users, where a call has ended well (`procedure`). What only has
        itself for users, through refs, is freed, and so is what a call leaves that fails."""
        heap = self.machine.heap
        users = Counter(field for each in heap.alive for field in each.fields if isinstance(field, Object))
        users.update(each.closure for each in self._functions)
        left = [str(self._names[each.label]) for each in heap.alive if each.count != users[each]]
        if procedure and left:
            raise CompilerBug("interpret program", f"when @{procedure} has ended, these are left: {', '.join(left)}")
        kept: dict[Object, None] = {}
        waiting = [each.closure for each in self._functions]
        while waiting:
            each = waiting.pop()
            if each not in kept:
                kept[each] = None
                waiting += (field for field in each.fields if isinstance(field, Object))
        for each in kept:
            each.count = users[each]
        heap.alive = kept

    def _call_python(self, closure: Object, arguments: Sequence[Word]) -> Word:
        """A function of Python's, which sees refs as they are, and may write them."""
        given = self._given[closure]
        self._give_refs()
        values = [self.value(each, type_) for each, type_ in zip(arguments, given.type.parameters, strict=True)]
        result = given.function(*values)
        self._take_refs()
        return self.word(result, given.type.result)

    # -------------------------------------------------------------------------------------------------------- refs

    def _take_refs(self) -> None:
        """Have refs hold what Python has written."""
        for each, shared in list(self._shared.items()):
            if shared.ref.value is not shared.value:
                before, shared.value = each.fields[0], shared.ref.value
                each.fields[0] = shared.word = self.word(shared.value, shared.type)
                self.machine.heap.release(cast("Word", before))

    def _give_refs(self) -> None:
        """Write what refs hold to Python's; what that holds may be refs that are met now."""
        changed = True
        while changed:
            changed = False
            for each, shared in list(self._shared.items()):
                if each.fields[0] != shared.word:
                    changed = True
                    shared.word = cast("Word", each.fields[0])
                    shared.value = shared.ref.value = self.value(shared.word, shared.type)

    def _ref_object(self, ref: RefValue, type_: RefOf) -> Object:
        """The object of a ref that goes in."""
        known = self._objects.get(ref)
        if known is None:
            known = self._share(self.machine.heap.new(Object(self._labels[CellLabel("ref")], [0])), ref, type_)
            shared = self._shared[known]
            shared.value = ref.value
            known.fields[0] = shared.word = self.word(ref.value, type_.value)
        else:
            self.machine.heap.retain(known)
        return known

    def _share(self, made: Object, ref: RefValue, type_: RefOf) -> Object:
        """Know a ref until the call ends, or as long as functions that came out hold it."""
        self.machine.heap.retain(made)
        self._objects[ref] = made
        self._shared[made] = _Shared(ref, type_.value)
        return made

    # ---------------------------------------------------------------------------------------------------------- in

    def word(self, value: Any, type_: ValueType) -> Word:
        """A value as a word. Without recursion: lists may be long."""
        order: list[tuple[Any, ValueType, int]] = []
        waiting = [(value, type_)]
        while waiting:
            each, told = waiting.pop()
            if isinstance(told, DataOf):
                each = as_data(each, told.name)
            parts = self._parts_of_value(each, told)
            order.append((each, told, len(parts)))
            waiting += parts
        words: list[Word] = []
        for each, told, count in reversed(order):
            first = len(words) - count
            words[first:] = [self._made(each, told, words[first:])]
        return words[0]

    def _parts_of_value(self, value: Any, type_: ValueType) -> list[tuple[Any, ValueType]]:
        match type_:
            case TupleOf(fields):
                return list(zip(value, fields, strict=True))
            case DataOf():
                return list(zip(value.fields, self._fields(type_, value.constructor), strict=True))
            case _:
                return []

    def _fields(self, type_: DataOf, constructor: str) -> list[ValueType]:
        return [instantiated(each, type_.arguments) for each in self._data[type_.name][constructor]]

    def _made(self, value: Any, type_: ValueType, fields: list[Word]) -> Word:
        heap = self.machine.heap
        match type_:
            case TensorOf(shape, dtype):
                array = value if isinstance(value, np.ndarray | np.generic) else np.asarray(value, dtype.numpy)
                return heap.new(Object(self._labels[TensorLabel(dtype, len(shape))], [], bytes_of(array), array.shape))
            case TupleOf():
                return self.cell(CellLabel("tuple"), fields)
            case DataOf(name):
                return self.cell(CellLabel("data", f"{name}.{value.constructor}"), fields)
            case RefOf():
                return self._ref_object(value, type_)
            case FunctionOf(parameters) if isinstance(value, InterpretedFunction) and value.crossing is self:
                heap.retain(value.closure)
                return value.closure
            case FunctionOf(parameters):
                made = heap.new(Object(self._labels[CellLabel("closure")], [f"host${len(parameters)}"]))
                self._given[made] = _Given(value, type_)
                return made
            case ParameterOf():
                raise CompilerBug("interpret program", f"{type_} stands for no type here")
            case _:
                assert_never(type_)

    def cell(self, label: CellLabel, fields: Sequence[Word]) -> Word:
        number = self._labels[label]
        return self.machine.heap.new(Object(number, [*fields])) if fields else number

    # --------------------------------------------------------------------------------------------------------- out

    def value(self, word: Word, type_: ValueType | None) -> Any:
        """What a word is worth, whose owner keeps it. Without recursion. `type_` is None where it holds neither
        functions nor refs: then its labels tell it all."""
        order: list[tuple[Word, ValueType | None, int]] = []
        waiting: list[tuple[Word, ValueType | None]] = [(word, type_)]
        while waiting:
            each, told = waiting.pop()
            parts = self._parts(each, told)
            order.append((each, told, len(parts)))
            waiting += parts
        values: list[Any] = []
        for each, told, count in reversed(order):
            first = len(values) - count
            values[first:] = [self._read(each, told, tuple(values[first:]))]
        return values[0]

    def _parts(self, word: Word, type_: ValueType | None) -> list[tuple[Word, ValueType | None]]:
        label = self._names[self.machine.heap.label(word)]
        if not isinstance(word, Object) or isinstance(label, TensorLabel) or label.kind in ("closure", "ref"):
            return []
        fields = cast("list[Word]", self.machine.heap.used(word).fields)
        match type_:
            case TupleOf(types):
                return list(zip(fields, types, strict=True))
            case DataOf():
                return list(zip(fields, self._fields(type_, label.name.rpartition(".")[2]), strict=True))
            case _:
                return [(each, None) for each in fields]

    def _read(self, word: Word, type_: ValueType | None, fields: tuple[Any, ...]) -> Any:
        label = self._names[self.machine.heap.label(word)]
        match type_:
            case FunctionOf() if isinstance(word, Object):
                return self._function(word, type_)
            case RefOf() if isinstance(word, Object):
                made = word if word in self._shared else self._share(word, RefValue(None), type_)
                return self._shared[made].ref
            case _ if isinstance(label, TensorLabel):
                return _array(self.machine.heap, word, label)
            case _:
                return cell_value(label, fields)

    def _function(self, closure: Object, type_: FunctionOf) -> Any:
        if closure in self._given:
            return self._given[closure].function
        made = InterpretedFunction(self, closure, type_)
        self._functions.add(made)
        self.machine.heap.retain(closure)
        finalize(made, self._drop, closure)
        return made

    def _drop(self, closure: Object) -> None:
        if closure in self.machine.heap.alive:
            self.machine.heap.release(closure)


def bytes_of(array: NDArray[Any] | np.generic) -> Bytes:
    """The memory of an array."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _array(heap: Heap, word: Word, label: TensorLabel) -> NDArray[Any]:
    data, shape = heap.data(word), heap.used(word).shape
    size = int(np.prod(shape, dtype=np.int64)) * label.dtype.item_bytes
    return data[:size].view(label.dtype.numpy).reshape(shape).copy()
