"""What folding keeps in memory: a weight that is only moved is copied once, by who packs it into the artefact."""

from __future__ import annotations

import numpy as np

import relay
from relay.ir.expr import Constant
from relay.transform.simplify.fold_constant import FoldConstant


def _folded(expr: relay.Expr) -> np.ndarray:
    module = FoldConstant(relay.transform.infer_type(relay.IRModule.from_expr(relay.Function([], expr))))
    body = module["main"].body
    assert isinstance(body, Constant)
    return body.data


def test_a_transposed_weight_is_no_copy() -> None:
    weight = np.arange(12, dtype=np.float32).reshape(3, 4)
    transposed = relay.transpose(relay.const(weight), (1, 0))
    found = _folded(transposed)
    assert np.shares_memory(found, weight)
    np.testing.assert_array_equal(found, weight.T)
    np.testing.assert_array_equal(
        relay.build(relay.Function([], relay.transpose(relay.const(weight), (1, 0))))(), weight.T
    )


def test_a_check_that_holds_is_its_value_and_one_that_does_not_stays() -> None:
    assert _folded(relay.checked(relay.const(3), relay.const(True), "it holds")) == 3
    fails = relay.Function([], relay.checked(relay.const(3), relay.const(False), "it does not"))
    module = relay.transform.infer_type(relay.IRModule.from_expr(fails))
    assert relay.structural_equal(FoldConstant(module), module)


def test_repeated_elements_are_written_out() -> None:
    row = np.arange(4, dtype=np.float32)
    found = _folded(relay.broadcast_to(relay.const(row), (3, 4)))
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, np.broadcast_to(row, (3, 4)))
