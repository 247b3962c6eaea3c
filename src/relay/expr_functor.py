"""`relay.expr_functor`: walks over programs, under the name by which users of Relay know them."""

from relay.ir.expr_functor import ExprFunctor, ExprMutator, ExprVisitor

__all__ = ["ExprFunctor", "ExprMutator", "ExprVisitor"]
