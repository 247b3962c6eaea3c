"""The tangent of a call of an operator, or of a value with a pullback of its own: the transpose of the pullback.

A pullback is linear in the cotangent that it is given. Its own pullback by that cotangent, given the tangents of the
arguments, is the tangent of the result, so that one rule an operator serves both modes (Radul et al., "You Only
Linearize Once", 2023, go the other way):

    multiply(x, y):   ct -> (ct * y, ct * x)     so     (dx, dy) -> dx * y + dy * x
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.autodiff.activity import active_variables
from relay.autodiff.chain import Chain
from relay.autodiff.cotangents import Cotangents, Parts
from relay.autodiff.differentiate import in_reverse
from relay.autodiff.operators import pulled_back
from relay.autodiff.own_pullback import OwnPullback
from relay.autodiff.program import DerivedProgram, declared, typed
from relay.autodiff.scope import Backward, value_back
from relay.infer.eager import eager_type
from relay.ir.expr import Call, Expr, Function, GlobalVar, Let, Tuple, TupleGetItem, Var, record_type
from relay.ir.sharing import let_chain
from relay.ir.traversal import post_order
from relay.ir.variables import free_vars
from relay.normalize.a_normal_form import to_a_normal_form


def pushed_forward(
    types: Cotangents, chain: Chain, call: Call, result: Var, tangents: Sequence[Expr | None]
) -> Expr | None:
    """How much an operator's call, whose value is `result`, changes where its arguments do by `tangents`, None for
    zero. What that needs is written to `chain`. Raises `RelayError` (rule `no-gradient`)."""
    given = record_type(Var("given"), types.type_of(typed(result)))
    entries = zip(pulled_back(call, result, given), tangents, strict=True)
    paired = [(entry, tangent) for entry, tangent in entries if entry is not None and tangent is not None]
    pullback = Tuple(tuple(entry for entry, _ in paired))
    eager_type(pullback)
    body = to_a_normal_form(Function((given,), pullback)).body
    lets, end = let_chain(body)
    written = Chain([(let.var, let.value) for let in lets])
    back = Backward(types, active_variables(body, [given], types.exists), written)
    back.hand_on(end, Parts(tuple(tangent for _, tangent in paired)))
    for let in reversed(lets):
        if let.var in back.active:
            value_back(back, let.var, let.value)
    found = back.taken(given)
    if found is None:
        return None
    tangent = types.whole(found, typed(result), result)
    needed = written.needed_for(tangent)
    if any(node is given for _, value in needed.bindings for node in post_order(value)):  # for its extents alone
        chain.bind_to(given, types.whole(None, typed(result), result))
    chain.bindings += needed.bindings
    return tangent


def pushed_through(program: DerivedProgram, chain: Chain, own: OwnPullback, result: Var, tangents: Expr) -> Expr:
    """The tangent of a value with a pullback of its own, of the tuple of those of its arguments: a pullback is linear,
    so its own, as a function of what it needs, is asked with the cotangent zero."""
    cotangent = record_type(Var("cotangent"), program.types.type_of(typed(result)))
    written = Chain()
    end = own.written(written, cotangent)
    pullback = end
    for var, value in reversed(written.bindings):
        pullback = record_type(Let(var, value, pullback), typed(end))
    needed = [each for each in free_vars(pullback) if each is not cotangent]
    function = Function((*needed, cotangent), pullback)
    active = [False] * len(needed) + [True]
    work = in_reverse(program)
    work.prepare(function, active)
    halves = work.halve(work, function, active)
    name = GlobalVar(program.names.take("own_tangent"))
    linear = halves.now.chain.ending(halves.later)
    program.functions[name] = declared((*function.params, *halves.given), linear, halves.type)
    zero = program.types.whole(None, typed(result), result)
    return TupleGetItem(chain.bind("tangents", Call(name, (*needed, zero, tangents)), halves.type), 0)
