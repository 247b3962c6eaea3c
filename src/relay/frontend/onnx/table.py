"""Every operator of ONNX that can be imported, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from relay.frontend.onnx.activations import ACTIVATIONS
from relay.frontend.onnx.casting import CASTS
from relay.frontend.onnx.control import CONTROL
from relay.frontend.onnx.convolution import CONVOLUTIONS
from relay.frontend.onnx.creation import CREATION
from relay.frontend.onnx.einsum import EINSUM
from relay.frontend.onnx.elementwise import ELEMENTWISE
from relay.frontend.onnx.indexing import INDEXING
from relay.frontend.onnx.node import Converter
from relay.frontend.onnx.normalization import NORMALIZATIONS
from relay.frontend.onnx.pooling import POOLINGS
from relay.frontend.onnx.products import PRODUCTS
from relay.frontend.onnx.reduction import REDUCTIONS
from relay.frontend.onnx.resizing import RESIZING
from relay.frontend.onnx.shapes import SHAPES
from relay.frontend.onnx.slicing import SLICES
from relay.frontend.onnx.updates import UPDATES

CONVERTERS: Mapping[str, Converter] = MappingProxyType(
    {
        record.operator: record
        for record in (
            *ELEMENTWISE, *CASTS, *ACTIVATIONS, *PRODUCTS, *CONVOLUTIONS, *POOLINGS, *NORMALIZATIONS, *REDUCTIONS,
            *SHAPES, *SLICES, *INDEXING, *CREATION, *CONTROL, *RESIZING, *EINSUM, *UPDATES,
        )
    }
)  # fmt: skip
