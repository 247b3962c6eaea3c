"""Whether two types of values that cross a boundary are the same."""

from __future__ import annotations

from collections.abc import Mapping

from relay.runtime.arguments.extents import Extents
from relay.runtime.artefact.value_types import DataOf, Extent, ParameterOf, TensorOf, ValueType, type_parts


def same_type(wanted: ValueType, extents: Extents, found: ValueType, known: Mapping[str, int], binds: bool) -> bool:
    """Whether values of `found`, in which symbols stand for what is `known`, are those of `wanted` and no others.
    Symbols that stand for nothing yet are the same when they stand in the same places; with `binds` one of `wanted`
    may come to stand for a number.

    >>> from relay.base.dtypes import DType
    >>> n, three = (TensorOf((extent,), DType.INT32) for extent in ("n", 3))
    >>> same_type(n, Extents({"n": 3}), three, {}, binds=False), same_type(n, Extents(), three, {}, binds=False)
    (True, False)
    """
    pairs: dict[str, str] = {}
    stack = [(wanted, found)]
    while stack:
        left, right = stack.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, TensorOf) and isinstance(right, TensorOf):
            if left.dtype != right.dtype or len(left.shape) != len(right.shape):
                return False
            for one, other in zip(left.shape, right.shape, strict=True):
                if not _same_extent(one, extents, Extents(dict(known)).number(other), pairs, binds):
                    return False
            continue
        if isinstance(left, DataOf) and isinstance(right, DataOf) and left.name != right.name:
            return False
        if isinstance(left, ParameterOf) and left != right:
            return False
        inner = type_parts(left), type_parts(right)
        if len(inner[0]) != len(inner[1]):
            return False
        stack += zip(*inner, strict=True)
    return len(set(pairs.values())) == len(pairs)


def _same_extent(wanted: Extent, extents: Extents, found: Extent, pairs: dict[str, str], binds: bool) -> bool:
    left = extents.number(wanted)
    if isinstance(left, str) and isinstance(found, str):
        return pairs.setdefault(left, found) == found
    if binds and isinstance(found, int) and left is not None:
        return extents.agree(left, found)
    return left == found
