"""Expressions on which rules of SimplifyExpr fire, by the rule; the other rules are read off their left side."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

import relay
from relay.base.dtypes import DType
from relay.ir.expr import Expr, Var

Sample = Callable[[DType], tuple[tuple[Var, ...], Expr]]


def tensor(*shape: int) -> Callable[[Callable[[Var], Expr]], Sample]:
    """A sample that computes with one tensor of a shape."""

    def sample(build: Callable[[Var], Expr]) -> Sample:
        def made(dtype: DType) -> tuple[tuple[Var, ...], Expr]:
            x = relay.var("x", shape=shape, dtype=dtype)
            return (x,), build(x)

        return made

    return sample


def with_constants(build: Callable[[Var, Expr, Expr], Expr], *pairs: tuple[float, float]) -> list[Sample]:
    """Samples that compute with a vector and two constants."""

    def made(left: float, right: float) -> Sample:
        def sample(dtype: DType) -> tuple[tuple[Var, ...], Expr]:
            x = relay.var("x", shape=("k",), dtype=dtype)
            constants = [relay.const(np.asarray(c).astype(dtype.numpy)) for c in (left, right)]
            return (x,), build(x, *constants)

        return sample

    return [made(*pair) for pair in pairs]


def chosen(dtype: DType) -> tuple[tuple[Var, ...], Expr]:
    c = relay.var("c", shape=("k",), dtype="bool")
    x = relay.var("x", shape=("k",), dtype=dtype)
    return (c, x), relay.where(c, x, x)


def like(build: Callable[[Var, Var], Expr], *shape: int) -> Sample:
    def made(dtype: DType) -> tuple[tuple[Var, ...], Expr]:
        x = relay.var("x", shape=(6,), dtype=dtype)
        y = relay.var("y", shape=shape, dtype=dtype)
        return (x, y), build(x, y)

    return made


def repeated(operator: Callable[[Expr, Expr], Expr], on_left: bool) -> Sample:
    def made(dtype: DType) -> tuple[tuple[Var, ...], Expr]:
        x, y = relay.var("x", shape=(2, 3), dtype=dtype), relay.var("y", shape=(3,), dtype=dtype)
        wide = relay.broadcast_to(y, (2, 3))
        return (x, y), operator(wide, x) if on_left else operator(x, wide)

    return made


def neutral(operator: Callable[[Expr, Expr], Expr], number: str, like: bool, on_left: bool) -> Sample:
    """A tensor with one of zeros or ones, as derivatives have them."""

    def made(dtype: DType) -> tuple[tuple[Var, ...], Expr]:
        x = relay.var("x", shape=(64,), dtype=dtype)
        filled = getattr(relay, f"{number}_like")(x) if like else getattr(relay, number)((64,), dtype)
        return (x,), operator(filled, x) if on_left else operator(x, filled)

    return made


FRACTIONS = ((3.0, 0.7), (0.7, 3.0), (-0.25, 1.5), (0.1, 0.2))
INTEGERS = ((3, 5), (7, 2), (1, 1))

SAMPLES: Mapping[str, list[Sample]] = {
    "where-both-same": [chosen],
    "clip-of-clip": [
        tensor(64)(lambda x, a=a, b=b: relay.clip(relay.clip(x, *a), *b))
        for a in ((0, 6), (-2, 1))
        for b in ((1, 3), (-4, 9), (7, 8), (-9, -7))
    ],
    "add-constants": with_constants(lambda x, c, d: x + c + d, *INTEGERS),
    "multiply-constants": with_constants(lambda x, c, d: c * x * d, *INTEGERS),
    "add-constants-float": with_constants(lambda x, c, d: x + c + d, *FRACTIONS),
    "multiply-constants-float": with_constants(lambda x, c, d: c * x * d, *FRACTIONS),
    "divide-by-power-of-two": with_constants(lambda x, c, d: x / c, (4, 0), (-0.5, 0), (0.125, 0), (1024, 0)),
    "divide-by-constant": with_constants(lambda x, c, d: x / c, (3, 0), (-0.7, 0), (10, 0)),
    "broadcast_to-to-same": [tensor(2, 3)(lambda x: relay.broadcast_to(x, (2, 3)))],
    "batch_flatten-to-same": [tensor(2, 3)(relay.nn.batch_flatten)],
    "repeat-to-same": [tensor(2, 3)(lambda x: relay.repeat(x, 1, 0))],
    "reshape-to-same": [tensor(2, 3)(lambda x: relay.reshape(x, (2, -1)))],
    "squeeze-to-same": [tensor(2, 3)(relay.squeeze)],
    "tile-to-same": [tensor(2, 3)(lambda x: relay.tile(x, (1, 1)))],
    "cast-to-same": [tensor(64)(lambda x: relay.cast(x, x.checked_type.dtype))],
    "concatenate-one": [tensor(2, 3)(lambda x: relay.concatenate([x], 0))],
    "concatenate-of-views": [
        tensor(3, 4)(lambda x: relay.concatenate([relay.reshape(x, (6, 2)), relay.reshape(x, (6, 2))], 0)),
        tensor(6)(lambda x: relay.concatenate([relay.expand_dims(x, 0), relay.reshape(x, (1, 6))], -2)),
    ],
    "slice-of-all": [
        tensor(2, 3)(lambda x: relay.strided_slice(x, begin=(0, 0), end=(2, 3))),
        tensor(2, 3)(lambda x: relay.strided_slice(x, begin=(-5,), end=(9,), axes=(1,))),
    ],
    "view-and-back": [
        tensor(2, 3)(lambda x: relay.squeeze(relay.expand_dims(x, 1), axis=(1,))),
        tensor(2, 3)(lambda x: relay.reshape(relay.nn.batch_flatten(x), (2, 3))),
    ],
    "reshape-of-view": [
        tensor(2, 3)(lambda x: relay.reshape(relay.reshape(x, (6,)), (3, 2))),
        tensor(2, 3)(lambda x: relay.reshape(relay.expand_dims(x, 0), (-1,))),
    ],
    "transpose-to-same": [tensor(2, 2, 2)(lambda x: relay.transpose(x, (0, 1, 2)))],
    "transpose-of-transpose": [
        tensor(2, 3, 4)(lambda x: relay.transpose(relay.transpose(x, (1, 2, 0)), (1, 0, 2))),
        tensor(2, 3, 4)(lambda x: relay.transpose(relay.transpose(x), (-1, 0, 1))),
    ],
    "layout-to-same": [tensor(1, 2, 2, 3)(lambda x: relay.layout_transform(x, "NCHW", "NCHW"))],
    "layout-of-layout": [
        tensor(1, 2, 2, 3)(
            lambda x: relay.layout_transform(relay.layout_transform(x, "NCHW", "NHWC"), "NHWC", "HWNC")
        ),
    ],
    "cast-of-cast": [
        tensor(64)(lambda x, a=a, b=b: relay.cast(relay.cast(x, a), b))
        for a in DType
        for b in DType
    ],
    "cast-like": [like(lambda x, y: relay.cast_like(x, relay.cast(y, "int16")), 2)],
    "broadcast-like": [like(relay.broadcast_to_like, 4, 6)],
    **{
        f"{name}-repeated-{side}": [repeated(getattr(relay, name), side == "left")]
        for name in ("add", "subtract", "multiply", "divide", "power", "minimum", "maximum")
        for side in ("left", "right")
    },
    **{
        f"{name}-{number}-{at}": [neutral(getattr(relay, name), number, like=at >= 2, on_left=at % 2 == 1)]
        for name, number in (("add", "zeros"), ("multiply", "ones"))
        for at in range(4)
    },
    "reshape-like": [like(relay.reshape_like, 2, 3)],
    "zeros-like": [tensor(2, 3)(relay.zeros_like)],
    "ones-like": [tensor(2, 3)(relay.ones_like)],
    "field-of-tuple": [tensor(2, 3)(lambda x: relay.TupleGetItem(relay.Tuple((relay.copy(x), x)), 1))],
}  # fmt: skip
