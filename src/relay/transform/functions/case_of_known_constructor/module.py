"""Case of known constructor, and case of case: CaseOfKnownConstructor.

    before: let %o = if (%c) { Some(%x) } else { None }; match (%o) { Some(%v) => exp(%v), None => %y }
    after:  if (%c) { exp(%x) } else { %y }

Nothing is made that is only taken apart. What a binding, a branch or a clause tells of a value is followed: the clause
that a known constructor takes stands for the match (of nested patterns only what is not known is asked), a field for
the projection of a known tuple, a branch for the `if` on a known condition. A match or an `if` on what another choice
gives moves into its branches when each of them knows its clause (case of case). The body of a function that is called
in one place, and not used elsewhere, stands for the call, and what was written last for the read of a ref that is only
read and written, and written only in the scope that makes it. After Peyton Jones and Santos, "A transformation-based
optimiser for Haskell" (1998), sections 3, 5 and 6.1.

Code never grows: a clause that several branches take is put into them only when it is at most one operation. All is
evaluated once and in its order, but for pure operations, of which nobody can tell. Types stay: what would be exact
where the program says `?` is left, as are calls of generic functions and of those whose extents the run checks.
PartialEvaluate does the same and more (it enters functions that are called often), and may grow. Floating point: EXACT.
"""

from __future__ import annotations

from relay.base.trampoline import run
from relay.infer.checks import node_checks
from relay.ir.expr import (
    Call,
    Constructor,
    Expr,
    Function,
    If,
    Match,
    Op,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from relay.ir.module import IRModule
from relay.ir.rewriting import with_body
from relay.ir.traversal import post_order
from relay.normalize.a_normal_form import to_a_normal_form
from relay.normalize.graph_normal_form import to_graph_normal_form
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass
from relay.transform.functions.case_of_known_constructor.walk import Walk
from relay.transform.simplify.unused_bindings import without_unused

MOST_ROUNDS = 8
"""A round opens what the next one sees when a value goes that the program named elsewhere too; programs need two."""


@function_pass(level=2)
def CaseOfKnownConstructor(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Do not make what is only taken apart: known clauses, branches, fields and functions that are called once."""
    if function.attrs.get("Primitive"):
        return function
    for _ in range(MOST_ROUNDS):
        after = _simplified(function, module)
        if after is function:
            break
        function = after
    return function


def _simplified(function: Function, module: IRModule) -> Function:
    """One walk; the same function where nothing is known."""
    if not any(map(_takes_apart, post_order(function.body))):
        return function
    normal = to_a_normal_form(function)
    walk = Walk(normal, module)
    body = run(walk.body())
    if not walk.reductions:
        return function
    changed = without_unused(with_body(function, body), lambda value: _only_makes(value, module))
    return to_graph_normal_form(changed)


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


def _only_makes(value: Expr, module: IRModule) -> bool:
    """Whether a value may go when it is not used: making it is all that its evaluation does."""
    match value:
        case Tuple() | TupleGetItem() | Function() | RefCreate() | Var() | Op() | Constructor():
            return True
        case Call(op=Constructor()):
            return not node_checks(value, module, frozenset())
        case _:
            return False
