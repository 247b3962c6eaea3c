"""Sorting: stable and exact for every type and order of elements, in time linear in their number."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

import relay
from relay import te
from relay.base.dtypes import DType, dtype_of
from relay.ir.types import ANY
from relay.ops.sorting.sort import ArgsortAttributes, SortAttributes, TopKAttributes
from relay.ops.sorting.sort_loops import BLOCK, SELECTION_BLOCK, FirstInOrder
from relay.ops.table import OPERATORS
from relay.tir.semantics import integer_limits
from tests.growth import iterations

INTEGERS = tuple(dtype for dtype in DType if dtype.is_integer and not dtype.is_sub_byte_integer)
SPECIAL = (np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 1.0, -1.0, 1e-45, -1e-45)

ORDERS: Mapping[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "random": lambda rng, n: rng.standard_normal(n) * 10,
    "rising": lambda rng, n: np.sort(rng.standard_normal(n)) * 10,
    "falling": lambda rng, n: -np.sort(rng.standard_normal(n)) * 10,
    "all equal": lambda _, n: np.full(n, 2.0),
    "few distinct": lambda rng, n: rng.integers(0, 3, n).astype(np.float64),
}


def elements(dtype: DType, order: str, count: int) -> np.ndarray:
    """Elements of a type in an order; `extremes` are the numbers that are easily put in the wrong place."""
    rng = np.random.default_rng(count)
    if order != "extremes":
        numbers = ORDERS[order](rng, count)
        low, high = integer_limits(dtype) if dtype.is_sub_byte_integer else (-100, 100)
        numbers = np.clip(numbers, low, high)
        return (np.abs(numbers) if dtype.is_unsigned_integer else numbers).astype(np.float32).astype(dtype.numpy)
    if dtype in INTEGERS:
        limits = np.iinfo(dtype.numpy)
        pool = np.array([limits.min, limits.max, limits.min + 1, limits.max - 1, 1, 0], dtype.numpy)
    else:
        pool = np.array(SPECIAL if dtype.is_float else (0, 1)).astype(np.float32).astype(dtype.numpy)
    return pool[rng.integers(0, len(pool), count)]


def assert_same_bits(found: object, expected: np.ndarray) -> None:
    """0 is not −0 here, and NaN is NaN. (The other bits of the byte of an int4 mean nothing.)"""
    array = np.asarray(found)
    assert (array.shape, array.dtype) == (expected.shape, expected.dtype)
    if DType(array.dtype.name).is_sub_byte_integer:
        array, expected = array.astype(np.int8), expected.astype(np.int8)
    assert array.tobytes() == expected.tobytes()


def built(body: Callable[[relay.Var], relay.Expr], shape: tuple[object, ...], dtype: DType) -> Callable[..., object]:
    x = relay.var("x", shape=shape, dtype=dtype)
    return relay.build(relay.Function([x], body(x)), "llvm -num-threads=2")


@pytest.mark.parametrize("dtype", DType)
def test_every_type_is_put_in_order_whatever_the_order_was(dtype: DType) -> None:
    """Rows of extents that are known late: short ones are counted, longer ones sorted by digits."""

    def sorts(x: relay.Var, ascend: bool) -> list[relay.Expr]:
        first = relay.topk(x, 3, -1, "both", ascend, "int64")
        return [relay.argsort(x, -1, ascend), relay.sort(x, -1, ascend), first[0], first[1]]

    run = built(lambda x: relay.Tuple([*sorts(x, True), *sorts(x, False)]), (ANY, ANY), dtype)
    for count in (3, 40, 700):
        data = np.stack([elements(dtype, name, count) for name in (*ORDERS, "extremes")])
        expected: list[np.ndarray] = []
        for ascend in (True, False):
            order = OPERATORS["argsort"].meaning(ArgsortAttributes(-1, ascend), data)
            topk = TopKAttributes(3, -1, "both", ascend, DType.INT64)
            expected += [order, np.take_along_axis(data, order, -1), *OPERATORS["topk"].meaning(topk, data)]
        for one, other in zip(run(data), expected, strict=True):
            assert_same_bits(one, other)


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.INT64, DType.UINT8])
@pytest.mark.parametrize("order", [*ORDERS, "extremes"])
def test_threads_share_a_long_row(dtype: DType, order: str) -> None:
    data = elements(dtype, order, 2 * BLOCK + 77)
    found = built(relay.argsort, data.shape, dtype)(data)
    assert_same_bits(found, np.argsort(data, kind="stable").astype(np.int32))


@pytest.mark.parametrize("order", [*ORDERS, "extremes"])
def test_threads_share_a_long_selection(order: str) -> None:
    data = elements(DType.FLOAT32, order, 2 * SELECTION_BLOCK + 77)
    values, places = built(lambda x: relay.topk(x, 50).astuple(), data.shape, DType.FLOAT32)(data)
    expected = OPERATORS["topk"].meaning(TopKAttributes(50), data)
    assert_same_bits(values, expected[0])
    assert_same_bits(places, expected[1])


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
def test_places_are_numbers_of_the_type_that_is_asked_for(dtype: str) -> None:
    data = elements(DType.FLOAT32, "few distinct", 900)
    for body in (lambda x: relay.topk(x, 3, dtype=dtype)[1], lambda x: relay.argsort(x, dtype=dtype)):
        found = built(body, data.shape, DType.FLOAT32)(data)
        order = np.argsort(-data if len(found) == 3 else data, kind="stable")[: len(found)]
        assert_same_bits(found, order.astype(dtype))


# ------------------------------------------------------------------------------------------------------------ how much


def steps(wanted: FirstInOrder, data: np.ndarray) -> int:
    """The iterations of the loops that put elements in order."""
    x = te.placeholder(data.shape, dtype_of(data.dtype), "x")
    results = wanted.of(x, "found")
    arrays = [data, *(np.zeros([int(extent) for extent in each.shape], each.dtype.numpy) for each in results)]
    return iterations(te.lower(list(results), [x]), arrays)


@pytest.mark.parametrize("order", ["random", "rising", "falling", "all equal"])
@pytest.mark.parametrize("count", [0, 4], ids=["all", "selection"])
def test_twice_the_elements_take_twice_the_steps(order: str, count: int) -> None:
    def work(extent: int) -> int:
        return steps(FirstInOrder(0, False, count or extent, (None,)), elements(DType.INT16, order, extent))

    assert work(1200) < 2.1 * work(600)


def test_a_selection_looks_at_elements_more_than_it_moves_them() -> None:
    data = elements(DType.FLOAT32, "random", 1500)
    wanted = [FirstInOrder(0, False, count, (DType.INT32,)) for count in (4, 1500)]
    selection, everything = (steps(each, data) for each in wanted)
    assert selection < everything / 2


def test_sort_is_the_elements_where_argsort_says() -> None:
    data = np.array([[0.0, -0.0, np.nan, 0.0, -1.0]], np.float32)
    places = OPERATORS["argsort"].meaning(ArgsortAttributes(), data)
    assert places.tolist() == [[4, 0, 1, 3, 2]]
    assert_same_bits(OPERATORS["sort"].meaning(SortAttributes(), data), np.take_along_axis(data, places, -1))
