"""The pullback of operators that stand together: expressions of the inputs and of the cotangents of the results.

    multiply(exp(x), y), cotangent ct:  ct -> (ct * y * exp(x), ct * exp(x))

Importers of graphs that have operators for the way back, as other frameworks record them, say with this what such an
operator is of the one that it goes back through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.autodiff.activity import active_variables
from relay.autodiff.chain import Chain
from relay.autodiff.cotangents import Cotangents, Parts
from relay.autodiff.scope import Backward, value_back
from relay.base.names.fresh_names import FreshNames
from relay.infer.eager import eager_type
from relay.ir.expr import Expr, Function, Tuple, Var
from relay.ir.module import IRModule
from relay.ir.rewriting import rebuild_typed
from relay.ir.sharing import let_chain
from relay.ir.traversal import children, post_order
from relay.normalize.a_normal_form import to_a_normal_form


def pullback(
    inputs: Mapping[Var, Expr], results: Sequence[Expr], cotangents: Sequence[Expr | None],
    known: Sequence[Expr | None] = (),
) -> tuple[Expr | None, ...]:  # fmt: skip
    """The cotangents of the inputs, one for each; None for zero.

    `results` are expressions of typed variables, operators and tuples alone, and the variables stand for the `inputs`;
    `cotangents` are those of the results, None for zero. Where a result is `known` already, what is made reads it there
    and does not compute it again. Raises `RelayError` (rule `no-gradient`).

    >>> from relay.ops.elementwise.elementwise_unary import exp
    >>> from relay.ops.framework.build import var
    >>> x, given = var("x", shape=(2,)), var("given", shape=(2,))
    >>> (by_x,) = pullback({x: x}, [exp(x)], [given], known=[var("y", shape=(2,))])
    >>> print(by_x.op.name, *(each.name_hint for each in by_x.args))
    multiply given y
    """
    end = Tuple(tuple(results))
    eager_type(end)
    body = to_a_normal_form(Function(tuple(inputs), end)).body
    lets, last = let_chain(body)
    types = Cotangents(IRModule(), FreshNames())
    written = Chain([(let.var, let.value) for let in lets])
    back = Backward(types, active_variables(body, inputs, types.exists), written)
    back.hand_on(last, Parts(tuple(cotangents)))
    for let in reversed(lets):
        if let.var in back.active:
            value_back(back, let.var, let.value)
    found = [back.taken_whole(var) for var in inputs]
    exprs = dict(inputs)
    exprs.update(_bound_to(last, written, known))
    for var, value in written.bindings:
        if var not in exprs:
            exprs[var] = _with(value, exprs)
    return tuple(None if each is None else _with(each, exprs) for each in found)


def _with(value: Expr, exprs: Mapping[Var, Expr]) -> Expr:
    """An expression with others, of the same types, in the places of variables."""
    new: dict[Expr, Expr] = {}
    for node in post_order(value):
        of = exprs.get(node) if isinstance(node, Var) else None
        new[node] = rebuild_typed(node, [new[part] for part in children(node)]) if of is None else of
    return new[value]


def _bound_to(last: Expr, written: Chain, known: Sequence[Expr | None]) -> dict[Var, Expr]:
    """What is known, by the variables that are bound to it."""
    (fields,) = (value.fields for var, value in written.bindings if var is last and isinstance(value, Tuple))
    return {var: expr for var, expr in zip(fields, known, strict=False) if expr is not None and isinstance(var, Var)}
