"""Every operator of PyTorch that can be imported, by name. PyTorch takes those apart that are not here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from relay.frontend.torch.activations import ACTIVATIONS
from relay.frontend.torch.attention import ATTENTION
from relay.frontend.torch.control import CONTROL
from relay.frontend.torch.convolution import CONVOLUTIONS
from relay.frontend.torch.creation import CREATION
from relay.frontend.torch.elementwise import ELEMENTWISE
from relay.frontend.torch.indexing import INDEXING
from relay.frontend.torch.node import Converter
from relay.frontend.torch.normalization import NORMALIZATIONS
from relay.frontend.torch.pooling import POOLINGS
from relay.frontend.torch.products import PRODUCTS
from relay.frontend.torch.recurrent import RECURRENT
from relay.frontend.torch.reduction import REDUCTIONS
from relay.frontend.torch.shapes import SHAPES
from relay.frontend.torch.updates import UPDATES

CONVERTERS: Mapping[str, Converter] = MappingProxyType(
    {
        record.operator: record
        for record in (
            *ELEMENTWISE, *ACTIVATIONS, *REDUCTIONS, *SHAPES, *INDEXING, *UPDATES, *CREATION, *PRODUCTS, *CONVOLUTIONS,
            *NORMALIZATIONS, *POOLINGS, *ATTENTION, *RECURRENT, *CONTROL,
        )
    }
)  # fmt: skip
