"""Operators by family, each compared with eager."""

from __future__ import annotations

import warnings

import pytest
import torch

from relay.frontend import from_pytorch
from tests.frontend.torch.operator_families import FAMILIES, Operators
from tests.frontend.torch.running import TOLERANCE, arrays, difference, run


@pytest.mark.parametrize("family", FAMILIES)
def test_operators_agree_with_eager(family: str):
    function, inputs_of = FAMILIES[family]
    torch.manual_seed(0)
    module, inputs = Operators(function).eval(), inputs_of()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program, params = from_pytorch(module, inputs)
        expected = arrays(module(*inputs))
    found = run(program, params, (inputs, {}), compiled=False)
    pairs = zip(found, expected, strict=True)
    differences = {place: difference([mine], [theirs]) for place, (mine, theirs) in enumerate(pairs)}
    assert {place: gap for place, gap in differences.items() if gap > TOLERANCE} == {}
