"""What expressions are worth whose inputs are known while a program is made: shape arithmetic, for one.

Known elements are numbers, or (arrays of dtype object) expressions of extents such as `n` and `2*n + 1`. An operator
means of them what it means at all: its own meaning runs on arrays of `SymbolicInteger`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.base.graph import post_order
from relay.infer.unification.known import attributes_of
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Constant, Expr, Op, Tuple, TupleGetItem
from relay.ir.operator import Effect
from relay.ir.traversal import children
from relay.ir.type_traversal import type_leaves
from relay.ir.types import TensorType, TupleType, Type
from relay.ops.framework.record import OperatorRecord
from relay.ops.framework.symbolic_integer import (
    SymbolicInteger,
    Undecided,
    integer,
    is_symbolic,
    known_array,
    symbolic_array,
)

Known: TypeAlias = Union[NDArray[Any], "tuple[Known, ...]"]
"""The elements of a tensor, or those of each field of a tuple."""

Answer = TypeVar("Answer")

LARGEST_KNOWN = 4096
"""Elements of the largest tensor worth knowing: shapes are small, and a hostile model must not be costly."""


def known_elements(roots: Sequence[Expr], given: Mapping[Expr, Known | None]) -> list[Known | None]:
    """The elements of typed expressions, by those of the expressions `given`, beyond which nobody looks; None where
    they are not known, depend on extents that only the run knows, or are many.

    >>> from relay.arith.expr import Symbol
    >>> from relay.ops.framework.build import var
    >>> from relay.ops.elementwise.elementwise_binary import multiply
    >>> shape, n = var("shape", shape=(2,), dtype="int64"), Symbol("n")
    >>> known_elements([multiply(shape, np.array([2, 3]))], {shape: np.array([n, 4], object)})
    [array([2*n, 12], dtype=object)]
    """
    found: dict[Expr, Known | None] = {}
    for node in post_order(roots, lambda node: () if node in given else _parts(node)):
        found[node] = given[node] if node in given else elements_of(node, found)
    return [found[root] for root in roots]


def _parts(node: Expr) -> Sequence[Expr]:
    return children(node) if isinstance(node, (Call, Tuple, TupleGetItem)) else ()


def elements_of(node: Expr, found: Mapping[Expr, Known | None]) -> Known | None:
    """The elements of one typed expression, by those found of its parts."""
    match node:
        case Constant(data):
            return data if data.size <= LARGEST_KNOWN else None
        case Tuple(fields):
            known = [found.get(each) for each in fields]
            kept = tuple(each for each in known if each is not None)
            return kept if len(kept) == len(known) else None
        case TupleGetItem(tuple_value, index):
            whole = found.get(tuple_value)
            return whole[index] if isinstance(whole, tuple) else None
        case Call(op=Op(operator=OperatorRecord() as record), args=args):
            return _of_call(node, record, [found.get(each) for each in args])
        case _:
            return None


def _of_call(call: Call, record: OperatorRecord, inputs: Sequence[Known | None]) -> Known | None:
    result, types = call.checked_type, [each.checked_type for each in call.args]
    if result is None or not is_small(result) or record.effect not in (Effect.PURE, Effect.MAY_FAIL):
        return None
    attributes = attributes_of(call, record)
    if record.reads_shapes_only:
        return computed(lambda: _plain(record.meaning(attributes, *map(_Shaped.of, types)), result))
    known = [each for each in inputs if each is not None]
    return meaning_of_known(record, attributes, known, types, result) if len(known) == len(inputs) else None


def meaning_of_known(
    record: OperatorRecord, attributes: Attributes, inputs: Sequence[Known], types: Sequence[Type | None], result: Type
) -> Known | None:
    """What an operator gives for inputs whose elements are known; `types` are those of the inputs. None where that
    depends on extents that only the run knows, and where the run would fail.

    >>> from relay.arith.expr import Symbol
    >>> from relay.base.dtypes import DType
    >>> from relay.ir.attributes import NoAttributes
    >>> from relay.ops.elementwise.comparison import EQUAL
    >>> one, n = TensorType((), DType.INT64), np.array(Symbol("n"), object)
    >>> [meaning_of_known(EQUAL, NoAttributes(), (n, np.array(k)), (one, one), one) for k in (-1, 4)]
    [array(False), None]
    """
    return of_known(lambda *arrays: _plain(record.meaning(attributes, *arrays), result), inputs, types)


def of_known(function: Callable[..., Answer], inputs: Sequence[Known], types: Sequence[Type | None]) -> Answer | None:
    """What a function gives for known elements as meanings take them: numbers, or symbolic integers where some depend
    on extents. None as of `meaning_of_known`."""
    if not any(map(depends_on_extents, inputs)):
        return computed(partial(function, *inputs))
    try:
        return computed(lambda: function(*map(_symbolic, inputs, types)))
    except TypeError:
        return None  # what symbolic integers do not do


def computed(function: Callable[[], Answer]) -> Answer | None:
    """What a function gives; None where it depends on extents that only the run knows, or fails as the run would."""
    try:
        with np.errstate(all="ignore"):
            return function()
    except (Undecided, RelayError):
        return None


def is_small(type_: Type) -> bool:
    """Whether there are few elements, and it is known how many."""
    counts = [leaf.element_count if isinstance(leaf, TensorType) else None for leaf in type_leaves(type_)]
    return all(count is not None and count <= LARGEST_KNOWN for count in counts)


@frozen
class _Shaped:
    """A tensor to an operator that reads its shape alone."""

    shape: tuple[int | SymbolicInteger, ...]

    @staticmethod
    def of(type_: Type | None) -> _Shaped:
        if not isinstance(type_, TensorType):
            raise TypeError(f"a shape of {type_}")
        return _Shaped(tuple(each if isinstance(each, int) else integer(each, DType.INT64) for each in type_.shape))

    @property
    def size(self) -> Any:
        return math.prod(self.shape)


def depends_on_extents(known: Known) -> bool:
    """Whether some of the elements are expressions of extents."""
    return any(map(depends_on_extents, known)) if isinstance(known, tuple) else is_symbolic(known)


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
