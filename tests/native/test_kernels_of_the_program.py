"""Functions that a program marks as kernels, or for another compiler, run whatever stands in them."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.transform.regions.given_kernels import with_possible_kernels
from tests.native.running import assert_same, module

T = "Tensor[(4,), float32]"
INSIDE = {
    "called": f"fn (%y: {T}, Primitive=1) -> {T} {{ add(%y, 1f) }}(%x)",
    "bound": f"let %f = fn (%y: {T}, Primitive=1) -> {T} {{ add(%y, 1f) }}; %f(%f(%x))",
    "binds": f"fn (%y: {T}, Primitive=1) -> {T} {{ let %z = add(%y, 1f); multiply(%z, %z) }}(%x)",
    "chooses": f"fn (%y: {T}, Primitive=1) -> {T} {{ if (True) {{ add(%y, 1f) }} else {{ %y }} }}(%x)",
    "is open": f"fn (%y: {T}, Primitive=1) -> {T} {{ add(%y, %x) }}(%x)",
    "does nothing": f"fn (%y: {T}, Primitive=1) -> {T} {{ %y }}(%x)",
    "nested": f"fn (%y: {T}, Primitive=1) -> {T} {{ fn (%q: {T}, Primitive=1) {{ add(%q, 1f) }}(%y) }}(%x)",
    "for c": f'fn (%y: {T}, Primitive=1, Compiler="c") -> {T} {{ add(%y, 1f) }}(%x)',
    "bound for c": f'let %f = fn (%y: {T}, Primitive=1, Compiler="c") -> {T} {{ add(%y, 1f) }}; %f(%x)',
    "open for c": f'fn (%y: {T}, Primitive=1, Compiler="c") -> {T} {{ add(%y, %x) }}(%x)',
}


def runs(source: str, argument: np.ndarray, opt_level: int = 2) -> None:
    program = module(source)
    expected = relay.create_executor("interpreter", mod=program).evaluate()(argument)
    assert_same(relay.build(program, opt_level=opt_level)(argument), expected)


@pytest.mark.parametrize("opt_level", [0, 3])
@pytest.mark.parametrize("kind", INSIDE)
def test_a_function_inside_that_is_marked(kind: str, opt_level: int) -> None:
    runs(f"def @main(%x: {T}) {{ {INSIDE[kind]} }}", np.arange(4, dtype="float32"), opt_level=opt_level)


def test_a_global_function_that_is_marked() -> None:
    runs(f"def @f(%y: {T}, Primitive=1) {{ add(%y, 1f) }} def @main(%x: {T}) {{ @f(%x) }}", np.ones(4, "float32"))


def test_what_can_be_a_kernel_stays_one() -> None:
    fused = relay.transform.FuseOps()(relay.transform.InferType()(module(f"def @main(%x: {T}) {{ exp(tanh(%x)) }}")))
    assert with_possible_kernels(fused) is fused


@pytest.mark.parametrize("opt_level", [0, 3])
def test_constants_of_nothing(opt_level: int) -> None:
    nothing = relay.const(np.zeros((0, 5), "float32"))
    x, z = relay.var("x", shape=(4, 5)), relay.var("z", shape=(0, 5))
    joined = relay.Function([x], relay.concatenate([x, nothing], 0) * relay.const(2.0))
    added = relay.Function([z], z + nothing)
    ones = np.ones((4, 5), "float32")
    assert (relay.build(relay.IRModule.from_expr(joined), opt_level=opt_level)(ones) == 2).all()
    assert relay.build(relay.IRModule.from_expr(added), opt_level=opt_level)(ones[:0]).shape == (0, 5)
