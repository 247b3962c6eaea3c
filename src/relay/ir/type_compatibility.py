"""Whether two types can be those of one value: extents that are not both known do not contradict each other."""

from __future__ import annotations

from relay.ir.types import FuncType, RefType, TensorType, TupleType, Type, TypeCall, TypeVar


def compatible(left: Type, right: Type) -> bool:
    """Whether nothing that is known of `left` contradicts what is known of `right`.

    >>> from relay.ir.types import ANY
    >>> from relay.base.dtypes import DType
    >>> compatible(TensorType((ANY, 4), DType.INT32), TensorType((3, 4), DType.INT32))
    True
    >>> compatible(TensorType((2, 4), DType.INT32), TensorType((3, 4), DType.INT32))
    False
    """
    pairs = [(left, right)]
    while pairs:
        one, other = pairs.pop()
        if one is other:
            continue
        match one, other:
            case TensorType(), TensorType():
                if one.dtype is not other.dtype or len(one.shape) != len(other.shape):
                    return False
                for a, b in zip(one.shape, other.shape, strict=True):
                    if isinstance(a, int) and isinstance(b, int) and a != b:
                        return False
            case (TupleType(fields=a), TupleType(fields=b)) | (TypeCall(args=a), TypeCall(args=b)):
                if len(a) != len(b) or getattr(one, "func", None) != getattr(other, "func", None):
                    return False
                pairs += zip(a, b, strict=True)
            case FuncType(), FuncType():
                if len(one.arg_types) != len(other.arg_types) or len(one.type_params) != len(other.type_params):
                    return False
                pairs += zip((*one.arg_types, one.ret_type), (*other.arg_types, other.ret_type), strict=True)
            case RefType(value=a), RefType(value=b):
                pairs.append((a, b))
            case TypeVar(), TypeVar():
                pass  # each function names its own
            case _:
                if one != other:
                    return False
    return True
