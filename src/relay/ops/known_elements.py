"""What expressions are worth whose inputs are known while a program is made: shape arithmetic, for one.

Known elements are numbers, or (arrays of dtype object) expressions of extents such as `n` and `2*n + 1`. An operator
means of them what it means at all: its own meaning runs on arrays of `SymbolicInteger`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.base.graph import post_order
from relay.infer.known import attributes_of
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Constant, Expr, Op, Tuple, TupleGetItem
from relay.ir.operator import Effect
from relay.ir.traversal import children
from relay.ir.type_traversal import type_leaves
from relay.ir.types import TensorType, TupleType, Type
from relay.ops.record import OperatorRecord
from relay.ops.symbolic_integer import Undecided, is_symbolic, known_array, symbolic_array

Known: TypeAlias = Union[NDArray[Any], "tuple[Known, ...]"]
"""The elements of a tensor, or those of each field of a tuple."""

LARGEST_KNOWN = 4096
"""Elements of the largest tensor worth knowing: shapes are small, and a hostile model must not be costly."""


def known_elements(roots: Sequence[Expr], given: Mapping[Expr, Known | None]) -> list[Known | None]:
    """The elements of typed expressions, by those of the expressions `given`, beyond which nobody looks; None where
    they are not known, depend on extents that only the run knows, or are many.

    >>> from relay.arith.expr import Symbol
    >>> from relay.ops.build import var
    >>> from relay.ops.elementwise_binary import multiply
    >>> shape, n = var("shape", shape=(2,), dtype="int64"), Symbol("n")
    >>> known_elements([multiply(shape, np.array([2, 3]))], {shape: np.array([n, 4], object)})
    [array([2*n, 12], dtype=object)]
    """
    found: dict[Expr, Known | None] = {}
    for node in post_order(roots, lambda node: () if node in given else _parts(node)):
        found[node] = given[node] if node in given else _elements(node, found)
    return [found[root] for root in roots]


def _parts(node: Expr) -> Sequence[Expr]:
    return children(node) if isinstance(node, (Call, Tuple, TupleGetItem)) else ()


def _elements(node: Expr, found: Mapping[Expr, Known | None]) -> Known | None:
    match node:
        case Constant(data):
            return data if data.size <= LARGEST_KNOWN else None
        case Tuple(fields):
            known = [found[each] for each in fields]
            kept = tuple(each for each in known if each is not None)
            return kept if len(kept) == len(known) else None
        case TupleGetItem(tuple_value, index):
            whole = found[tuple_value]
            return whole[index] if isinstance(whole, tuple) else None
        case Call(op=Op(operator=OperatorRecord() as record), args=args):
            return _of_call(node, record, [found[each] for each in args])
        case _:
            return None


def _of_call(call: Call, record: OperatorRecord, inputs: Sequence[Known | None]) -> Known | None:
    types = [each.checked_type for each in call.args]
    known = [each for each in inputs if each is not None]
    if call.checked_type is None or len(known) < len(inputs):
        return None
    return meaning_of_known(record, attributes_of(call, record), known, types, call.checked_type)


def meaning_of_known(
    record: OperatorRecord, attributes: Attributes, inputs: Sequence[Known], types: Sequence[Type | None], result: Type
) -> Known | None:
    """What an operator gives for inputs whose elements are known; `types` are those of the inputs. None where that
    depends on extents that only the run knows, where the run would fail, and where there are too many elements.

    >>> from relay.arith.expr import Symbol
    >>> from relay.base.dtypes import DType
    >>> from relay.ir.attributes import NoAttributes
    >>> from relay.ops.comparison import EQUAL
    >>> one, n = TensorType((), DType.INT64), np.array(Symbol("n"), object)
    >>> [meaning_of_known(EQUAL, NoAttributes(), (n, np.array(k)), (one, one), one) for k in (-1, 4)]
    [array(False), None]
    """
    if record.effect not in (Effect.PURE, Effect.MAY_FAIL) or not is_small(result):
        return None
    try:
        with np.errstate(all="ignore"):
            if not any(map(_depends_on_extents, inputs)):
                return _plain(record.meaning(attributes, *inputs), result)
            symbolic = [_symbolic(each, type_) for each, type_ in zip(inputs, types, strict=True)]
            return _plain(record.meaning(attributes, *symbolic), result)
    except (Undecided, RelayError):
        return None
    except TypeError:
        if any(map(_depends_on_extents, inputs)):
            return None  # what symbolic integers do not do
        raise


def is_small(type_: Type) -> bool:
    """Whether there are few elements, and it is known how many."""
    return all(
        isinstance(leaf, TensorType)
        and all(isinstance(extent, int) for extent in leaf.shape)
        and math.prod(extent for extent in leaf.shape if isinstance(extent, int)) <= LARGEST_KNOWN
        for leaf in type_leaves(type_)
    )


def _depends_on_extents(known: Known) -> bool:
    return any(map(_depends_on_extents, known)) if isinstance(known, tuple) else is_symbolic(known)


def _symbolic(known: Known, type_: Type | None) -> Known:
    """Integers as symbolic ones, so that all of them have one arithmetic; other elements as they are."""
    match known, type_:
        case tuple(), TupleType(fields):
            return tuple(_symbolic(each, field) for each, field in zip(known, fields, strict=True))
        case np.ndarray(), TensorType(_, dtype) if dtype.is_integer:
            return symbolic_array(known, dtype)
        case _:
            return known


def _plain(value: Any, type_: Type) -> Known:
    """A result of symbolic or machine numbers as known elements of its type."""
    match type_:
        case TupleType(fields):
            return tuple(_plain(each, field) for each, field in zip(value, fields, strict=True))
        case TensorType(_, dtype):
            array = np.asarray(value)
            return known_array(array, dtype) if is_symbolic(array) else array
        case _:
            raise TypeError(f"no elements of {type_}")
