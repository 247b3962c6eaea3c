"""The `torch` package, which is optional."""

from __future__ import annotations

from types import ModuleType

from relay.frontend.shared.optional_package import optional_package


def torch_package(part: str = "torch") -> ModuleType:
    """The module `torch`, or a `part` of it such as `torch.export`.

    Raises `RelayError` (rule `missing-package`) when it is not installed.
    """
    return optional_package(part, "importing PyTorch models", "torch")
