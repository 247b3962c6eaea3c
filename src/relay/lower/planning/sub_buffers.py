"""Concatenations that nothing runs for: what makes their parts writes them to their place in the whole.

    before: a = conv(x); b = conv(y); c = concatenate(a, b)        after: c[.., :64] = conv(x); c[.., 64:] = conv(y)

A part of a concatenation is runs of elements at one distance. A kernel can write that if it has one result, an axis of
which begins where runs do (`Gap`). Others may read a part only where it lies together: they know of no distances. What
no kernel makes, or what is needed elsewhere too, is copied into its part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import field, replace

from relay.base.frozen import frozen, mutable
from relay.ir.expr import Call, Expr, Function, Tuple, Var, record_type
from relay.ir.known_types import known_tensor_type, known_type
from relay.ir.types import TensorType
from relay.lower.kernels.external import is_opaque
from relay.lower.kernels.group import leaf_types
from relay.lower.kernels.index_faults import tells_of_body
from relay.lower.kernels.updates import UPDATE
from relay.lower.planning.kernel_calls import size_bytes
from relay.lower.planning.straight_line import KernelStep, Part, Storage, StoredTensor
from relay.lower.planning.views import behind_reshapes, first_elements
from relay.ops.elementwise.elementwise_unary import copy
from relay.ops.manipulation.combine import ConcatenateAttributes, StackAttributes
from relay.te.tensor import Gap

_SHORTEST_RUN = 64
"""Bytes of the widest vectors: shorter runs at a distance are written slowly, a part of a vector at a time."""


def write_parts_in_place(
    steps: Sequence[KernelStep], parts: dict[Storage, Part], results: Collection[Storage]
) -> list[KernelStep]:
    """The steps without the concatenations whose parts are written to their place. `parts`, where slices stand already,
    is told which these are; `results` are no parts, since the caller has a place for each."""
    line = _Line(list(steps), parts, results)
    for time in reversed(range(len(steps))):
        line.write_parts(time)
    return [step for time, step in enumerate(line.steps) for step in line.copies.get(time, (step,))]


def slices(function: Function, arguments: Sequence[StoredTensor]) -> list[Part] | None:
    """What each result of a primitive function is of its first argument, if it only takes parts that lie together."""
    starts, types = first_elements(function), leaf_types(known_type(function.body))
    if starts is None:
        return None
    parts: list[Part] = []
    for start, type_ in zip(starts, types, strict=True):
        size = _known_bytes(type_)
        parts.append(Part(arguments[0].storage, start * type_.dtype.item_bytes, size, size))
    return parts


@frozen(eq=False)
class _Operand:
    """What stands in a concatenation, and where it goes."""

    tensor: StoredTensor
    place: Part

    @property
    def size(self) -> int:
        return _known_bytes(self.tensor.type)


@mutable
class _Line:
    """The steps; `copies` are what is left of those that are concatenations. The last of these comes first, so that the
    place of a whole is known before those of its parts."""

    steps: list[KernelStep]
    parts: dict[Storage, Part]
    results: Collection[Storage]
    makers: dict[Storage, int] = field(init=False)
    readers: Counter[Storage] = field(init=False)
    copies: dict[int, list[KernelStep]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.makers = {storage: time for time, step in enumerate(self.steps) for storage in step.outputs}
        self.readers = Counter(each.storage for step in self.steps for each in step.inputs)
        self.readers.update(part.whole for part in self.parts.values())

    def write_parts(self, time: int) -> None:
        """Where a step only puts tensors side by side, and half of that or more can be written there, do so."""
        operands = self._operands(self.steps[time])
        once = Counter(each.tensor.storage for each in operands)
        made = [each for each in operands if once[each.tensor.storage] == 1 and self._is_written_there(each)]
        copied = [each for each in operands if each not in made]
        fits = all(_has_gap(each.tensor.type, each.place) for each in copied)
        if not made or not fits or 2 * sum(each.size for each in made) < sum(each.size for each in operands):
            return
        for each in made:
            maker = self.makers[each.tensor.storage]
            gap = _gap(_result(self.steps[maker]), each.place)
            self.steps[maker] = replace(self.steps[maker], gap=gap)
            self.parts[each.tensor.storage] = each.place
        self.copies[time] = [self._copy(each) for each in copied]

    def _operands(self, step: KernelStep) -> list[_Operand]:
        """What a step puts side by side, each with its place; nothing where it does anything else."""
        whole, size = step.outputs[0], step.outputs[0].size_bytes
        if not isinstance(size, int) or is_opaque(step.function) or tells_of_body(step.function):
            return []
        found = _side_by_side(step.function.body, self.parts.get(whole) or Part(whole, 0, size, size))
        tensors = [step.inputs[step.function.params.index(parameter)] for parameter, _ in found]
        return [_Operand(tensor, place) for tensor, (_, place) in zip(tensors, found, strict=True)]

    def _is_written_there(self, operand: _Operand) -> bool:
        """Whether what makes an operand can write it to its place, and whoever reads it can read it there."""
        storage, place = operand.tensor.storage, operand.place
        maker = self.makers.get(storage)
        if maker is None or storage in self.parts or storage in self.results:
            return False
        if UPDATE in self.steps[maker].function.attrs:
            return False
        if place.lies_together:
            return True
        step = self.steps[maker]
        alone = len(step.outputs) == 1 and self.readers[storage] == 1 and not is_opaque(step.function)
        return alone and place.run >= _SHORTEST_RUN and _has_gap(_result(step), place)

    def _copy(self, operand: _Operand) -> KernelStep:
        """The step that copies an operand into its part."""
        type_ = operand.tensor.type
        data = record_type(Var("p0", type_), type_)
        function = Function((data,), copy(data), attrs={"Primitive": 1, "name": "fused_copy"})
        part = Storage(operand.size)
        self.parts[part] = operand.place
        return KernelStep(function, (operand.tensor,), (part,), _gap(type_, operand.place))


def _side_by_side(expr: Expr, place: Part) -> list[tuple[Var, Part]]:
    """The parameters that an expression at a place puts side by side, each with its own place; none where it does
    anything else, or what is known now does not tell."""
    joined = behind_reshapes(expr)
    match joined:
        case Var():
            return [(joined, place)]
        case Call(args=(Tuple(fields=fields),), attrs=ConcatenateAttributes(axis=axis) | StackAttributes(axis=axis)):
            axis %= len(known_tensor_type(joined).shape)
        case _:
            return []
    types = [known_tensor_type(each) for each in fields]
    sizes = [_known_bytes(type_) for type_ in types]
    runs = [_known_bytes(TensorType(type_.shape[axis:], type_.dtype)) for type_ in types]
    found: list[tuple[Var, Part]] = []
    for position, (field_, run, size) in enumerate(zip(fields, runs, sizes, strict=True)):
        inner = Part(place.whole, sum(runs[:position]), run, run if run == size else sum(runs))
        held = place.holds(inner, size) if size else None
        below = _side_by_side(field_, held) if held is not None else []
        if not below:
            return []
        found += below
    return found


def _known_bytes(type_: TensorType) -> int:
    """The bytes of a tensor; 0 where there are none, or an extent is open."""
    size = size_bytes(type_)
    return size if isinstance(size, int) else 0


def _result(step: KernelStep) -> TensorType | None:
    type_ = known_type(step.function.body)
    return type_ if isinstance(type_, TensorType) else None


def _has_gap(type_: TensorType | None, place: Part) -> bool:
    """Whether a kernel can write a result of a type to a place."""
    return place.lies_together or _gap(type_, place) is not None


def _gap(type_: TensorType | None, place: Part) -> Gap | None:
    """The room behind the runs of a place, in elements of an axis of what is written there."""
    if type_ is None or place.lies_together:
        return None
    stretch = type_.dtype.item_bytes
    room = place.distance - place.run
    for axis, extent in enumerate(reversed(type_.shape), start=1):
        if not isinstance(extent, int):
            return None
        if stretch * extent == place.run and room % stretch == 0:
            return Gap(-axis, room // stretch)
        stretch *= extent
    return None
