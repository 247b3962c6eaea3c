"""Extents as run-time values: what remains of shape arithmetic when its result is used as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from relay.arith.expr import FloorDiv, FloorMod, IntExpr, Max, Min, Product, Sum, Symbol, linear_parts
from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.expr import Expr, Var, const
from relay.ir.types import TensorType
from relay.ops.creation.create import shape_of
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add, floor_divide, floor_mod, maximum, minimum, multiply, subtract
from relay.ops.framework.build import with_known_type
from relay.ops.indexing.index import take
from relay.ops.manipulation.combine import stack
from relay.ops.manipulation.shape import reshape


@frozen(eq=False)
class Origin:
    """Where the run finds a symbol: `axis` of a tensor has `factor · symbol + offset` entries. Without an axis
    the tensor is an int64 number, the symbol itself."""

    tensor: Expr
    axis: int | None
    factor: int = 1
    offset: int = 0


Origins = Mapping[Symbol, Origin]


def symbol_origins(inputs: Sequence[Var]) -> dict[Symbol, Origin]:
    """The first input and axis at which each symbol stands alone, or else is the only one.

    >>> from relay.ops.framework.build import symbol, var
    >>> n, m = symbol("n"), symbol("m")
    >>> found = symbol_origins([var("x", shape=(2 * n + 1, 3 * m)), var("y", shape=(m,))])
    >>> [(found[each].tensor.name_hint, found[each].factor, found[each].offset) for each in (n, m)]
    [('x', 2, 1), ('y', 1, 0)]
    """
    found: dict[Symbol, Origin] = {}
    axes = [
        (Origin(var, axis, coefficient, offset), symbol)
        for var in inputs
        if isinstance(var.type_annotation, TensorType)
        for axis, extent in enumerate(var.type_annotation.shape)
        for offset, coefficient, symbol in _of_one_symbol(extent)
    ]
    for origin, symbol in sorted(axes, key=lambda each: (each[0].factor, each[0].offset) != (1, 0)):
        found.setdefault(symbol, origin)
    return found


def _of_one_symbol(extent: IntExpr) -> Iterator[tuple[int, int, Symbol]]:
    """`(offset, factor, symbol)` of an extent that is linear in one symbol."""
    offset, terms = linear_parts(extent)
    match terms:
        case ((Symbol() as symbol, factor),):
            yield offset, factor, symbol
        case _:
            pass


def decided_extents(made: Expr, type_: TensorType) -> Iterator[tuple[Symbol, Origin]]:
    """The extents of a tensor that are symbols of their own: what makes it decides them, unless an input had them."""
    for axis, extent in enumerate(type_.shape):
        if isinstance(extent, Symbol):
            yield extent, Origin(made, axis, 1, 0)


def array_of_extents(known: NDArray[Any], dtype: DType, origins: Origins) -> Expr:
    """A tensor of `known.shape` whose elements are these extents."""
    elements = [_scalar(element, dtype, origins) for element in known.ravel().tolist()]
    if known.ndim == 0:
        return elements[0]
    row = stack(elements, axis=0)
    return row if known.ndim == 1 else reshape(row, known.shape)


def _scalar(extent: IntExpr, dtype: DType, origins: Origins) -> Expr:
    """One extent as a scalar. Recursion is as deep as the expression, which shapes keep small."""
    match extent:
        case int():
            return with_known_type(const(extent, dtype))
        case Symbol() if extent in origins:
            origin = origins[extent]
            if origin.axis is None:
                return origin.tensor if dtype is DType.INT64 else cast(origin.tensor, dtype)
            entries: Expr = take(shape_of(origin.tensor, dtype), const(origin.axis, DType.INT64))
            if origin.offset:
                entries = subtract(entries, const(origin.offset, dtype))
            return entries if origin.factor == 1 else floor_divide(entries, const(origin.factor, dtype))
        case Sum(constant, terms):
            total: Expr | None = with_known_type(const(constant, dtype)) if constant else None
            for term, coefficient in terms:
                scaled = _scalar(term, dtype, origins)
                if coefficient != 1:
                    scaled = multiply(scaled, const(coefficient, dtype))
                total = scaled if total is None else add(total, scaled)
            if total is None:
                raise CompilerBug("frontend.shared", f"a sum without terms: {extent}")
            return total
        case Product(factors):
            product = _scalar(factors[0], dtype, origins)
            for factor in factors[1:]:
                product = multiply(product, _scalar(factor, dtype, origins))
            return product
        case FloorDiv(left, right) | FloorMod(left, right) | Min(left, right) | Max(left, right):
            function = {FloorDiv: floor_divide, FloorMod: floor_mod, Min: minimum, Max: maximum}[type(extent)]
            return function(_scalar(left, dtype, origins), _scalar(right, dtype, origins))
        case _:
            raise RelayError(
                rule="extent-without-origin", message=f"the program needs the extent {extent} as a value",
                expected="an input of which it is the extent of an axis", found="none",
                remedy="give the shapes of the inputs with other symbols, or with numbers",
            )  # fmt: skip
