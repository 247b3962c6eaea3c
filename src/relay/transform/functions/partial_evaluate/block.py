"""Residual code in A-normal form: a block is the list of bindings that one scope has so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from relay.ir.expr import Expr, Let, Var


@dataclass(slots=True, eq=False)
class Block:
    """Bindings in the order in which they are evaluated. Each is evaluated once."""

    bindings: list[tuple[Var, Expr]] = field(default_factory=list)

    def closed(self, result: Expr) -> Expr:
        """The chain of lets that ends in `result`."""
        for var, value in reversed(self.bindings):
            result = Let(var, value, result, span=value.span)
        return result
