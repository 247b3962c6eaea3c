"""The schedules of the main kinds of kernels, as text: `tests/golden/schedules_cpu/<kind>.txt`.

Each file holds the fused program, then what is decided and why, the steps of that, and the loops they give.
UPDATE_GOLDEN=1 writes the files anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import relay
from relay import te
from relay.base.target import Target
from relay.driver.build import compile_stages
from relay.driver.compilation import Compilation
from relay.driver.targets import Targets, targets_for
from relay.targets.cpu.host import resolve
from relay.tir.text.printer import print_primfunc
from tests.targets.cpu.machines import MACHINES, as_far_as_here

GOLDEN = Path(__file__).parents[2] / "golden" / "schedules_cpu"
FEATURES = "+avx,+avx2,+fma,+avx512f,+avx512vl,+avx512dq,+avx512bw"
WIDE = f"llvm -mtriple=x86_64-unknown-linux-gnu -mattr={FEATURES} -num-threads=2"


TILES = f"llvm -mtriple=x86_64-unknown-linux-gnu -mattr={FEATURES},+avx512bf16,+amx-tile,+amx-bf16 -num-threads=2"


def targets(target: str = WIDE) -> Targets:
    """A machine of fixed features and caches, whatever the tests run on."""
    machine = resolve(Target.parse(target))
    return targets_for(replace(machine, l1_bytes=32 << 10, l2_bytes=1 << 20, l3_bytes=32 << 20))


def constant(*shape: int) -> relay.Expr:
    return relay.const(np.ones(shape, np.float32))


def narrow(*shape: int) -> relay.Expr:
    return relay.const(np.ones(shape, ml_dtypes.bfloat16))


def convolution() -> relay.Expr:
    x = relay.var("x", shape=(1, 64, 28, 28))
    return relay.nn.relu(relay.nn.conv2d(x, constant(128, 64, 3, 3), padding=(1, 1)) + constant(128, 1, 1))


def convolution_by_winograd() -> relay.Expr:
    x = relay.var("x", shape=(1, 56, 56, 64))
    kernel = relay.nn.contrib_conv2d_winograd_weight_transform(constant(64, 64, 3, 3), 4)
    packed = relay.layout_transform(kernel, "HWOI", "OHWI32o")
    result = relay.nn.contrib_conv2d_winograd_without_weight_transform(x, packed, 4, 1, 64, "OHWI32o")
    return relay.nn.relu(result + constant(64))


def convolution_of_many_weights() -> relay.Expr:
    x = relay.var("x", shape=(1, 512, 7, 7))
    return relay.nn.conv2d(x, constant(512, 512, 3, 3), padding=(1, 1))


def convolution_with_strides() -> relay.Expr:
    x = relay.var("x", shape=(1, 128, 56, 56))
    return relay.nn.conv2d(x, constant(128, 128, 3, 3), strides=(2, 2), padding=(1, 1)) + constant(128, 1, 1)


def convolution_of_few_channels() -> relay.Expr:
    x = relay.var("x", shape=(1, 56, 56, 144))
    return relay.nn.conv2d(x, constant(1, 1, 144, 24), data_layout="NHWC", kernel_layout="HWIO") + constant(24)


def convolution_along_rows() -> relay.Expr:
    x = relay.var("x", shape=(1, 64, 56, 56))
    return relay.nn.conv2d(x, constant(3, 64, 3, 3), padding=(1, 1)) + constant(3, 1, 1)


def shuffled_pixels() -> relay.Expr:
    x = relay.reshape(relay.var("x", shape=(1, 64, 14, 14)), (1, 16, 2, 2, 14, 14))
    return relay.reshape(relay.transpose(x, (0, 1, 4, 2, 5, 3)), (1, 16, 28, 28))


def pixels_shuffled_by_three() -> relay.Expr:
    x = relay.reshape(relay.var("x", shape=(1, 36, 14, 14)), (1, 4, 3, 3, 14, 14))
    return relay.reshape(relay.transpose(x, (0, 1, 4, 2, 5, 3)), (1, 4, 42, 42))


def convolution_of_narrow_groups() -> relay.Expr:
    x = relay.var("x", shape=(1, 256, 14, 14))
    return relay.nn.conv2d(x, constant(256, 8, 3, 3), padding=(1, 1), groups=32) + constant(256, 1, 1)


def convolution_of_a_long_row() -> relay.Expr:
    x = relay.var("x", shape=(1, 64, 16384))
    return relay.nn.relu(relay.nn.conv1d(x, constant(64, 64, 3), padding=1) + constant(64, 1))


def depthwise() -> relay.Expr:
    x = relay.var("x", shape=(1, 96, 112, 112))
    weight = constant(96, 1, 3, 3)
    return relay.clip(relay.nn.conv2d(x, weight, strides=(2, 2), padding=(1, 1), groups=96), 0.0, 6.0)


def gradient_by_a_depthwise_kernel() -> relay.Expr:
    by, x = relay.var("by", shape=(8, 48, 48, 96)), relay.var("x", shape=(8, 48, 48, 96))
    return relay.nn.conv2d_backward_weight(
        by, x, 3, padding=1, groups=96, data_layout="NHWC", kernel_layout="HWOI"
    )  # fmt: skip


def depthwise_with_pointwise() -> relay.Expr:
    x = relay.var("x", shape=(1, 144, 56, 56))
    spread = relay.nn.relu(relay.nn.conv2d(x, constant(144, 1, 3, 3), padding=(1, 1), groups=144))
    return relay.nn.conv2d(spread, constant(48, 144, 1, 1)) + constant(48, 1, 1)


def dense() -> relay.Expr:
    x = relay.var("x", shape=(128, 768))
    return relay.nn.relu(relay.nn.dense(x, constant(3072, 768)) + constant(3072))


def dense_of_much_depth() -> relay.Expr:
    x = relay.var("x", shape=(128, 3072))
    return relay.nn.dense(x, constant(768, 3072)) + constant(768) + relay.var("y", shape=(128, 768))


def dense_of_bytes() -> relay.Expr:
    x = relay.var("x", shape=(128, 770), dtype="int8")
    sums = relay.nn.dense(x, relay.const(np.ones((768, 770), np.int8)), out_dtype="int32")
    scaled = relay.round(relay.cast(sums, "float32") * relay.const(np.float32(0.01)))
    return relay.cast(relay.clip(scaled, -128.0, 127.0), "int8")


def convolution_of_bytes() -> relay.Expr:
    x = relay.var("x", shape=(1, 28, 28, 64), dtype="uint8")
    weight = relay.const(np.ones((3, 3, 64, 128), np.int8))
    return relay.nn.conv2d(x, weight, padding=(1, 1), data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32")


def dense_of_one_row() -> relay.Expr:
    return relay.nn.dense(relay.var("x", shape=(1, 512)), relay.var("w", shape=(256, 512)))


def attention() -> relay.Expr:
    query, key, value = (relay.var(name, shape=(12, 128, 64)) for name in "qkv")
    return relay.nn.attention(query, key, value)


def softmax() -> relay.Expr:
    return relay.nn.softmax(relay.var("x", shape=(1536, 128)))


def softmax_of_one_long_row() -> relay.Expr:
    return relay.nn.softmax(relay.var("x", shape=(1, 50257)))


def sum_of_everything() -> relay.Expr:
    return relay.sum(relay.var("x", shape=(1024, 1024)))


def sum_of_rows_of_a_view() -> relay.Expr:
    x = relay.var("x", shape=(512, 1024))
    return relay.sum(relay.reshape(x, (32, 16, 1024)), axis=[0, 1])


def softmax_over_channels() -> relay.Expr:
    return relay.nn.softmax(relay.var("x", shape=(4, 10, 400)), axis=1)


def rows_of_length_one() -> relay.Expr:
    x = relay.var("x", shape=(64, 768))
    return relay.nn.l2_normalize(x, 1e-5, axis=[1])


def nearest_resize() -> relay.Expr:
    x = relay.var("x", shape=(1, 64, 56, 56))
    return relay.image.resize2d(x, (168, 168), None, "NCHW", "nearest_neighbor", "asymmetric")


def instance_norm() -> relay.Expr:
    x, ones = relay.var("x", shape=(2, 8, 400)), constant(8)
    return relay.nn.instance_norm(x, ones, ones)


def max_pool() -> relay.Expr:
    x = relay.var("x", shape=(1, 112, 112, 64))
    return relay.nn.max_pool2d(x, (3, 3), (2, 2), padding=(1, 1, 1, 1), layout="NHWC")


def product_of_two_unknown_matrices() -> relay.Expr:
    return relay.nn.matmul(relay.var("a", shape=(512, 512)), relay.var("b", shape=(512, 512)))


def product_of_batches_with_one_matrix() -> relay.Expr:
    return relay.nn.matmul(relay.var("a", shape=(4, 128, 512)), relay.var("b", shape=(512, 512)))


def concatenate_channels() -> relay.Expr:
    return relay.concatenate([relay.var(name, shape=(1, 64, 28, 28)) for name in "abc"], 1)


def global_average() -> relay.Expr:
    return relay.nn.global_avg_pool2d(relay.var("x", shape=(1, 512, 7, 7)))


def first_layout_change() -> relay.Expr:
    return relay.layout_transform(relay.var("x", shape=(1, 3, 224, 224)), "NCHW", "NHWC")


def dense_by_tiles() -> relay.Expr:
    x = relay.var("x", shape=(100, 768), dtype="bfloat16")
    return relay.nn.relu(relay.nn.dense(x, narrow(3072, 768)) + narrow(3072))


def convolution_by_tiles() -> relay.Expr:
    x = relay.var("x", shape=(1, 14, 14, 256), dtype="bfloat16")
    return relay.nn.conv2d(x, narrow(3, 3, 256, 128), padding=(1, 1), data_layout="NHWC", kernel_layout="HWIO")


KINDS: tuple[Callable[[], relay.Expr], ...] = (
    attention, convolution, convolution_along_rows, convolution_by_winograd, convolution_of_many_weights,
    convolution_of_few_channels, convolution_of_narrow_groups, convolution_of_a_long_row, convolution_with_strides,
    convolution_of_bytes, depthwise, depthwise_with_pointwise, gradient_by_a_depthwise_kernel,
    dense, dense_of_much_depth, dense_of_bytes, dense_of_one_row, softmax,
    softmax_over_channels, softmax_of_one_long_row, sum_of_everything, sum_of_rows_of_a_view,
    instance_norm, rows_of_length_one, nearest_resize, max_pool, first_layout_change,
    product_of_two_unknown_matrices, product_of_batches_with_one_matrix,
    concatenate_channels, global_average, shuffled_pixels, pixels_shuffled_by_three,
)  # fmt: skip


KINDS_BY_TILES = (dense_by_tiles, convolution_by_tiles)


def compiled(function: relay.Function, target: str = WIDE) -> Compilation:
    """By plain sums, where the model of the machine would take others."""
    with relay.PassContext(disabled_pass=("Conv2DToWinograd",)):
        return Compilation(relay.IRModule.from_expr(function), targets(target), 3)


def heaviest_kernel(make: Callable[[], relay.Expr]) -> str:
    body = make()
    function = relay.Function(relay.analysis.free_vars(body), body)
    compilation = compiled(function, TILES if make in KINDS_BY_TILES else WIDE)
    kernel = max(compilation.kernels, key=lambda kernel: len(kernel.schedule()))
    steps = te.print_steps(kernel.schedule()).rstrip()
    loops = print_primfunc(kernel.loops()).rstrip()
    return "\n\n=====>\n\n".join(map(str, (kernel.text.rstrip(), kernel.choice(), steps, loops))) + "\n"


@pytest.mark.parametrize("make", [*KINDS, *KINDS_BY_TILES], ids=lambda make: make.__name__)
def test_schedule(make: Callable[[], relay.Expr]) -> None:
    path = GOLDEN / f"{make.__name__}.txt"
    text = heaviest_kernel(make)
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("machine", ["zen_3", "sapphire_rapids"])
@pytest.mark.parametrize("make", [*KINDS, *KINDS_BY_TILES], ids=lambda make: make.__name__)
def test_other_machines_schedule_the_same_program(make: Callable[[], relay.Expr], machine: str) -> None:
    """What they choose differs; that it is accepted, and what it computes, does not."""
    body = make()
    function = relay.Function(relay.analysis.free_vars(body), body)
    random = np.random.default_rng(0)
    arrays = [
        random.standard_normal(tuple(map(int, each.checked_type.shape))).astype(each.checked_type.dtype.numpy)
        for each in function.params
    ]
    expected = np.asarray(relay.create_executor("debug", function).evaluate()(*arrays)).astype(np.float64)
    with relay.PassContext(disabled_pass=("Conv2DToWinograd",)):
        described = Compilation(relay.IRModule.from_expr(function), targets_for(MACHINES[machine]), 3)
        found = relay.build(function, as_far_as_here(MACHINES[machine]), opt_level=3)(*arrays)
    assert all(kernel.source() for kernel in described.called_kernels)
    largest = float(np.abs(expected).max(initial=1.0))
    precision = 2.0**-7 if body.checked_type.dtype == "bfloat16" else 1e-5
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=4 * precision, atol=precision * largest)


def test_tail_of_a_tile_stays_in_registers() -> None:
    """24 channels are one vector and a half: the accumulators of both are registers, and no product is masked.

    Of the 28 accumulators LLVM's allocation may leave two in memory.
    """
    body = convolution_of_few_channels()
    function = relay.Function(relay.analysis.free_vars(body), body)
    compilation = compiled(function)
    (kernel,) = compilation.kernels
    products = [line for line in kernel.assembly().splitlines() if "vfmadd" in line]
    assert len(products) >= 28 * 4
    assert not [line for line in products if "{%k" in line]
    assert len([line for line in products if "(%rsp" in line]) * 14 <= len(products)


def test_caches_of_unknown_sizes_are_usual_ones() -> None:
    """A machine that is only named has the schedules of one whose caches are stated to be of the usual sizes."""
    named = "llvm -mtriple=aarch64-unknown-linux-gnu -num-threads=1"
    l1, l2, l3 = Target.parse(named).cache_bytes
    body = relay.nn.dense(relay.var("x", shape=(1, 128)), constant(64, 128))
    function = relay.Function(relay.analysis.free_vars(body), body)
    stated = f"{named} -l1-bytes={l1} -l2-bytes={l2} -l3-bytes={l3}"
    (one,), (other,) = (compile_stages(function, target, opt_level=3).kernels for target in (named, stated))
    assert one.schedule() == other.schedule()


def test_sums_of_what_has_no_inputs() -> None:
    """A group whose parts are made of nothing but extents is no product of matrices."""
    x = relay.var("x", shape=("n", 3))
    total = relay.sum(relay.ones((x.checked_type.shape[0], 3), "float32"), axis=0)
    assert relay.build(relay.Function([x], total))(np.zeros((4, 3), np.float32)).tolist() == [4, 4, 4]
