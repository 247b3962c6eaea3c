"""Every operator of ONNX that can be imported, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from relay.frontend.onnx.converters.activations import ACTIVATIONS
from relay.frontend.onnx.converters.attention import ATTENTION
from relay.frontend.onnx.converters.casting import CASTS
from relay.frontend.onnx.converters.control.branches import CONTROL
from relay.frontend.onnx.converters.control.loops import LOOPS
from relay.frontend.onnx.converters.control.optionals import OPTIONALS
from relay.frontend.onnx.converters.control.recurrent import RECURRENT
from relay.frontend.onnx.converters.control.sequences import SEQUENCES
from relay.frontend.onnx.converters.einsum import EINSUM
from relay.frontend.onnx.converters.elementwise import ELEMENTWISE
from relay.frontend.onnx.converters.learning.features import FEATURES
from relay.frontend.onnx.converters.learning.linear import LINEAR
from relay.frontend.onnx.converters.learning.ngrams import NGRAMS
from relay.frontend.onnx.converters.learning.optimizers import OPTIMIZERS
from relay.frontend.onnx.converters.learning.trees import TREES
from relay.frontend.onnx.converters.losses import LOSSES
from relay.frontend.onnx.converters.normalization import NORMALIZATIONS
from relay.frontend.onnx.converters.products import PRODUCTS
from relay.frontend.onnx.converters.quantization import QUANTIZATION
from relay.frontend.onnx.converters.random_numbers import RANDOM
from relay.frontend.onnx.converters.reduction import REDUCTIONS
from relay.frontend.onnx.converters.shaping.creation import CREATION
from relay.frontend.onnx.converters.shaping.indexing import INDEXING
from relay.frontend.onnx.converters.shaping.ordering import ORDERING
from relay.frontend.onnx.converters.shaping.shapes import SHAPES
from relay.frontend.onnx.converters.shaping.slicing import SLICES
from relay.frontend.onnx.converters.shaping.updates import UPDATES
from relay.frontend.onnx.converters.spatial.convolution import CONVOLUTIONS
from relay.frontend.onnx.converters.spatial.detection import DETECTION
from relay.frontend.onnx.converters.spatial.pooling import POOLINGS
from relay.frontend.onnx.converters.spatial.resizing import RESIZING
from relay.frontend.onnx.converters.spatial.sampling import SAMPLING
from relay.frontend.onnx.converters.spectra import SPECTRA
from relay.frontend.onnx.node import Converter

CONVERTERS: Mapping[str, Converter] = MappingProxyType(
    {
        record.operator: record
        for record in (
            *ELEMENTWISE, *CASTS, *ACTIVATIONS, *PRODUCTS, *CONVOLUTIONS, *POOLINGS, *NORMALIZATIONS, *REDUCTIONS,
            *SHAPES, *SLICES, *INDEXING, *CREATION, *CONTROL, *RESIZING, *EINSUM, *UPDATES, *RECURRENT, *ORDERING,
            *QUANTIZATION, *LOSSES, *ATTENTION, *LOOPS, *SEQUENCES, *OPTIONALS, *OPTIMIZERS, *NGRAMS, *FEATURES,
            *LINEAR, *TREES, *SAMPLING, *DETECTION, *SPECTRA, *RANDOM,
        )
    }
)  # fmt: skip
