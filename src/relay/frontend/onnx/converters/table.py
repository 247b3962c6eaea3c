"""Every operator of ONNX that can be imported, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from relay.base.names.loading import LoadedRows
from relay.frontend.onnx.node import Converter

FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        "activations:ACTIVATIONS": (
            "Relu LeakyRelu PRelu ThresholdedRelu Elu Selu Celu Softplus Softsign Mish HardSigmoid HardSwish Swish "
            "Gelu Shrink Softmax LogSoftmax Hardmax"
        ),
        "attention:ATTENTION": "Attention",
        "casting:CASTS": "BitCast Cast CastLike",
        "control.branches:CONTROL": "If",
        "control.loops:LOOPS": "Loop Scan",
        "control.optionals:OPTIONALS": "Optional OptionalHasElement OptionalGetElement",
        "control.recurrent:RECURRENT": "LSTM GRU RNN",
        "control.sequences:SEQUENCES": (
            "SequenceConstruct SequenceEmpty SequenceInsert SequenceErase SequenceAt SequenceLength SplitToSequence "
            "SequenceMap ConcatFromSequence"
        ),
        "einsum:EINSUM": "Einsum",
        "elementwise:ELEMENTWISE": (
            "Abs Neg Sign Exp Log Sqrt Tanh Sigmoid Erf Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Floor "
            "Ceil Not BitwiseNot IsNaN Add Sub Mul Div Xor BitwiseAnd BitwiseOr BitwiseXor Equal Less LessOrEqual "
            "Greater GreaterOrEqual Sum Max Min And Or Mean Round Mod Pow BitShift Clip IsInf Reciprocal Where"
        ),
        "learning.features:FEATURES": (
            "ai.onnx.ml.ArrayFeatureExtractor ai.onnx.ml.Binarizer ai.onnx.ml.Scaler ai.onnx.ml.Normalizer "
            "ai.onnx.ml.Imputer ai.onnx.ml.OneHotEncoder ai.onnx.ml.LabelEncoder"
        ),
        "learning.linear:LINEAR": "ai.onnx.ml.LinearRegressor ai.onnx.ml.LinearClassifier",
        "learning.ngrams:NGRAMS": "TfIdfVectorizer",
        "learning.optimizers:OPTIMIZERS": (
            "ai.onnx.preview.training.Adagrad ai.onnx.preview.training.Adam ai.onnx.preview.training.Momentum"
        ),
        "learning.trees:TREES": (
            "ai.onnx.ml.TreeEnsemble ai.onnx.ml.TreeEnsembleRegressor ai.onnx.ml.TreeEnsembleClassifier"
        ),
        "losses:LOSSES": "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss",
        "normalization:NORMALIZATIONS": (
            "BatchNormalization LayerNormalization RMSNormalization InstanceNormalization GroupNormalization "
            "LpNormalization LRN MeanVarianceNormalization"
        ),
        "products:PRODUCTS": "Det MatMul Gemm",
        "quantization:QUANTIZATION": (
            "QuantizeLinear DequantizeLinear MatMulInteger ConvInteger QLinearMatMul QLinearConv"
        ),
        "random_numbers:RANDOM": (
            "RandomUniform RandomNormal RandomUniformLike RandomNormalLike Bernoulli Multinomial Dropout"
        ),
        "reduction:REDUCTIONS": (
            "ReduceSum ReduceMean ReduceProd ReduceMax ReduceMin ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSum "
            "ReduceLogSumExp ArgMax ArgMin"
        ),
        "shaping.creation:CREATION": "Constant ConstantOfShape Range Trilu EyeLike Identity Size",
        "shaping.indexing:INDEXING": "Gather GatherElements GatherND OneHot Compress",
        "shaping.ordering:ORDERING": "TopK CumSum CumProd NonZero Unique",
        "shaping.shapes:SHAPES": (
            "Reshape Flatten Transpose Squeeze Unsqueeze Concat Split Expand Tile Pad DepthToSpace SpaceToDepth Shape"
        ),
        "shaping.slicing:SLICES": "Slice",
        "shaping.updates:UPDATES": "ScatterElements ScatterND TensorScatter ReverseSequence",
        "spatial.convolution:CONVOLUTIONS": "Conv ConvTranspose",
        "spatial.detection:DETECTION": "NonMaxSuppression",
        "spatial.pooling:POOLINGS": (
            "MaxPool MaxUnpool Col2Im AveragePool LpPool GlobalMaxPool GlobalAveragePool GlobalLpPool"
        ),
        "spatial.resizing:RESIZING": "Resize",
        "spatial.sampling:SAMPLING": "GridSample AffineGrid RoiAlign DeformConv",
        "spectra:SPECTRA": "DFT STFT MelWeightMatrix HannWindow HammingWindow BlackmanWindow",
    }
)
"""The operators of each family, by where its converters stand."""

CONVERTERS: Mapping[str, Converter] = LoadedRows(
    "relay.frontend.onnx.converters", FAMILIES, name=lambda converter: converter.operator
)
"""A model needs few of the families, so each is loaded when one of its operators is met."""
