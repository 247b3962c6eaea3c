"""Tensors of other libraries, by DLPack. What NumPy refuses to read because its elements are not NumPy's is read here.

Layout of the structures: dlpack.h 1.1 (`DLManagedTensor`, `DLTensor`, `DLDataType`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.base.dtypes import DType

_CPU = 1
_TYPES: Mapping[tuple[int, int], DType] = MappingProxyType(
    {
        (4, 16): DType.BFLOAT16,
        (10, 8): DType.FLOAT8_E4M3FN,
        (11, 8): DType.FLOAT8_E4M3FNUZ,
        (12, 8): DType.FLOAT8_E5M2,
        (13, 8): DType.FLOAT8_E5M2FNUZ,
        (14, 8): DType.FLOAT8_E8M0FNU,
    }
)
"""By DLPack's type code and width in bits."""

_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


def from_dlpack(tensor: Any) -> NDArray[np.generic]:
    """The memory of a tensor that speaks DLPack, as an array that keeps it alive; nothing is copied.

    bfloat16 and float8 become arrays of `ml_dtypes`. Raises BufferError for one that cannot be shared.
    """
    try:
        return np.from_dlpack(tensor)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        array = _narrow_float(tensor)
        if array is None:
            raise BufferError(str(error)) from error
        return array


def _narrow_float(tensor: Any) -> NDArray[np.generic] | None:
    try:
        return _import_narrow_float(tensor)
    except (BufferError, RuntimeError, TypeError, ValueError):
        return None  # the caller gives the reason that NumPy gave


def _import_narrow_float(tensor: Any) -> NDArray[np.generic] | None:
    capsule = tensor.__dlpack__()
    view = _Tensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    dtype = _TYPES.get((view.code, view.bits))
    if dtype is None or view.lanes != 1 or view.device_type != _CPU:
        return None
    shape = tuple(view.shape[axis] for axis in range(view.ndim))
    if 0 in shape:
        return np.empty(shape, dtype.numpy)
    strides = _strides(view, shape)
    span = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
    if min(strides, default=0) < 0:
        return None
    memory: Any = (ctypes.c_uint8 * (span * dtype.item_bytes)).from_address((view.data or 0) + view.byte_offset)
    # the capsule is never renamed, so that its own destructor gives the memory back, when the array is gone
    memory.owner = capsule
    return np.ndarray(shape, dtype.numpy, memory, strides=[stride * dtype.item_bytes for stride in strides])


def _strides(view: _Tensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    """In elements; a null pointer means row-major."""
    if view.strides:
        return tuple(view.strides[axis] for axis in range(view.ndim))
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return tuple(strides)
