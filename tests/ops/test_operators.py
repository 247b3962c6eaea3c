"""Templates × the tables of cases: type, meaning, PyTorch and tensor expression of every operator agree."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from relay import te
from relay.base.dtypes import dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.ir.attributes import Attributes
from relay.ir.operator import Solved
from relay.ir.types import ANY, TensorType, TupleType, Type
from relay.ops.framework.record import FromValues, NoCompute
from relay.ops.table import OPERATORS
from relay.tir.interpretation.interpreter import interpret
from tests.ops import (
    cases_dynamic,
    cases_elementwise,
    cases_gradients,
    cases_places,
    cases_products,
    cases_random,
    cases_reductions,
    cases_regions,
    cases_sampling,
    cases_shapes,
    cases_windows,
)
from tests.ops.case import Case, Tolerance

CASES: tuple[Case, ...] = (
    *cases_elementwise.CASES, *cases_products.CASES, *cases_windows.CASES, *cases_reductions.CASES, *cases_shapes.CASES,
    *cases_dynamic.CASES, *cases_random.CASES, *cases_places.CASES, *cases_gradients.CASES, *cases_sampling.CASES,
    *cases_regions.CASES,
)  # fmt: skip
EVERY = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def type_of(value: Any) -> Type:
    if isinstance(value, tuple):
        return TupleType(tuple(type_of(field) for field in value))
    return TensorType(value.shape, dtype_of(value.dtype))


def flat(value: Any) -> list[Any]:
    return [part for field in value for part in flat(field)] if isinstance(value, (tuple, list)) else [value]


def solved(case: Case, types: Sequence[Type] | None = None) -> Solved:
    given = tuple(map(type_of, case.inputs)) if types is None else tuple(types)
    outcome = OPERATORS[case.operator].relation(given, case.attributes)
    assert isinstance(outcome, Solved), outcome
    return outcome


def tensors_of(type_: Type) -> list[TensorType]:
    fields = type_.fields if isinstance(type_, TupleType) else (type_,)
    return [field for field in fields if isinstance(field, TensorType)]


def open_extents(type_: Type, known: Type) -> list[int] | None:
    """What the `?` of a type are in another one; None when the types differ in anything else."""
    found: list[int] = []
    for open_, whole in zip(tensors_of(type_), tensors_of(known), strict=True):
        if open_.dtype is not whole.dtype or len(open_.shape) != len(whole.shape):
            return None
        for extent, number in zip(open_.shape, whole.shape, strict=True):
            if extent is ANY and isinstance(number, int):
                found.append(number)
            elif extent != number:
                return None
    return found


def meaning_of(case: Case) -> Any:
    return OPERATORS[case.operator].meaning(case.attributes, *case.inputs)


def assert_close(found: np.ndarray, wanted: np.ndarray, tolerance: Tolerance) -> None:
    """Equal shapes and element types, and numbers within the tolerance; NaN and infinities where they are wanted."""
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    if found.dtype.kind in "iub":
        np.testing.assert_array_equal(found, wanted)
        return
    found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    finite = wanted[np.isfinite(wanted)]
    scale = max(float(np.abs(finite).max(initial=0)), 1e-30)
    np.testing.assert_allclose(found, wanted, rtol=tolerance.relative, atol=tolerance.relative * scale)


@EVERY
def test_relation_gives_the_type_of_the_meaning(case: Case) -> None:
    outcome = solved(case)
    assert outcome.checks == ()
    assert open_extents(outcome.result, type_of(meaning_of(case))) is not None


@pytest.mark.parametrize("case", [case for case in CASES if case.oracle], ids=lambda case: case.name)
def test_meaning_is_what_pytorch_says(case: Case) -> None:
    assert case.oracle is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own deprecations
        wanted = case.oracle(*(to_torch(value) for value in case.inputs))
    for found, expected in zip(flat(meaning_of(case)), flat(wanted), strict=True):
        array = expected.numpy() if isinstance(expected, torch.Tensor) else expected
        tolerance = case.tolerance if case.tolerance.relative else Tolerance(1e-6, "PyTorch rounds in its own way")
        assert_close(found, array, tolerance)


def to_torch(value: Any) -> Any:
    return tuple(map(to_torch, value)) if isinstance(value, tuple) else torch.tensor(value)


@EVERY
def test_tensor_expression_computes_the_meaning(case: Case) -> None:
    record = OPERATORS[case.operator]
    if isinstance(record.compute, NoCompute):
        assert record.compute.reason
        return
    result = type_of(meaning_of(case))
    placeholders = tuple(placeholder_of(value, f"in{position}") for position, value in enumerate(case.inputs))
    outputs = flat(record.compute(case.attributes, placeholders, result))
    for found, wanted in zip(run_tensors(outputs, placeholders, case.inputs), flat(meaning_of(case)), strict=True):
        tolerance = case.tolerance
        if record.floating_point is FloatingPointClass.ROUNDING and not tolerance.relative:
            tolerance = Tolerance(1e-6, "sums in another order, and functions of a few units in the last place")
        assert_close(found, wanted, tolerance)


@pytest.mark.parametrize("case", cases_dynamic.CASES, ids=lambda case: case.name)
def test_extents_that_values_tell_are_those_of_the_meaning(case: Case) -> None:
    record, result = OPERATORS[case.operator], solved(case).result
    assert isinstance(record.extents, FromValues)
    wanted = open_extents(result, type_of(meaning_of(case)))
    if wanted:
        placeholders = tuple(placeholder_of(value, f"in{position}") for position, value in enumerate(case.inputs))
        extents = record.extents.extents(case.attributes, placeholders, result)
        (found,) = run_tensors([extents], placeholders, case.inputs)
        assert (found.dtype, found.tolist()) == (np.int64, wanted)


def placeholder_of(value: Any, name: str) -> Any:
    if isinstance(value, tuple):
        return tuple(placeholder_of(field, f"{name}_{position}") for position, field in enumerate(value))
    return te.placeholder(value.shape, dtype_of(value.dtype), name)


def run_tensors(outputs: list[te.Tensor], placeholders: Any, inputs: Any) -> list[np.ndarray]:
    """The arrays of the outputs, by lowering and interpreting; one that is an input is that input."""
    given = dict(zip(flat(placeholders), flat(inputs), strict=True))
    computed = [output for output in outputs if output not in given]
    func = te.lower(computed, list(given))
    arrays = {output: np.empty([int(e) for e in output.shape], output.dtype.numpy) for output in computed}  # pyright: ignore
    interpret(func, [*given.values(), *arrays.values()])
    return [given[output] if output in given else arrays[output] for output in outputs]


@pytest.mark.parametrize("name", OPERATORS)
def test_every_record_is_complete(name: str) -> None:
    record = OPERATORS[name]
    assert record.name == name
    assert record.description.endswith(".")
    assert len(record.argument_docs) == len(record.inputs)
    assert all(record.argument_docs)
    assert issubclass(record.attributes, Attributes)
    assert 1 <= record.support_level <= 11
    for fact in (record.compute, record.gradient, record.layout):
        assert callable(fact) or getattr(fact, "reason", "fact")
    assert any(case.operator == name for case in CASES), f"{name} has no test case"
