"""LiftCalledFunctions where types have extents that are no numbers: parameters tell them to a global function."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.ir.module import IRModule
from relay.transform import LiftCalledFunctions


def lifted(text: str) -> IRModule:
    return LiftCalledFunctions(relay.transform.InferType(relay.parse('#[version = "0.0.5"]\n' + text)))


def names(module: IRModule) -> list[str]:
    return sorted(each.name_hint for each in module)


def test_parameters_tell_extents():
    found = lifted("""
        def @main(%x: Tensor[(n, 3), float32], %k: int32) {
          let %loop = fn (%i: int32, %y: Tensor[(n, 3), float32]) -> Tensor[(n, 3), float32] {
            if (%i == 0) { %y } else { %loop(%i - 1, add(%y, %x)) }
          };
          %loop(%k, %x)
        }""")
    assert names(found) == ["main", "main_loop"]
    given = np.ones((4, 3), "float32")
    np.testing.assert_array_equal(relay.build(found)(given, 5), 6 * given)


def test_what_is_taken_along_tells_extents():
    """`%x` becomes a parameter, and tells the `n` of the result."""
    found = lifted("""
        def @main(%x: Tensor[(n,), float32], %k: int32) {
          let %times = fn (%i: int32) -> Tensor[(n,), float32] { multiply(%x, cast(%i, dtype="float32")) };
          add(%times(%k), %times(2))
        }""")
    assert names(found) == ["main", "main_times"]
    np.testing.assert_array_equal(relay.build(found)(np.ones(3, "float32"), 5), np.full(3, 7, "float32"))


def test_parameters_around_tell_extents():
    """From `n + m` nothing is known of `n`: the parameters of the function around are taken along for it."""
    found = lifted("""
        def @main(%x: Tensor[(n,), float32], %y: Tensor[(m,), float32]) {
          let %both = concatenate((%x, %y));
          let %f = fn (%z: Tensor[(n + m,), float32]) { %z };
          add(%f(%both), %f(%both))
        }""")
    assert names(found) == ["main", "main_f"]
    given = np.ones(2, "float32"), np.ones(3, "float32")
    np.testing.assert_array_equal(relay.build(found)(*given), np.full(5, 2, "float32"))


def test_generic_functions_stay_generic():
    found = lifted("""
        def @second[b](%y: b, %k: int32) -> b {
          let %both = fn[a](%v: a, %w: b) -> (a, b) { (%v, %w) };
          let %again = fn (%i: int32) -> b { if (%i == 0) { %y } else { %again(%i - 1) } };
          let %pair = %both(%k, %again(%k));
          %pair.1
        }
        def @main(%x: float32) { let %same = fn (%v) { %v }; let %i = %same(3); @second(%same(%x), %i) }""")
    assert names(found) == ["main", "main_same", "second", "second_again", "second_both"]
    assert relay.build(found)(2.0) == 2
    assert relay.build(relay.transform.Monomorphize(found))(2.0) == 2


def test_calls_at_other_extents_are_compared():
    """Lifted, the function would take its `n` from the argument, and not say that it is not that of `%x`."""
    found = lifted("""
        def @main(%x: Tensor[(n,), float32], %z: Tensor[(?,), float32]) {
          let %f = fn (%y: Tensor[(n,), float32]) { tanh(%y) };
          (%f(%z), add(%f(%x), %x))
        }""")
    assert names(found) == ["main"]
    for run in (relay.build(found), relay.create_executor("debug", found).evaluate()):
        with pytest.raises(relay.RelayError):
            run(np.ones(3, "float32"), np.ones(4, "float32"))
