"""A chain of bindings that is being written."""

from __future__ import annotations

from dataclasses import field

from relay.base.frozen import mutable
from relay.infer.eager import eager_type
from relay.ir.expr import Constant, Expr, Let, Var, record_type
from relay.ir.rewriting import typed_as
from relay.ir.traversal import post_order
from relay.ir.types import Type


@mutable
class Chain:
    """Bindings, first to last."""

    bindings: list[tuple[Var, Expr]] = field(default_factory=list)

    def bind(self, hint: str, value: Expr, type_: Type | None = None) -> Expr:
        """A name for a value; what is a name or a constant already stays as it is."""
        if isinstance(value, Var | Constant):
            return value
        var = Var(hint)
        self.bind_to(var, value, type_)
        return var

    def bind_to(self, var: Var, value: Expr, type_: Type | None = None) -> None:
        known = type_ or eager_type(value)
        if known is not None and var.checked_type is None:
            record_type(var, known)
        self.bindings.append((var, value))

    def before(self, result: Expr) -> Expr:
        """`result` behind all bindings, with types as far as they are known."""
        is_typed = eager_type(result) is not None
        for var, value in reversed(self.bindings):
            made = Let(var, value, result, span=value.span)
            is_typed = is_typed and value.checked_type is not None
            result = typed_as(made, result) if is_typed else made
        return result

    def ending(self, result: Expr) -> Expr:
        """`result` behind those bindings that it needs; the values of others are pure."""
        return self.needed_for(result).before(result)

    def needed_for(self, result: Expr) -> Chain:
        """Those bindings that `result` needs; the values of others are pure."""
        needed = {node for node in post_order(result) if isinstance(node, Var)}
        kept = Chain()
        for var, value in reversed(self.bindings):
            if var in needed:
                needed.update(node for node in post_order(value) if isinstance(node, Var))
                kept.bindings.append((var, value))
        kept.bindings.reverse()
        return kept
