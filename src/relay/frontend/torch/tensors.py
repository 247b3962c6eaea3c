"""Tensors of PyTorch as arrays, and its element types as Relay's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from relay.base.dtypes import DType
from relay.frontend.torch.package import torch_package

if TYPE_CHECKING:
    import torch

_DTYPES = {str(dtype): dtype for dtype in DType if dtype.is_bool or dtype.bits >= 8}


def element_type(dtype: torch.dtype) -> DType | None:
    """Relay's name of an element type; None for one that it does not have."""
    return _DTYPES.get(str(dtype).removeprefix("torch."))


def array_of_tensor(tensor: torch.Tensor) -> NDArray[Any]:
    """The elements in row-major order; a view where the tensor has them so. Its element type must be one of Relay's."""
    dense = tensor.detach().cpu().contiguous()
    dtype = element_type(dense.dtype)
    assert dtype is not None
    if dtype.numpy.isbuiltin == 1:
        return dense.numpy()
    bits = {1: "uint8", 2: "int16"}[dtype.item_bytes]  # NumPy has no such type: the bits pass as integers
    return dense.view(getattr(torch_package(), bits)).numpy().view(dtype.numpy)


def tensor_of_array(array: NDArray[Any], dtype: torch.dtype) -> torch.Tensor:
    """The elements as a tensor of such elements, in the memory of the array where it may be written."""
    torch, whole = torch_package(), np.require(array, requirements=("C", "W"))
    if whole.dtype.isbuiltin == 1:
        return torch.from_numpy(whole)
    return torch.from_numpy(whole.view(f"int{8 * whole.itemsize}")).view(dtype)


def storage_key(tensor: torch.Tensor) -> tuple[object, ...]:
    """Equal for tensors that are one: weights that two layers share."""
    return tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride()
