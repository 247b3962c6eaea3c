"""Gradients of the operators of networks."""

from __future__ import annotations

from relay.ir.expr import Expr

Entries = tuple[Expr | None, ...]
