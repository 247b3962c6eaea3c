"""Statements about values that the run checks: what they end is the same call in the interpreter and natively."""

from __future__ import annotations

import numpy as np
import pytest

import relay

INSIDE = "logical_and(greater_equal(%i, 0), less(%i, 5))"
TAKEN = (
    f'def @main(%x: Tensor[(5,), float32], %i: int32) {{ take(%x, checked(%i, {INSIDE}, message="outside"), axis=0) }}'
)
UNUSED = 'def @main(%x: Tensor[(5,), float32], %i: int32) { let %u = checked(%i, less(%i, 5), message="outside"); %x }'
IN_A_BRANCH = """def @main(%x: Tensor[(5,), float32], %i: int32) {
  if (greater(%i, 8)) { %x } else { let %u = checked(%x, less(%i, 5), message="outside"); add(%u, %x) }
}"""
IN_A_LOOP = """def @main(%x: Tensor[(5,), float32], %i: int32) {
  let %loop = fn (%k: int32, %s: float32) -> float32 {
    if (less(%k, 0)) { %s } else {
      let %j = checked(%k, less(%k, 5), message="outside");
      %loop(subtract(%k, 1), add(%s, take(%x, %j, axis=0)))
    }
  };
  %loop(%i, 0f)
}"""
OF_CONSTANTS = (
    'def @main(%x: Tensor[(5,), float32], %i: int32) { take(%x, checked(2, less(%i, 5), message="outside"), axis=0) }'
)
IN_A_LIST = """type List[a] { Cons(a, List[a]), Nil }
def @main(%x: Tensor[(5,), float32], %i: int32) { Cons(%x, Cons(checked(%x, less(%i, 5), message="outside"), Nil)) }"""


@pytest.mark.parametrize("program", [TAKEN, UNUSED, IN_A_BRANCH, IN_A_LOOP, OF_CONSTANTS, IN_A_LIST])
@pytest.mark.parametrize("opt_level", [0, 3])
def test_what_does_not_hold_ends_the_call(program: str, opt_level: int) -> None:
    module = relay.parse('#[version = "0.0.5"]\n' + program)
    x = np.arange(5, dtype=np.float32)
    meant = relay.create_executor("interpreter", module).evaluate()
    native = relay.build(module, opt_level=opt_level)
    assert str(native(x, np.int32(3))) == str(meant(x, np.int32(3)))
    for run in (meant, native):
        with pytest.raises(relay.RelayError, match="outside") as caught:
            run(x, np.int32(7))
        assert caught.value.rule == "check-failed"


def test_what_does_not_hold_is_not_computed_before() -> None:
    module = relay.parse('#[version = "0.0.5"]\n' + IN_A_BRANCH)
    for run in (relay.create_executor("interpreter", module).evaluate(), relay.build(module, opt_level=3)):
        assert run(np.ones(5, np.float32), np.int32(9)).sum() == 5


@pytest.mark.parametrize("opt_level", [0, 3])
def test_extents_are_checked_at_the_entry(opt_level: int) -> None:
    body = 'checked_extent(%x, axis=0, minimum=3, message="three are read")'
    module = relay.parse(f'#[version = "0.0.5"]\ndef @main(%x: Tensor[(n,), float32]) {{ add({body}, 1f) }}')
    for run in (relay.create_executor("interpreter", module).evaluate(), relay.build(module, opt_level=opt_level)):
        np.testing.assert_array_equal(run(np.zeros(3, np.float32)), np.ones(3))
        with pytest.raises(relay.RelayError, match="three are read"):
            run(np.zeros(2, np.float32))


def test_the_graph_executor_has_no_checks() -> None:
    with pytest.raises(relay.RelayError, match="checks a value"):
        relay.create_executor("graph", relay.parse('#[version = "0.0.5"]\n' + TAKEN)).evaluate()
