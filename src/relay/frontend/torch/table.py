"""Every operator of PyTorch that can be imported, by name. PyTorch takes those apart that are not here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from relay.frontend.torch.backward import BACKWARD
from relay.frontend.torch.control import CONTROL
from relay.frontend.torch.converters.activations import ACTIVATIONS
from relay.frontend.torch.converters.attention import ATTENTION
from relay.frontend.torch.converters.convolution import CONVOLUTIONS
from relay.frontend.torch.converters.creation import CREATION
from relay.frontend.torch.converters.dropout import DROPOUT
from relay.frontend.torch.converters.elementwise import ELEMENTWISE
from relay.frontend.torch.converters.embedding_bags import EMBEDDING_BAGS
from relay.frontend.torch.converters.encoder_layers import ENCODER_LAYERS
from relay.frontend.torch.converters.images import IMAGES
from relay.frontend.torch.converters.indexing import INDEXING
from relay.frontend.torch.converters.normalization import NORMALIZATIONS
from relay.frontend.torch.converters.pooling import POOLINGS
from relay.frontend.torch.converters.products import PRODUCTS
from relay.frontend.torch.converters.reduction import REDUCTIONS
from relay.frontend.torch.converters.selection import SELECTION
from relay.frontend.torch.converters.shapes import SHAPES
from relay.frontend.torch.converters.updates import UPDATES
from relay.frontend.torch.node import Converter
from relay.frontend.torch.recurrent import RECURRENT

CONVERTERS: Mapping[str, Converter] = MappingProxyType(
    {
        record.operator: record
        for record in (
            *ELEMENTWISE, *ACTIVATIONS, *REDUCTIONS, *SHAPES, *INDEXING, *EMBEDDING_BAGS, *UPDATES, *CREATION,
            *PRODUCTS, *CONVOLUTIONS, *NORMALIZATIONS, *POOLINGS, *ATTENTION, *ENCODER_LAYERS, *RECURRENT, *CONTROL,
            *IMAGES, *SELECTION, *DROPOUT, *BACKWARD,
        )
    }
)  # fmt: skip
