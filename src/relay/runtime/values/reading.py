"""What a call left on its heap, where functions and refs may be met: values by their types, and what functions hold by
the labels alone (see `stored`). Everything is copied but the refs that the call was given: those are written."""

from __future__ import annotations

from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import CompilerBug
from relay.runtime.arguments.extents import Extents
from relay.runtime.artefact.manifest import CellLabel, TensorLabel
from relay.runtime.values.boundary import CallState, SharedRef
from relay.runtime.values.heap import (
    DATA_OFFSET_BYTES,
    cell_value,
    label_number,
    read_fields,
    read_shape,
    read_tensor,
    read_word,
)
from relay.runtime.values.plans import DataPlan, FunctionPlan, Plan, RefPlan, TensorPlan, TuplePlan
from relay.runtime.values.stored import UNTOLD, HostFunction, NativeFunction, StoredCell, Told
from relay.runtime.values.values import RefValue


class Reader:
    """Reads the heap of one call at one moment. What is shared there is shared in what is read."""

    def __init__(self, state: CallState) -> None:
        self.state = state
        self.labels = state.boundary.plans.names
        self._refs = dict(state.refs)
        self._values: dict[tuple[int, Plan], Any] = {}
        self._stored: dict[int, Any] = {}
        self._unfilled: list[tuple[int, StoredCell]] = []

    def value(self, word: int, plan: Plan, extents: Extents) -> Any:
        """The value of a word, of a type; symbols in it stand for `extents`, to which its tensors add what they tell.
        Without recursion: lists may be long."""
        values = self._values
        stack = [(word, plan)]
        while stack:
            key = stack[-1]
            if key in values:
                stack.pop()
                continue
            each, how = key
            label = self.labels[label_number(each)]
            match how:
                case TensorPlan():
                    values[key] = array = read_tensor(each, _tensor_label(label))
                    if how.shape is None:
                        _ = all(map(extents.agree, how.type.shape, array.shape))
                    continue
                case FunctionPlan():
                    values[key] = self._function(each, how, extents)
                    continue
                case RefPlan():
                    values[key] = self._told(each, how, extents)
                    continue
                case TuplePlan(fields=plans):
                    pass
                case DataPlan():
                    _, plans = how.constructors[str(label).rpartition(".")[2]]
                case _:
                    assert_never(how)
            inner = list(zip(read_fields(each), plans, strict=True))
            waiting = [part for part in inner if part not in values]
            if waiting:
                stack.extend(waiting)
            elif isinstance(label, CellLabel):
                values[key] = cell_value(label, tuple(values[part] for part in inner))
        return values[word, plan]

    def finish(self) -> None:
        """Fill what was read with what it holds, and write the refs of the call."""
        done: set[int] = set()
        while True:
            told = [each for each in self._waiting(done) if isinstance(each.ref.holds, Told)]
            for each in told:
                done.add(each.address)
                self._write(each)
            if not told and not self._fill():
                untold = self._waiting(done)
                if not untold:
                    return
                for each in untold:
                    done.add(each.address)
                    self._write(each)

    def _waiting(self, done: set[int]) -> list[SharedRef]:
        return [each for address, each in self._refs.items() if address not in done]

    def _write(self, shared: SharedRef) -> None:
        """Write to a ref what it holds on the heap."""
        if not shared.is_written and not shared.newly_told:
            return
        ref = shared.ref
        if isinstance(ref.holds, Told):
            known = Extents(dict(ref.holds.extents))
            ref.value = self.value(shared.word, self.state.boundary.plans.of(ref.holds.type), known)
        else:
            ref.value = self._part(shared.word)
        shared.newly_told = False
        shared.written = ref.value

    # ------------------------------------------------------------------------------------------ functions and refs

    def _function(self, word: int, plan: FunctionPlan, extents: Extents) -> Any:
        stored = self._part(word)
        if isinstance(stored, HostFunction):
            return stored.function
        return NativeFunction(self.state.boundary.program, plan, dict(extents.known), stored)

    def _told(self, word: int, plan: RefPlan, extents: Extents) -> RefValue:
        shared = self._shared(word)
        if shared.ref.holds is UNTOLD:
            shared.ref.holds = Told(plan.type.value, dict(extents.known))
            shared.newly_told = True
        return shared.ref

    def _shared(self, word: int) -> SharedRef:
        shared = self._refs.get(word)
        if shared is None:
            shared = self._refs[word] = SharedRef(RefValue(None, UNTOLD), word)
        return shared

    # ----------------------------------------------------------------------------------------------- stored values

    def _part(self, word: int) -> Any:
        """A stored value; a cell is filled later."""
        if word & 1:
            return word
        if word in self._stored:
            return self._stored[word]
        label = self.labels[label_number(word)]
        if isinstance(label, TensorLabel):
            made: Any = self._tensor(word, label)
        elif label.kind == "ref":
            return self._shared(word).ref
        else:
            made = self._cell(word, label)
        self._stored[word] = made
        return made

    def _cell(self, word: int, label: CellLabel) -> Any:
        if label.kind == "closure":
            code, *captures = read_fields(word)
            if code in self.state.boundary.host_codes.values():
                return self.state.hosts[captures[0] // 2]
        cell = StoredCell(label_number(word))
        self._unfilled.append((word, cell))
        return cell

    def _fill(self) -> bool:
        """Give the cells made so far their fields, and those met thereby. Whether there were any."""
        filled = bool(self._unfilled)
        while self._unfilled:
            word, cell = self._unfilled.pop()
            cell.fields = tuple(map(self._part, read_fields(word)))
        return filled

    def _tensor(self, word: int, label: TensorLabel) -> NDArray[np.generic]:
        """A copy of a tensor, unless it is a stored one that the call was given."""
        known = self.state.arrays.get(read_word(word + DATA_OFFSET_BYTES))
        same = known is not None and known.shape == read_shape(word, label) and known.dtype == label.dtype.numpy
        return known if known is not None and same else read_tensor(word, label)


def _tensor_label(label: TensorLabel | CellLabel) -> TensorLabel:
    if not isinstance(label, TensorLabel):
        raise CompilerBug("runtime", f"a {label} where a tensor should be")
    return label
