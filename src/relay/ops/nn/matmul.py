"""Matrix products: dense, matmul, batch_matmul, and dense with a packed weight.

Axes: data[.., k] or [batch, m, k], weight[units, k]. Sums of narrow types are kept in float32 or in `out_dtype`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import IntExpr, ceil_divide, multiply
from relay.base.dtypes import DType, dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr
from relay.ir.operator import Effect
from relay.ir.types import Dimension, TensorType, Type
from relay.ops.framework.batch_rule import HasBatchAxis, RowsTimesMatrix
from relay.ops.framework.build import Argument, call, optional_dtype
from relay.ops.framework.elementwise import broadcast_index
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.record import (
    BEHIND_DIFFERENTIATION,
    FusionKind,
    OperatorRecord,
    PrecisionRule,
    define,
    gradient_above,
)
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, to_dtype, wide
from relay.ops.framework.scale_role import PACKED_WEIGHT, Channels, WeightedSum
from relay.tir.expr import Value


@frozen
class DenseAttributes(Attributes):
    """`units`: rows of the weight, None to take it from there. `out_dtype`: None is that of the data."""

    units: IntExpr | None = None
    out_dtype: DType | None = None


@frozen
class MatmulAttributes(Attributes):
    """`transpose_a`: data is [k, m]; `transpose_b`: the second matrix is [n, k]."""

    units: IntExpr | None = None
    out_dtype: DType | None = None
    transpose_a: bool = False
    transpose_b: bool = False


@frozen
class BatchMatmulAttributes(Attributes):
    """`transpose_a`: x is [batch, k, m]; `transpose_b`: y is [batch, n, k], which `batch_matmul` asks for unless told
    otherwise."""

    out_dtype: DType | None = None
    transpose_a: bool = False
    transpose_b: bool = False


@frozen
class DensePackAttributes(Attributes):
    """`units`: how many rows of the packed weight are real."""

    units: IntExpr
    out_dtype: DType | None = None


def product_dtype(left: DType, out_dtype: DType | None) -> tuple[DType, DType]:
    """`(accumulator, result)` types of a sum of products: the accumulator is at least 32 bits wide."""
    result = out_dtype or left
    return result.computation if result.is_float or not left.is_float else left.computation, result


def _numbers(run: RelationRun, *positions: int) -> None:
    for position in positions:
        if not run.is_open(position):
            run.dtype_in(position, lambda dtype: not dtype.is_bool, "a number type")


def _dense_rule(run: RelationRun, attributes: DenseAttributes) -> Type:
    """data[.., k] × weight[units, k] → [.., units]"""
    data = run.tensor(0)
    _numbers(run, 0, 1)
    if not data.shape:
        run.conflict("wrong-rank", "`data` must have at least 1 axis", "[.., k]", str(data), (0,))
    k = data.shape[-1]
    if attributes.units is not None:
        weight = (
            run.tensor_like(1, (attributes.units, k), data.dtype, _DENSE_REMEDY) if run.is_open(1) else run.tensor(1, 2)
        )
        run.equal(
            attributes.units, weight.shape[0], "axis 0 of `weight`", (1,), "units is the number of rows of weight"
        )
    else:
        weight = run.tensor(1, 2)
    run.equal(k, weight.shape[1], "the last axis of `weight`", (0, 1), _DENSE_REMEDY, rule="axes-differ")
    return TensorType((*data.shape[:-1], weight.shape[0]), attributes.out_dtype or data.dtype)


_DENSE_REMEDY = "weight is laid out as [units, k]; transpose it if it came as [k, units]"


def _matmul_rule(run: RelationRun, attributes: MatmulAttributes) -> Type:
    """tensor_a[.., m, k] × tensor_b[k, n] → [.., m, n]"""
    a = run.tensor(0)
    if (len(a.shape) < 2 and attributes.transpose_a) or not a.shape:
        run.conflict("wrong-rank", "`tensor_a` must have at least 2 axes", "[.., m, k]", str(a), (0,))
    if attributes.transpose_a and len(a.shape) > 2:
        run.conflict("wrong-rank", "`tensor_a` must have 2 axes to be transposed", "[k, m]", str(a), (0,))
    _numbers(run, 0, 1)
    rows, k = (a.shape[1:], a.shape[0]) if attributes.transpose_a else (a.shape[:-1], a.shape[-1])
    if attributes.units is not None and run.is_open(1):
        wanted = (attributes.units, k) if attributes.transpose_b else (k, attributes.units)
        b = run.tensor_like(1, wanted, a.dtype)
    else:
        b = run.tensor(1, 2)
    found, columns = (b.shape[1], b.shape[0]) if attributes.transpose_b else (b.shape[0], b.shape[1])
    run.equal(
        k, found, "the axis of `tensor_b` that is summed", (0, 1), "set transpose_a or transpose_b", "axes-differ"
    )
    if attributes.units is not None:
        run.equal(attributes.units, columns, "the number of columns of `tensor_b`", (1,))
    return TensorType((*rows, columns), attributes.out_dtype or a.dtype)


def _batch_matmul_rule(run: RelationRun, attributes: BatchMatmulAttributes) -> Type:
    """x[batch, m, k] × y[batch, k, n] → [batch, m, n], with either side transposed on demand"""
    x, y = run.tensor(0, 3), run.tensor(1, 3)
    _numbers(run, 0, 1)
    batch = run.broadcast((x.shape[0],), (y.shape[0],))[0]
    k, m = (x.shape[1], x.shape[2]) if attributes.transpose_a else (x.shape[2], x.shape[1])
    found, n = (y.shape[2], y.shape[1]) if attributes.transpose_b else (y.shape[1], y.shape[2])
    run.equal(k, found, "the axis of `y` that is summed", (0, 1), "set transpose_a or transpose_b", "axes-differ")
    return TensorType((batch, m, n), attributes.out_dtype or x.dtype)


def _dense_pack_rule(run: RelationRun, attributes: DensePackAttributes) -> Type:
    """data[.., k] × weight[ceil(units / n), k, n] → [.., units]"""
    data, weight = run.tensor(0), run.tensor(1, 3)
    _numbers(run, 0, 1)
    if not data.shape:
        run.conflict("wrong-rank", "`data` must have at least 1 axis", "[.., k]", str(data), (0,))
    blocks, k, block = weight.shape
    run.equal(
        data.shape[-1], k, "axis 1 of `weight`", (0, 1), "a packed weight is [ceil(units / n), k, n]", "axes-differ"
    )
    if not isinstance(block, int) or block == 0:
        run.conflict("wrong-shape", "the block of `weight` must be known", "a constant last axis", str(weight), (1,))
    run.equal(ceil_divide(attributes.units, block), blocks, "the number of blocks of `weight`", (1,))
    return TensorType((*data.shape[:-1], attributes.units), attributes.out_dtype or data.dtype)


def _matrix_product(left: Array, right: Array, out_dtype: DType | None) -> Array:
    accumulator, result = product_dtype(dtype_of(left.dtype), out_dtype)
    with np.errstate(all="ignore"):
        return to_dtype(np.matmul(wide(left).astype(accumulator.numpy), wide(right).astype(accumulator.numpy)), result)


def _swapped(array: Array, swap: bool) -> Array:
    return np.swapaxes(array, -1, -2) if swap else array


def _matmul_meaning(attributes: MatmulAttributes | BatchMatmulAttributes, a: Array, b: Array) -> Array:
    return _matrix_product(
        _swapped(a, attributes.transpose_a), _swapped(b, attributes.transpose_b), attributes.out_dtype
    )


def _dense_pack_meaning(attributes: DensePackAttributes, data: Array, weight: Array) -> Array:
    blocks, k, block = weight.shape
    unpacked = weight.transpose(0, 2, 1).reshape(blocks * block, k)[: int(attributes.units)]  # pyright: ignore[reportArgumentType]
    return _matrix_product(data, unpacked.T, attributes.out_dtype)


def multiply_add(left: Value, right: Value, axes: Any, out_dtype: DType | None) -> Any:
    """`Σ left · right` over `axes`, accumulated wide and rounded once."""
    accumulator, _ = product_dtype(left.dtype, out_dtype)
    return te.sum(te.cast(left, accumulator) * te.cast(right, accumulator), axis=axes)


def rounded(tensor: te.Tensor, dtype: DType, name: str) -> te.Tensor:
    """The tensor in its final element type: itself when it has it."""
    return (
        tensor if tensor.dtype is dtype else te.compute(tensor.shape, lambda *i: te.cast(tensor[i], dtype), name=name)
    )


def _dense_compute(attributes: DenseAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    data, weight = inputs
    k = te.reduce_axis(data.shape[-1], "k")
    summed = te.compute(
        result.shape,
        lambda *i: multiply_add(data[(*i[:-1], k)], weight[i[-1], k], k, attributes.out_dtype),
        name="dense",
    )
    return rounded(summed, result.dtype, "dense_round")


def _matmul_compute(attributes: MatmulAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    a, b = inputs
    k = te.reduce_axis(a.shape[0 if attributes.transpose_a else -1], "k")

    def element(*i: IntExpr) -> Any:
        left = a[(k, i[0])] if attributes.transpose_a else a[(*i[:-1], k)]
        right = b[(i[-1], k)] if attributes.transpose_b else b[(k, i[-1])]
        return multiply_add(left, right, k, attributes.out_dtype)

    return rounded(te.compute(result.shape, element, name="matmul"), result.dtype, "matmul_round")


def _batch_matmul_compute(
    attributes: BatchMatmulAttributes, inputs: tuple[te.Tensor, ...], result: TensorType
) -> te.Tensor:
    x, y = inputs
    k = te.reduce_axis(x.shape[1 if attributes.transpose_a else 2], "k")

    def batch_of(tensor: te.Tensor, batch: IntExpr) -> IntExpr:
        return broadcast_index(batch, tensor.shape[0], result.shape[0])

    def element(b: IntExpr, m: IntExpr, n: IntExpr) -> Any:
        left = x[(batch_of(x, b), k, m)] if attributes.transpose_a else x[(batch_of(x, b), m, k)]
        right = y[(batch_of(y, b), n, k)] if attributes.transpose_b else y[(batch_of(y, b), k, n)]
        return multiply_add(left, right, k, attributes.out_dtype)

    return rounded(te.compute(result.shape, element, name="batch_matmul"), result.dtype, "batch_matmul_round")


def _dense_pack_compute(
    attributes: DensePackAttributes, inputs: tuple[te.Tensor, ...], result: TensorType
) -> te.Tensor:
    data, weight = inputs
    block = weight.shape[2]
    k = te.reduce_axis(data.shape[-1], "k")
    summed = te.compute(
        result.shape,
        lambda *i: multiply_add(
            data[(*i[:-1], k)], weight[i[-1] // block, k, i[-1] % block], k, attributes.out_dtype
        ),
        name="dense",
    )  # fmt: skip
    return rounded(summed, result.dtype, "dense_round")


def size_of(type_: TensorType) -> IntExpr:
    """The number of elements of a tensor."""
    total: IntExpr = 1
    for extent in type_.shape:
        total = multiply(total, extent)
    return total


def _products_of(attributes: Any, inputs: tuple[Type, ...], result: Type) -> IntExpr:
    """One for each element of the result and of the axis that is summed: the last of the first input, or the one
    before, if that is transposed."""
    match inputs[0], result:
        case TensorType(shape=shape), TensorType():
            return multiply(size_of(result), shape[-2 if getattr(attributes, "transpose_a", False) else -1])
        case _:
            return 0


def _rows_of_weight(_: Any, rank: int) -> Channels:
    """data[.., k] × weight[units, k]"""
    return Channels(result=rank - 1, data=rank - 1, weight_result=0, weight_data=1)


def _columns_of_last(attributes: MatmulAttributes | BatchMatmulAttributes, rank: int) -> Channels:
    """a[.., m, k] × b[.., k, n], or their transposes; `b` has two axes, or as many as `a`."""
    of_matrix = 3 if isinstance(attributes, BatchMatmulAttributes) else 2
    units, depth = (of_matrix - 2, of_matrix - 1) if attributes.transpose_b else (of_matrix - 1, of_matrix - 2)
    return Channels(rank - 1, rank - 2 if attributes.transpose_a else rank - 1, units, depth)


def _product(name: str, description: str, level: int, **fields: Any) -> OperatorRecord:
    return define(
        name,
        description,
        fusion=FusionKind.OUT_ELEMWISE_FUSABLE,
        layout=OwnLayout("its axes are those of a matrix product"),
        floating_point=FloatingPointClass.ROUNDING,
        precision=PrecisionRule.NARROW,
        effect=Effect.PURE,
        support_level=level,
        multiply_adds=_products_of,
        **fields,
    )


def _denses(attributes: DenseAttributes, data: Expr, weights: Expr) -> Expr:
    """data[n, r, k] × weights[n, units, k] → [n, r, units]"""
    return batch_matmul(data, weights, attributes.out_dtype)


def _matmuls(attributes: MatmulAttributes, left: Expr, right: Expr) -> Expr:
    """The products of left[n] and right[n], transposed where the attributes say so."""
    return batch_matmul(left, right, attributes.out_dtype, attributes.transpose_a, attributes.transpose_b)


DENSE = _product(
    "nn.dense", "Rows of the data times rows of the weight.", 1,
    inputs={"data": "[.., k]", "weight": "[units, k]"}, attributes=DenseAttributes, type_rule=_dense_rule,
    meaning=lambda attributes, data, weight: _matrix_product(data, weight.T, attributes.out_dtype),
    compute=_dense_compute,
    formula=lambda attributes, data, weight: matmul(
        data, weight, attributes.units, attributes.out_dtype, transpose_b=True
    ),
    batch=RowsTimesMatrix(of_each=_denses), scale=WeightedSum(_rows_of_weight, told=("units",)),
    gradient=gradient_above("products", "of_dense"),
)  # fmt: skip
MATMUL = _product(
    "nn.matmul", "Product of two matrices, either transposed on demand.", 1,
    inputs={"tensor_a": "[.., m, k], or [k, m]", "tensor_b": "[k, n], or [n, k]"}, attributes=MatmulAttributes,
    type_rule=_matmul_rule, meaning=_matmul_meaning, compute=_matmul_compute,
    batch=RowsTimesMatrix("transpose_a", _matmuls), scale=WeightedSum(_columns_of_last, told=("units",)),
    gradient=gradient_above("products", "of_matmul"),
)  # fmt: skip
BATCH_MATMUL = _product(
    "nn.batch_matmul", "Products of matrices, one for each batch.", 10,
    inputs={"x": "[batch, m, k]", "y": "[batch, k, n]; a batch of 1 is repeated"}, attributes=BatchMatmulAttributes,
    type_rule=_batch_matmul_rule, meaning=_matmul_meaning, compute=_batch_matmul_compute,
    batch=HasBatchAxis(), scale=WeightedSum(_columns_of_last), gradient=gradient_above("products", "of_batch_matmul"),
)  # fmt: skip
DENSE_PACK = _product(
    "nn.contrib_dense_pack", "Dense with a weight packed into blocks of output units, padded with zeros.", 10,
    inputs={"data": "[.., k]", "weight": "[ceil(units / n), k, n]"}, attributes=DensePackAttributes,
    type_rule=_dense_pack_rule, meaning=_dense_pack_meaning, compute=_dense_pack_compute,
    batch=RowsTimesMatrix(), scale=PACKED_WEIGHT, gradient=BEHIND_DIFFERENTIATION,
)  # fmt: skip

MATRIX_PRODUCTS: tuple[OperatorRecord, ...] = (DENSE, MATMUL, BATCH_MATMUL, DENSE_PACK)


def dense(
    data: Argument, weight: Argument, units: Dimension | None = None, out_dtype: str | DType | None = None
) -> Call:
    """data[.., k] × weight[units, k] → [.., units]

    `out_dtype` is the element type of the result (default: that of data). Raises `RelayError`: `axes-differ`,
    `extents-differ`, `wrong-rank`, `wrong-dtype`.

    >>> from relay.ops.framework.build import var
    >>> dense(var("x", shape=("n", 784)), var("w", shape=(10, 784))).checked_type
    TensorType(shape=(n, 10), dtype=<DType.FLOAT32: 'float32'>)
    """
    return call(DENSE, (data, weight), DenseAttributes(units, optional_dtype(out_dtype)))


def matmul(
    tensor_a: Argument, tensor_b: Argument, units: Dimension | None = None, out_dtype: str | DType | None = None,
    transpose_a: bool = False, transpose_b: bool = False,
) -> Call:  # fmt: skip
    """tensor_a[.., m, k] × tensor_b[k, n] → [.., m, n]; [k, m] and [n, k] when transposed.

    Raises `RelayError`: `axes-differ`, `wrong-rank`, `wrong-dtype`.
    """
    attributes = MatmulAttributes(units, optional_dtype(out_dtype), transpose_a, transpose_b)
    return call(MATMUL, (tensor_a, tensor_b), attributes)


def batch_matmul(
    tensor_a: Argument, tensor_b: Argument, out_dtype: str | DType | None = None, transpose_a: bool = False,
    transpose_b: bool = True,
) -> Call:  # fmt: skip
    """tensor_a[batch, m, k] × tensor_b[batch, n, k] → [batch, m, n]; a batch of 1 is repeated.

    As in Relay, this function transposes `tensor_b` unless told otherwise, while text without the attribute does not.

    Raises `RelayError`: `axes-differ`, `extents-differ`, `wrong-rank`.
    """
    attributes = BatchMatmulAttributes(optional_dtype(out_dtype), transpose_a, transpose_b)
    return call(BATCH_MATMUL, (tensor_a, tensor_b), attributes)


def contrib_dense_pack(
    data: Argument, weight: Argument, units: Dimension, out_dtype: str | DType | None = None
) -> Call:
    """data[.., k] × weight[ceil(units / n), k, n] → [.., units]: dense with output units in blocks of n, innermost.

    Raises `RelayError`: `axes-differ`, `extents-differ`, `wrong-rank`, `wrong-shape`.
    """
    return call(DENSE_PACK, (data, weight), DensePackAttributes(units, optional_dtype(out_dtype)))
