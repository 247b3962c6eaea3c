"""What products of bytes with constant weights are written as, for a target with packed dot products, laid out."""

from __future__ import annotations

import re

import numpy as np
import pytest

import relay
from relay.base.dtypes import DType
from relay.transform import (
    AlterOpLayout,
    FoldConstant,
    LayoutPreferences,
    PackDotProducts,
    PackedDotProducts,
    PassContext,
)

LAYOUTS = LayoutPreferences("NHWC", (16,), (16,))
WORDS = PackDotProducts(PackedDotProducts((DType.INT8, DType.UINT8), (16,), (16,)))

_CONSTANT = re.compile(r"meta\[relay\.Constant\]\[(\d+)\] /\* ty=.*? \*/")
SIGNED = """(%x: Tensor[(3, 10), int8]) {
  %0 = cast(%x, dtype="uint8");
  %1 = bitwise_xor(%0, 128u8);
  %2 = nn.pad(%1, 128u8, pad_width=[[0, 0], [0, 2]]);
  %3 = nn.contrib_dense_words(%2, C0, units=20, out_dtype="int32");
  add(%3, C1)
}"""
UNSIGNED = """(%x: Tensor[(3, 8), uint8]) {
  nn.contrib_dense_words(%x, C0, units=20, out_dtype="int32")
}"""
IMAGE = """(%x: Tensor[(1, 3, 8, 8), int8]) {
  %0 = layout_transform(%x, src_layout="NCHW", dst_layout="NHWC");
  %1 = cast(%0, dtype="uint8");
  %2 = bitwise_xor(%1, 128u8);
  %3 = nn.pad(%2, 128u8, pad_width=[[0, 0], [1, 1], [1, 1], [0, 1]]);
  %4 = nn.contrib_conv2d_words(%3, C0, channels=16, data_layout="NHWC", kernel_layout="OHWI16o", out_dtype="int32");
  %5 = add(%4, C1);
  layout_transform(%5, src_layout="NHWC", dst_layout="NCHW")
}"""


def rewritten(body: relay.Expr) -> str:
    module = relay.IRModule.from_expr(relay.Function(relay.analysis.free_vars(body), body))
    with PassContext(opt_level=2, layouts=LAYOUTS):
        module = FoldConstant(AlterOpLayout(WORDS(module)))
    text = relay.astext(module, show_meta_data=False, show_types=False)
    return _CONSTANT.sub(r"C\1", text.partition("@main")[2].strip())


def weight(*shape: int, dtype: str = "int8") -> relay.Expr:
    return relay.const(np.ones(shape, dtype))


def data(*shape: int, dtype: str = "int8") -> relay.Expr:
    return relay.var("x", shape=shape, dtype=dtype)


def test_signed_data_are_flipped_and_the_sums_of_weights_taken_off() -> None:
    assert rewritten(relay.nn.dense(data(3, 10), weight(20, 10), out_dtype="int32")) == SIGNED


def test_unsigned_data_are_as_they_were() -> None:
    assert rewritten(relay.nn.dense(data(3, 8, dtype="uint8"), weight(20, 8), out_dtype="int32")) == UNSIGNED


def test_images_are_padded_with_what_stands_for_zero() -> None:
    convolution = relay.nn.conv2d(data(1, 3, 8, 8), weight(16, 3, 3, 3), padding=(1, 1), out_dtype="int32")
    assert rewritten(convolution) == IMAGE


@pytest.mark.parametrize(
    "product",
    [
        relay.nn.dense(data(3, 8), weight(20, 8)),  # its sums are int8
        relay.nn.dense(data(3, 8), relay.var("w", shape=(20, 8), dtype="int8"), out_dtype="int32"),
        relay.nn.dense(data(3, 8), weight(20, 8, dtype="uint8"), out_dtype="int32"),
        relay.nn.dense(data(3, 8, dtype="int16"), weight(20, 8), out_dtype="int32"),
        relay.nn.batch_matmul(data(2, 3, 8), weight(2, 20, 8), out_dtype="int32"),
        relay.nn.conv2d(data(1, 4, 8, 8), weight(4, 2, 3, 3), groups=2, out_dtype="int32"),
    ],
    ids=["int8 sums", "no constant", "unsigned weight", "int16", "many matrices", "groups"],
)
def test_other_products_have_no_words(product: relay.Expr) -> None:
    assert "words" not in rewritten(product)
