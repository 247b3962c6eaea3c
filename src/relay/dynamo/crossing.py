"""Tensors of PyTorch as arrays and back, in the same memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relay.base.dtypes import DType
from relay.frontend.torch.package import torch_package
from relay.ops.creation.threefry import key_of

if TYPE_CHECKING:
    from torch import Tensor

ToArray: TypeAlias = "Callable[[Any], NDArray[Any]]"
ToTensor: TypeAlias = "Callable[[NDArray[Any]], Tensor]"


def number_as_array(number: int) -> NDArray[Any]:
    """An array without elements whose first extent is a number, which must not be negative."""
    return np.empty((number, 0), np.bool_)


def drawn_key() -> NDArray[np.uint64]:
    """A key that PyTorch's generator decides: after `torch.manual_seed` the same keys follow."""
    torch = torch_package()
    return key_of(int(torch.randint(0, 2**63 - 1, (), dtype=torch.int64)))


def to_array(dtype: DType) -> ToArray:
    """What makes an array of a tensor of such elements: a view, unless they lie in another order."""
    if dtype.numpy.isbuiltin == 1:
        return lambda tensor: tensor.detach().contiguous().numpy()
    bits, element = _bits(dtype), dtype.numpy
    return lambda tensor: tensor.detach().contiguous().view(bits).numpy().view(element)


def to_tensor(dtype: DType, order: Sequence[int] | None) -> ToTensor:
    """What makes a tensor of an array: a view, or, with `order`, a copy whose axes lie in memory in this order."""
    torch = torch_package()
    if dtype.numpy.isbuiltin == 1:
        shared: ToTensor = torch.from_numpy
    else:
        element, bits = getattr(torch, str(dtype)), np.dtype(f"int{8 * dtype.item_bytes}")
        shared = lambda array: torch.from_numpy(array.view(bits)).view(element)  # noqa: E731
    if order is None:
        return shared
    back = [list(order).index(axis) for axis in range(len(order))]
    return lambda array: shared(array).permute(*order).contiguous().permute(*back)


def _bits(dtype: DType) -> Any:
    """The integers of the same width: NumPy has no such elements."""
    return getattr(torch_package(), f"int{8 * dtype.item_bytes}")
