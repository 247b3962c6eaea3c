"""PyTorch models in."""

from relay.frontend.torch.importing import from_pytorch
from relay.frontend.torch.table import CONVERTERS

__all__ = ["CONVERTERS", "from_pytorch"]
