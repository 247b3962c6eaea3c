"""An operator means of extents what it means of the numbers that they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay.arith.expr import IntExpr, Symbol, substitute
from relay.base.dtypes import DType
from relay.ir.expr import Expr, Var
from relay.ir.operator import Solved
from relay.ir.types import ANY
from relay.ops.creation.create import InitAttributes, ndarray_size, shape_of
from relay.ops.elementwise.comparison import equal, less, less_equal
from relay.ops.elementwise.convert import CastAttributes, cast
from relay.ops.elementwise.elementwise_binary import add, divide, left_shift, multiply, power
from relay.ops.framework.build import var as typed_var
from relay.ops.framework.known_elements import LARGEST_KNOWN, known_elements, meaning_of_known
from relay.ops.indexing.check_indices import check_indices
from relay.ops.manipulation.combine import ConcatenateAttributes, concatenate, split
from relay.ops.manipulation.tile import tile
from relay.ops.reduction.reduce import ReduceAttributes
from relay.ops.reduction.scan import ScanAttributes
from relay.ops.table import OPERATORS
from tests.ops.case import Case, integers, scalar
from tests.ops.test_operators import CASES, flat, type_of

N, M = Symbol("n"), Symbol("m")
EXTENTS = ({N: 0, M: 0}, {N: 1, M: 3}, {N: 7, M: 2}, {N: 64, M: 5})
EXPRESSIONS: tuple[IntExpr, ...] = (N, M, 2 * N + 3, N * M, N - M, (N + 1) // 2, 4)

MORE = (
    *(Case(name, (integers(2, 3, dtype="int64"), integers(3, seed=1, dtype="int64"))) for name in (
        "add", "subtract", "multiply", "maximum", "minimum", "equal", "less", "less_equal", "greater", "floor_divide",
        "divide", "mod", "floor_mod",
    )),
    *(Case(name, (scalar(7, "int64"), scalar(2, "int64"))) for name in ("add", "divide", "mod", "power", "less")),
    *(Case(name, (scalar(7, "int64"),)) for name in ("negative", "abs", "sign", "floor", "nn.relu")),
    *(Case(name, (scalar(7, "int64"),), ReduceAttributes()) for name in ("sum", "max")),
    *(Case(name, (integers(3, dtype="int64"), integers(3, low=-9, high=-1, dtype="int64"))) for name in (
        "equal", "not_equal", "greater", "greater_equal", "less_equal",
    )),
    Case("cast", (integers(3, dtype="int64"),), CastAttributes(DType.INT32)),
    Case("full", (scalar(7, "int64"),), InitAttributes((2, 3))),
    Case("sum", (integers(2, 3, dtype="int64"),), ReduceAttributes((1,), True)),
    Case("mean", (integers(2, 3, dtype="int64"),), ReduceAttributes()),
    Case("cumsum", (integers(4, dtype="int64"),), ScanAttributes(0, None, True)),
    Case("concatenate", ((integers(2, dtype="int64"), integers(0, dtype="int64")),), ConcatenateAttributes(0)),
)  # fmt: skip


def integers_like(value: Any) -> Any:
    """Integers of 64 bits in the place of all numbers, so that those that extents are made of do not leave the type."""
    if isinstance(value, tuple):
        return tuple(map(integers_like, value))
    return value if value.dtype.kind == "b" else np.rint(np.clip(value.astype(np.float64), -99, 99)).astype(np.int64)


def takes_integers(case: Case) -> bool:
    types = tuple(map(type_of, integers_like(case.inputs)))
    return isinstance(OPERATORS[case.operator].relation(types, case.attributes), Solved)


def is_finite(value: Any) -> bool:
    return all(part.dtype.kind == "b" or np.isfinite(part.astype(np.float64)).all() for part in flat(value))


INTEGER_CASES = [
    case for case in (*CASES, *MORE)
    if 0 < sum(part.size for part in flat(case.inputs)) <= 64 and is_finite(case.inputs) and takes_integers(case)
]  # fmt: skip
"""Every small case of the table whose operator takes integers."""


def symbolic(value: Any, choose: np.random.Generator, expressions: tuple[IntExpr, ...]) -> Any:
    """The value with some of its integers replaced by expressions of extents."""
    if isinstance(value, tuple):
        return tuple(symbolic(field, choose, expressions) for field in value)
    if value.dtype.kind == "b":
        return value
    result = np.empty(value.shape, object)
    result.ravel()[:] = [
        expressions[choose.integers(len(expressions))] if choose.random() < 0.4 else element
        for element in value.ravel().tolist()
    ]
    return result


def within(numbers: Any, dtype: Any) -> bool:
    return dtype.kind not in "iu" or bool(np.all((numbers >= np.iinfo(dtype).min) & (numbers <= np.iinfo(dtype).max)))


def at(value: Any, extents: dict[Symbol, int]) -> Any:
    """What elements are when the symbols are these numbers."""
    if isinstance(value, tuple):
        return tuple(at(field, extents) for field in value)
    if value.dtype != object:
        return value
    return np.array([substitute(each, extents) for each in value.ravel().tolist()], np.int64).reshape(value.shape)


def answer(case: Case, inputs: tuple[Any, ...]) -> Any:
    """What is said of inputs that are known; None when nothing is, or when the operator does not take 64 bits."""
    types = tuple(map(type_of, inputs_of(inputs)))
    outcome = OPERATORS[case.operator].relation(types, case.attributes)
    if not isinstance(outcome, Solved):
        return None
    return meaning_of_known(OPERATORS[case.operator], case.attributes, inputs, types, outcome.result)


def inputs_of(value: Any) -> Any:
    """Stand-ins with the types of inputs."""
    if isinstance(value, tuple):
        return tuple(map(inputs_of, value))
    return value if value.dtype != object else np.zeros(value.shape, np.int64)


def answered(case: Case) -> bool:
    """Whether some samples are answered; each answer holds at all extents."""
    inputs, found = integers_like(case.inputs), False
    for seed in range(12):
        expressions = EXPRESSIONS if seed % 2 else (N, M, N + 2 * M + 1)
        choose = np.random.default_rng(seed)
        count = 1 if seed % 3 else len(inputs)
        given = (*symbolic(inputs[:count], choose, expressions), *inputs[count:])
        result = answer(case, given)
        if result is None or not any(part.dtype == object for part in flat(given)):
            continue
        found = True
        for extents in EXTENTS:
            wanted = OPERATORS[case.operator].meaning(case.attributes, *at(given, extents))
            for mine, theirs in zip(flat(result), flat(wanted), strict=True):
                number = at(mine, extents)
                if within(number, theirs.dtype):  # what depends on extents is taken to be in the range of its type
                    np.testing.assert_array_equal(number, theirs)
    return found


@pytest.mark.parametrize("case", INTEGER_CASES, ids=lambda case: case.name)
def test_an_answer_holds_for_all_extents(case: Case) -> None:
    answered(case)


ANSWERED = {
    "abs", "add", "broadcast_to", "broadcast_to_like", "cast", "cast_like", "ceil", "concatenate", "copy", "cumprod",
    "cumsum", "divide", "equal", "expand_dims", "floor", "floor_divide", "floor_mod", "full", "full_like", "gather",
    "gather_nd", "greater", "greater_equal", "less", "less_equal", "max", "maximum", "mean", "min", "minimum", "mod",
    "multiply", "negative", "nn.batch_flatten", "nn.bias_add", "nn.pad", "nn.relu", "not_equal", "prod", "repeat",
    "reshape", "reshape_like", "reverse", "sign", "slice_like", "split", "squeeze", "stack", "stop_gradient",
    "strided_slice", "subtract", "sum", "take", "tile", "transpose", "trunc_divide", "trunc_mod", "where",
}  # fmt: skip


def test_the_operators_of_shape_arithmetic_are_answered() -> None:
    assert {case.operator for case in INTEGER_CASES if answered(case)} >= ANSWERED


# What is not answered


def var(*shape: int, dtype: str = "int64") -> Var:
    return typed_var("x", shape=shape, dtype=dtype)


def known(*elements: IntExpr) -> np.ndarray:
    array = np.empty(len(elements), object)
    array[:] = elements
    return array


def test_what_depends_on_extents_is_not_answered() -> None:
    x, n = var(1), known(N)
    for call in (
        equal(x, 4),
        less(x, 4),
        divide(x, x),
        divide(x, -2),
        power(x, 2),
        cast(x, "float32"),
        left_shift(x, 1),
    ):
        assert known_elements([call], {x: n}) == [None]
    assert known_elements([equal(x, -1), less_equal(0, x)], {x: n}) == [np.array([False]), np.array([True])]


def test_numbers_that_leave_their_type_are_not_answered() -> None:
    x, narrow = var(1), var(1, dtype="int32")
    (wide_enough,) = known_elements([multiply(x, 2**62)], {x: known(N)})
    assert str(wide_enough) == f"[{2**62}*n]"
    assert known_elements([multiply(x, 2**62)], {x: known(2 * N)}) == [None]
    assert known_elements([multiply(narrow, 2**16)], {narrow: known(2**15 * N)}) == [None]
    assert known_elements([cast(x, "int32")], {x: known(2**40 * N)}) == [None]


def test_plain_numbers_wrap_as_in_the_run() -> None:
    x = var(1)
    (wrapped,) = known_elements([multiply(x, 2)], {x: np.array([2**62])})
    assert wrapped == np.array([-(2**63)])


def test_large_results_and_large_expressions_are_not_answered() -> None:
    x = var(1)
    (large,) = known_elements([tile(x, (LARGEST_KNOWN,))], {x: known(N)})
    assert np.shape(large) == (LARGEST_KNOWN,)
    assert known_elements([tile(x, (LARGEST_KNOWN + 1,)), tile(x, (2**40,))], {x: known(N)}) == [None, None]
    square: Expr = add(x, 1)
    for _ in range(40):
        square = multiply(square, square)
    assert known_elements([square], {x: known(N)}) == [None]


def test_an_extent_that_nobody_knows_is_not_answered() -> None:
    x = var(1)
    assert known_elements([add(x, 1)], {x: known(ANY)}) == [None]


def test_a_run_that_would_fail_is_not_answered() -> None:
    x = var(1)
    assert known_elements([check_indices(x, (3,), "the table")], {x: np.array([7])}) == [None]


def test_operators_that_read_shapes_know_extents_without_elements() -> None:
    matrix = typed_var("m", shape=(N, 4))
    shape, size, scalar = known_elements(
        [shape_of(matrix), ndarray_size(matrix), shape_of(typed_var("s", shape=()))], {}
    )
    assert [str(each) for each in (shape, size, scalar)] == ["[n 4]", "4*n", "[]"]


def test_fields_of_tuples_are_followed() -> None:
    x = var(4)
    first, second = split(x, 2)
    assert [str(each) for each in known_elements([concatenate([second, first], 0)], {x: known(N, 2, M, 4)})] == [
        "[m 4 n 2]"
    ]
