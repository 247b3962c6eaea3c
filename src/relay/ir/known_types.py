"""The types of a program that inference has been through, for those that cannot do without."""

from __future__ import annotations

from relay.base.diagnostics import CompilerBug
from relay.ir.expr import Expr, Var, record_type
from relay.ir.types import TensorType, Type


def known_type(expr: Expr) -> Type:
    """The type that was found for an expression. Raises `CompilerBug` where none was.

    >>> from relay.ir.expr import Constant
    >>> import numpy as np
    >>> print(known_type(Constant(np.zeros(3, "float32"))))
    Tensor[(3,), float32]
    """
    if expr.checked_type is None:
        raise CompilerBug("known types", f"{_title(expr)} has no type")
    return expr.checked_type


def known_tensor_type(expr: Expr) -> TensorType:
    """The same, of an expression that is a tensor. Raises `CompilerBug` for another."""
    type_ = known_type(expr)
    if not isinstance(type_, TensorType):
        raise CompilerBug("known types", f"{_title(expr)} is no tensor, but of type {type_}")
    return type_


def typed_var(name: str, type_: Type) -> Var:
    """A new variable that says its type, and has it."""
    return record_type(Var(name, type_), type_)


def _title(expr: Expr) -> str:
    return f"%{expr.name_hint}" if isinstance(expr, Var) else f"a {type(expr).__name__}"
