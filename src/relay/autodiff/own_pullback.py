"""Values with a pullback of their own, as `custom_gradient` leaves them.

    let %v = @f(%x);                                     the value
    let %ct = its_cotangent(%v);                         stands for the cotangent that the way back will have
    let %d = @back(%x, %v, %ct);                         what `@back` makes of it
    let %y = with_pullback(%v, (%x,), %ct, %d);          is %v; its cotangent goes to %x by %d

On the way back, what depends on `%ct` is written again, of the cotangent that is there. `@f` itself is not asked.
"""

from __future__ import annotations

from collections.abc import Iterable

from relay.autodiff.chain import Chain
from relay.autodiff.program import typed
from relay.base.frozen import frozen
from relay.ir.expr import Call, Expr, Let, Op, Var, record_type
from relay.ir.traversal import post_order
from relay.ir.variables import substitute
from relay.ops.transformations import WITH_PULLBACK


@frozen(eq=False)
class OwnPullback:
    """The pullback of one value: `bindings` make `result`, the tuple of the cotangents of what is in `arguments`, of
    `cotangent`."""

    arguments: Expr
    cotangent: Expr
    bindings: tuple[tuple[Var, Expr], ...]
    result: Expr

    def written(self, chain: Chain, given: Expr) -> Expr:
        """The cotangents of the arguments, of that of the value; what they need is written to `chain`."""
        names: dict[Var, Expr] = {self.cotangent: given} if isinstance(self.cotangent, Var) else {}
        for var, value in self.bindings:
            own = record_type(Var(var.name_hint), typed(var))
            chain.bind_to(own, substitute(value, names))
            names[var] = own
        return substitute(self.result, names)


def is_with_pullback(value: Expr) -> bool:
    return isinstance(value, Call) and isinstance(value.op, Op) and value.op.operator is WITH_PULLBACK


def own_pullbacks(lets: Iterable[Let]) -> dict[Var, OwnPullback]:
    """Those of the values that a scope binds, by their variables."""
    bindings = [(let.var, let.value) for let in lets]
    values = {var: value for var, value in bindings if is_with_pullback(value)}
    cotangents = {value.args[2] for value in values.values() if isinstance(value, Call)}
    behind: dict[Expr, set[Expr]] = {each: {each} for each in cotangents}
    made: dict[Expr, list[tuple[Var, Expr]]] = {each: [] for each in cotangents}
    for var, value in bindings if cotangents else ():
        if var in values:
            continue
        of = {root for node in post_order(value) for root in behind.get(node, ())}
        for root in of:
            made[root].append((var, value))
        if of:
            behind[var] = of
    return {
        var: OwnPullback(call.args[1], call.args[2], tuple(made[call.args[2]]), call.args[3])
        for var, call in values.items()
        if isinstance(call, Call)
    }
