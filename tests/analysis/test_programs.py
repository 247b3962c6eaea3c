"""Multiply-adds, liveness, element types and parts of whole programs."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from relay.analysis import all_dtypes, annotated_regions, extract_fused_functions, get_total_mac_number, liveness
from relay.base.diagnostics import RelayError
from relay.ir.expr import Call, Function, Op
from relay.ir.traversal import post_order
from relay.ops.table import OPERATORS
from relay.transform import AnnotateTarget, FuseOps, PartitionGraph, ToANormalForm
from tests.messages import check_message
from tests.transform.takers import Takes

HEADER = '#[version = "0.0.5"]\n'


def of(body, *params):
    return get_total_mac_number(relay.Function(params, body))


def test_what_each_operator_multiplies_and_adds():
    x, w = relay.var("x", shape=(2, 5, 8)), relay.var("w", shape=(3, 8))
    assert of(relay.nn.dense(x, w), x, w) == 2 * 5 * 3 * 8
    a, b = relay.var("a", shape=(7, 4)), relay.var("b", shape=(7, 6))
    assert of(relay.nn.matmul(a, b, transpose_a=True), a, b) == 4 * 6 * 7
    left, right = relay.var("l", shape=(5, 2, 3)), relay.var("r", shape=(1, 4, 3))
    assert of(relay.nn.batch_matmul(left, right), left, right) == 5 * 2 * 4 * 3
    image, kernel = relay.var("i", shape=(1, 16, 10, 10)), relay.var("k", shape=(32, 4, 3, 3))
    convolution = relay.nn.conv2d(image, kernel, padding=1, strides=2, groups=4)
    assert of(convolution, image, kernel) == 32 * 5 * 5 * 4 * 9
    spread = relay.var("s", shape=(16, 8, 2, 2))
    assert of(relay.nn.conv2d_transpose(image, spread, strides=(2, 2)), image, spread) == 16 * 10 * 10 * 8 * 4
    assert of(relay.exp(x), x) == 0


def test_a_convolution_by_winograd_counts_what_it_does():
    """36 products for a tile of 4 × 4 results, where the convolution itself has 144."""
    x, w = relay.var("x", shape=(1, 14, 14, 32)), relay.var("w", shape=(6, 6, 64, 32))
    call = relay.nn.contrib_conv2d_winograd_without_weight_transform(x, w, tile_size=4, padding=1)
    tiles = 4 * 4  # the last ones stick out of the image
    assert of(call, x, w) == tiles * 36 * 32 * 64


def test_every_heavy_operator_has_the_fact():
    heavy = {"nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.conv1d_transpose", "nn.conv2d_transpose",
             "nn.conv3d_transpose", "nn.dense", "nn.matmul",
             "nn.conv1d_backward_weight", "nn.conv2d_backward_weight", "nn.conv3d_backward_weight",
             "nn.batch_matmul", "nn.contrib_dense_pack", "nn.contrib_dense_words", "nn.contrib_conv2d_words",
             "nn.contrib_conv2d_winograd_without_weight_transform",
             "nn.attention"}  # fmt: skip
    assert {name for name, record in OPERATORS.items() if record.multiply_adds is not None} == heavy


def test_networks_as_published():
    """1.82 G for ResNet-18, and 0.57 G for the first MobileNet."""
    for build, wanted in ((relay.testing.resnet, 1.82e9), (relay.testing.mobilenet, 0.57e9)):
        module, _ = build.get_workload()
        assert abs(get_total_mac_number(relay.transform.infer_type(module)) - wanted) < 0.02 * wanted


def test_symbolic_extents_and_calls():
    module = relay.parse(
        HEADER + "def @main(%x: Tensor[(n, 4), float32], %y: Tensor[(3, 4), float32], %w: Tensor[(4, 4), float32]) {\n"
        "  let %f = fn (%a: Tensor[(3, 4), float32]) { nn.dense(%a, %w) };\n"
        "  %0 = if (greater(sum(%y), 0f)) { %f(%y) } else { %f(%f(%y)) };\n"
        "  (@layer(%x, %w), @layer(%0, %w), fn (%p: Tensor[(3, 4), float32]) { nn.dense(%p, %w) }(%y))\n}\n"
        "def @layer(%x: Tensor[(m, 4), float32], %w: Tensor[(4, 4), float32]) { nn.dense(%x, %w) }\n"
    )
    assert str(get_total_mac_number(module)) == "16*n + 240"
    assert get_total_mac_number(FuseOps(module)) == get_total_mac_number(module)


RECURSIVE = (
    "def @main(%x: Tensor[(2, 2), float32], %k: int32) -> Tensor[(2, 2), float32] {\n"
    "  if (less(%k, 1)) { %x } else { @main(nn.dense(%x, %x), subtract(%k, 1)) }\n}"
)
UNKNOWN = (
    "def @main(%f: fn (Tensor[(2, 2), float32]) -> Tensor[(2, 2), float32], %x: Tensor[(2, 2), float32]) { %f(%x) }"
)


@pytest.mark.parametrize(("name", "source"), [("recursive", RECURSIVE), ("unknown", UNKNOWN)])
def test_what_only_a_run_can_tell(name, source):
    with pytest.raises(RelayError) as caught:
        get_total_mac_number(relay.transform.infer_type(relay.parse(HEADER + source)))
    check_message("analysis", f"multiply_adds_{name}", caught.value)


def test_liveness():
    function = relay.parse(
        HEADER + "def @main(%x: Tensor[(2), float32], %c: bool) {\n"
        "  let %a = exp(%x);\n  let %b = add(%a, %a);\n"
        "  let %d = if (%c) { let %e = tanh(%a); %e } else { %b };\n"
        "  let %f = fn (%p: Tensor[(2), float32]) { let %q = add(%p, %b); %q };\n"
        "  let %g = %f(%d);\n  multiply(%g, %x)\n}"
    )["main"]
    assert str(liveness(function)).splitlines() == [
        "%a: live %a, %c, %x",
        "%b: live %a, %b, %c, %x",
        "%d: live %b, %d, %x; last use of %c, %a",
        "%e: live %b, %e, %x; last use of %a",
        "%f: live %d, %f, %x; last use of %b",
        "%q: live %q; last use of %p, %b",
        "%g: live %g, %x; last use of %f, %d",
    ]


def test_liveness_of_a_network_is_small():
    module, _ = relay.testing.resnet.get_workload()
    found = liveness(ToANormalForm(FuseOps(module))["main"])
    params = set(module["main"].params)
    assert max(len([var for var in live if var not in params]) for live in found.live_after.values()) < 6


def test_element_types():
    x = relay.var("x", shape=(2,), dtype="int8")
    module = relay.IRModule.from_expr(relay.Function((x,), relay.cast(relay.cast(x, "float16"), "float64")))
    assert all_dtypes(relay.transform.infer_type(module)) == {"int8", "float16", "float64"}
    assert all_dtypes(relay.Function((x,), relay.const(1.0))) == {"int8", "float32"}


def test_regions_before_and_after_partitioning():
    x = relay.var("x", shape=(2,))
    module = relay.IRModule.from_expr(relay.Function((x,), relay.tanh(relay.exp(relay.tanh(x)))))
    with relay.PassContext(external_compilers={"mine": Takes.always("tanh")}):
        annotated = AnnotateTarget(["mine"])(module)
    before, after = annotated_regions(annotated), annotated_regions(PartitionGraph(annotated))
    assert [(each.compiler, each.name) for each in before] == [("mine", ""), ("mine", "")]
    assert [each.name for each in after] == ["mine_main_0", "mine_main_1"]
    assert [[arg.name_hint for arg in given] for given in after[0].inputs] == [["x"]]


def test_kernels_once_each():
    x = relay.var("x", shape=(4, 4))
    twice = relay.nn.softmax(relay.nn.softmax(relay.nn.dense(relay.nn.dense(x, x), relay.const(np.ones((4, 4), "f4")))))
    fused = FuseOps(relay.IRModule.from_expr(relay.Function((x,), twice)))
    kernels = extract_fused_functions(fused)
    calls = [n for n in post_order(fused["main"].body) if isinstance(n, Call) and isinstance(n.op, Function)]
    assert sorted(kernels) == ["fused_nn_dense", "fused_nn_dense_2", "fused_nn_softmax"]
    assert len(calls) == 4
    assert all(isinstance(n.op, Op) for k in kernels.values() for n in post_order(k.body) if isinstance(n, Call))
