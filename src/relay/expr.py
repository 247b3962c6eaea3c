"""`relay.expr`: the forms of programs, under the name by which users of Relay know them."""

from relay.ir.expr import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
    const,
)
from relay.ir.expr_functor import ExprFunctor, ExprMutator, ExprVisitor
from relay.ir.variables import bind
from relay.ops.framework.build import TupleWrapper, var

__all__ = [
    "Call", "Constant", "Expr", "ExprFunctor", "ExprMutator", "ExprVisitor", "Function", "GlobalVar", "If", "Let",
    "RefCreate", "RefRead", "RefWrite", "Tuple", "TupleGetItem", "TupleWrapper", "Var", "bind", "const", "var",
]  # fmt: skip
