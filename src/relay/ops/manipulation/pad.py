"""More elements around a tensor: nn.pad, nn.mirror_pad.   data[.., e, ..] → [.., before + e + after, ..]"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, Union

import numpy as np

from relay import te
from relay.arith.expr import Comparison, IntExpr, maximum, minimum
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Constant, Expr
from relay.ir.operator import Effect
from relay.ir.types import ANY, TensorType, Type
from relay.ops import dyn
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, as_expr, call, is_dynamic, items, known_dtype
from relay.ops.framework.dimensions import derived
from relay.ops.framework.layout_rule import PerAxisAttributes
from relay.ops.framework.record import FusionKind, OperatorRecord, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, element_type, to_dtype
from relay.ops.framework.scale_role import NO_SCALE_YET
from relay.tir.expr import Value

Widths: TypeAlias = tuple[tuple[int, int], ...]


@frozen
class PadAttributes(Attributes):
    """`pad_width`: (before, after) of each axis; negative ones cut off. `pad_mode`: `constant`, `edge`,
    `reflect`, which does not repeat the element at the end, or `wrap`."""

    pad_width: tuple[tuple[int, int], ...]
    pad_mode: str = "constant"


@frozen
class MirrorPadAttributes(Attributes):
    """`mode`: `SYMMETRIC` repeats the element at the end, `REFLECT` does not."""

    mode: str = "SYMMETRIC"
    pad_width: tuple[tuple[int, int], ...] = ()


PadLike: TypeAlias = Union[PadAttributes, MirrorPadAttributes]

_EXTRA = {"edge": None, "wrap": None, "reflect": 1, "REFLECT": 1, "SYMMETRIC": 0}
_NUMPY_MODES = {"edge": "edge", "wrap": "wrap", "reflect": "reflect", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}


def _mode(attributes: PadLike) -> str:
    return attributes.pad_mode if isinstance(attributes, PadAttributes) else attributes.mode


def _rule(run: RelationRun, attributes: PadLike) -> Type:
    data = run.tensor(0)
    widths = attributes.pad_width
    mode = _mode(attributes)
    modes = (
        ("constant", "edge", "reflect", "wrap") if isinstance(attributes, PadAttributes) else ("SYMMETRIC", "REFLECT")
    )
    if mode not in modes:
        run.conflict("wrong-attribute", "the mode of padding is not known", ", ".join(modes), mode)
    if len(widths) != len(data.shape) or any(len(width) != 2 for width in widths):
        run.conflict("wrong-attribute", "`pad_width` must have (before, after) for each axis",
                     f"{len(data.shape)} pairs", str(widths), (0,))  # fmt: skip
    if isinstance(attributes, PadAttributes):
        _check_value(run, data)
    if mode != "constant":
        _check_mirror(run, data, widths, mode)
    for axis, (extent, (before, after)) in enumerate(zip(data.shape, widths, strict=True)):
        if before + after < 0 and extent is not ANY:
            run.require(Comparison(0, "<=", extent + (before + after)), "cut-too-large",
                        f"`pad_width` cuts more than axis {axis} of `data` has", (0,))  # fmt: skip
    shape = tuple(
        derived(lambda e, w=before + after: e + w, extent)
        for extent, (before, after) in zip(data.shape, widths, strict=True)
    )
    return TensorType(shape, data.dtype)


def _check_value(run: RelationRun, data: TensorType) -> None:
    """The padding is one number, of any number type: it is cast to that of the data."""
    value = run.tensor_like(1, (), data.dtype) if run.is_open(1) else run.tensor(1)
    if len(value.shape) > 1 or value.shape not in ((), (1,)):
        run.conflict("wrong-shape", "`pad_value` must be one number", "a scalar, or shape (1,)", str(value), (1,))


def _check_mirror(run: RelationRun, data: TensorType, widths: Widths, mode: str) -> None:
    extra = _EXTRA[mode]
    for axis, (extent, width) in enumerate(zip(data.shape, widths, strict=True)):
        if any(side < 0 for side in width):
            run.conflict("wrong-attribute", "`pad_width` must not be negative in this mode", "0 or more", str(width))
        if extent is ANY or width == (0, 0):
            continue
        needed = 1 if extra is None else max(width) + extra
        run.require(Comparison(needed, "<=", extent), "padding-too-large",
                    f"axis {axis} of `data` needs {needed} elements for this padding", (0,))  # fmt: skip


def _pad_meaning(attributes: PadAttributes, data: Array, value: Array) -> Array:
    if attributes.pad_mode != "constant":
        return np.pad(data, attributes.pad_width, mode=_NUMPY_MODES[attributes.pad_mode])  # pyright: ignore[reportCallIssue, reportArgumentType]
    added = [(max(before, 0), max(after, 0)) for before, after in attributes.pad_width]
    whole = np.full([before + extent + after for extent, (before, after) in zip(data.shape, added, strict=True)],
                    to_dtype(value.reshape(()), element_type(data)))  # fmt: skip
    whole[tuple(slice(before, before + extent) for extent, (before, _) in zip(data.shape, added, strict=True))] = data
    return whole[tuple(
        slice(max(0, -before), extent - max(0, -after))
        for extent, (before, after) in zip(whole.shape, attributes.pad_width, strict=True)
    )]  # fmt: skip


def _mirror_place(mode: str, place: IntExpr, extent: IntExpr, width: tuple[int, int]) -> IntExpr:
    """Where in the data an element of the padded axis comes from; `place` counts from the data's first element."""
    before, after = width
    if mode == "wrap":
        return place % extent if before or after else place
    extra = _EXTRA[mode]
    if extra is None:
        place = maximum(place, 0) if before else place
        return minimum(place, extent - 1) if after else place
    # Folded at both ends: -1 is 0 (symmetric) or 1 (reflect), so below the data the place is 1 - extra - 2·…, negated.
    place = maximum(place, extra - 1 - place) if before else place
    return minimum(place, 2 * extent - 1 - extra - place) if after else place


def _compute(attributes: PadLike, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    """One stage, `pad`."""
    data = inputs[0]
    mode = _mode(attributes)
    widths = attributes.pad_width

    def element(*i: IntExpr) -> Value:
        places = [index - before for index, (before, _) in zip(i, widths, strict=True)]
        if mode != "constant":
            return data[tuple(
                _mirror_place(mode, place, extent, width)
                for place, extent, width in zip(places, data.shape, widths, strict=True)
            )]  # fmt: skip
        inside: list[Value] = []
        for place, extent, (before, after) in zip(places, data.shape, widths, strict=True):
            inside += [te.greater_equal(place, 0)] if before > 0 else []
            inside += [te.less(place, extent)] if after > 0 else []
        read = data[tuple(places)]
        if not inside:
            return read
        value = inputs[1][(0,) * len(inputs[1].shape)]
        return te.select(te.all_of(inside), read, te.cast(value, data.dtype))

    return te.compute(result.shape, element, name="pad")


def _record(name: str, description: str, attributes: type[Attributes], value: bool, meaning: Any) -> OperatorRecord:
    return define(
        name,
        description,
        inputs={"data": "[..]", "pad_value": "a number, or [1]"} if value else {"data": "[..]"},
        input_defaults=(("pad_value", 0.0),) if value else (),
        attributes=attributes,
        type_rule=_rule,
        meaning=meaning,
        compute=_compute,
        fusion=FusionKind.INJECTIVE,
        layout=PerAxisAttributes(("pad_width",)),
        effect=Effect.PURE,
        gradient=gradient_above("manipulation", "of_pad" if value else "of_mirror_pad"),
        batch=NO_BATCH_RULE_YET,
        scale=NO_SCALE_YET,
        support_level=2,
    )


PAD = _record(
    "nn.pad",
    "The tensor with a number, its edge, its reflection or itself around it.",
    PadAttributes,
    True,
    _pad_meaning,
)
MIRROR_PAD = _record(
    "nn.mirror_pad", "The tensor with its reflection around it.", MirrorPadAttributes, False,
    lambda attributes, data: np.pad(data, attributes.pad_width, mode=_NUMPY_MODES[attributes.mode]),  # pyright: ignore[reportCallIssue, reportArgumentType]
)  # fmt: skip

PADDINGS: tuple[OperatorRecord, ...] = (PAD, MIRROR_PAD)


def _widths(pad_width: Sequence[Sequence[int]]) -> Widths:
    sides = items(pad_width)
    return tuple(map(items, sides)) if isinstance(sides, tuple) else sides


def _static_widths(pad_width: Sequence[Sequence[int]] | Expr) -> Widths:
    """Widths that are known here: the numbers of a constant, or what was given."""
    return _widths(pad_width.data.tolist() if isinstance(pad_width, Constant) else pad_width)  # pyright: ignore[reportArgumentType]


def pad(
    data: Argument, pad_width: Sequence[Sequence[int]] | Expr, pad_value: Argument = 0, pad_mode: str = "constant"
) -> Call:
    """data[.., e, ..] → [.., before + e + after, ..] with (before, after) of each axis in `pad_width`.

    `pad_mode`: `constant` (with `pad_value`; negative widths cut off), `edge`, `reflect` or `wrap`. An
    expression that is no constant makes a `dyn.nn.pad`.

    Raises `RelayError`: `wrong-attribute`, `padding-too-large`, `cut-too-large`, `dtypes-differ`.

    >>> from relay.ops.framework.build import var
    >>> print(pad(var("x", shape=(1, "n")), ((0, 0), (2, 3))).checked_type)
    Tensor[(1, n + 5), float32]
    """
    if is_dynamic(pad_width):
        return dyn.pad(data, pad_width, pad_value, pad_mode)
    expr = as_expr(data)
    value = pad_value if known_dtype(pad_value) else as_expr(pad_value, known_dtype(expr))
    return call(PAD, (expr, value), PadAttributes(_static_widths(pad_width), pad_mode))


def mirror_pad(data: Argument, pad_width: Sequence[Sequence[int]], mode: str = "SYMMETRIC") -> Call:
    """`data` with its reflection around it; `SYMMETRIC` repeats the element at the end, `REFLECT` does not.

    Raises `RelayError`: `wrong-attribute`, `padding-too-large`.
    """
    return call(MIRROR_PAD, (data,), MirrorPadAttributes(mode, _widths(pad_width)))
