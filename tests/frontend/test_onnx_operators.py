"""Every operator of ONNX that can be imported means what onnxruntime computes."""

from __future__ import annotations

import pytest

from relay.frontend.onnx import CONVERTERS, from_onnx
from tests.frontend.onnx_cases import Case
from tests.frontend.onnx_operator_cases import CASES
from tests.frontend.running import assert_close, run_onnxruntime, run_relay


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_operator_equals_onnxruntime(case: Case) -> None:
    model = case.model()
    module, params = from_onnx(model)
    found = run_relay(module, {**case.feeds(), **params})
    assert_close(found, run_onnxruntime(model, case.feeds()), case.tolerance)


def test_every_converter_has_a_case() -> None:
    """But for those that whole graphs test."""
    without = set(CONVERTERS) - {case.operator for case in CASES} - {"Constant", "If"}
    assert not without
