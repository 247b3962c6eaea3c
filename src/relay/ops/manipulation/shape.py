"""The same elements in another shape: reshape, reshape_like, batch_flatten, squeeze, expand_dims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relay import te
from relay.arith.expr import Comparison, IntExpr
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes, NoAttributes
from relay.ir.expr import Call, Expr
from relay.ir.operator import Effect
from relay.ir.types import ANY, Dimension, TensorType, Type
from relay.ops import dyn
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET, KeepsOrder
from relay.ops.framework.build import Argument, call, dimension, is_dynamic, item_or_items, static_shape
from relay.ops.framework.dimensions import product, quotient
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.record import FusionKind, OperatorRecord, StaticOf, define
from relay.ops.framework.reindex import reindexed
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, element_type
from relay.ops.framework.scale_role import MOVES_ELEMENTS
from relay.ops.framework.symbolic_integer import expr_of


@frozen
class ReshapeAttributes(Attributes):
    """`newshape`: extents, or codes: 0 copies an axis, -1 is inferred, -2 copies all that remain, -3 merges two axes,
    -4 splits one into the next two numbers. `allowzero`: 0 means an extent of 0 instead."""

    newshape: tuple[IntExpr, ...]
    allowzero: bool = False


@frozen
class ReshapeLikeAttributes(Attributes):
    """The axes `lhs_begin:lhs_end` of the data take the shape of `rhs_begin:rhs_end` of the other; None is the end."""

    lhs_begin: int = 0
    lhs_end: int | None = None
    rhs_begin: int = 0
    rhs_end: int | None = None


@frozen
class SqueezeAttributes(Attributes):
    """`axis`: the axes to drop; None for every axis whose extent is 1."""

    axis: tuple[int, ...] | None = None


@frozen
class ExpandDimsAttributes(Attributes):
    axis: int
    num_newaxis: int = 1


def _code_axes(run: RelationRun, attributes: ReshapeAttributes, old: tuple[Dimension, ...]) -> list[Dimension | None]:
    """The new shape, with None for the extent that is inferred."""
    new: list[Dimension | None] = []
    codes = list(attributes.newshape)
    at = 0

    def take(code: int) -> Dimension:
        nonlocal at
        if at >= len(old):
            run.conflict("bad-shape-code", f"code {code} of `newshape` has no axis of `data` left to take",
                         "an axis for each code", str(attributes.newshape), (0,))  # fmt: skip
        at += 1
        return old[at - 1]

    while codes:
        code = codes.pop(0)
        if not isinstance(code, int) or code > 0:
            new.append(code)
            at += 1
        elif code == 0:
            new.append(0 if attributes.allowzero else take(0))
            at += 1 if attributes.allowzero else 0
        elif code == -1:
            new.append(None)
            at += 1
        elif code == -2:
            new += old[at:]
            at = len(old)
        elif code == -3:
            new.append(product((take(-3), take(-3))))
        elif code == -4:
            if len(codes) < 2:
                run.conflict("bad-shape-code", "code -4 needs the two extents it splits into", "-4, a, b", "fewer")
            new += _split(run, take(-4), codes.pop(0), codes.pop(0))
        else:
            run.conflict("bad-shape-code", f"`newshape` has {code}", "an extent, or a code from -4 to 0", str(code))
    return new


def _split(run: RelationRun, whole: Dimension, left: Dimension, right: Dimension) -> tuple[Dimension, Dimension]:
    if left == -1 and right == -1:
        run.conflict("bad-shape-code", "code -4 can infer one of its two extents only", "one -1", "-1, -1")
    if left == -1:
        return _inferred(run, whole, right), right
    if right == -1:
        return left, _inferred(run, whole, left)
    run.equal(whole, product((left, right)), "the product of the two extents after -4", (0,))
    return left, right


def _inferred(run: RelationRun, total: Dimension, known: Dimension) -> Dimension:
    """`total / known`, which must be exact."""
    if total is ANY or known is ANY:
        return ANY
    if known == 0:
        run.conflict("cannot-infer-extent", "-1 in `newshape` stands beside an extent of 0, so it could be anything",
                     "the extent itself", str(run.tensor(0)), (0,))  # fmt: skip
    exact = quotient(total, known)
    if exact is not None:
        return exact
    run.require(
        Comparison(total % known, "==", 0), "sizes-differ",
        f"`data` has {total} elements, which the other extents of `newshape`, {known} together, must divide", (0,),
    )  # fmt: skip
    return total // known


def _reshape_rule(run: RelationRun, attributes: ReshapeAttributes) -> Type:
    """data[..] → [newshape]"""
    data = run.tensor(0)
    new = _code_axes(run, attributes, data.shape)
    if new.count(None) > 1:
        run.conflict("bad-shape-code", "-1 stands twice in `newshape`", "at most one -1", str(attributes.newshape))
    rest_old, rest_new = _without_common(list(data.shape), new)
    if None in new:
        position = new.index(None)
        new[position] = _inferred(run, product(rest_old), product(e for e in rest_new if e is not None))
    else:
        _same_size(run, rest_old, [e for e in rest_new if e is not None])
    return TensorType(tuple(extent for extent in new if extent is not None), data.dtype)


def _without_common(
    old: list[Dimension], new: list[Dimension | None]
) -> tuple[list[Dimension], list[Dimension | None]]:  # fmt: skip
    """Both shapes without the symbolic extents that stand in both: these cancel, even when one could be 0."""
    rest = list(new)
    kept: list[Dimension] = []
    for extent in old:
        if not isinstance(extent, int) and extent is not ANY and extent in rest:
            rest.remove(extent)
        else:
            kept.append(extent)
    return kept, rest


def _same_size(run: RelationRun, old: Sequence[Dimension], new: Sequence[Dimension]) -> None:
    run.equal(product(old), product(new), "the number of elements of the new shape", (0,),
              "one extent of the new shape may be -1, which is inferred", rule="sizes-differ")  # fmt: skip


def _reshape_like_rule(run: RelationRun, attributes: ReshapeLikeAttributes) -> Type:
    """data[.., part, ..] × shape_like[.., part, ..] → data's shape with its part replaced"""
    data, like = run.tensor(0), run.tensor(1)
    left = slice(*slice(attributes.lhs_begin, attributes.lhs_end).indices(len(data.shape))[:2])
    right = slice(*slice(attributes.rhs_begin, attributes.rhs_end).indices(len(like.shape))[:2])
    _same_size(run, data.shape[left], like.shape[right])
    after = data.shape[max(left.start, left.stop) :]
    return TensorType((*data.shape[: left.start], *like.shape[right], *after), data.dtype)


def _batch_flatten_rule(run: RelationRun, _: Attributes) -> Type:
    """data[batch, ..] → [batch, product of the rest]"""
    data = run.tensor(0)
    if not data.shape:
        run.conflict("wrong-rank", "`data` must have at least 1 axis", "[batch, ..]", str(data), (0,))
    return TensorType((data.shape[0], product(data.shape[1:])), data.dtype)


def _squeeze_rule(run: RelationRun, attributes: SqueezeAttributes) -> Type:
    data = run.tensor(0)
    if attributes.axis is None:
        return TensorType(tuple(extent for extent in data.shape if extent != 1), data.dtype)
    dropped = {run.axis(axis, len(data.shape)) for axis in attributes.axis}
    for axis in sorted(dropped):
        run.equal(1, data.shape[axis], f"axis {axis} of `data`, which is squeezed", (0,), rule="not-one")
    return TensorType(tuple(extent for axis, extent in enumerate(data.shape) if axis not in dropped), data.dtype)


_MOST_NEW_AXES = 64
"""More axes than NumPy's arrays have."""


def _expand_dims_rule(run: RelationRun, attributes: ExpandDimsAttributes) -> Type:
    data = run.tensor(0)
    if not 0 <= attributes.num_newaxis <= _MOST_NEW_AXES:
        run.conflict("wrong-attribute", "`num_newaxis` is no number of axes", f"0 to {_MOST_NEW_AXES}",
                     str(attributes.num_newaxis))  # fmt: skip
    at = run.axis(attributes.axis, len(data.shape) + 1)
    return TensorType((*data.shape[:at], *(1,) * attributes.num_newaxis, *data.shape[at:]), data.dtype)


def _meaning_by(rule: Any) -> Any:
    """The meaning of an operator that only changes the shape: NumPy's reshape to the shape that the rule gives."""

    def meaning(attributes: Any, data: Array, *others: Array) -> Array:
        names = ("data", *(f"input {position}" for position in range(len(others))))
        run = RelationRun(names, tuple(TensorType(array.shape, element_type(array)) for array in (data, *others)))
        return data.reshape(rule(run, attributes).shape)

    return meaning


def _reshape_compute(name: str) -> Any:
    def compute(_: Any, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
        data = inputs[0]
        return te.compute(result.shape, lambda *i: data[reindexed(data.shape, result.shape, i)], name=name)

    return compute


def _record(name: str, description: str, rule: Any, level: int, attributes: type[Attributes] = NoAttributes,
            like: bool = False, static_of: StaticOf | None = None) -> OperatorRecord:  # fmt: skip
    return define(
        name,
        description,
        inputs={"data": "[..]", "shape_like": "[..], whose shape is taken"} if like else {"data": "[..]"},
        type_rule=rule,
        meaning=_meaning_by(rule),
        compute=_reshape_compute(name.replace("nn.", "")),
        fusion=FusionKind.INJECTIVE,
        layout=OwnLayout("the row-major order of its elements is its meaning"),
        effect=Effect.PURE,
        gradient=lambda call, given: (in_shape_of(given, call.args[0]), *(None for _ in call.args[1:])),
        batch=NO_BATCH_RULE_YET if like else KeepsOrder(),
        scale=MOVES_ELEMENTS,
        support_level=level,
        is_view=True,
        attributes=attributes,
        static_of=static_of,
    )


def _static_reshape(attributes: dyn.DynReshapeAttributes, newshape: Array) -> ReshapeAttributes | None:
    """Codes below -1 mean something here only; an extent that the run knows must be none."""
    meant = all(code >= -1 if isinstance(expr_of(code), int) else code > 0 for code in newshape)
    shape = tuple(map(expr_of, newshape))
    return (
        ReshapeAttributes(shape, attributes.allowzero)
        if meant and (-1 not in shape or not attributes.allowzero)
        else None
    )


RESHAPE = _record("reshape", "The same elements in another shape.", _reshape_rule, 3, ReshapeAttributes,
                  static_of=StaticOf(dyn.RESHAPE, _static_reshape))  # fmt: skip
RESHAPE_LIKE = _record("reshape_like", "The same elements in the shape of another tensor.", _reshape_like_rule, 3,
                       ReshapeLikeAttributes, like=True)  # fmt: skip
BATCH_FLATTEN = _record("nn.batch_flatten", "All axes but the first merged.", _batch_flatten_rule, 2)
SQUEEZE = _record("squeeze", "Axes of extent 1 dropped.", _squeeze_rule, 3, SqueezeAttributes)
EXPAND_DIMS = _record("expand_dims", "Axes of extent 1 added.", _expand_dims_rule, 1, ExpandDimsAttributes)

RESHAPES: tuple[OperatorRecord, ...] = (RESHAPE, RESHAPE_LIKE, BATCH_FLATTEN, SQUEEZE, EXPAND_DIMS)


def reshape(
    data: Argument, newshape: Sequence[IntExpr | str] | IntExpr | Expr, allowzero: bool = False
) -> Call:  # fmt: skip
    """data[..] → [newshape], the elements in row-major order.

    `newshape` has extents (symbols too), or codes: 0 copies the axis at this place, -1 is inferred, -2 copies all axes
    that remain, -3 merges the next two, -4 splits the next one into the two numbers that follow. An expression that is
    no constant makes a `dyn.reshape`.

    Raises `RelayError`: `sizes-differ`, `bad-shape-code`, `cannot-infer-extent`.

    >>> from relay.ops.framework.build import var
    >>> print(reshape(var("x", shape=("n", 4, 6)), (0, -4, 2, -1, -2)).checked_type)
    Tensor[(n, 2, 2, 6), float32]
    """
    if is_dynamic(newshape):
        return dyn.reshape(data, newshape, allowzero)
    newshape = static_shape(newshape)
    given = newshape if isinstance(newshape, (tuple, list)) else (newshape,)
    shape = tuple(code if isinstance(code, int) and code < 0 else dimension(code) for code in given)
    return call(RESHAPE, (data,), ReshapeAttributes(shape, allowzero))


def reshape_like(
    data: Argument, shape_like: Argument, lhs_begin: int = 0, lhs_end: int | None = None, rhs_begin: int = 0,
    rhs_end: int | None = None,
) -> Call:  # fmt: skip
    """data[..] in the shape of `shape_like`, whose elements do not matter; or its axes `lhs_begin:lhs_end` in the shape
    of the axes `rhs_begin:rhs_end`. Raises `sizes-differ`.
    """
    return call(RESHAPE_LIKE, (data, shape_like), ReshapeLikeAttributes(lhs_begin, lhs_end, rhs_begin, rhs_end))


def in_shape_of(data: Expr, like: Expr) -> Call:
    """data[..] in the shape of another tensor, which is read for its extents only where its type does not tell them."""
    type_ = like.checked_type
    if isinstance(type_, TensorType) and type_.element_count is not None:
        return reshape(data, type_.shape, allowzero=0 in type_.shape)
    return reshape_like(data, like)


def batch_flatten(data: Argument) -> Call:
    """data[batch, ..] → [batch, product of the rest]. Raises `wrong-rank`."""
    return call(BATCH_FLATTEN, (data,))


def squeeze(data: Argument, axis: int | Sequence[int] | None = None) -> Call:
    """data[..] without the axes `axis`, which must have an extent of 1; None drops all whose extent is known to be 1.

    Raises `RelayError`: `not-one`, `axis-out-of-range`.
    """
    return call(SQUEEZE, (data,), SqueezeAttributes(item_or_items(axis)))


def expand_dims(data: Argument, axis: int, num_newaxis: int = 1) -> Call:
    """data[..] with `num_newaxis` axes of extent 1 before axis `axis` (after the last for -1).

    Raises `RelayError`: `axis-out-of-range`, `wrong-attribute`.
    """
    return call(EXPAND_DIMS, (data,), ExpandDimsAttributes(axis, num_newaxis))
