"""Every case again with a symbol for each extent: the relation's arithmetic, and kernels that serve all extents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay import te
from relay.arith.expr import COMPARISON_OPERATORS, IntExpr, Symbol, evaluate
from relay.base.dtypes import dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.ir.operator import Conflict, Solved
from relay.ir.type_traversal import has_unknown_dimension
from relay.ir.types import ANY, TensorType, TupleType, Type
from relay.ops.framework.record import NoCompute
from relay.ops.table import OPERATORS
from relay.tir.interpretation.interpreter import interpret
from tests.ops.case import Case, Tolerance
from tests.ops.test_operators import CASES, assert_close, flat, meaning_of, type_of

NEEDS_CONSTANTS = {
    "nn.contrib_dense_pack": "wrong-shape",  # the block is part of the weight's layout
    "nn.contrib_dense_words": "wrong-shape",
    "nn.contrib_conv2d_words": "wrong-shape",
    "nn.contrib_conv2d_winograd_weight_transform": "extents-differ",  # kernels are of 3×3
    "nn.contrib_conv2d_winograd_without_weight_transform": "axes-differ",
    "gather_nd": "wrong-attribute",  # how many places an index has decides the rank of the result
    "strided_set": "unknown-rank",
    "unravel_index": "unknown-rank",
    **{f"dyn.{name}": "unknown-rank" for name in ("full", "zeros", "ones", "reshape", "broadcast_to", "strided_slice")},
    **{f"dyn.{name}": "unknown-rank" for name in ("transpose", "tile")},
}


def symbolic(value: Any, name: str, values: dict[Symbol, int]) -> Type:
    """The type of an array with a symbol for each extent but those of 1; `values` learns what the symbols stand for."""
    if isinstance(value, tuple):
        return TupleType(tuple(symbolic(field, f"{name}_{at}", values) for at, field in enumerate(value)))
    shape: list[IntExpr] = []
    for axis, extent in enumerate(value.shape):
        symbol = Symbol(f"{name}_{axis}")
        if extent != 1:
            values[symbol] = extent
        shape.append(1 if extent == 1 else symbol)
    return TensorType(tuple(shape), dtype_of(value.dtype))


def evaluated(type_: Type, values: dict[Symbol, int]) -> Type:
    match type_:
        case TensorType(shape, dtype):
            return TensorType(tuple(extent if extent is ANY else evaluate(extent, values) for extent in shape), dtype)
        case TupleType(fields):
            return TupleType(tuple(evaluated(field, values) for field in fields))
        case _:
            raise AssertionError(type_)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_symbolic_extents_become_the_extents_of_the_meaning(case: Case) -> None:
    values: dict[Symbol, int] = {}
    types = tuple(symbolic(value, f"in{position}", values) for position, value in enumerate(case.inputs))
    outcome = OPERATORS[case.operator].relation(types, case.attributes)
    if isinstance(outcome, Conflict):
        assert NEEDS_CONSTANTS[case.operator] == outcome.rule
        return
    assert isinstance(outcome, Solved)
    for check in outcome.checks:
        condition = check.condition
        sides = evaluate(condition.left, values), evaluate(condition.right, values)
        assert COMPARISON_OPERATORS[condition.op](*sides), check.message
    known = type_of(meaning_of(case))
    assert agrees(evaluated(outcome.result, values), known)
    compute_symbolically(case, types, known if has_unknown_dimension(outcome.result) else outcome.result, values)


def compute_symbolically(case: Case, types: tuple[Type, ...], result: Type, values: dict[Symbol, int]) -> None:
    record = OPERATORS[case.operator]
    if isinstance(record.compute, NoCompute):
        return
    placeholders = tuple(placeholder(type_, f"in{position}") for position, type_ in enumerate(types))
    outputs = flat(record.compute(case.attributes, placeholders, result))
    given = dict(zip(flat(placeholders), flat(case.inputs), strict=True))
    computed = [output for output in outputs if output not in given]
    func = te.lower(computed, list(given))
    arrays = [
        np.empty([evaluate(extent, values) for extent in output.shape], output.dtype.numpy) for output in computed
    ]
    interpret(func, [*given.values(), *arrays], values)
    wanted = [value for output, value in zip(outputs, flat(meaning_of(case)), strict=True) if output not in given]
    tolerance = case.tolerance
    if record.floating_point is FloatingPointClass.ROUNDING and not tolerance.relative:
        tolerance = Tolerance(1e-6, "sums in another order, and functions of a few units in the last place")
    for found, expected in zip(arrays, wanted, strict=True):
        assert_close(found, expected, tolerance)


def placeholder(type_: Type, name: str) -> Any:
    if isinstance(type_, TupleType):
        return tuple(placeholder(field, f"{name}_{position}") for position, field in enumerate(type_.fields))
    assert isinstance(type_, TensorType)
    return te.placeholder(type_.shape, type_.dtype, name)


def with_unknown_extents(type_: Type) -> Type:
    match type_:
        case TensorType(shape, dtype):
            return TensorType(tuple(extent if extent == 1 else ANY for extent in shape), dtype)
        case TupleType(fields):
            return TupleType(tuple(map(with_unknown_extents, fields)))
        case _:
            raise AssertionError(type_)


def agrees(found: Type, wanted: Type) -> bool:
    """Whether a type with unknown extents allows another type."""
    match found, wanted:
        case TensorType(), TensorType():
            return found.dtype is wanted.dtype and len(found.shape) == len(wanted.shape) and all(
                a is ANY or a == b for a, b in zip(found.shape, wanted.shape, strict=True)
            )  # fmt: skip
        case TupleType(), TupleType():
            return all(agrees(a, b) for a, b in zip(found.fields, wanted.fields, strict=True))
        case _:
            return False


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_unknown_extents_allow_the_type_of_the_meaning(case: Case) -> None:
    types = tuple(with_unknown_extents(type_of(value)) for value in case.inputs)
    outcome = OPERATORS[case.operator].relation(types, case.attributes)
    if isinstance(outcome, Conflict):
        assert NEEDS_CONSTANTS[case.operator] == outcome.rule
        return
    assert isinstance(outcome, Solved)
    assert agrees(outcome.result, type_of(meaning_of(case)))
