"""Every operator of ONNX that can be imported, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from relay.frontend.onnx.converters.activations import ACTIVATIONS
from relay.frontend.onnx.converters.casting import CASTS
from relay.frontend.onnx.converters.control import CONTROL
from relay.frontend.onnx.converters.convolution import CONVOLUTIONS
from relay.frontend.onnx.converters.creation import CREATION
from relay.frontend.onnx.converters.einsum import EINSUM
from relay.frontend.onnx.converters.elementwise import ELEMENTWISE
from relay.frontend.onnx.converters.indexing import INDEXING
from relay.frontend.onnx.converters.normalization import NORMALIZATIONS
from relay.frontend.onnx.converters.pooling import POOLINGS
from relay.frontend.onnx.converters.products import PRODUCTS
from relay.frontend.onnx.converters.reduction import REDUCTIONS
from relay.frontend.onnx.converters.resizing import RESIZING
from relay.frontend.onnx.converters.shapes import SHAPES
from relay.frontend.onnx.converters.slicing import SLICES
from relay.frontend.onnx.converters.updates import UPDATES
from relay.frontend.onnx.node import Converter

CONVERTERS: Mapping[str, Converter] = MappingProxyType(
    {
        record.operator: record
        for record in (
            *ELEMENTWISE, *CASTS, *ACTIVATIONS, *PRODUCTS, *CONVOLUTIONS, *POOLINGS, *NORMALIZATIONS, *REDUCTIONS,
            *SHAPES, *SLICES, *INDEXING, *CREATION, *CONTROL, *RESIZING, *EINSUM, *UPDATES,
        )
    }
)  # fmt: skip
