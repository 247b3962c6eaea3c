"""`relay.compile`: from a PyTorch model to something that can be called, in one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relay.base.target import Target
from relay.driver.build import build
from relay.frontend.torch.exporting import Model
from relay.frontend.torch.importing import from_pytorch
from relay.runtime.executable import Executable


def compile(  # noqa: A001 - what PyTorch calls it
    model: Model,
    example_args: Sequence[Any] = (),
    example_kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    target: str | Target = "llvm",
    opt_level: int = 3,
) -> Executable:
    """Import a PyTorch model with its weights, and compile it to native code.

    The first four arguments are those of `relay.frontend.from_pytorch`, the others those of `relay.build`. What it
    gives takes the tensors among the inputs, in their order: arrays, or tensors, whose memory is shared.

    Raises `RelayError`: what those two raise; `missing-package` where PyTorch is not installed.
    """
    program = from_pytorch(model, example_args, example_kwargs, dynamic_shapes=dynamic_shapes)
    return build(program, target, opt_level=opt_level)
