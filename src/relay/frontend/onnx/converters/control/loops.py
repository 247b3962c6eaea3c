"""Loop and Scan as recursion. What their bodies take from around them and is computed is computed once, before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.frontend.onnx.converters.control.bodies import Outside, item_in, outside_of
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.control.branches import scalar_truth
from relay.frontend.shared.control.collecting import Collector, collector
from relay.frontend.shared.control.loops import Exprs, extent_of, loop, settled, variables
from relay.frontend.shared.control.named_extents import with_named_extents
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.structures import declared, expr_of, is_known
from relay.frontend.shared.value import Item, Value
from relay.infer.unification.dimensions import close_symbols
from relay.ir.expr import Expr, ExprBase, Var, const
from relay.ir.types import ANY, TensorType, Type
from relay.ops.elementwise.comparison import less, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add, logical_and, subtract
from relay.ops.framework.build import TupleWrapper, with_known_type
from relay.ops.indexing.index import take
from relay.ops.manipulation.shape import expand_dims, reshape, squeeze
from relay.ops.manipulation.transpose import transpose

_NUMBER, _TRUTH = TensorType((), DType.INT64), TensorType((), DType.BOOL)


def _collector(value: Value, outside: Outside, extent: IntExpr, count: Expr | None, *, backwards: bool) -> Collector:
    entry = close_symbols(value.type, outside.extents)
    assert isinstance(entry, TensorType)
    return collector(entry, extent, count, backwards=backwards)


@frozen(eq=False)
class _Body:
    """A body imported for the types that its state has in all steps."""

    state: Sequence[Var]
    outputs: Sequence[Item]


def _imported(
    node: OnnxNode, first: Sequence[Item], inputs: Callable[[Sequence[Item]], Sequence[Item]], outside: Outside,
    at: int,
) -> _Body:  # fmt: skip
    """The body, where `inputs` are its inputs for a state, and its outputs from `at` on are the next state."""

    def body(types: Sequence[Type]) -> tuple[Sequence[Type], tuple[Sequence[Item], Sequence[Item]]]:
        state = [
            item_in(node, *variables("state", [type_])) if is_known(type_) else item
            for item, type_ in zip(first, types, strict=True)
        ]
        outputs = node.subgraph("body", inputs(state), outside.named)
        if len(outputs) < at + len(first):
            node.unsupported(f"with a `body` that has {len(outputs)} outputs")
        return [each.type for each in outputs[at : at + len(first)]], (state, outputs)

    found = settled([item.type for item in first], body)
    if found is None:
        node.unsupported("whose state changes its rank or its element type")
    state, outputs = found
    read = [each.expr for each in state if isinstance(each.expr, Var)]
    if len(read) < len(first):
        node.unsupported("with an empty list of which nothing says what it would hold")
    return _Body(read, outputs)


def _next(body: _Body, at: int) -> Exprs:
    outputs = body.outputs[at : at + len(body.state)]
    return [expr_of(item, declared(var)) for item, var in zip(outputs, body.state, strict=True)]


def _tensors(node: OnnxNode, items: Sequence[Item]) -> list[Value]:
    values = [item for item in items if isinstance(item, Value)]
    if len(values) < len(items):
        node.unsupported("that gathers what is no tensor")
    return values


# Loop


def _loop(node: OnnxNode) -> Result:
    """A step while the condition holds, at most as many as are said: the last state, then what each step gave."""
    trips, going = node.optional_value(0), node.optional_value(1)
    first = [node.item(index) for index in range(2, len(node.inputs))]
    outside = outside_of(node, first)
    number, condition = with_known_type(Var("number", _NUMBER)), with_known_type(Var("condition", _TRUTH))
    leading = [Value("", number, _NUMBER), Value("", condition, _TRUTH)]
    body = _imported(node, first, lambda state: [*leading, *state], outside, 1)
    goes_on, *gathered = _tensors(node, [body.outputs[0], *body.outputs[1 + len(first) :]])
    begins = None if going is None else scalar_truth(node, going)
    is_counted = trips is not None and (goes_on.expr is condition or _is_true(goes_on))
    if trips is None and goes_on.expr is condition:
        node.unsupported("that has no end")
    count = None if trips is None else cast(_scalar(trips), DType.INT64)
    if is_counted and count is not None and begins is not None and not _is_true(going):
        count = where(begins, count, const(0, DType.INT64))
    limit = with_known_type(Var("count", _NUMBER))
    extent = _known_count(trips) if is_counted and (going is None or _is_true(going)) else ANY
    into = [_collector(each, outside, extent, limit if is_counted else None, backwards=False) for each in gathered]

    holds: list[Expr] = [] if trips is None else [less(number, limit)]
    holds += [] if is_counted else [condition]
    control = [number] if is_counted else [number, condition]
    begin: list[Expr] = [with_known_type(const(0, DType.INT64))]
    begin += [] if is_counted else [with_known_type(const(True)) if begins is None else begins]
    after: list[Expr] = [add(number, const(1, DType.INT64))]
    after += [] if is_counted else [scalar_truth(node, goes_on)]
    found = loop(
        [*control, *body.state, *(each.var for each in into)],
        [*begin, *(expr_of(item, declared(var)) for item, var in zip(first, body.state, strict=True)),
         *(each.first for each in into)],
        reduce(logical_and, holds),
        [*after, *_next(body, 1), *_gathered(into, gathered, number)],
        [*outside.given, *([] if count is None else [limit])],
        [*outside.exprs, *([] if count is None else [count])],
    )  # fmt: skip
    return _results(found, len(control), len(first), into)


def _is_true(value: Value | None) -> bool:
    return value is not None and value.known is not None and bool(value.known.all())


def _scalar(value: Value) -> Expr:
    return value.expr if value.rank == 0 else reshape(value.expr, ())


def _known_count(trips: Value | None) -> IntExpr:
    """How many steps there are, if a number or an extent says it."""
    if trips is None or trips.known is None or not trips.from_shapes or trips.known.size != 1:
        return ANY
    count: IntExpr = trips.known.reshape(()).item()
    return max(0, count) if isinstance(count, int) else count


def _gathered(into: Sequence[Collector], values: Sequence[Value], place: Expr) -> list[Expr]:
    return [each.after(value.expr, place) for each, value in zip(into, values, strict=True)]


def _results(found: TupleWrapper, control: int, states: int, into: Sequence[Collector]) -> tuple[Expr, ...]:
    fields = tuple(found)[control:]
    whole = [each.whole(field) for each, field in zip(into, fields[states:], strict=True)]
    return (*fields[:states], *whole)


# Scan


def _scan(node: OnnxNode) -> Result:
    """A step for each entry of the inputs: the last state, then what each step gave."""
    return _scan_of_batches(node) if node.opset < _SCAN_WITHOUT_BATCHES else _scan_of_entries(node)


_SCAN_WITHOUT_BATCHES = 9


def _scan_of_entries(node: OnnxNode) -> Result:
    rows_count = node.int("num_scan_inputs")
    states = len(node.inputs) - rows_count
    if rows_count < 1 or states < 0:
        node.unsupported(f"of {rows_count} inputs")
    rows = [node.value(index) for index in range(states, len(node.inputs))]
    axes = node.ints("scan_input_axes", (0,) * rows_count)
    turned = [
        _moved(each.expr, each.rank, node.wrapped_axis(axis, each.rank), 0)
        for each, axis in zip(rows, axes, strict=True)
    ]
    first = [node.item(index) for index in range(states)]
    outside = outside_of(node, [*first, *rows])
    number, limit = with_known_type(Var("number", _NUMBER)), with_known_type(Var("count", _NUMBER))
    sequences = variables("sequence", [node.type_of(each) for each in turned])
    one = const(1, DType.INT64)
    from_end = subtract(subtract(limit, one), number)
    backwards = node.ints("scan_input_directions", (0,) * rows_count)
    entries = [
        item_in(node, take(each, from_end if way else number, axis=0))
        for each, way in zip(sequences, backwards, strict=True)
    ]
    body = _imported(node, first, lambda state: [*state, *entries], outside, 0)
    gathered = _tensors(node, body.outputs[states:])
    ways = node.ints("scan_output_directions", (0,) * len(gathered))
    extent = node.type_of(turned[0]).shape[0]
    into = [
        _collector(each, outside, extent, limit, backwards=bool(way)) for each, way in zip(gathered, ways, strict=True)
    ]
    written = [
        each.after(value.expr, from_end if way else number)
        for each, value, way in zip(into, gathered, ways, strict=True)
    ]
    found = loop(
        [number, *body.state, *(each.var for each in into)],
        [with_known_type(const(0, DType.INT64)),
         *(expr_of(item, declared(var)) for item, var in zip(first, body.state, strict=True)),
         *(each.first for each in into)],
        less(number, limit),
        [add(number, one), *_next(body, 0), *written],
        [*outside.given, *sequences, limit],
        [*outside.exprs, *turned, extent_of(node, turned[0])],
    )  # fmt: skip
    results = _results(found, 1, states, into)
    places = node.ints("scan_output_axes", (0,) * len(gathered))
    ranks = [value.rank + 1 for value in gathered]
    moved = [
        _moved(each, rank, 0, node.wrapped_axis(axis, rank))
        for each, axis, rank in zip(results[states:], places, ranks, strict=True)
    ]
    return (*results[:states], *moved)


def _moved(x: Expr, rank: int, source: int, target: int) -> Expr:
    """`x` with an axis at another place."""
    if source == target:
        return x
    axes = [axis for axis in range(rank) if axis != source]
    axes.insert(target, source)
    return transpose(x, axes)


def _scan_of_batches(node: OnnxNode) -> Result:
    """Opset 8: every input has a first axis, of batches, after the lengths of their sequences."""
    if node.optional_value(0) is not None:
        node.unsupported("of sequences that have lengths of their own")
    values = [node.value(index) for index in range(1, len(node.inputs))]
    if any(value.rank == 0 or value.shape[0] != 1 for value in values):
        node.unsupported("of more than one batch in opset 8")
    alone = [squeeze(value.expr, [0]) for value in values]
    directions = node.ints("directions", (0,) * node.int("num_scan_inputs"))
    inner = replace(
        node, inputs=tuple(item_in(node, each) for each in alone), opset=_SCAN_WITHOUT_BATCHES,
        attributes={**node.attributes, "scan_input_directions": directions},
    )  # fmt: skip
    results = _scan_of_entries(inner)
    assert isinstance(results, tuple)
    return tuple(expand_dims(each, 0) for each in results if isinstance(each, ExprBase))


_SCAN_ATTRIBUTES = (
    "num_scan_inputs", "directions", "scan_input_axes", "scan_input_directions", "scan_output_axes",
    "scan_output_directions",
)  # fmt: skip

LOOPS: tuple[Converter, ...] = (
    converter("Loop", with_named_extents(_loop), "body"),
    converter("Scan", with_named_extents(_scan), "body", *_SCAN_ATTRIBUTES),
)
