"""Sequences as lists. As long as the elements of one are known, so is each of them; else the run walks the list."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from relay.base.dtypes import DType
from relay.frontend.onnx.converters.control.bodies import item_in, outside_of
from relay.frontend.onnx.converters.shaping.computed import is_computed, split_into
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.control import lists
from relay.frontend.shared.control.loops import extent_of, variables
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.structures import LIST, UNKNOWN, expr_of, joined_type, list_of, typed
from relay.frontend.shared.value import Item, Structure, Value
from relay.infer.unification.dimensions import close_symbols
from relay.ir.expr import Expr, Let, Var, const
from relay.ir.types import ANY, TensorType, Type, TypeCall
from relay.ops.checked import checked
from relay.ops.dyn import strided_slice
from relay.ops.elementwise.comparison import less
from relay.ops.elementwise.convert import cast
from relay.ops.framework.build import TupleWrapper, with_known_type
from relay.ops.indexing.index import take
from relay.ops.manipulation.combine import concatenate, split, stack
from relay.ops.manipulation.shape import reshape, squeeze
from relay.ops.manipulation.transpose import transpose

_MOST_PARTS = 256
"""A list of more elements is the run's: the program would be as long as it."""


def _list(node: OnnxNode) -> tuple[Structure, Type]:
    """The first input, which is a list, and the type of its elements."""
    item = node.item(0)
    if not isinstance(item, Structure) or item.type.func != LIST:
        node.unsupported(f"of a value of type {item.type}")
    return item, item.type.args[0]


def _made(node: OnnxNode, items: Sequence[Item], element: Type = UNKNOWN) -> Structure:
    whole = list_of(items, element)
    if whole is None:
        types = dict.fromkeys(str(item.type) for item in items)
        node.unsupported(f"of elements that no one type holds: {', '.join(types)}")
    return whole


def _known_place(node: OnnxNode, index: int, count: int, last: int) -> int | None:
    """The position in an input, from the front, if it is known; `last` where the input is left out."""
    if node.optional_value(index) is None:
        return last
    known = node.known_scalar(index)
    if known is None:
        return None
    place = int(known) + count if known < 0 else int(known)
    if not 0 <= place <= last:
        node.unsupported(f"at place {int(known)} of a list of {count}")
    return place


def _place(node: OnnxNode, index: int, items: Expr, element: Type, *, behind: bool = False) -> Expr:
    """The position in an input, of the last element without one, checked by the run."""
    given = node.optional_value(index)
    last = with_known_type(const(-1, DType.INT64))
    place = last if given is None else cast(_scalar(given), DType.INT64)
    return lists.place_in(items, element, place, f"{node.operator} {node.name}", behind=behind)


def _scalar(value: Value) -> Expr:
    return value.expr if value.rank == 0 else reshape(value.expr, ())


def _empty(_: OnnxNode) -> Result:
    """What it is a list of, what is inserted tells."""
    return Structure("", TypeCall(LIST, (UNKNOWN,)), parts=())


def _insert(node: OnnxNode) -> Result:
    """Before the element at the position, behind all without one."""
    whole, element = _list(node)
    new = node.item(1)
    if whole.parts is not None:
        place = _known_place(node, 2, len(whole.parts), len(whole.parts))
        if place is not None:
            return _made(node, [*whole.parts[:place], new, *whole.parts[place:]], element)
    wider = joined_type(element, new.type)
    if wider is None:
        node.unsupported(f"of {new.type} into {whole.type}")
    items = expr_of(whole, TypeCall(LIST, (wider,)))
    given = node.optional_value(2)
    last = lists.length(items, wider) if given is None else _place(node, 2, items, wider, behind=True)
    return lists.inserted_at(items, wider, last, expr_of(new, wider))


def _erase(node: OnnxNode) -> Result:
    """The element at the position, the last without one."""
    whole, element = _list(node)
    if whole.parts:
        place = _known_place(node, 1, len(whole.parts), len(whole.parts) - 1)
        if place is not None:
            return _made(node, [*whole.parts[:place], *whole.parts[place + 1 :]], element)
    items = expr_of(whole)
    return lists.erased_at(items, element, _place(node, 1, items, element))


def _at(node: OnnxNode) -> Result:
    whole, element = _list(node)
    if whole.parts:
        place = _known_place(node, 1, len(whole.parts), len(whole.parts) - 1)
        if place is not None:
            return whole.parts[place]
    items = expr_of(whole)
    return lists.element_at(items, element, _place(node, 1, items, element))


def _length(node: OnnxNode) -> Result:
    whole, element = _list(node)
    if whole.parts is not None:
        return np.array(len(whole.parts))
    return lists.length(expr_of(whole), element)


def _concat(node: OnnxNode) -> Result:
    """Along an axis, or along a new one."""
    whole, element = _list(node)
    new_axis = bool(node.int("new_axis"))
    if not isinstance(element, TensorType) or whole.parts == ():
        node.unsupported(f"of {whole.type}")
    rank = len(element.shape)
    axis = node.wrapped_axis(node.int("axis"), rank + new_axis)
    if whole.parts is not None:
        parts = [expr_of(part) for part in whole.parts]
        return stack(parts, axis) if new_axis else concatenate(parts, axis)
    items = expr_of(whole)
    if not new_axis:
        return lists.concatenated(items, element, axis)
    stacked = lists.stacked(items, element)
    order = list(range(1, rank + 1))
    order.insert(axis, 0)
    return transpose(stacked, order) if axis else stacked


def _split(node: OnnxNode) -> Result:
    """Into parts of the extents given, of one extent (the last may be less), or of 1, whose axis `keepdims` keeps."""
    value, axis, sizes = node.value(0), node.axis(), node.optional_value(1)
    if sizes is not None and sizes.rank == 1:
        if is_computed(node, 1):
            parts: Sequence[Expr] = split_into(node, axis)
        else:
            edges = list(accumulate(node.extents(1, "sizes")[:-1]))
            parts = tuple(split(value.expr, edges, axis)) if edges else [value.expr]
        return _made(node, [item_in(node, each) for each in parts])
    drop = sizes is None and not node.int("keepdims")
    step, extent = 1 if sizes is None else node.known_scalar(1), value.shape[axis]
    if step is None or not isinstance(extent, int):
        return _cut(node, value, axis, const(1, DType.INT64) if sizes is None else _scalar(sizes), drop=drop)
    if step < 1:
        node.unsupported(f"into parts of {int(step)}")
    if extent > step * _MOST_PARTS:
        return _cut(node, value, axis, const(int(step), DType.INT64), drop=drop)
    edges = list(range(int(step), extent, int(step)))
    parts = tuple(split(value.expr, edges, axis)) if edges else [value.expr][:extent]
    return _made(node, [item_in(node, squeeze(each, [axis]) if drop else each) for each in parts])


def _cut(node: OnnxNode, value: Value, axis: int, step: Expr, *, drop: bool) -> Expr:
    """As many parts as the run says."""
    # The function that makes the list has no parameter to tell symbols by.
    extents = [extent if isinstance(extent, int) else ANY for extent in value.shape]
    others = (*extents[:axis], *extents[axis + 1 :])
    front = (axis, *(each for each in range(value.rank) if each != axis))
    turned = transpose(value.expr, front) if axis else value.expr
    whole = with_known_type(Var("whole", node.type_of(turned)))
    shape = others if drop else (*others[:axis], ANY, *others[axis:])
    back = (*range(1, axis + 1), 0, *range(axis + 1, value.rank))

    def part(begin: Expr, end: Expr) -> Expr:
        if drop:
            return take(whole, begin, axis=0)
        rows = strided_slice(whole, reshape(begin, (1,)), reshape(end, (1,)), const([1], DType.INT64))
        return transpose(rows, back) if axis else rows

    wide = cast(step, DType.INT64)
    stated = checked(wide, less(const(0, DType.INT64), wide), f"{node.operator} {node.name}: parts need an extent")
    found = lists.cut(TensorType(shape, value.dtype), extent_of(node, whole), stated, part)
    return typed(Let(whole, turned, found))


# SequenceMap


def _map(node: OnnxNode) -> Result:
    """The body of each element; of the other inputs lists go along, and tensors are the same for all."""
    inputs = [node.item(index) for index in range(len(node.inputs))]
    _list(node)
    several = [item for item in inputs if isinstance(item, Structure) and item.type.func == LIST]
    counts = {None if item.parts is None else len(item.parts) for item in several}
    if len(counts) == 1 and (count := counts.pop()) is not None and count <= _MOST_UNROLLED:
        rows = [
            node.subgraph("body", [_at_place(item, place) if item in several else item for item in inputs])
            for place in range(count)
        ]
        return tuple(_made(node, [row[output] for row in rows]) for output in range(len(node.outputs)))
    outside = outside_of(node, inputs)
    exprs = [expr_of(item) for item in inputs]
    given = variables("given", [item.type for item in inputs])
    heads = variables("head", [item.type.args[0] for item in several])
    waiting = iter(heads)
    items = [item_in(node, next(waiting) if item in several else var) for item, var in zip(inputs, given, strict=True)]
    outputs = node.subgraph("body", items, outside.named)
    results = [(expr_of(each), close_symbols(each.type, outside.extents)) for each in outputs]
    walked = [var for item, var in zip(inputs, given, strict=True) if item in several]
    whole: Expr = lists.mapped(walked, heads, results)
    for var, expr in (*zip(given, exprs, strict=True), *zip(outside.given, outside.exprs, strict=True)):
        whole = Let(var, expr, whole)
    types = [TypeCall(LIST, (element,)) for _, element in results]
    found = TupleWrapper(typed(whole), len(types))
    return tuple(typed(lists.backwards(each, element)) for each, (_, element) in zip(found, results, strict=True))


_MOST_UNROLLED = 16


def _at_place(item: Item, place: int) -> Item:
    assert isinstance(item, Structure)
    assert item.parts is not None
    return item.parts[place]


SEQUENCES: tuple[Converter, ...] = (
    converter("SequenceConstruct", lambda node: _made(node, [node.item(i) for i in range(len(node.inputs))])),
    converter("SequenceEmpty", _empty, "dtype"),
    converter("SequenceInsert", _insert),
    converter("SequenceErase", _erase),
    converter("SequenceAt", _at),
    converter("SequenceLength", _length),
    converter("SplitToSequence", _split, "axis", "keepdims"),
    converter("SequenceMap", _map, "body"),
    converter("ConcatFromSequence", _concat, "axis", "new_axis"),
)
