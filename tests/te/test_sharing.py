"""What a formula uses twice is computed once: lets where loops are written, in numbers linear in the formulas."""

from __future__ import annotations

import numpy as np
import pytest

from relay import te
from relay.base.dtypes import DType
from relay.te.lowering.sharing import HIGHEST_TREE
from relay.te.schedule.step import Step
from relay.te.tensor import Tensor
from relay.tir.expr import Binary, Imm, Load, Unary
from relay.tir.interpretation.interpreter import interpret
from relay.tir.pipeline import lower as lower_loops
from relay.tir.stmt import LetValue, PrimFunc
from relay.tir.traversal import statement_values, value_children, walk_statement, walk_value
from tests.growth import is_linear

SHAPE = (8,)


def chain(depth: int, step, shape=SHAPE, dtype: str = "float32") -> tuple[Tensor, Tensor, list[Step]]:
    """`step(tensor before)` again and again, and the steps that inline all but the last."""
    first = tensor = te.placeholder(shape, dtype, "a")
    for number in range(depth):
        tensor = te.compute(shape, step(tensor), name=f"t{number}")
    return first, tensor, [te.ComputeInline(f"t{number}") for number in reversed(range(depth - 1))]


STEPS = {
    "sum with itself": lambda t: lambda i: t[i] + t[i],
    "product with its sigmoid": lambda t: lambda i: t[i] * te.sigmoid(t[i]),
    "read again under another name": lambda t: lambda i: te.maximum(t[i], te.negative(t[0 + i])),
    "chosen where it is needed": lambda t: lambda i: te.select(te.less(i, 3), t[i] * 0.5, te.abs(t[i]) + 1.0),
    "padded": lambda t: lambda i: te.select(te.less_equal(1, i), t[i - 1] * t[i - 1], te.const(2.0, "float32")),
    "chosen by data": lambda t: lambda i: te.select(te.less(t[i], 0.5), t[i], te.exp(te.negative(t[i]))),
}


def lowered(depth: int, kind: str) -> PrimFunc:
    first, last, steps = chain(depth, STEPS[kind])
    return te.lower(last, [first], steps)


def nodes(function: PrimFunc) -> int:
    """Values of a kernel, counted as trees: as often as they are written."""

    def size(value) -> int:
        return 1 + sum(map(size, value_children(value)))

    return sum(size(value) for part in walk_statement(function.body) for value in statement_values(part))


@pytest.mark.parametrize("kind", STEPS)
def test_loops_grow_with_the_formulas(kind):
    """Each formula adds as much to the loops as the one before."""
    sizes = [nodes(lowered(depth, kind)) for depth in (10, 20, 40)]
    assert sizes[2] - sizes[1] <= 2.2 * (sizes[1] - sizes[0])
    assert sizes[2] < 40 * 64


@pytest.mark.parametrize("kind", STEPS)
def test_lowering_grows_with_the_formulas(kind):
    """Inlining visits the formula that grows once for each stage, so it is the visits of loops that are held here."""
    functions = {depth: lowered(depth, kind) for depth in (12, 24)}
    assert is_linear(lambda depth: lower_loops(functions[depth]), 12)


def together(depth: int, kind: str) -> tuple[Tensor, Tensor, list[Step]]:
    first, last, _ = chain(depth, STEPS[kind])
    return first, last, [te.ComputeInline("t0", tuple(f"t{number}" for number in range(1, depth - 1)))]


@pytest.mark.parametrize("kind", STEPS)
def test_inlining_together_grows_with_the_formulas(kind):
    chains = {depth: together(depth, kind) for depth in (12, 24)}
    assert is_linear(lambda depth: te.apply([chains[depth][1]], chains[depth][2]), 12)


@pytest.mark.parametrize("kind", STEPS)
def test_inlining_together_is_inlining_one_by_one(kind):
    data = np.linspace(-1, 1, *SHAPE, dtype=np.float32)
    expected, found = np.empty_like(data), np.empty_like(data)
    first, last, steps = chain(7, STEPS[kind])
    interpret(te.lower(last, [first]), [data, expected])
    for each in (steps, together(7, kind)[2]):
        interpret(te.lower(last, [first], each), [data, found])
        np.testing.assert_array_equal(found, expected)


def test_a_place_that_is_read_from_a_formula_is_inlined_with_what_is_there():
    data, places = te.placeholder((8,), "float32", "data"), te.placeholder((8,), "int32", "places")
    double = te.compute((8,), lambda i: data[i] * 2.0, name="double")
    back = te.compute((8,), lambda i: 7 - places[i], name="back")
    taken = te.compute((8,), lambda i: double[back[i]], name="taken")
    result = te.compute((8,), lambda i: taken[i] + 1.0, name="result")
    function = te.lower(result, [data, places], [te.ComputeInline("double", ("back", "taken"))])
    found = np.empty(8, np.float32)
    interpret(function, [np.arange(8, dtype=np.float32), np.arange(8, dtype=np.int32)[::-1].copy(), found])
    np.testing.assert_array_equal(found, np.arange(8) * 2.0 + 1.0)


@pytest.mark.parametrize("depth", [1, 2, 7])
@pytest.mark.parametrize("kind", STEPS)
@pytest.mark.parametrize("vectorized", [False, True])
def test_values_are_those_of_the_formulas(kind, depth, vectorized):
    first, last, steps = chain(depth, STEPS[kind])
    data = np.linspace(-1, 1, *SHAPE, dtype=np.float32)
    expected, found = np.empty_like(data), np.empty_like(data)
    interpret(te.lower(last, [first]), [data, expected])
    if vectorized:
        steps.append(te.Vectorize(f"t{depth - 1}", "i"))
    interpret(lower_loops(te.lower(last, [first], steps)), [data, found])
    np.testing.assert_array_equal(found, expected)


def test_what_components_share_is_computed_once():
    a = te.placeholder((4,), "float32", "a")
    shared = te.compute((4,), lambda i: te.exp(a[i]), name="shared")
    both = te.compute((4,), lambda i: (shared[i] + 1.0, shared[i] * 2.0), name="both")
    function = te.lower(list(both), [a], [te.ComputeInline("shared")])
    found = [
        node for part in walk_statement(function.body) for value in statement_values(part) for node in walk_value(value)
    ]
    assert sum(isinstance(node, Unary) for node in found) == 1


def test_constants_of_other_sign_are_not_the_same():
    a = te.placeholder((4,), "float32", "a")
    zero, minus = te.const(0.0, "float32"), te.const(-0.0, "float32")
    result = te.compute((4,), lambda i: (a[i] + zero) * (a[i] + minus), name="result")
    (store,) = [part for part in walk_statement(te.lower(result, [a]).body) if statement_values(part)]
    (value,) = statement_values(store)
    signs = [str(node.value) for node in walk_value(value) if isinstance(node, Imm)]
    assert sorted(signs) == ["-0.0", "0.0"]


def test_plain_loads_get_no_name():
    a = te.placeholder((4,), "float32", "a")
    function = te.lower(te.compute((4,), lambda i: a[i] * a[i], name="square"), [a])
    assert not any(isinstance(part, LetValue) for part in walk_statement(function.body))


def test_trees_are_never_too_high_to_recurse_on():
    first, last, steps = chain(500, lambda t: lambda i: t[i] + 1.0)
    function = te.lower(last, [first], steps)

    def height(value) -> int:
        return 1 + max(map(height, value_children(value)), default=0)

    heights = [height(value) for part in walk_statement(function.body) for value in statement_values(part)]
    assert max(heights) <= HIGHEST_TREE + 1
    assert len(heights) >= 500 // HIGHEST_TREE


def test_a_side_that_is_not_taken_is_not_read():
    """The square is used twice on one side, which reads where nothing is on the other."""
    a = te.placeholder((4,), "float32", "a")
    square = te.compute((4,), lambda i: a[i] * a[i], name="square")
    padded = te.compute(
        (6,),
        lambda i: te.select(te.within(i - 1, 0, 4), square[i - 1] * square[i - 1], te.const(0.0, "float32")),
        name="padded",
    )
    function = te.lower(padded, [a], [te.ComputeInline("square")])
    found = np.empty(6, np.float32)
    interpret(function, [np.array([1, 2, 3, 4], np.float32), found])  # the interpreter checks indices
    np.testing.assert_array_equal(found, [0, 1, 16, 81, 256, 0])


def test_sides_of_two_selects_ask_for_either():
    a = te.placeholder((8,), "float32", "a")
    square = te.compute((8,), lambda i: a[i] * a[i], name="square")
    zero = te.const(0.0, "float32")
    result = te.compute(
        (12,),
        lambda i: te.select(te.less(i, 4), square[i], zero) + te.select(te.within(i, 2, 8), square[i], zero),
        name="result",
    )
    function = te.lower(result, [a], [te.ComputeInline("square")])
    data = np.arange(8, dtype=np.float32)
    found = np.empty(12, np.float32)
    interpret(function, [data, found])
    i = np.arange(12)
    squares = np.pad(data**2, (0, 4))
    np.testing.assert_array_equal(found, np.where(i < 4, squares, 0) + np.where((i >= 2) & (i < 8), squares, 0))
    values = [node for part in walk_statement(function.body) for v in statement_values(part) for node in walk_value(v)]
    assert sum(isinstance(node, Binary) and node.dtype is DType.FLOAT32 for node in values) == 2  # one product, one sum
    assert sum(isinstance(node, Load) for node in values) <= 2
