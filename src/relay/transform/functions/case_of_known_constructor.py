"""Case of known constructor, and case of case: CaseOfKnownConstructor.

    before: let %o = if (%c) { Some(%x) } else { None }; match (%o) { Some(%v) => exp(%v), None => %y }
    after:  if (%c) { exp(%x) } else { %y }

Nothing is made that is only taken apart. What a binding, a branch or a clause tells of a value is followed: the clause
that a known constructor takes stands for the match (of nested patterns only what is not known is asked), a field for
the projection of a known tuple, a branch for the `if` on a known condition. A match or an `if` on what another choice
gives moves into its branches when each of them knows its clause (case of case). The body of a function that is called
in one place, and not used elsewhere, stands for the call, and what a ref is known to hold for its read. After Peyton
Jones and Santos, "A transformation-based optimiser for Haskell" (1998), sections 3, 5 and 6.1.

Code never grows: a clause that several branches take is put into them only when it is at most one operation. All is
evaluated once and in its order, but for pure operations, of which nobody can tell; what nobody needs then is left out.
Types stay: what would be exact where the program says `?` is left, as are calls of generic functions and of those whose
extents the run checks. PartialEvaluate is the same evaluation under another policy: it enters functions that are called
often, and may grow. Floating point: EXACT.
"""

from __future__ import annotations

from relay.base.names.loading import when_called
from relay.ir.expr import (
    Call,
    Expr,
    Function,
    GlobalVar,
    If,
    Match,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from relay.ir.module import IRModule
from relay.ir.traversal import body_nodes
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.budgets import BUDGETS
from relay.transform.functions.known_values.functions import Functions

_simplified = when_called("relay.transform.functions.known_values.once", "simplified")


@module_pass(level=2)
def CaseOfKnownConstructor(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Do not make what is only taken apart: known clauses, branches, fields and functions that are called once."""
    functions = Functions(module)
    changed: dict[GlobalVar, Function] = {}
    for name, function in module.functions.items():
        changed[name] = function
        for _ in range(0 if {"Primitive", "Compiler"} & function.attrs.keys() else BUDGETS.known_rounds):
            if not any(map(_takes_apart, body_nodes(changed[name]))):
                break
            changed[name], before = _simplified(changed[name], functions), changed[name]
            if changed[name] is before:
                break
    return module.with_functions(changed)


def _takes_apart(node: Expr) -> bool:
    match node:
        case If() | Match() | RefRead() | RefWrite():
            return True
        case TupleGetItem(tuple_value=whole):
            return isinstance(whole, Var | Tuple)
        case Call(op=Function(attrs=attrs)):
            return not attrs
        case Call(op=Var()):
            return True
        case _:
            return False
