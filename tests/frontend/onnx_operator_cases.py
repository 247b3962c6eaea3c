"""The table of one-node models: every operator that can be imported, in its variants."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import numpy_helper

from tests.frontend.onnx_attention_cases import ATTENTION_CASES
from tests.frontend.onnx_cases import Case, bools, floats, ints, scalar, whole
from tests.frontend.onnx_computed_cases import COMPUTED_CASES
from tests.frontend.onnx_index_cases import INDEX_CASES
from tests.frontend.onnx_learning_cases import LEARNING_CASES
from tests.frontend.onnx_older_cases import OLDER_CASES
from tests.frontend.onnx_quantization_cases import QUANTIZATION_CASES
from tests.frontend.onnx_recurrent_cases import RECURRENT_CASES
from tests.frontend.onnx_sampling_cases import SAMPLING_CASES


def _elementwise() -> list[Case]:
    x, y = floats(2, 3, 5), floats(3, 1, seed=1)
    cases = [
        Case(op, (x,))
        for op in (
            "Abs",
            "Neg",
            "Sign",
            "Exp",
            "Sigmoid",
            "Tanh",
            "Erf",
            "Sin",
            "Cos",
            "Tan",
            "Atan",
            "Sinh",
            "Cosh",
            "Asinh",
            "Floor",
            "Ceil",
            "Reciprocal",
            "Relu",
            "Softplus",
            "Softsign",
            "HardSwish",
            "Selu",
            "Celu",
            "Elu",
            "LeakyRelu",
            "HardSigmoid",
            "ThresholdedRelu",
            "Identity",
            "Softmax",
            "LogSoftmax",
            "Hardmax",
            "Shrink",
        )
    ]
    cases += [Case(op, (floats(4, 5, low=-0.9, high=0.9),)) for op in ("Asin", "Acos", "Atanh")]
    cases += [Case(op, (floats(4, 5, low=1.1, high=4),)) for op in ("Log", "Sqrt", "Acosh")]
    cases += [Case(op, (x, y)) for op in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Mean")]
    cases += [Case(op, (whole(3, 4), whole(4, seed=1, low=1))) for op in ("Add", "Sub", "Mul", "Div", "Mod")]
    cases += [Case(op, (x, y, floats(5, seed=2))) for op in ("Max", "Min", "Sum", "Mean")]
    cases += [Case(op, (bools(3, 4), bools(4, seed=1))) for op in ("And", "Or", "Xor")]
    comparisons = ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
    cases += [Case(op, (whole(3, 4, low=0, high=3), whole(4, seed=1, low=0, high=3))) for op in comparisons]
    cases += [Case(op, (x, y)) for op in comparisons]
    cases += [
        Case("Not", (bools(5),)),
        Case("Mod", (x, y), {"fmod": 1}),
        Case("Mod", (whole(3, 4), whole(4, seed=1, low=1)), {"fmod": 1}),
        Case("Div", (np.array([-7, 7, -6]), np.array([2, -2, 4])), name="truncates"),
        Case("Round", (np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.3, -0.7, 1e9], dtype=np.float32),)),
        Case("Pow", (np.abs(x), y)),
        Case("Pow", (x, scalar(2.0)), weights=(1,)),
        Case("Pow", (np.abs(x), scalar(0.5)), weights=(1,)),
        Case("Pow", (x, scalar(3, "int64"))),
        Case("Pow", (whole(4), scalar(2.0))),
        Case(
            "BitShift", (whole(4, low=0, dtype="uint8"), whole(4, low=0, high=3, dtype="uint8")), {"direction": "LEFT"}
        ),
        Case(
            "BitShift", (whole(4, low=0, dtype="uint8"), whole(4, low=0, high=3, dtype="uint8")), {"direction": "RIGHT"}
        ),
        Case("BitwiseAnd", (whole(4), whole(4, seed=1)), opset=18),
        Case("BitwiseOr", (whole(4), whole(4, seed=1)), opset=18),
        Case("BitwiseXor", (whole(4), whole(4, seed=1)), opset=18),
        Case("BitwiseNot", (whole(4),), opset=18),
        Case("Cast", (x,), {"to": onnx.TensorProto.INT32}),
        Case("Cast", (x,), {"to": onnx.TensorProto.BOOL}),
        Case("Cast", (whole(4),), {"to": onnx.TensorProto.FLOAT}),
        Case("Cast", (x,), {"to": onnx.TensorProto.FLOAT16}),
        Case("CastLike", (x, whole(1))),
        Case("Clip", (x, scalar(-1), scalar(1)), weights=(1, 2)),
        Case("Clip", (x, scalar(-1)), weights=(1,)),
        Case("Clip", (x, None, scalar(1)), weights=(2,)),
        Case("Clip", (x, scalar(-1), scalar(1)), name="computed"),
        Case("Clip", (whole(9), scalar(-3, "int64"), scalar(3, "int64")), weights=(1, 2)),
        Case("IsNaN", (np.array([np.nan, 1, np.inf], dtype=np.float32),)),
        *(
            Case(
                "IsInf",
                (np.array([np.nan, 1, np.inf, -np.inf], dtype=np.float32),),
                {"detect_positive": p, "detect_negative": n},
            )
            for p in (0, 1)
            for n in (0, 1)
        ),
        Case("Where", (bools(3, 1), x[0], floats(5, seed=3))),
        Case("PRelu", (floats(2, 3, 4, 4), floats(3, 1, 1, seed=1)), weights=(1,)),
        Case("Elu", (x,), {"alpha": 0.7}),
        Case("Celu", (x,), {"alpha": 2.0}),
        Case("Selu", (x,), {"alpha": 1.5, "gamma": 1.1}),
        Case("Mish", (x,), opset=18),
        Case("Swish", (x,), {"alpha": 1.5}, opset=24),
        Case("Gelu", (x,), opset=20),
        Case("Gelu", (x,), {"approximate": "tanh"}, opset=20),
        Case("Shrink", (x,), {"lambd": 0.8, "bias": 0.3}),
        Case("Softmax", (x,), {"axis": 1}),
        Case("LogSoftmax", (x,), {"axis": 0}),
        Case("Hardmax", (x,), {"axis": 1}),
        Case("Dropout", (x, scalar(0.5)), weights=(1,)),
    ]
    return cases


def _products() -> list[Case]:
    shapes = [
        ((3, 4), (4, 5)),
        ((2, 3, 4), (4, 5)),
        ((2, 3, 4), (2, 4, 5)),
        ((2, 1, 3, 4), (5, 4, 2)),
        ((4,), (4, 5)),
        ((3, 4), (4,)),
        ((4,), (4,)),
        ((2, 3, 4), (4,)),
        ((4,), (2, 4, 5)),
        ((1, 3, 4), (2, 4, 5)),
        ((3, 4), (2, 4, 5)),
        ((0, 4), (4, 5)),
        ((2, 3, 2, 3, 4), (3, 1, 4, 2)),
    ]
    cases = [Case("MatMul", (floats(*a), floats(*b, seed=1)), name=f"{a}x{b}") for a, b in shapes]
    a, b, c = floats(3, 4), floats(4, 5, seed=1), floats(5, seed=2)
    cases += [
        Case("Gemm", (a, b, c)),
        Case("Gemm", (a, b)),
        Case("Gemm", (a.T.copy(), b.T.copy(), c), {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0}),
        Case("Gemm", (a, b, floats(3, 1, seed=2)), name="column"),
        Case("Gemm", (a, b, scalar(1.5)), name="scalar"),
        Case("Gemm", (a, b, floats(1, seed=2)), name="one"),
    ]
    equations = {
        "ij,jk->ik": ((2, 3), (3, 4)),
        "bij,bjk->bik": ((2, 3, 4), (2, 4, 5)),
        "bhid,bhjd->bhij": ((2, 3, 4, 5), (2, 3, 6, 5)),
        "ij->ji": ((2, 3),),
        "ij->": ((2, 3),),
        "ij->i": ((2, 3),),
        "i,j->ij": ((2,), (3,)),
        "bi,i->b": ((2, 3), (3,)),
        "ij,jk": ((2, 3), (3, 4)),
        "abc,cd->dab": ((2, 3, 4), (4, 5)),
        "ijk,ik->ij": ((2, 3, 4), (2, 4)),
        "bi,bi->bi": ((2, 3), (2, 3)),
    }
    cases += [
        Case("Einsum", tuple(floats(*shape, seed=i) for i, shape in enumerate(shapes)), {"equation": equation})
        for equation, shapes in equations.items()
    ]
    return cases


def _windows() -> list[Case]:
    image, signal, space = floats(2, 4, 9, 7), floats(2, 4, 11), floats(2, 4, 4, 5, 6)
    weight, bias = floats(6, 4, 3, 3, seed=1), floats(6, seed=2)
    cases = [
        Case("Conv", (image, weight, bias), weights=(1, 2)),
        Case("Conv", (image, weight), {"pads": [1, 0, 2, 1], "strides": [2, 1]}),
        Case("Conv", (image, weight), {"dilations": [2, 1], "kernel_shape": [3, 3]}),
        Case("Conv", (image, floats(4, 1, 3, 3)), {"group": 4, "pads": [1, 1, 1, 1]}),
        Case("Conv", (image, floats(6, 2, 3, 3)), {"group": 2, "auto_pad": "SAME_UPPER", "strides": [2, 2]}),
        Case("Conv", (image, floats(6, 4, 2, 2)), {"auto_pad": "SAME_LOWER"}),
        Case("Conv", (image, floats(6, 4, 2, 2)), {"auto_pad": "VALID"}),
        Case("Conv", (signal, floats(6, 4, 3), bias), {"pads": [1, 2], "strides": [2]}),
        Case("Conv", (signal, floats(4, 1, 3)), {"group": 4, "dilations": [2]}),
        Case("Conv", (image, weight, bias), opset=22),
        Case(
            "Conv", (space, floats(6, 2, 2, 3, 2), bias), {"group": 2, "strides": [1, 2, 2], "pads": [1, 0, 1, 0, 1, 1]}
        ),
        Case("ConvTranspose", (space, floats(4, 3, 2, 3, 2)), {"strides": [2, 1, 2], "group": 2}),
        Case("MaxPool", (space,), {"kernel_shape": [2, 3, 2], "strides": [1, 2, 2], "ceil_mode": 1}),
        Case("AveragePool", (space,), {"kernel_shape": [2, 3, 2], "pads": [0, 1, 1, 1, 0, 1]}),
        Case("ConvTranspose", (image, floats(4, 6, 3, 3), bias), weights=(1, 2)),
        Case(
            "ConvTranspose",
            (image, floats(4, 6, 3, 3)),
            {"strides": [2, 3], "pads": [1, 0, 1, 1], "output_padding": [1, 2]},
        ),
        Case("ConvTranspose", (image, floats(4, 3, 3, 3)), {"group": 2, "strides": [2, 2]}),
        Case("ConvTranspose", (image, floats(4, 6, 3, 3)), {"strides": [2, 2], "output_shape": [18, 14]}),
        Case("ConvTranspose", (image, floats(4, 6, 3, 3)), {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
        Case("ConvTranspose", (image, floats(4, 6, 3, 3)), {"strides": [2, 2], "auto_pad": "SAME_LOWER"}),
        Case("ConvTranspose", (image, floats(4, 6, 2, 2)), {"dilations": [2, 1]}),
        Case("ConvTranspose", (signal, floats(4, 6, 3)), {"strides": [2], "pads": [1, 1]}),
    ]
    for op in ("MaxPool", "AveragePool"):
        cases += [
            Case(op, (image,), {"kernel_shape": [3, 2]}),
            Case(op, (image,), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
            Case(op, (image,), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
            Case(op, (image,), {"kernel_shape": [2, 2], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
            Case(op, (image,), {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_LOWER"}),
            Case(op, (signal,), {"kernel_shape": [3], "strides": [2], "pads": [0, 1]}),
            Case(op, (image,), {"kernel_shape": [3, 2], "dilations": [2, 3]}, opset=19),
            Case(
                op,
                (image,),
                {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 0, 0, 1], "ceil_mode": 1},
                opset=22,
            ),
        ]
    cases += [
        Case("AveragePool", (image,), {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1}),
        Case("LpPool", (image,), {"kernel_shape": [3, 2], "strides": [2, 1]}),
        Case("LpPool", (image,), {"kernel_shape": [2, 2], "p": 1, "pads": [1, 1, 1, 1]}),
        Case("LpPool", (image,), {"kernel_shape": [2, 2], "p": 3}),
    ]
    for op in ("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"):
        cases += [Case(op, (image,)), Case(op, (signal,))]
    cases.append(Case("GlobalAveragePool", (floats(2, 3, 2, 3, 4),)))
    return cases


def _normalizations() -> list[Case]:
    image = floats(2, 6, 5, 3)
    gamma, beta, mean, variance = floats(6), floats(6, seed=1), floats(6, seed=2), floats(6, seed=3, low=0.5)
    x = floats(2, 3, 8)
    return [
        Case("BatchNormalization", (image, gamma, beta, mean, variance), {"epsilon": 1e-3}, (1, 2, 3, 4)),
        Case("BatchNormalization", (image, gamma, beta, mean, variance), opset=14),
        Case("BatchNormalization", (floats(4, 6), gamma, beta, mean, variance), name="2d"),
        Case("LayerNormalization", (x, floats(8), floats(8, seed=1))),
        Case("LayerNormalization", (x, floats(8)), name="no bias"),
        Case("LayerNormalization", (x, floats(3, 8), floats(3, 8, seed=1)), {"axis": 1}),
        Case("RMSNormalization", (x, floats(8)), opset=23),
        Case("InstanceNormalization", (image, gamma, beta), {"epsilon": 1e-3}),
        Case("GroupNormalization", (image, floats(3), floats(3, seed=1)), {"num_groups": 3}, opset=18),
        Case("GroupNormalization", (image, gamma, beta), {"num_groups": 3}, opset=21),
        Case("LpNormalization", (x,)),
        Case("LpNormalization", (x,), {"p": 1, "axis": 1}),
        Case("LRN", (image,), {"size": 3}),
        Case("LRN", (image,), {"size": 5, "alpha": 0.3, "beta": 0.5, "bias": 2.0}),
        Case("MeanVarianceNormalization", (image,)),
    ]


def _reductions() -> list[Case]:
    x = floats(2, 3, 4, low=0.1)
    cases = []
    for op in ("Max", "Mean", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp"):
        cases += [
            Case(f"Reduce{op}", (x,)),
            Case(f"Reduce{op}", (x,), {"axes": [1, -1], "keepdims": 0}),
            Case(f"Reduce{op}", (x, ints(0)), {"keepdims": 0}, (1,), opset=18),
            Case(f"Reduce{op}", (x,), {"noop_with_empty_axes": 1}, opset=18),
        ]
    cases += [
        Case("ReduceSum", (x,)),
        Case("ReduceSum", (x, ints(1)), {"keepdims": 0}, (1,)),
        Case("ReduceSum", (x,), {"noop_with_empty_axes": 1}),
        Case("ReduceMax", (bools(3, 4), ints(1)), weights=(1,), opset=20),
        Case("ReduceMin", (bools(3, 4), ints(1)), weights=(1,), opset=20),
        Case("ReduceSum", (whole(3, 4),)),
    ]
    tied = whole(3, 5, low=0, high=3).astype(np.float32)
    for op in ("ArgMax", "ArgMin"):
        cases += [
            Case(op, (tied,), {"axis": 1}),
            Case(op, (tied,), {"axis": 0, "keepdims": 0}),
            Case(op, (tied,), {"axis": -1, "select_last_index": 1}),
        ]
    return cases


def _shapes() -> list[Case]:
    x = floats(2, 3, 4)
    image = floats(2, 8, 4, 6)
    big = 2**63 - 1
    return [
        *(
            Case("Reshape", (x, ints(*shape)), weights=(1,), name=str(shape))
            for shape in ((6, 4), (-1,), (0, -1), (4, 0, 2))
        ),
        Case("Reshape", (floats(0, 3), ints(3, 0)), {"allowzero": 1}, (1,)),
        Case("Reshape", (floats(2, 0), ints(4, 0)), {"allowzero": 1}, (1,), name="empty"),
        *(Case("Flatten", (x,), {"axis": axis}) for axis in (0, 1, 2, 3, -1)),
        Case("Transpose", (x,)),
        Case("Transpose", (x,), {"perm": [1, 0, 2]}),
        Case("Squeeze", (floats(1, 3, 1, 2),)),
        Case("Squeeze", (floats(1, 3, 1, 2), ints(-2)), weights=(1,)),
        Case("Unsqueeze", (x, ints(0, -1)), weights=(1,)),
        Case("Unsqueeze", (x, ints(3, 1)), weights=(1,)),
        Case("Concat", (x, floats(2, 1, 4, seed=1), x), {"axis": 1}),
        Case("Concat", (x,), {"axis": -1}),
        Case("Split", (floats(6, 4),), {"axis": 0}, outputs=3),
        Case("Split", (floats(6, 4), ints(1, 2, 3)), {}, (1,), outputs=3),
        Case("Split", (floats(4, 7),), {"axis": 1, "num_outputs": 3}, opset=18, outputs=3),
        Case("Slice", (x, ints(0, 1), ints(2, 3)), weights=(1, 2)),
        Case("Slice", (x, ints(-3), ints(big), ints(2)), weights=(1, 2, 3)),
        Case("Slice", (x, ints(-1), ints(-big), ints(1), ints(-1)), weights=(1, 2, 3, 4)),
        Case("Slice", (x, ints(3, 0), ints(0, -1), ints(2, 1), ints(-2, 1)), weights=(1, 2, 3, 4)),
        Case("Slice", (x, ints(5), ints(9), ints(2)), weights=(1, 2, 3), name="empty"),
        Case("Pad", (x, ints(0, 1, 0, 2, 0, 1)), weights=(1,)),
        Case("Pad", (x, ints(0, 1, 0, 2, 0, 1), scalar(1.5)), weights=(1, 2)),
        Case("Pad", (x, ints(0, 1, 2, 1, 0, 1)), {"mode": "reflect"}, (1,)),
        Case("Pad", (x, ints(0, 1, 2, 1, 0, 1)), {"mode": "edge"}, (1,)),
        Case("Pad", (x, ints(0, -1, 2, 1, 0, -2)), weights=(1,), name="negative"),
        Case("Pad", (x, ints(1, 2), scalar(0), ints(-1)), weights=(1, 2, 3), opset=18),
        Case("Pad", (whole(3, 4), ints(1, 0, 0, 1), scalar(7, "int64")), weights=(1, 2)),
        Case("Expand", (floats(3, 1), ints(2, 1, 4)), weights=(1,)),
        Case("Expand", (floats(3, 4), ints(1, 1)), weights=(1,)),
        Case("Tile", (x, ints(1, 2, 3)), weights=(1,)),
        Case("DepthToSpace", (image,), {"blocksize": 2}),
        Case("DepthToSpace", (image,), {"blocksize": 2, "mode": "CRD"}),
        Case("SpaceToDepth", (image,), {"blocksize": 2}),
        *(Case("Shape", (x,), attributes) for attributes in ({}, {"start": 1}, {"end": -1}, {"start": -2, "end": 9})),
        Case("Size", (x,)),
        Case("Trilu", (floats(2, 4, 5),)),
        Case("Trilu", (floats(4, 5), scalar(1, "int64")), {"upper": 0}, (1,)),
        Case("Trilu", (floats(4, 5), scalar(-2, "int64")), {}, (1,)),
        Case("EyeLike", (floats(3, 4),), {"k": 1}),
        Case(
            "ConstantOfShape",
            (ints(2, 3),),
            {"value": numpy_helper.from_array(np.array([5], dtype=np.int32))},
            (0,),
            name="5",
        ),
        Case("ConstantOfShape", (ints(2, 3),), {}, (0,)),
        Case("Range", (scalar(1, "int64"), scalar(9, "int64"), scalar(3, "int64")), weights=(0, 1, 2)),
        Case("Range", (scalar(1.0), scalar(0.0), scalar(-0.25)), weights=(0, 1, 2)),
    ]


def _resizes() -> list[Case]:
    x = floats(1, 2, 4, 6)
    cases = []
    for mode in ("nearest", "linear", "cubic"):
        for coordinates in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"):
            attributes = {"mode": mode, "coordinate_transformation_mode": coordinates}
            cases += [
                Case(
                    "Resize",
                    (x, None, scalar(0).reshape(1)[:0], ints(1, 2, 7, 9)),
                    attributes,
                    (2, 3),
                    opset=13,
                    name="sizes",
                ),
                Case("Resize", (x, None, np.array([1, 1, 2, 0.5], dtype=np.float32)), attributes, (2,), name="scales"),
            ]
    for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        attributes = {"mode": "nearest", "nearest_mode": rounding}
        cases.append(Case("Resize", (x, None, None, ints(1, 2, 7, 9)), attributes, (3,), name="rounding"))
    cases.append(
        Case("Resize", (x, None, None, ints(8, 12)), {"mode": "linear", "axes": [2, 3]}, (3,), opset=18, name="axes")
    )
    attributes = {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1}
    cases.append(Case("Resize", (x, None, None, ints(1, 2, 8, 9)), attributes, (3,), name="exclude"))
    return cases


CASES: tuple[Case, ...] = (
    *_elementwise(),
    *_products(),
    *_windows(),
    *_normalizations(),
    *_reductions(),
    *_shapes(),
    *INDEX_CASES,
    *RECURRENT_CASES,
    *LEARNING_CASES,
    *COMPUTED_CASES,
    *QUANTIZATION_CASES,
    *SAMPLING_CASES,
    *_resizes(),
    *OLDER_CASES,
    *ATTENTION_CASES,
)
