"""What passes with arguments refuse, in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import relay
from relay.base.diagnostics import RelayError
from relay.transform import (
    CombineParallelBatchMatmul,
    CombineParallelConv2D,
    CombineParallelDense,
    ConvertLayout,
    Defunctionalization,
    Legalize,
    Monomorphize,
    PassContext,
    ToCPS,
)
from relay.transform.framework.passes import AnyPass
from tests.messages import check_message


@pytest.mark.parametrize("combine", [CombineParallelBatchMatmul, CombineParallelConv2D, CombineParallelDense])
def test_one_branch_cannot_be_combined(combine: Callable[..., object]) -> None:
    with pytest.raises(RelayError) as caught:
        combine(min_num_branches=1)
    check_message("passes", "branch_count", caught.value)


@pytest.mark.parametrize(
    ("name", "layouts"),
    [
        ("layouts_operator", {"nn.dense": ("NCHW",)}),
        ("layouts_data", {"nn.conv2d": ("NCWH2c", "OIHW")}),
        ("layouts_kernel", {"nn.conv2d": ("NHWC", "HWIO16o")}),
    ],
)
def test_layouts_that_cannot_be_had(name: str, layouts: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(RelayError) as caught:
        ConvertLayout(layouts)
    check_message("passes", name, caught.value)


def test_an_operator_without_formula_names_its_place() -> None:
    module = relay.parse('#[version = "0.0.5"]\ndef @main(%x: Tensor[(4), float32]) { erf(%x) }')
    with pytest.raises(RelayError) as caught:
        Legalize(["erf"])(module)
    check_message("passes", "no_formula", caught.value)


def test_fast_math_runs_at_its_level_or_when_it_is_required() -> None:
    module = relay.parse('#[version = "0.0.5"]\ndef @main(%x: Tensor[(4), float32]) { divide(%x, sqrt(%x)) }')
    for opt_level, required, operator in ((3, (), "divide"), (3, ("FastMath",), "rsqrt"), (4, (), "rsqrt")):
        with PassContext(opt_level=opt_level, required_pass=required):
            assert operator in relay.astext(relay.transform.optimization_pipeline(module))


_FUNCTIONS_OF_MAIN = "def @main(%f: fn(float32) -> float32) { %f(1f) }"
_EXTENTS_OF_THE_CALLER = """
def @main(%x: Tensor[(?), float32], %c: bool) {
  let %f = if (%c) { fn (%y: Tensor[(?), float32]) { add(%x, %y) } } else { fn (%y: Tensor[(?), float32]) { %y } };
  %f(%x)
}
"""
_GROWING_TYPES = """
def @grow[A](%x: A, %n: int32) -> int32 { if (equal(%n, 0)) { 0 } else { @grow((%x, %x), subtract(%n, 1)) } }
def @main(%n: int32) { @grow(%n, %n) }
"""
_FUNCTIONS_IN_DATA = """
type Step { Step(fn(float32) -> float32) }
def @main(%s: Step) { match (%s) { Step(%f) => %f(1f) } }
"""


@pytest.mark.parametrize(
    ("name", "applied", "program"),
    [
        ("functions_of_main", Defunctionalization(), _FUNCTIONS_OF_MAIN),
        ("functions_of_extents", Defunctionalization(), _EXTENTS_OF_THE_CALLER),
        ("growing_types", Monomorphize(), _GROWING_TYPES),
        ("functions_in_data", ToCPS(), _FUNCTIONS_IN_DATA),
    ],
)
def test_programs_that_a_pass_cannot_take(name: str, applied: AnyPass, program: str) -> None:
    module = relay.parse(f'#[version = "0.0.5"]\n{program}')
    with pytest.raises(RelayError) as caught:
        applied(relay.transform.InferType()(module))
    check_message("passes", name, caught.value)
