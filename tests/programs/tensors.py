"""Tensor expressions of generated programs: which operators give which types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from relay.base.dtypes import DType
from relay.ir.expr import Call, Expr, Op, Tuple, const
from relay.ir.types import TensorType
from relay.ops.table import OPERATORS
from tests.programs.universe import BOOL, FLOAT, INT, MATRIX, OPEN_VECTOR, VECTOR

if TYPE_CHECKING:
    from tests.programs.generate import Generator, Scope

WEIGHT = np.array([[0.5, -0.25, 0.125], [0.25, 0.5, -0.5], [-0.125, 0.25, 0.25]], np.float32)


def call(name: str, *args: Expr, **attributes: Any) -> Call:
    """An operator's call, not yet typed."""
    record = OPERATORS[name]
    return Call(Op(record), args, record.attributes(**attributes))


def operation(g: Generator, scope: Scope, type_: TensorType, size: int) -> Expr:
    """A tensor of this type: a constant when nothing may grow, else an operator's result."""
    if size <= 0:
        return _constant(g, scope, type_)
    if type_ == INT:
        return _integer(g, scope, size)
    if type_ == BOOL:
        return _boolean(g, scope, size)
    return _float(g, scope, type_, size)


def _constant(g: Generator, scope: Scope, type_: TensorType) -> Expr:
    if type_ == OPEN_VECTOR:
        return call("zeros_like", scope.of_type(OPEN_VECTOR)[0])
    if type_ == BOOL:
        return const(bool(g.number(0, 1)))
    if type_ == INT:
        return const(g.number(-3, 3))
    data = np.array(g.number(-4, 4) / 2, np.float32)
    return const(np.full(type_.shape, data, np.float32) if type_.shape else data)


def _integer(g: Generator, scope: Scope, size: int) -> Expr:
    left = g.expr(scope, INT, size // 2)
    match g.number(0, 6):
        case 0 | 1 | 2 | 3 as kind:
            name = ("add", "subtract", "multiply", "maximum")[kind]
            return call(name, left, g.expr(scope, INT, size // 2))
        case 4:
            return call("where", g.expr(scope, BOOL, size // 2), left, const(g.number(-3, 3)))
        case 5:
            return call("floor_divide", left, const(g.number(1, 3)))
        case _:
            return call("cast", g.expr(scope, BOOL, size), dtype=DType.INT32)


def _boolean(g: Generator, scope: Scope, size: int) -> Expr:
    match g.number(0, 5):
        case 0 | 1 | 2 as kind:
            name = ("less", "equal", "greater_equal")[kind]
            return call(name, g.expr(scope, INT, size // 2), g.expr(scope, INT, size // 2))
        case 3 | 4 as kind:
            name = "logical_and" if kind == 3 else "logical_or"
            return call(name, g.expr(scope, BOOL, size // 2), g.expr(scope, BOOL, size // 2))
        case _:
            return call("logical_not", g.expr(scope, BOOL, size))


def _float(g: Generator, scope: Scope, type_: TensorType, size: int) -> Expr:
    kind = g.number(0, 9)
    if kind <= 3:
        name = ("add", "subtract", "maximum", "minimum")[kind]
        other = type_ if g.number(0, 2) else FLOAT  # a scalar is broadcast
        return call(name, g.expr(scope, type_, size // 2), g.expr(scope, other, size // 2))
    if kind <= 6:
        name = ("negative", "tanh", "nn.relu")[kind - 4]
        return call(name, g.expr(scope, type_, size))
    if kind == 7:
        bounded = call("tanh", g.expr(scope, type_, size // 2))
        return call("multiply", g.expr(scope, type_, size // 2), bounded)
    if kind == 8:
        condition = g.expr(scope, BOOL, size // 3)
        return call("where", condition, g.expr(scope, type_, size // 3), g.expr(scope, type_, size // 3))
    return _particular(g, scope, type_, size)


def _particular(g: Generator, scope: Scope, type_: TensorType, size: int) -> Expr:
    """What only this shape has."""
    which = g.number(0, 3)
    if type_ == FLOAT:
        source = g.tensor_types[-1 - which % 2]
        source = source if len(source.shape) > 0 else VECTOR
        return call("sum", g.expr(scope, source, size), axis=None, keepdims=False)
    if type_ == VECTOR:
        if which == 0:
            return call("sum", g.expr(scope, MATRIX, size), axis=(0,), keepdims=False)
        if which == 1:
            index = call("minimum", call("maximum", g.expr(scope, INT, size // 2), const(0)), const(1))
            return call("take", g.expr(scope, MATRIX, size // 2), index, axis=0)
        if which == 2:
            part = call("strided_slice", g.expr(scope, VECTOR, size), begin=(1,), end=(3,))
            return call("concatenate", Tuple((part, const(np.ones(1, np.float32)))), axis=0)
        return call("nn.softmax", g.expr(scope, VECTOR, size))
    if type_ == MATRIX:
        if which == 0:
            return call("stack", Tuple((g.expr(scope, VECTOR, size // 2), g.expr(scope, VECTOR, size // 2))), axis=0)
        if which == 1:
            return call("nn.dense", g.expr(scope, MATRIX, size), const(WEIGHT))
        if which == 2:
            return call("add", g.expr(scope, MATRIX, size // 2), g.expr(scope, VECTOR, size // 2))
        return call("transpose", call("transpose", g.expr(scope, MATRIX, size)))
    return call("multiply", g.expr(scope, type_, size), const(0.5))


def argument(g: Generator, type_: TensorType, extent: int) -> np.ndarray[Any, Any]:
    """An array for a parameter; open extents are `extent`."""
    shape = tuple(each if isinstance(each, int) else extent for each in type_.shape)
    if type_ == BOOL:
        return np.array(bool(g.number(0, 1)))
    if type_ == INT:
        return np.array(g.number(-4, 4), np.int32)
    seed = g.draw(st.integers(0, 7))
    return np.asarray(np.random.default_rng(seed).integers(-8, 9, shape) / 4, np.float32)
