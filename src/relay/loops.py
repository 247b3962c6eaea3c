"""`relay.loops`: loops as recursive functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relay.base.arguments import CALLABLE, Kind, expect, expect_each, takes
from relay.ir.expr import VARIABLE, Call, Expr, Function, If, Let, Tuple, Var
from relay.ops.framework.build import with_known_type

__all__ = ["while_loop"]


_LIST = Kind((tuple, list), "a list of variables")


@takes(cond=CALLABLE, loop_bodies=CALLABLE)
def while_loop(cond: Callable[..., Expr], loop_vars: Sequence[Var], loop_bodies: Callable[..., Sequence[Expr]]) -> Let:
    """A function that takes a first value of each of `loop_vars`, and gives the tuple of their last ones: as long as
    `cond(*loop_vars)` holds, they become what `loop_bodies(*loop_vars)` says.

    Variables say their types; an extent that changes from turn to turn is `relay.Any()`.

    >>> import numpy as np, relay
    >>> i, x = relay.var("i", "int32"), relay.var("x", shape=(2,))
    >>> double = while_loop(lambda i, x: i < 3, [i, x], lambda i, x: [i + 1, x + x])
    >>> start = relay.var("start", shape=(2,))
    >>> function = relay.Function([start], relay.TupleGetItem(double(relay.const(0), start), 1))
    >>> relay.build(function)(np.ones(2, np.float32))
    array([8., 8.], dtype=float32)
    """
    expect(loop_vars, _LIST, "what a loop changes")
    expect_each(loop_vars, VARIABLE, "what a loop changes")
    state = tuple(with_known_type(each) for each in loop_vars)
    again = Var("while_loop")
    turn = If(cond(*state), Call(again, tuple(loop_bodies(*state))), with_known_type(Tuple(state)))
    return Let(again, Function(state, turn), again)
