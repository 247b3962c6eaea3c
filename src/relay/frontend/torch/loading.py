"""Trained weights back into the model that they came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from relay.base.arguments import MAPPING, takes
from relay.base.diagnostics import RelayError
from relay.frontend.torch.package import torch_package
from relay.frontend.torch.tensors import element_type, tensor_of_array

if TYPE_CHECKING:
    from torch import Tensor, nn


@takes(params=MAPPING)
def load_into(module: nn.Module, params: Mapping[str, Any]) -> None:
    """Write parameters and buffers, by their qualified names, into a `torch.nn.Module`: in place, so tied weights and
    optimisers see them. Those that are not named stay; what is named must be there, in that shape and element type.

    Nothing is written unless everything fits. Raises `RelayError`: `unknown-parameter`, `wrong-shape`, `wrong-dtype`,
    `missing-package`.
    """
    torch = torch_package()
    held: dict[str, Tensor] = {}
    for tensors in (module.named_buffers, module.named_parameters):
        held.update(tensors(remove_duplicate=False))
    pairs = [(_held(held, name), np.asarray(array)) for name, array in params.items()]
    for name, (tensor, array) in zip(params, pairs, strict=True):
        _expect_fit(name, tensor, array)
    with torch.no_grad():
        for tensor, array in pairs:
            tensor.copy_(tensor_of_array(array, tensor.dtype))


def _held(held: Mapping[str, Tensor], name: str) -> Tensor:
    if name not in held:
        raise RelayError(
            rule="unknown-parameter", message=f"the module has no parameter or buffer `{name}`",
            expected=", ".join(f"`{each}`" for each in list(held)[:8]) + (", …" if len(held) > 8 else ""),
            found=f"`{name}`",
        )  # fmt: skip
    return held[name]


def _expect_fit(name: str, tensor: Tensor, array: np.ndarray[Any, Any]) -> None:
    dtype = element_type(tensor.dtype)
    if tuple(tensor.shape) != array.shape:
        raise RelayError(
            rule="wrong-shape", message=f"`{name}` is of another shape in the module",
            expected=str(tuple(tensor.shape)), found=str(array.shape),
        )  # fmt: skip
    if dtype is None or dtype.numpy != array.dtype:
        raise RelayError(
            rule="wrong-dtype", message=f"`{name}` is of another element type in the module",
            expected=str(tensor.dtype).removeprefix("torch."), found=str(array.dtype),
        )  # fmt: skip
