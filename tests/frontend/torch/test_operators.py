"""Operators by family, each compared with eager."""

from __future__ import annotations

import warnings

import pytest
import torch

from relay.frontend import from_pytorch
from tests.frontend.torch.operator_families import FAMILIES, Operators
from tests.frontend.torch.running import TOLERANCE, arrays, difference, run


def disagreements(family: str, *, taken_apart: bool) -> dict[int, float]:
    """The outputs of a family that differ from eager, and by how much."""
    function, inputs_of = FAMILIES[family]
    torch.manual_seed(0)
    module, inputs = Operators(function).eval(), inputs_of()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if taken_apart:
            program, params = from_pytorch(torch.export.export(module, inputs).run_decompositions())
        else:
            program, params = from_pytorch(module, inputs)
        expected = arrays(module(*inputs))
    found = run(program, params, (inputs, {}), compiled=False)
    pairs = zip(found, expected, strict=True)
    differences = {place: difference([mine], [theirs]) for place, (mine, theirs) in enumerate(pairs)}
    return {place: gap for place, gap in differences.items() if gap > TOLERANCE}


@pytest.mark.parametrize("family", FAMILIES)
def test_operators_agree_with_eager(family: str):
    assert disagreements(family, taken_apart=False) == {}


@pytest.mark.parametrize("family", ["activations", "reductions", "windows", "norms"])
def test_operators_that_pytorch_has_taken_apart_agree_with_eager(family: str):
    assert disagreements(family, taken_apart=True) == {}
