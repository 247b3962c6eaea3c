"""Convolutions of 3×3 by the minimal filtering of Winograd: fewer multiplications, more additions.

A tile of m × m results (m = 2 or 4) is made of (m + 2) × (m + 2) data:

    result = Aᵀ [(G g Gᵀ) ⊙ (Bᵀ d B)] A         d data, g the kernel, ⊙ element by element, summed over channels

so a multiplication for each of (m + 2)² points takes the place of nine for each of m² results: 2.25 times fewer for
m = 2, 4 times fewer for m = 4. Kernels are transformed beforehand. From Lavin and Gray, Fast Algorithms for
Convolutional Neural Networks, 2015 (1509.09308), section 4.1; the points of m = 4 are 0, 1, -1, 2, -2.

Terms cancel in the transforms, so results in float32 differ from exact ones by more than those of plain sums: by about
1e-6 (m = 2) and 1e-5 (m = 4) of the largest. An infinity or NaN in the data may make NaN of all results of the tiles
that read it; one in the kernel, of all results of its output channel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from relay import te
from relay.arith.expr import IntExpr, ceil_divide, multiply
from relay.base.dtypes import DType
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import Dimension, TensorType, Type
from relay.ops.framework.batch_rule import LAYS_OUT
from relay.ops.framework.build import Argument, call
from relay.ops.framework.dimensions import derived
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.layouts import parse_layout, relayout
from relay.ops.framework.record import BEHIND_DIFFERENTIATION, FusionKind, OperatorRecord, PrecisionRule, define
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.framework.scale_role import PACKED_WEIGHT
from relay.ops.framework.window import check_windows, full_padding, padded_array, padded_tensor, pads_of, windows_along
from relay.tir.expr import Value

TAPS = 3
"""of the kernels, along both axes."""
_SPACE = ("H", "W")
_KERNELS_AT_A_TIME = 512  # so few that BLAS multiplies them in this thread: where others use the machine, threads that
# wait for each other take ten times as long

Transform: TypeAlias = Callable[..., tuple[Any, ...]]
"""Formulas of numbers or arrays, in which what several results share is computed once."""


def _data_2(a: Any, b: Any, c: Any, d: Any) -> tuple[Any, ...]:
    return a - c, b + c, c - b, b - d


def _data_4(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> tuple[Any, ...]:
    even, odd = e - c * 4.0, d - b * 4.0
    far, apart = e - c, (d - b) * 2.0
    first, last = (a - c) * 4.0 + far, (b - d) * 4.0 + (f - d)
    return first, even + odd, even - odd, far + apart, far - apart, last


def _kernel_2(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
    outer = (a + c) * 0.5
    return a, outer + b * 0.5, outer - b * 0.5, c


def _kernel_4(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
    near, far = (a + c) * (-1.0 / 6.0), a * (1.0 / 24.0) + c * (1.0 / 6.0)
    near_odd, far_odd = b * (1.0 / 6.0), b * (1.0 / 12.0)
    return a * 0.25, near - near_odd, near + near_odd, far + far_odd, far - far_odd, c


def _result_2(a: Any, b: Any, c: Any, d: Any) -> tuple[Any, ...]:
    return a + (b + c), (b - c) - d


def _result_4(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> tuple[Any, ...]:
    near, near_odd = b + c, b - c
    far, far_odd = d + e, d - e
    return a + near + far, near_odd + far_odd * 2.0, near + far * 4.0, near_odd + far_odd * 8.0 + f


@frozen
class Minimal:
    """F(m, 3): how data, kernel and result are transformed along one axis (Bᵀ, G and Aᵀ)."""

    tile: int
    data: Transform
    kernel: Transform
    result: Transform

    @property
    def points(self) -> int:
        return self.tile + TAPS - 1


MINIMAL: Mapping[int, Minimal] = MappingProxyType(
    {2: Minimal(2, _data_2, _kernel_2, _result_2), 4: Minimal(4, _data_4, _kernel_4, _result_4)}
)
"""By the number of results of a tile, along one axis."""

PLAIN_SUMS = "plain sums"


def algorithm_name(tile: int) -> str:
    """What a convolution of 3×3 by tiles of so many results is called; by none (0) it is plain sums.

    >>> algorithm_name(4), algorithm_name(0)
    ('F(4, 3)', 'plain sums')
    """
    return f"F({tile}, {TAPS})" if tile else PLAIN_SUMS


ALGORITHMS: Mapping[str, int] = MappingProxyType({algorithm_name(tile): tile for tile in (0, *MINIMAL)})
"""Tiles by the names of what is computed with them."""


def _minimal(run: RelationRun, tile_size: int) -> Minimal:
    if tile_size not in MINIMAL:
        run.conflict("wrong-attribute", "`tile_size` must be one that is known", "2 or 4", str(tile_size))
    return MINIMAL[tile_size]


def _check_dtype(run: RelationRun, position: int) -> None:
    run.dtype_in(position, lambda dtype: dtype in (DType.FLOAT32, DType.FLOAT64), "float32 or float64")


def _along(transform: Transform, array: Array, axis: int) -> Array:
    """A transform along an axis of an array."""
    return np.stack(transform(*np.moveaxis(array, axis, 0)), axis)


def _one_of(index: IntExpr, values: Sequence[Value]) -> Value:
    """The value whose place in `values` is `index`."""
    *rest, last = enumerate(values)
    return reduce(lambda other, each: te.select(te.equal(index, each[0]), each[1], other), reversed(rest), last[1])


# --- nn.contrib_conv2d_winograd_weight_transform ----------------------------------------------------------------------


@frozen
class WinogradWeightAttributes(Attributes):
    """`tile_size`: results of a tile, along one axis: 2 or 4."""

    tile_size: int


def _weight_rule(run: RelationRun, attributes: WinogradWeightAttributes) -> Type:
    """weight[O, I, 3, 3] → [m + 2, m + 2, O, I]"""
    minimal = _minimal(run, attributes.tile_size)
    weight = run.tensor(0, 4)
    _check_dtype(run, 0)
    outputs, inputs, rows, columns = weight.shape
    run.equal(TAPS, rows, "axis 2 of `weight`", (0,))
    run.equal(TAPS, columns, "axis 3 of `weight`", (0,))
    return TensorType((minimal.points, minimal.points, outputs, inputs), weight.dtype)


def _weight_meaning(attributes: WinogradWeightAttributes, weight: Array) -> Array:
    """In float64, rounded once: constants are transformed here, as many at a time as stay in cache."""
    minimal = MINIMAL[attributes.tile_size]
    outputs, inputs, *_ = weight.shape
    along_an_axis = np.array(minimal.kernel(*np.eye(TAPS)))
    transform = np.kron(along_an_axis, along_an_axis)
    kernels = weight.reshape(outputs * inputs, TAPS * TAPS)
    points = np.empty((minimal.points**2, outputs * inputs), weight.dtype)
    with np.errstate(all="ignore"):
        for start in range(0, outputs * inputs, _KERNELS_AT_A_TIME):
            part = slice(start, start + _KERNELS_AT_A_TIME)
            points[:, part] = transform @ kernels[part].T.astype(np.float64)
    return points.reshape(minimal.points, minimal.points, outputs, inputs)


def _weight_compute(
    attributes: WinogradWeightAttributes, inputs: tuple[te.Tensor], result: TensorType
) -> te.Tensor:  # fmt: skip
    (weight,) = inputs
    minimal = MINIMAL[attributes.tile_size]

    def element(p: IntExpr, q: IntExpr, o: IntExpr, i: IntExpr) -> Value:
        columns = [_one_of(p, minimal.kernel(*(weight[o, i, r, s] for r in range(TAPS)))) for s in range(TAPS)]
        return _one_of(q, minimal.kernel(*columns))

    return te.compute(result.shape, element, name="winograd_weight")


# --- nn.contrib_conv2d_winograd_without_weight_transform --------------------------------------------------------------


@frozen
class WinogradAttributes(Attributes):
    """`tile_size`: results of a tile, along one axis: 2 or 4. `padding`: top, left, bottom, right. `channels`: of the
    result. `kernel_layout`: of the transformed kernel, whose H and W are the m + 2 points."""

    tile_size: int
    padding: tuple[int, ...] = (0, 0, 0, 0)
    channels: IntExpr | None = None
    kernel_layout: str = "HWOI"


def _rule(run: RelationRun, attributes: WinogradAttributes) -> Type:
    """data[N, H, W, C] × weight[points, points, O, C] → [N, rows, columns, O]"""
    minimal = _minimal(run, attributes.tile_size)
    kernel = parse_layout(attributes.kernel_layout)
    if set(kernel.axes) != {*"OIHW"} or set(kernel.letters) - {*"OIHWo"}:
        run.conflict("bad-layout", "`kernel_layout` does not fit this operator",
                     "an order of H, I, O, W; O may come in blocks", kernel.text)  # fmt: skip
    if kernel.blocks and attributes.channels is None:
        run.conflict("missing-attribute", "a kernel in blocks needs `channels`", "channels=<number of output channels>")
    check_windows(run, 2, padding=attributes.padding)
    data, weight = run.tensor(0, 4), run.tensor(1, kernel.rank)
    _check_dtype(run, 0)
    run.dtype_in(1, lambda dtype: dtype is data.dtype, "the type of the data")
    batch, rows, columns, depth = data.shape
    extents = kernel.extents(weight.shape)
    outputs = extents["O"] if attributes.channels is None else attributes.channels
    wanted = kernel.shape({"O": outputs, "I": depth, "H": minimal.points, "W": minimal.points})
    for letter, given, extent in zip(kernel.letters, wanted, weight.shape, strict=True):
        run.equal(given, extent, f"axis {letter} of `weight` ({kernel})", (0, 1), rule="axes-differ")
    space = [
        windows_along(run, axis, extent, TAPS, 1, 1, pads)
        for axis, extent, pads in zip(_SPACE, (rows, columns), pads_of(attributes.padding), strict=True)
    ]
    return TensorType((batch, *space, outputs), data.dtype)


def _meaning(attributes: WinogradAttributes, data: Array, weight: Array) -> Array:
    minimal = MINIMAL[attributes.tile_size]
    tile, points = minimal.tile, minimal.points
    true = {"O": int(attributes.channels)} if isinstance(attributes.channels, int) else None
    kernel = relayout(weight, parse_layout(attributes.kernel_layout), parse_layout("HWIO"), true)
    nchw = padded_array(data.transpose(0, 3, 1, 2), pads_of(attributes.padding))
    rows, columns = (extent - TAPS + 1 for extent in nchw.shape[2:])
    down, across = -(-rows // tile), -(-columns // tile)
    whole = padded_array(nchw, ((0, down * tile - rows), (0, across * tile - columns)))
    view = np.lib.stride_tricks.sliding_window_view(whole, (points, points), (2, 3))[:, :, ::tile, ::tile]
    with np.errstate(all="ignore"):
        spread = _along(minimal.data, _along(minimal.data, view, 4), 5)  # [N, C, down, across, points, points]
        products = np.matmul(spread.transpose(4, 5, 0, 2, 3, 1), kernel[:, :, None, None])
        tiles = _along(minimal.result, _along(minimal.result, products, 0), 1)  # [m, m, N, down, across, O]
    image = tiles.transpose(2, 3, 0, 4, 1, 5).reshape(data.shape[0], down * tile, across * tile, -1)
    return image[:, :rows, :columns].astype(data.dtype)


def _compute(attributes: WinogradAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    """Stages `data_pad` (where tiles reach beyond the data), `winograd_rows` and `winograd_data` (transforms of data
    along both axes), `winograd_products`, `winograd_columns` and `winograd_result`. Tiles of an image are counted along
    one axis, row by row."""
    minimal = MINIMAL[attributes.tile_size]
    tile, points = minimal.tile, minimal.points
    data, weight = inputs
    kernel = parse_layout(attributes.kernel_layout)
    batch, rows, columns, outputs = result.shape
    down, across = (derived(lambda extent: ceil_divide(extent, tile), extent) for extent in (rows, columns))
    padded = padded_tensor(data, parse_layout("NHWC"), _SPACE, _pads(attributes, data, down, across), 0, "data_pad")
    tiles, depth = multiply(down, across), data.shape[3]

    def half(n: IntExpr, t: IntExpr, p: IntExpr, s: IntExpr, c: IntExpr) -> Value:
        top, left = t // across * tile, t % across * tile
        return _one_of(p, minimal.data(*(padded[n, top + r, left + s, c] for r in range(points))))

    halves = te.compute((batch, tiles, points, points, depth), half, name="winograd_rows")

    def transformed(n: IntExpr, p: IntExpr, q: IntExpr, t: IntExpr, c: IntExpr) -> Value:
        return _one_of(q, minimal.data(*(halves[n, t, p, s, c] for s in range(points))))

    spread = te.compute((batch, points, points, tiles, depth), transformed, name="winograd_data")
    channel = te.reduce_axis(depth, "rc")

    def multiplied(n: IntExpr, p: IntExpr, q: IntExpr, t: IntExpr, k: IntExpr) -> Any:
        right = weight[kernel.indices({"O": k, "I": channel, "H": p, "W": q})]
        return te.sum(spread[n, p, q, t, channel] * right, axis=channel)

    products = te.compute((batch, points, points, tiles, outputs), multiplied, name="winograd_products")

    def column(n: IntExpr, t: IntExpr, i: IntExpr, q: IntExpr, k: IntExpr) -> Value:
        return _one_of(i, minimal.result(*(products[n, p, q, t, k] for p in range(points))))

    halfway = te.compute((batch, tiles, tile, points, outputs), column, name="winograd_columns")

    def element(n: IntExpr, h: IntExpr, w: IntExpr, k: IntExpr) -> Value:
        t = h // tile * across + w // tile
        return _one_of(w % tile, minimal.result(*(halfway[n, t, h % tile, q, k] for q in range(points))))

    return te.compute(result.shape, element, name="winograd_result")


def _pads(
    attributes: WinogradAttributes, data: te.Tensor, down: Dimension, across: Dimension
) -> tuple[tuple[Any, Any], ...]:
    """The padding of the data with what whole tiles reach over its end."""
    return tuple(
        (
            before,
            derived(lambda count, extent: count * attributes.tile_size + TAPS - 1 - extent, count, extent) - before,
        )
        for (before, _), count, extent in zip(pads_of(attributes.padding), (down, across), data.shape[1:3], strict=True)
    )


def _products(attributes: WinogradAttributes, inputs: tuple[Type, ...], result: Type) -> IntExpr:
    """Those that it does, which are fewer than a convolution's: one for each point of a tile, channel and output."""
    match inputs[0], result:
        case TensorType(shape=shape), TensorType(shape=(batch, rows, columns, outputs)):
            minimal = MINIMAL[attributes.tile_size]
            tiles = multiply(*(ceil_divide(extent, minimal.tile) for extent in (rows, columns)))
            return multiply(multiply(batch, tiles), multiply(minimal.points**2, multiply(shape[-1], outputs)))
        case _:
            return 0


WINOGRAD_WEIGHT = define(
    "nn.contrib_conv2d_winograd_weight_transform",
    "Kernels of 3×3 transformed for a convolution by Winograd's minimal filtering.",
    inputs={"weight": "[O, I, 3, 3]"},
    attributes=WinogradWeightAttributes,
    type_rule=_weight_rule,
    meaning=_weight_meaning,
    compute=_weight_compute,
    fusion=FusionKind.INJECTIVE,
    layout=OwnLayout("it names its axes by their order"),
    floating_point=FloatingPointClass.ROUNDING,
    effect=Effect.PURE,
    gradient=BEHIND_DIFFERENTIATION,
    batch=LAYS_OUT,
    scale=PACKED_WEIGHT,
    support_level=10,
)
WINOGRAD = define(
    "nn.contrib_conv2d_winograd_without_weight_transform",
    "Convolution of 3×3 by Winograd's minimal filtering, with a kernel that is transformed already.",
    inputs={"data": "[N, H, W, C]", "weight": "the transformed kernel, in the order of kernel_layout"},
    attributes=WinogradAttributes,
    type_rule=_rule,
    meaning=_meaning,
    compute=_compute,
    fusion=FusionKind.OUT_ELEMWISE_FUSABLE,
    layout=OwnLayout("its layout is what it is made for"),
    floating_point=FloatingPointClass.ROUNDING,
    precision=PrecisionRule.WIDE,
    effect=Effect.PURE,
    gradient=BEHIND_DIFFERENTIATION,
    batch=LAYS_OUT,
    scale=PACKED_WEIGHT,
    support_level=10,
    multiply_adds=_products,
)

WINOGRADS: tuple[OperatorRecord, ...] = (WINOGRAD_WEIGHT, WINOGRAD)


def contrib_conv2d_winograd_weight_transform(weight: Argument, tile_size: int) -> Call:
    """weight[O, I, 3, 3] → [tile_size + 2, tile_size + 2, O, I]: a kernel transformed for tiles of tile_size ×
    tile_size results (2 or 4).

    Raises `RelayError`: `wrong-attribute`, `extents-differ`, `wrong-rank`, `wrong-dtype`.

    >>> from relay.ops.framework.build import var
    >>> print(contrib_conv2d_winograd_weight_transform(var("w", shape=(64, 32, 3, 3)), tile_size=4).checked_type)
    Tensor[(6, 6, 64, 32), float32]
    """
    return call(WINOGRAD_WEIGHT, (weight,), WinogradWeightAttributes(tile_size))


def contrib_conv2d_winograd_without_weight_transform(
    data: Argument, weight: Argument, tile_size: int, padding: int | Sequence[int] = (0, 0),
    channels: Dimension | None = None, kernel_layout: str = "HWOI",
) -> Call:  # fmt: skip
    """data[N, H, W, C] × weight[tile_size + 2, tile_size + 2, O, C] → [N, rows, columns, O]: a convolution of 3×3 at
    stride 1, its kernel transformed by `contrib_conv2d_winograd_weight_transform`.

    `padding` is one number, (vertical, horizontal), or (top, left, bottom, right). The kernel's H and W are its
    transformed points; a layout such as `OHWI64o` has output channels in blocks, padded with zeros, and needs
    `channels`. An infinity or NaN in the data makes NaN of all results of the tiles that read it.

    Raises `RelayError`: `axes-differ`, `window-too-large`, `bad-layout`, `wrong-attribute`, `missing-attribute`,
    `wrong-rank`, `wrong-dtype`.

    >>> from relay.ops.framework.build import var
    >>> x, w = var("x", shape=("n", 14, 14, 32)), var("w", shape=(6, 6, 64, 32))
    >>> print(contrib_conv2d_winograd_without_weight_transform(x, w, tile_size=4, padding=1).checked_type)
    Tensor[(n, 14, 14, 64), float32]
    """
    attributes = WinogradAttributes(tile_size, full_padding(padding, 2), channels, kernel_layout)
    return call(WINOGRAD, (data, weight), attributes)
