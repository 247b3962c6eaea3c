"""PyTorch models in."""

from relay.frontend.torch.captured.coverage import Coverage, report, reset_report
from relay.frontend.torch.importing import from_pytorch
from relay.frontend.torch.loading import load_into
from relay.frontend.torch.table import CONVERTERS

__all__ = ["CONVERTERS", "Coverage", "from_pytorch", "load_into", "report", "reset_report"]
