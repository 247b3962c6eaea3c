"""Every operator of ONNX that can be imported means what onnxruntime computes."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from relay.frontend.onnx import CONVERTERS, converters, from_onnx
from relay.frontend.onnx.converters.control.optionals import OPTIONALS
from relay.frontend.onnx.converters.control.sequences import SEQUENCES
from relay.frontend.onnx.converters.random_numbers import RANDOM
from relay.frontend.onnx.converters.table import FAMILIES
from relay.frontend.shared.node import Converter
from tests.frontend.onnx_cases import Case
from tests.frontend.onnx_computed_cases import REFERENCE_CASES
from tests.frontend.onnx_learning_cases import LEARNING_REFERENCE_CASES
from tests.frontend.onnx_operator_cases import CASES
from tests.frontend.running import assert_close, run_onnx_reference, run_onnxruntime, run_relay

TESTED_ELSEWHERE = {
    "Constant", "If", "Loop", "Scan", *(record.operator for record in (*SEQUENCES, *OPTIONALS, *RANDOM)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_operator_equals_onnxruntime(case: Case) -> None:
    model = case.model()
    module, params = from_onnx(model)
    found = run_relay(module, {**case.feeds(), **params})
    assert_close(found, run_onnxruntime(model, case.feeds()), case.tolerance)


@pytest.mark.parametrize("case", [*REFERENCE_CASES, *LEARNING_REFERENCE_CASES], ids=str)
def test_an_operator_equals_onnx(case: Case) -> None:
    model = case.model()
    module, params = from_onnx(model)
    found = run_relay(module, {**case.feeds(), **params})
    assert_close(found, run_onnx_reference(model, case.feeds()), case.tolerance)


def test_every_converter_has_a_case() -> None:
    """But for those that whole graphs and distributions test."""
    cases = (*CASES, *REFERENCE_CASES, *LEARNING_REFERENCE_CASES)
    without = set(CONVERTERS) - {case.qualified for case in cases} - TESTED_ELSEWHERE
    assert not without


def test_the_table_names_the_converters_of_all_families() -> None:
    modules = pkgutil.walk_packages(converters.__path__, f"{converters.__name__}.")
    found = {
        (f"{module.name.removeprefix(f'{converters.__name__}.')}:{name}", row.operator)
        for module in modules
        for name, rows in vars(importlib.import_module(module.name)).items()
        if isinstance(rows, tuple) and rows and all(isinstance(each, Converter) for each in rows)
        for row in rows
    }
    assert found == {(home, name) for home, names in FAMILIES.items() for name in names.split()}
    assert all(CONVERTERS[name].operator == name for _, name in found)
    assert len(CONVERTERS) == len(found)
