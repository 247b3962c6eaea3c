"""Write operators that a target does not have by those that it has: Legalize.

    before: nn.softmax(%x)                                              the target has no nn.softmax
    after:  %0 = exp(subtract(%x, max(%x, axis=[-1], keepdims=True)))
            divide(%0, sum(%0, axis=[-1], keepdims=True))

How an operator is written by others is the `formula` of its record; what a formula uses is written by others again
where the target does not have that either. Floating point: ROUNDING.
"""

from __future__ import annotations

from collections.abc import Collection

from relay.base.diagnostics import RelayError
from relay.base.floating_point import FloatingPointClass
from relay.ir.expr import Call, Expr, Function, Op
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ops.framework.record import NoFormula, OperatorRecord
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import Pass, function_pass, pass_factory


@pass_factory
def Legalize(unsupported: Collection[str]) -> Pass:
    """Write operators that the target does not have by others.

    For a target that does not have the operators of these names.

    Running it raises `RelayError` (rule `unsupported-operator`) for an operator that cannot be written by others, or
    only by itself.
    """
    names = frozenset(unsupported)

    @function_pass(level=0, floating_point=FloatingPointClass.ROUNDING)
    def run(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
        for _ in range(len(names) + 1):  # a formula leads to at most one name after another
            legal = rewrite_nodes(function, lambda _, expr: _written_by_others(expr, names))
            if legal is function:
                return function
            function = legal
        raise RelayError(
            rule="unsupported-operator", message="operators that the target does not have are written by each other",
            expected="a target that has one of them", found=", ".join(sorted(names)),
        )  # fmt: skip

    return run


def _written_by_others(expr: Expr, unsupported: frozenset[str]) -> Expr:
    match expr:
        case Call(op=Op(operator=OperatorRecord() as record)) if record.name in unsupported:
            if isinstance(record.formula, NoFormula):
                raise RelayError(
                    rule="unsupported-operator", message=f"the target does not have {record.name}", span=expr.span,
                    expected="an operator that the target has, or that is written by others",
                    found=f"{record.name}: {record.formula.reason}",
                )  # fmt: skip
            written: Expr = record.formula(expr.attrs, *expr.args)
            return written
        case _:
            return expr
