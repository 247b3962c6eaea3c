"""Inputs that verification makes up: of every type, equal for equal draws, and ending."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.base.dtypes import DType
from relay.driver.verification.inputs import COINS, DEEPEST_DATA, Draw
from relay.driver.verification.observed import observed
from relay.ir.types import FuncType, GlobalTypeVar, TensorType, TupleType, TypeCall, scalar_type
from relay.runtime.arguments.made_up import made_up_array
from relay.runtime.values.values import DataValue, RefValue
from tests.messages import check_message

DATA = """#[version = "0.0.5"]
type Even[a] { Stop, Take(a, Odd[a]) }
type Odd[a] { Next(a, Even[a]) }
type Never { Again(Never) }
type Either[a, b] { Left(a), Right(b) }
def @main(%x: float32) { %x }
"""


def module() -> relay.IRModule:
    return relay.parse(DATA)


def depth(value: object) -> int:
    return 1 + max(map(depth, value.fields), default=0) if isinstance(value, DataValue) else 0


@pytest.mark.parametrize("dtype", DType)
def test_arrays_of_every_dtype(dtype: DType) -> None:
    array = made_up_array(np.random.default_rng(0), (50,), dtype, (-300, 300))
    assert array.dtype == dtype.numpy
    assert len({each.item() for each in array}) > 1
    assert not np.isnan(array.astype(np.float64)).any()


def test_extents_of_symbols() -> None:
    n, m = relay.arith.expr.Symbol("n"), relay.arith.expr.Symbol("m")
    types = [TensorType((n, m)), TensorType((2 * n + 1,))]
    assert [each.shape for each in Draw(size=3).values(types, module())] == [(3, 4), (7,)]
    assert [each.shape for each in Draw(size=3, apart=False).values(types, module())] == [(3, 3), (7,)]
    assert Draw(size=3).shown(types) == "n = 3, m = 4, seed 0"


def test_equal_draws_make_equal_inputs_and_refs_of_their_own() -> None:
    types = [TensorType((4,)), relay.RefType(scalar_type("int32"))]
    (left, cell), (right, other) = Draw(5).values(types, module()), Draw(5).values(types, module())
    assert (left == right).all()
    assert isinstance(cell, RefValue)
    assert cell is not other
    assert cell.value == other.value
    assert (Draw(6).values(types, module())[0] != left).any()


def test_data_end_and_are_made_by_all_constructors() -> None:
    even = TypeCall(GlobalTypeVar("Even"), (scalar_type("int8"),))
    values = [Draw(seed).values([even], module())[0] for seed in range(40)]
    assert {each.constructor for each in values} == {"Stop", "Take"}
    assert 1 < max(map(depth, values)) <= DEEPEST_DATA + 2
    either = TypeCall(GlobalTypeVar("Either"), (even, scalar_type("bool")))
    assert {Draw(seed).values([either], module())[0].constructor for seed in range(40)} == {"Left", "Right"}


def test_data_that_never_ends_cannot_be_made_up() -> None:
    with pytest.raises(relay.RelayError) as error:
        Draw().values([GlobalTypeVar("Never")], module())
    check_message("verification", "never_ends", error.value)


def test_functions_are_made_up_and_called() -> None:
    inner = FuncType((scalar_type("int32"),), TupleType((scalar_type("int32"), scalar_type("bool"))))
    (function,) = Draw(integers=COINS).values([inner], module())
    assert len(function(1)) == 2
    with pytest.raises(TypeError, match="takes 1 arguments, not 2"):
        function(1, 2)
    seen = observed([("result", function, inner)], module(), Draw(), {})
    assert [each.path for each in seen] == ["result().0", "result().1", "result().0", "result().1"]
