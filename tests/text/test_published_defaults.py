"""What a call in text means where it leaves an attribute out is what published Relay says: one table."""

from dataclasses import MISSING, fields

import numpy as np
import pytest

import relay
from relay.base.dtypes import DType
from relay.ops.table import OPERATORS

_CONV1D = {
    "strides": (1,),
    "padding": (0, 0),
    "dilation": (1,),
    "groups": 1,
    "channels": None,
    "kernel_size": None,
    "data_layout": "NCW",
    "kernel_layout": "OIW",
    "out_layout": "",
    "out_dtype": None,
}
_CONV2D = {
    "strides": (1, 1),
    "padding": (0, 0, 0, 0),
    "dilation": (1, 1),
    "groups": 1,
    "channels": None,
    "kernel_size": None,
    "data_layout": "NCHW",
    "kernel_layout": "OIHW",
    "out_layout": "",
    "out_dtype": None,
}
_POOL1D = {"strides": (1,), "dilation": (1,), "padding": (0, 0), "layout": "NCW", "out_layout": "", "ceil_mode": False}
_POOL2D = {
    "strides": (1, 1),
    "dilation": (1, 1),
    "padding": (0, 0, 0, 0),
    "layout": "NCHW",
    "out_layout": "",
    "ceil_mode": False,
}
_CONV3D = {
    **_CONV2D,
    "strides": (1, 1, 1),
    "padding": (0,) * 6,
    "dilation": (1, 1, 1),
    "data_layout": "NCDHW",
    "kernel_layout": "OIDHW",
}
_POOL3D = {**_POOL2D, "strides": (1, 1, 1), "dilation": (1, 1, 1), "padding": (0,) * 6, "layout": "NCDHW"}
_REDUCE = {"axis": None, "keepdims": False, "exclude": False}
_NORM = {"epsilon": 1e-5, "center": True, "scale": True}
_SUB_PIXEL = {"block_size": 1, "layout": "NCHW", "mode": "DCR"}
_SCAN = {"axis": None, "dtype": None, "exclusive": False}

# The defaults of the attributes of published Relay (0.8 and later), as far as there are any. None: it has no value of
# its own. A padding of one number an axis is written out as ours is: (before, after).
PUBLISHED = {
    "dyn.nn.pad": {"pad_mode": "constant"},
    "dyn.one_hot": {"axis": -1},
    "dyn.reshape": {"allowzero": False},
    "dyn.topk": {"axis": -1, "ret_type": "both", "is_ascend": False},
    "all": _REDUCE,
    "any": _REDUCE,
    "argmax": {**_REDUCE, "select_last_index": False},
    "argmin": {**_REDUCE, "select_last_index": False},
    "argsort": {"axis": -1, "is_ascend": True},
    "concatenate": {"axis": 0},
    "cumprod": _SCAN,
    "cumsum": _SCAN,
    "dyn.strided_slice": {"slice_mode": "end"},
    "expand_dims": {"num_newaxis": 1},
    "gather_nd": {"batch_dims": 0, "index_rank": None},
    "image.crop_and_resize": {
        "layout": "NCHW",
        "method": "bilinear",
        "extrapolation_value": 0.0,
        "out_dtype": None,
    },
    "image.grid_sample": {
        "method": "bilinear",
        "layout": "NCHW",
        "padding_mode": "zeros",
        "align_corners": True,
    },
    "image.resize2d": {
        "roi": None,
        "layout": "NCHW",
        "method": "linear",
        "coordinate_transformation_mode": "half_pixel",
        "rounding_method": "round",
        "cubic_alpha": -0.5,
        "cubic_exclude": 0,
        "extrapolation_value": 0.0,
        "out_dtype": None,
    },
    "max": _REDUCE,
    "mean": _REDUCE,
    "min": _REDUCE,
    "nn.adaptive_avg_pool2d": {"output_size": (), "layout": "NCHW", "out_layout": ""},
    "nn.adaptive_max_pool2d": {"output_size": (), "layout": "NCHW", "out_layout": ""},
    "nn.avg_pool1d": {**_POOL1D, "count_include_pad": False},
    "nn.avg_pool2d": {**_POOL2D, "count_include_pad": False},
    "nn.avg_pool3d": {**_POOL3D, "count_include_pad": False},
    "nn.batch_matmul": {"out_dtype": None, "transpose_a": False, "transpose_b": False},
    "nn.batch_norm": {**_NORM, "axis": 1},
    "nn.bias_add": {"axis": 1},
    "nn.conv1d": _CONV1D,
    "nn.conv1d_transpose": {**_CONV1D, "output_padding": (0,)},
    "nn.conv2d": _CONV2D,
    "nn.conv2d_transpose": {**_CONV2D, "output_padding": (0, 0)},
    "nn.conv3d": _CONV3D,
    "nn.conv3d_transpose": {**_CONV3D, "output_padding": (0, 0, 0)},
    "nn.contrib_dense_pack": {"out_dtype": None},
    "nn.dense": {"units": None, "out_dtype": None},
    "nn.depth_to_space": _SUB_PIXEL,
    "nn.dropout": {"rate": 0.5},
    "nn.global_avg_pool2d": {"layout": "NCHW", "out_layout": ""},
    "nn.global_max_pool2d": {"layout": "NCHW", "out_layout": ""},
    "nn.group_norm": {**_NORM, "num_groups": 0, "axis": 1},
    "nn.instance_norm": {**_NORM, "axis": 1},
    "nn.layer_norm": {**_NORM, "axis": -1},
    "nn.leaky_relu": {"alpha": 0.25},
    "nn.log_softmax": {"axis": -1},
    "nn.lrn": {"size": 5, "axis": 1, "bias": 2.0, "alpha": 1e-4, "beta": 0.75},
    "nn.matmul": {"units": None, "out_dtype": None, "transpose_a": False, "transpose_b": False},
    "nn.max_pool1d": _POOL1D,
    "nn.max_pool2d": _POOL2D,
    "nn.max_pool3d": _POOL3D,
    "nn.mirror_pad": {"mode": "SYMMETRIC"},
    "nn.pad": {"pad_mode": "constant"},
    "nn.prelu": {"axis": 1},
    "nn.softmax": {"axis": -1},
    "nn.space_to_depth": _SUB_PIXEL,
    "nn.upsampling": {"layout": "NCHW", "method": "nearest_neighbor", "align_corners": False},
    "nn.upsampling3d": {
        "layout": "NCDHW",
        "method": "nearest_neighbor",
        "coordinate_transformation_mode": "half_pixel",
    },
    "on_device": {"constrain_body": True, "constrain_result": False},
    "one_hot": {"depth": 1, "axis": -1, "dtype": None},
    "ones": {"dtype": None},
    "full": {"dtype": None},
    "prod": _REDUCE,
    "random.normal": {"out_dtype": "float32"},
    "random.uniform": {"out_dtype": "float32"},
    "repeat": {"axis": None},
    "reshape": {"allowzero": False},
    "reshape_like": {"lhs_begin": 0, "lhs_end": None, "rhs_begin": 0, "rhs_end": None},
    "sort": {"axis": -1, "is_ascend": True},
    "split": {"axis": 0},
    "squeeze": {"axis": None},
    "stack": {"axis": 0},
    "strided_slice": {"slice_mode": "end", "axes": None},
    "sum": _REDUCE,
    "scatter": {"axis": 0},
    "scatter_add": {"axis": 0},
    "scatter_elements": {"axis": 0, "reduction": "update"},
    "scatter_nd": {"mode": "update"},
    "meshgrid": {"indexing": "ij"},
    "reverse_sequence": {"seq_axis": 1, "batch_axis": 0},
    "sequence_mask": {"mask_value": 0.0, "axis": 0},
    "searchsorted": {"right": False, "dtype": DType.INT32},
    "trilu": {"upper": True},
    "take": {"batch_dims": 0, "axis": None, "mode": "clip"},
    "topk": {"axis": -1, "ret_type": "both", "is_ascend": False},
    "unique": {"sorted": True, "return_counts": False},
    "variance": {**_REDUCE, "unbiased": False},
    "vision.roi_align": {"sample_ratio": -1, "layout": "NCHW", "mode": "avg"},
    "zeros": {"dtype": None},
}

# Where ours is another, and why.
DIFFERENT = {
    ("nn.group_norm", "num_groups"): (MISSING, "no number of channels has 0 groups"),
    ("one_hot", "dtype"): (MISSING, "without an element type the published result has none"),
    ("nn.conv1d_transpose", "kernel_layout"): ("IOW", "published OIW names the axes of a weight [C, O, W] so"),
    ("nn.conv2d_transpose", "kernel_layout"): ("IOHW", "as published from 0.9 on; before, OIHW named the same axes"),
    ("nn.conv3d_transpose", "kernel_layout"): (
        "IODHW",
        "published OIDHW names the axes of a weight [C, O, D, H, W] so",
    ),
}


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_an_attribute_left_out_means_what_it_meant(name: str) -> None:
    ours = {field.name: field.default for field in fields(OPERATORS[name].attributes)}
    for attribute, published in PUBLISHED[name].items():
        expected, _ = DIFFERENT.get((name, attribute), (published, ""))
        found = ours[attribute]
        assert found == expected, attribute
        assert isinstance(found, bool) is isinstance(expected, bool), attribute


OURS_ALONE = {
    "nn.attention", "nn.contrib_conv2d_words", "nn.contrib_dense_words", "check_indices", "checked", "checked_extent",
    "nn.contrib_max_pool1d_taps", "nn.contrib_max_pool2d_taps", "nn.contrib_max_pool3d_taps",
    "nn.contrib_max_pool_grad", "nn.contrib_avg_pool_grad",
    "nn.conv1d_backward_weight", "nn.conv2d_backward_weight", "nn.conv3d_backward_weight",  # others take more
}  # fmt: skip
# Published attributes that have no default, or an element type that only the function that builds the call decides.
WITHOUT_DEFAULT = {
    "image.affine_grid",
    "arange",
    "broadcast_to",
    "cast",
    "clip",
    "device_copy",
    "dyn.full",
    "dyn.ones",
    "dyn.zeros",
    "gather",
    "reinterpret",
    "layout_transform",
    "ndarray_size",
    "random.threefry_generate",
    "nn.contrib_conv2d_winograd_weight_transform",
    "nn.contrib_conv2d_winograd_without_weight_transform",
    "nn.l2_normalize",
    "reverse",
    "shape_of",
    "slice_like",
    "tile",
    "transpose",
}


def test_the_table_has_every_operator_with_attributes() -> None:
    with_attributes = {name for name in OPERATORS if fields(OPERATORS[name].attributes)}
    assert with_attributes == PUBLISHED.keys() | WITHOUT_DEFAULT | OURS_ALONE


def test_element_types_that_builders_decide() -> None:
    assert OPERATORS["topk"].attributes().dtype is DType.INT32
    assert OPERATORS["argsort"].attributes().dtype is DType.INT32


def run(text: str, *arguments: np.ndarray) -> np.ndarray:
    module = relay.parse(f'#[version = "0.0.5"]\n{text}')
    return np.asarray(relay.create_executor("debug", module).evaluate()(*arguments))


def test_a_product_of_batches_without_attributes_transposes_nothing() -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 2, 3, 3)).astype("float32")
    text = """def @main(%a: Tensor[(2, 3, 3), float32], %b: Tensor[(2, 3, 3), float32]) { nn.batch_matmul(%a, %b) }"""
    np.testing.assert_allclose(run(text, a, b), a @ b, rtol=1e-5)


def test_a_resize_without_attributes_rounds() -> None:
    x = np.arange(5, dtype="float32").reshape(1, 1, 1, 5)
    text = """def @main(%x: Tensor[(1, 1, 1, 5), float32]) {
      image.resize2d(%x, size=[1, 2], roi=[0f, 0f, 0f, 0f], method="nearest_neighbor",
                     coordinate_transformation_mode="asymmetric")
    }"""
    assert run(text, x).ravel().tolist() == [0, 3]  # 2.5 rounds up; `floor` gives 2


@pytest.mark.parametrize(("attribute", "number"), [("", 0), ("pad_value=-1.5f, ", -1.5), ("pad_value=3, ", 3)])
def test_padding_may_be_an_attribute_or_left_out(attribute: str, number: float) -> None:
    text = f"def @main(%x: Tensor[(2,), float32]) {{ nn.pad(%x, {attribute}pad_width=[[1, 0]]) }}"
    assert run(text, np.ones(2, "float32")).tolist() == [number, 1, 1]
