"""Inputs that are fixed when a model is read: shapes, axes and sizes that it takes as tensors, where one model is for
one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.frontend.onnx.weights import element_type
from relay.frontend.shared.names import printable

if TYPE_CHECKING:
    from onnx import ValueInfoProto


@frozen(eq=False)
class FixedInputs:
    """The arrays by the names of inputs, the shapes of all that users gave, and the numbers that they give to
    dimensions which the model names."""

    arrays: Mapping[str, NDArray[Any]]
    shapes: Mapping[str, tuple[int, ...]]
    extents: Mapping[str, int]


def fixed_inputs(infos: Sequence[ValueInfoProto], constants: Mapping[str, ArrayLike]) -> FixedInputs:
    """`constants` held against the inputs that they stand for. Raises `RelayError` (rules `wrong-argument` where one
    is not what its input takes, and `unsupported-element-type`)."""
    arrays: dict[str, NDArray[Any]] = {}
    extents: dict[str, int] = {}
    for info in infos:
        if info.name not in constants:
            continue
        array = _typed(info, np.asarray(constants[info.name]))
        for axis, (found, dim) in enumerate(zip(array.shape, info.type.tensor_type.shape.dim, strict=False)):
            if dim.dim_param:
                wanted = extents.setdefault(dim.dim_param, found)
            else:
                wanted = dim.dim_value if dim.HasField("dim_value") else found
            if found != wanted:
                raise _not_taken(info, f"{wanted} entries along axis {axis}", str(found))
        arrays[info.name] = array
    return FixedInputs(arrays, {name: np.shape(each) for name, each in constants.items()}, extents)


def _typed(info: ValueInfoProto, array: NDArray[Any]) -> NDArray[Any]:
    tensor = info.type.tensor_type
    if tensor.elem_type:
        dtype = element_type(tensor.elem_type, f"the input {printable(info.name)!r}")
        if array.dtype != dtype.numpy and not np.can_cast(array.dtype, dtype.numpy, "same_kind"):
            raise _not_taken(info, f"elements of type {dtype}", str(array.dtype))
        array = array.astype(dtype.numpy, copy=False)
    if tensor.HasField("shape") and array.ndim != len(tensor.shape.dim):
        raise _not_taken(info, f"{len(tensor.shape.dim)} axes", f"{array.ndim}, of the extents {array.shape}")
    return array


def _not_taken(info: ValueInfoProto, expected: str, found: str) -> RelayError:
    message = f"the constant given for the input {printable(info.name)!r} is not what the input takes"
    return RelayError(rule="wrong-argument", message=message, expected=expected, found=found)
