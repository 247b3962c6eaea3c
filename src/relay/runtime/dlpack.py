"""Tensors of other libraries that NumPy's own reader of DLPack refuses, because their elements are not NumPy's.

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
    {(4, 16): DType.BFLOAT16, (10, 8): DType.FLOAT8_E4M3FN, (12, 8): DType.FLOAT8_E5M2}
)
"""By DLPack's type code and width in bits."""


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


def import_narrow_float(tensor: Any) -> NDArray[np.generic] | None:
    """The memory of a bfloat16 or float8 tensor that speaks DLPack as an array of `ml_dtypes`, not copied; None for any
    other. The array keeps the tensor's memory alive."""
    capsule = tensor.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    view = _Tensor.from_address(pointer(capsule, b"dltensor"))
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
    flat = np.frombuffer(memory, dtype.numpy)
    return np.lib.stride_tricks.as_strided(flat, shape, [stride * dtype.item_bytes for stride in strides])


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
