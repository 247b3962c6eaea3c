"""`relay.ty`: types, under the name by which users of Relay know them."""

from relay.ir.types import (
    ANY,
    AnyDimension,
    FuncType,
    GlobalTypeVar,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeVar,
    scalar_type,
)

__all__ = [
    "Any", "AnyDimension", "FuncType", "GlobalTypeVar", "RefType", "TensorType", "TupleType", "Type", "TypeCall",
    "TypeVar", "scalar_type",
]  # fmt: skip


def Any() -> AnyDimension:  # noqa: N802 (Relay's name)
    """An extent that only the run knows: `?` in text.

    >>> TensorType((Any(), 3))
    TensorType(shape=(?, 3), dtype=<DType.FLOAT32: 'float32'>)
    """
    return ANY
