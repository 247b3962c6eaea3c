"""Calls that operators refuse; their messages are in `tests/golden/errors/ops`."""

from __future__ import annotations

from relay.arith.expr import IntExpr, Symbol
from relay.base.dtypes import DType
from relay.ir.attributes import NoAttributes
from relay.ir.types import TensorType, TupleType
from relay.ops.checked import CheckedAttributes, CheckedExtentAttributes
from relay.ops.creation.create import ArangeAttributes, InitAttributes
from relay.ops.creation.triangle import TriluAttributes
from relay.ops.dyn import (
    DynPadAttributes,
    DynReshapeAttributes,
    DynStridedSliceAttributes,
)
from relay.ops.elementwise.activation import BiasAddAttributes, ClipAttributes, DropoutAttributes
from relay.ops.elementwise.convert import CastAttributes
from relay.ops.indexing.check_indices import CheckIndicesAttributes
from relay.ops.indexing.coordinates import MeshgridAttributes
from relay.ops.indexing.index import GatherAttributes, GatherNDAttributes, OneHotAttributes, TakeAttributes
from relay.ops.indexing.scatter import ScatterAttributes, ScatterElementsAttributes, ScatterNDAttributes
from relay.ops.indexing.sequence import ReverseSequenceAttributes, SequenceMaskAttributes
from relay.ops.manipulation.combine import ConcatenateAttributes, SplitAttributes, StackAttributes
from relay.ops.manipulation.layout_transform import LayoutTransformAttributes
from relay.ops.manipulation.pad import MirrorPadAttributes, PadAttributes
from relay.ops.manipulation.shape import (
    ExpandDimsAttributes,
    ReshapeAttributes,
    ReshapeLikeAttributes,
    SqueezeAttributes,
)
from relay.ops.manipulation.slice import SliceLikeAttributes, StridedSliceAttributes
from relay.ops.manipulation.tile import BroadcastToAttributes, RepeatAttributes, TileAttributes
from relay.ops.manipulation.transpose import ReverseAttributes, TransposeAttributes
from relay.ops.nn.attention import AttentionAttributes
from relay.ops.nn.conv import Conv2DAttributes
from relay.ops.nn.conv_transpose import Conv2DTransposeAttributes
from relay.ops.nn.matmul import BatchMatmulAttributes, DenseAttributes, DensePackAttributes, MatmulAttributes
from relay.ops.nn.norm import BatchNormAttributes, GroupNormAttributes
from relay.ops.nn.norm_vector import LRNAttributes
from relay.ops.nn.pool import MaxPool2DAttributes
from relay.ops.nn.pool_adaptive import AdaptivePool2DAttributes
from relay.ops.nn.resize import Resize2DAttributes, UpSampling3DAttributes, UpSamplingAttributes
from relay.ops.nn.softmax import SoftmaxAttributes
from relay.ops.nn.space_depth import SubPixelAttributes
from relay.ops.nn.winograd import WinogradAttributes, WinogradWeightAttributes
from relay.ops.reduction.reduce import ReduceAttributes
from relay.ops.reduction.reduce_index import ArgReduceAttributes
from relay.ops.reduction.variance import VarianceAttributes
from relay.ops.sorting.dyn_topk import DynTopKAttributes
from relay.ops.sorting.search import SearchSortedAttributes
from relay.ops.sorting.unique import UniqueAttributes
from relay.ops.vision.affine_grid import AffineGridAttributes
from relay.ops.vision.crop_and_resize import CropAndResizeAttributes
from relay.ops.vision.grid_sample import GridSampleAttributes
from relay.ops.vision.roi_align import RoiAlignAttributes
from tests.ops.case import BadCase

WINOGRAD = "nn.contrib_conv2d_winograd_without_weight_transform"

n = Symbol("n")


def t(*shape: IntExpr, dtype: DType = DType.FLOAT32) -> TensorType:
    return TensorType(shape, dtype)


def i(*shape: IntExpr) -> TensorType:
    return TensorType(shape, DType.INT32)


def u8(*shape: IntExpr) -> TensorType:
    return TensorType(shape, DType.UINT8)


BAD_CASES: dict[str, tuple[BadCase, ...]] = {
    "elementwise": (
        BadCase("add", (t(3, 4), t(2, 4))),
        BadCase("add", (t(3), i(3))),
        BadCase("add", (t(n), t(n + 1))),
        BadCase("add", (t(3), TupleType((t(3),)))),
        BadCase("add", (t(3),)),
        BadCase("exp", (i(3),)),
        BadCase("left_shift", (t(3), t(3))),
        BadCase("logical_and", (i(3), i(3))),
        BadCase("where", (t(3), t(3), t(3))),
        BadCase("where", (i(3), t(3), i(3))),
        BadCase("clip", (t(3),), ClipAttributes(1.0, 0.0)),
        BadCase("nn.bias_add", (t(2, 3), t(2)), BiasAddAttributes(1)),
        BadCase("nn.bias_add", (t(2, 3), t(3, 1)), BiasAddAttributes(1)),
        BadCase("nn.bias_add", (t(2, 3), t(3)), BiasAddAttributes(2)),
        BadCase("nn.dropout", (t(2),), DropoutAttributes(1.5)),
    ),
    "products": (
        BadCase("nn.dense", (t(32, 784), t(10, 512)), DenseAttributes()),
        BadCase("nn.dense", (t(32, 784), t(10, 784)), DenseAttributes(units=11)),
        BadCase("nn.dense", (t(), t(10, 784)), DenseAttributes()),
        BadCase("nn.dense", (t(32, 784), t(10, 784, 1)), DenseAttributes()),
        BadCase("nn.contrib_dense_pack", (t(3, 8), t(2, 8, 4)), DensePackAttributes(9)),
        BadCase("nn.contrib_dense_pack", (t(3, 8), t(2, 8, n)), DensePackAttributes(9)),
        BadCase("nn.contrib_pack_words", (t(3, 8),)),
        BadCase("nn.contrib_pack_words", (u8(),)),
        BadCase("nn.contrib_dense_words", (u8(3, 8), i(2, 3, 4)), DensePackAttributes(8, DType.INT32)),
        BadCase("nn.contrib_dense_words", (u8(3, 8), i(2, 2, 4)), DensePackAttributes(9, DType.INT32)),
        BadCase("nn.contrib_dense_words", (t(3, 8), i(2, 2, 4)), DensePackAttributes(8, DType.INT32)),
        BadCase("nn.contrib_dense_words", (u8(3, 8), i(2, 2, 4)), DensePackAttributes(8)),
        BadCase(
            "nn.contrib_conv2d_words",
            (u8(1, 8, 8, 4), i(1, 3, 3, 1, 4)),
            Conv2DAttributes(padding=(1, 1, 1, 1), channels=4, data_layout="NHWC", kernel_layout="OHWI4o"),
        ),
        BadCase("nn.contrib_conv2d_winograd_weight_transform", (t(8, 3, 3, 3),), WinogradWeightAttributes(3)),
        BadCase("nn.contrib_conv2d_winograd_weight_transform", (t(8, 3, 5, 5),), WinogradWeightAttributes(4)),
        BadCase("nn.contrib_conv2d_winograd_weight_transform", (i(8, 3, 3, 3),), WinogradWeightAttributes(4)),
        BadCase(WINOGRAD, (t(1, 8, 8, 3), t(4, 4, 8, 3)), WinogradAttributes(4)),
        BadCase(WINOGRAD, (t(1, 8, 8, 3), t(6, 6, 8, 4)), WinogradAttributes(4)),
        BadCase(WINOGRAD, (t(1, 2, 8, 3), t(6, 6, 8, 3)), WinogradAttributes(4)),
        BadCase(WINOGRAD, (t(1, 8, 8, 3), t(2, 6, 6, 3, 4)), WinogradAttributes(4, kernel_layout="OHWI4o")),
        BadCase(WINOGRAD, (t(1, 8, 8, 3), t(6, 6, 8, 3)), WinogradAttributes(4, kernel_layout="HWCO")),
        BadCase(WINOGRAD, (t(1, 8, 8, 3), i(6, 6, 8, 3)), WinogradAttributes(4)),
        BadCase("nn.matmul", (t(3, 4), t(5, 4)), MatmulAttributes()),
        BadCase("nn.matmul", (t(2, 3, 4), t(3, 5)), MatmulAttributes(transpose_a=True)),
        BadCase("nn.attention", (t(2, 3, 4), t(2, 5, 6), t(2, 5, 4), t()), AttentionAttributes()),
        BadCase("nn.attention", (t(2, 3, 4), t(2, 5, 4), t(2, 6, 4), t()), AttentionAttributes()),
        BadCase("nn.attention", (t(2, 3, 4), t(3, 5, 4), t(3, 5, 4), t()), AttentionAttributes()),
        BadCase("nn.attention", (t(2, 3, 4), t(5, 4), t(5, 4), t()), AttentionAttributes()),
        BadCase("nn.attention", (t(2, 3, 4), t(2, 5, 4), t(2, 5, 4), t(3, 4)), AttentionAttributes()),
        BadCase("nn.attention", (t(2, 3, 4), t(2, 5, 4), t(2, 5, 4), t(1, 2, 3, 5)), AttentionAttributes()),
        BadCase("nn.attention", (t(2, 3, 4), t(2, 5, 4), t(2, 5, 4), i(5)), AttentionAttributes()),
        BadCase("nn.batch_matmul", (t(2, 3, 4), t(3, 5, 4)), BatchMatmulAttributes(transpose_b=True)),
        BadCase("nn.batch_matmul", (t(2, 3, 4), t(2, 4, 5)), BatchMatmulAttributes(transpose_b=True)),
    ),
    "convolution": (
        BadCase("nn.conv2d", (t(1, 3, 8, 8), t(16, 4, 3, 3)), Conv2DAttributes()),
        BadCase("nn.conv2d", (t(1, 3, 8, 8), t(16, 3, 3, 3)), Conv2DAttributes(channels=8)),
        BadCase("nn.conv2d", (t(1, 3, 8, 8), t(16, 3, 3, 3)), Conv2DAttributes(kernel_size=(5, 5))),
        BadCase("nn.conv2d", (t(1, 3, 2, 8), t(16, 3, 3, 3)), Conv2DAttributes()),
        BadCase("nn.conv2d", (t(1, 3, 8, 8), t(16, 3, 3, 3)), Conv2DAttributes(groups=2)),
        BadCase("nn.conv2d", (t(1, 4, 8, 8), t(5, 2, 3, 3)), Conv2DAttributes(groups=2)),
        BadCase("nn.conv2d", (t(1, 3, 8), t(16, 3, 3, 3)), Conv2DAttributes()),
        BadCase("nn.conv2d", (t(1, 3, 8, 8), t(16, 3, 3, 3)), Conv2DAttributes(strides=(0, 1))),
        BadCase("nn.conv2d", (t(1, 3, 8, 8), t(16, 3, 3, 3)), Conv2DAttributes(padding=(1, 1, 1))),
        BadCase("nn.conv2d", (t(1, 3, 8, 8), t(16, 3, 3, 3)), Conv2DAttributes(data_layout="NCDHW")),
        BadCase(
            "nn.conv2d",
            (t(1, 8, 8, 3), t(1, 3, 3, 3, 16)),
            Conv2DAttributes(data_layout="NHWC", kernel_layout="OHWI16o"),
        ),
        BadCase(
            "nn.conv2d",
            (t(1, 8, 8, 3), t(1, 3, 3, 3, 8)),
            Conv2DAttributes(data_layout="NHWC", kernel_layout="OHWI16o", channels=16),
        ),
        BadCase("nn.conv2d", (t(1, 3, 8, 8), i(16, 3, 3, 3)), Conv2DAttributes()),
        BadCase("nn.conv2d_transpose", (t(1, 3, 8, 8), t(4, 16, 3, 3)), Conv2DTransposeAttributes()),
        BadCase(
            "nn.conv2d_transpose", (t(1, 3, 8, 8), t(3, 16, 3, 3)), Conv2DTransposeAttributes(output_padding=(1, 0))
        ),
        BadCase(
            "nn.conv2d_transpose", (t(1, 3, 1, 1), t(3, 16, 1, 1)), Conv2DTransposeAttributes(padding=(1, 1, 1, 1))
        ),
        BadCase("layout_transform", (t(1, 3, 8, 8),), LayoutTransformAttributes("NCHW", "NHW")),
        BadCase("layout_transform", (t(1, 3, 8),), LayoutTransformAttributes("NCHW", "NHWC")),
        BadCase("layout_transform", (t(2, 3, 1, 1, 8),), LayoutTransformAttributes("OIHW16o", "OIHW")),
    ),
    "windows": (
        BadCase("nn.max_pool2d", (t(1, 3, 2, 2),), MaxPool2DAttributes((3, 3))),
        BadCase("nn.max_pool2d", (t(1, 3, 8, 8),), MaxPool2DAttributes((0, 3))),
        BadCase("nn.max_pool2d", (t(1, 3, 8, 8),), MaxPool2DAttributes((3, 3), layout="NCW")),
        BadCase("nn.adaptive_avg_pool2d", (t(1, 3, 8, 8),), AdaptivePool2DAttributes((0, 2))),
        BadCase("nn.adaptive_avg_pool2d", (t(1, 3, 0, 8),), AdaptivePool2DAttributes((1, 1))),
        BadCase("image.resize2d", (t(1, 3, 8, 8),), Resize2DAttributes((4, 4), method="area")),
        BadCase("image.resize2d", (t(1, 3, 8, 8),), Resize2DAttributes((4, 4), coordinate_transformation_mode="half")),
        BadCase("image.resize2d", (t(1, 3, 8, 8),), Resize2DAttributes((4,))),
        BadCase("nn.upsampling", (t(1, 3, n, 8),), UpSamplingAttributes(1.5, 2.0)),
        BadCase("nn.upsampling3d", (t(1, 3, 4, 8, 8),), UpSampling3DAttributes(2.0, 2.0, 2.0, method="bilinear")),
        BadCase("nn.upsampling3d", (t(1, 3, 4, 8, 8),), UpSampling3DAttributes(coordinate_transformation_mode="half")),
        BadCase("nn.depth_to_space", (t(1, 6, 8, 8),), SubPixelAttributes(2)),
        BadCase("nn.space_to_depth", (t(1, 6, 7, 8),), SubPixelAttributes(2)),
    ),
    "reductions": (
        BadCase("sum", (t(2, 3),), ReduceAttributes((2,))),
        BadCase("sum", (t(2, 3),), ReduceAttributes((1, -1))),
        BadCase("mean", (t(2, 3, dtype=DType.BOOL),), ReduceAttributes()),
        BadCase("zeros", (), InitAttributes((-2147483649, 2), DType.FLOAT32)),
        BadCase("all", (t(2, 3),), ReduceAttributes()),
        BadCase("variance", (t(2, 3), t(2)), VarianceAttributes((1,))),
        BadCase("argmax", (t(2, 0),), ArgReduceAttributes((1,))),
        BadCase("nn.softmax", (t(),), SoftmaxAttributes()),
        BadCase("nn.softmax", (i(3),), SoftmaxAttributes()),
        BadCase("nn.batch_norm", (t(2, 3), t(3), t(2), t(3), t(3)), BatchNormAttributes()),
        BadCase("nn.group_norm", (t(2, 6, 4), t(6), t(6)), GroupNormAttributes(4)),
        BadCase("nn.lrn", (t(2, 6, 4, 4),), LRNAttributes(4)),
    ),
    "shapes": (
        BadCase("reshape", (t(2, 3),), ReshapeAttributes((4, 2))),
        BadCase("reshape", (t(2, 3),), ReshapeAttributes((-1, 4))),
        BadCase("reshape", (t(2, 3),), ReshapeAttributes((-1, -1))),
        BadCase("reshape", (t(2, 3),), ReshapeAttributes((0, 0, 0))),
        BadCase("reshape", (t(2, 3),), ReshapeAttributes((-5,))),
        BadCase("reshape", (t(2, 3),), ReshapeAttributes((-4, 2))),
        BadCase("reshape", (t(0, 3),), ReshapeAttributes((-1, 0), True)),
        BadCase("reshape", (t(n),), ReshapeAttributes((n + 1,))),
        BadCase("reshape_like", (t(2, 3), t(5)), ReshapeLikeAttributes()),
        BadCase("squeeze", (t(2, 3),), SqueezeAttributes((0,))),
        BadCase("expand_dims", (t(2, 3),), ExpandDimsAttributes(4)),
        BadCase("transpose", (t(2, 3),), TransposeAttributes((0, 0))),
        BadCase("reverse", (t(2, 3),), ReverseAttributes(2)),
        BadCase("concatenate", (TupleType((t(2, 3), t(3, 4))),), ConcatenateAttributes(0)),
        BadCase("concatenate", (TupleType((t(2, 3), i(2, 3))),), ConcatenateAttributes(0)),
        BadCase("concatenate", (TupleType(()),), ConcatenateAttributes(0)),
        BadCase("stack", (TupleType((t(2, 3), t(2))),), StackAttributes(0)),
        BadCase("split", (t(7, 2),), SplitAttributes(3)),
        BadCase("split", (t(7, 2),), SplitAttributes((4, 2))),
        BadCase("strided_slice", (t(4, 4),), StridedSliceAttributes((0,), (4,), (0,))),
        BadCase("strided_slice", (t(4, 4),), StridedSliceAttributes((0, 0, 0), (4,))),
        BadCase("slice_like", (t(4, 4), t(5, 2)), SliceLikeAttributes()),
        BadCase("tile", (t(4),), TileAttributes((-1,))),
        BadCase("repeat", (t(4, 4),), RepeatAttributes(2)),
        BadCase("broadcast_to", (t(3, 4),), BroadcastToAttributes((2, 4))),
        BadCase("broadcast_to", (t(3, 4),), BroadcastToAttributes((4,))),
    ),
    "indexing": (
        BadCase("take", (t(4), t(2)), TakeAttributes(0, 0)),
        BadCase("take", (t(4), i(2)), TakeAttributes(0, 0, "raise")),
        BadCase("take", (t(0), i(2)), TakeAttributes(0, 0)),
        BadCase("take", (t(4, 3), i(4)), TakeAttributes(1, 0)),
        BadCase("check_indices", (t(4),), CheckIndicesAttributes((5,), "it")),
        BadCase("check_indices", (i(4),), CheckIndicesAttributes((), "it")),
        BadCase("check_indices", (i(4, 3),), CheckIndicesAttributes((5, 6), "it")),
        BadCase("gather", (t(4, 3), i(4)), GatherAttributes(0)),
        BadCase("gather", (t(4, 3), i(2, 2)), GatherAttributes(0)),
        BadCase("gather_nd", (t(4, 3), i(3, 2)), GatherNDAttributes()),
        BadCase("one_hot", (i(4), i(), t()), OneHotAttributes(DType.INT32, 3, -1)),
        BadCase("nn.pad", (t(4, 4), t()), PadAttributes(((1, 1),))),
        BadCase("nn.pad", (t(4), i(2)), PadAttributes(((1, 1),))),
        BadCase("nn.pad", (t(4), t()), PadAttributes(((4, 0),), "reflect")),
        BadCase("nn.pad", (t(4), t()), PadAttributes(((-3, -2),))),
        BadCase("nn.pad", (t(4), t()), PadAttributes(((1, 1),), "mirror")),
        BadCase("nn.mirror_pad", (t(4),), MirrorPadAttributes("SYMMETRIC", ((5, 0),))),
        BadCase("arange", (i(), i(), i()), ArangeAttributes(DType.INT32, 0, 4, 0)),
        BadCase("arange", (i(), t(), i()), ArangeAttributes(DType.INT32)),
        BadCase("full", (t(2),), InitAttributes((3,))),
        BadCase("checked_extent", (t(2, 3),), CheckedExtentAttributes(0, 3, "three rows are read")),
        BadCase("checked", (i(), i()), CheckedAttributes("fails")),
        BadCase("argwhere", (t(),), NoAttributes()),
        BadCase("unique", (t(2, 3),), UniqueAttributes()),
        BadCase("reinterpret", (t(2, 3),), CastAttributes(DType.INT64)),
        BadCase("image.grid_sample", (t(2, 3, 5, 6), t(2, 3, 4, 4)), GridSampleAttributes()),
        BadCase("image.grid_sample", (t(2, 3, 5, 6), t(3, 2, 4, 4)), GridSampleAttributes()),
        BadCase("image.grid_sample", (t(2, 3, 5, 6), i(2, 2, 4, 4)), GridSampleAttributes()),
        BadCase("image.grid_sample", (t(2, 3, 5), t(2, 2, 4, 4)), GridSampleAttributes()),
        BadCase("image.grid_sample", (t(2, 3, 0, 6), t(2, 2, 4, 4)), GridSampleAttributes()),
        BadCase("image.grid_sample", (t(2, 3, 5, 6), t(2, 2, 4, 4)), GridSampleAttributes("linear")),
        BadCase("image.grid_sample", (t(2, 3, 5, 6), t(2, 2, 4, 4)), GridSampleAttributes(padding_mode="wrap")),
        BadCase("image.affine_grid", (t(2, 2, 4),), AffineGridAttributes((3, 4))),
        BadCase("image.affine_grid", (t(2, 3, 3),), AffineGridAttributes((3, 4))),
        BadCase("image.affine_grid", (t(2, 1, 2),), AffineGridAttributes(())),
        BadCase("vision.roi_align", (t(2, 3, 8, 9), t(6, 4)), RoiAlignAttributes((2, 3), 1.0)),
        BadCase("vision.roi_align", (t(2, 3, 8, 9), i(6, 5)), RoiAlignAttributes((2, 3), 1.0)),
        BadCase("vision.roi_align", (t(2, 3, 8), t(6, 5)), RoiAlignAttributes((2, 3), 1.0)),
        BadCase("vision.roi_align", (t(2, 3, 0, 9), t(6, 5)), RoiAlignAttributes((2, 3), 1.0)),
        BadCase("vision.roi_align", (t(2, 3, 8, 9), t(6, 5)), RoiAlignAttributes((2, 0), 1.0)),
        BadCase("vision.roi_align", (t(2, 3, 8, 9), t(6, 5)), RoiAlignAttributes((2, 3), 1.0, mode="sum")),
        BadCase("image.crop_and_resize", (t(2, 3, 8, 9), t(6, 5), i(6)), CropAndResizeAttributes((2, 3))),
        BadCase("image.crop_and_resize", (t(2, 3, 8, 9), t(6, 4), i(5)), CropAndResizeAttributes((2, 3))),
        BadCase("image.crop_and_resize", (t(2, 3, 8, 9), t(6, 4), t(6)), CropAndResizeAttributes((2, 3))),
        BadCase("image.crop_and_resize", (i(2, 3, 8, 9), t(6, 4), i(6)), CropAndResizeAttributes((2, 3))),
        BadCase("image.crop_and_resize", (t(2, 3, 8, 9), t(6, 4), i(6)), CropAndResizeAttributes((2,))),
        BadCase(
            "image.crop_and_resize", (t(2, 3, 8, 9), t(6, 4), i(6)), CropAndResizeAttributes((2, 3), method="cubic")
        ),
        BadCase("vision.all_class_non_max_suppression", (t(1, 6, 4), t(1, 2, 5), i(), t(), t())),
        BadCase("dyn.transpose", (t(2, 3), i(3))),
        BadCase("dyn.nn.pad", (t(2, 3), i(3, 2), t()), DynPadAttributes()),
        BadCase("dyn.topk", (t(2, 3), t()), DynTopKAttributes()),
        BadCase("dyn.reshape", (t(2, 3), i(n)), DynReshapeAttributes()),
        BadCase("dyn.reshape", (t(2, 3), t(2)), DynReshapeAttributes()),
        BadCase("dyn.broadcast_to", (t(2, 3), i(1)), NoAttributes()),
        BadCase("strided_set", (t(4, 4), t(1, 4), i(3), i(3), i(3))),
        BadCase("strided_set", (t(4, 4), t(1, 4), i(1), i(2), i(1))),
        BadCase("strided_set", (t(4, 4), t(4), i(1), i(1), i(1))),
        BadCase("strided_set", (t(4, 4), t(1, 3), i(1), i(1), i(1))),
        BadCase("strided_set", (t(4, 4), i(1, 4), i(1), i(1), i(1))),
        BadCase("dyn.strided_slice", (t(2, 3), i(2), i(1), i(2)), DynStridedSliceAttributes()),
    ),
    "places": (
        BadCase("scatter", (t(4, 3), t(2, 3), t(2, 3)), ScatterAttributes(0)),
        BadCase("scatter", (t(4, 3), i(2, 3), i(2, 3)), ScatterAttributes(0)),
        BadCase("scatter", (t(4, 3), i(2), t(2, 3)), ScatterAttributes(0)),
        BadCase("scatter", (t(4, 3), i(2, 3), t(1, 3)), ScatterAttributes(0)),
        BadCase("scatter", (t(4, 3), i(2, 4), t(2, 4)), ScatterAttributes(0)),
        BadCase("scatter_add", (t(4, dtype=DType.BOOL), i(2), t(2, dtype=DType.BOOL)), ScatterAttributes(0)),
        BadCase("scatter_elements", (t(4), i(2), t(2)), ScatterElementsAttributes(0, "median")),
        BadCase("scatter_nd", (t(4, 3), i(2), t(3)), ScatterNDAttributes("sub")),
        BadCase("scatter_nd", (t(4, 3), i(3, 2), t(2)), ScatterNDAttributes()),
        BadCase("scatter_nd", (t(4, 3), i(1, 2), t(2, 4)), ScatterNDAttributes()),
        BadCase("scatter_nd", (t(4, 3), i(1, 2), t(2, 4, 3)), ScatterNDAttributes()),
        BadCase("adv_index", (TupleType((t(4, 3),)),), NoAttributes()),
        BadCase("adv_index", (TupleType((t(4), t(2))),), NoAttributes()),
        BadCase("adv_index", (TupleType((t(4, 3), i(2), i(3))),), NoAttributes()),
        BadCase("adv_index", (TupleType((t(0), i(2))),), NoAttributes()),
        BadCase("meshgrid", (TupleType((t(4), t(2, 2))),), MeshgridAttributes()),
        BadCase("meshgrid", (TupleType((t(4), t(2))),), MeshgridAttributes("ji")),
        BadCase("unravel_index", (t(4), i(2))),
        BadCase("unravel_index", (i(4), i(2, 2))),
        BadCase("reverse_sequence", (t(4, 3), i(3)), ReverseSequenceAttributes()),
        BadCase("reverse_sequence", (t(4, 3), i(4)), ReverseSequenceAttributes(0, 0)),
        BadCase("sequence_mask", (t(4), i(4)), SequenceMaskAttributes()),
        BadCase("sequence_mask", (t(4, 3), t(3)), SequenceMaskAttributes()),
        BadCase("trilu", (t(4), i()), TriluAttributes()),
        BadCase("trilu", (t(4, 4), t()), TriluAttributes()),
        BadCase("searchsorted", (t(4), i(4)), SearchSortedAttributes()),
        BadCase("searchsorted", (t(2, 4), t(2)), SearchSortedAttributes()),
        BadCase("searchsorted", (t(2, 4), t(3, 4)), SearchSortedAttributes()),
        BadCase("searchsorted", (t(4), t(4)), SearchSortedAttributes(False, DType.INT8)),
    ),
}
