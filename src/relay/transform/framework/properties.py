"""Properties of modules that passes need and keep: each is a name and a function that finds the first violation."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from relay.base.frozen import frozen
from relay.base.graph import post_order
from relay.ir.expr import Call, Expr, Function, If, Let, Match, Op
from relay.ir.module import IRModule
from relay.ir.traversal import LEAVES, children
from relay.ops.framework.record import OperatorRecord


@frozen
class Property:
    """`violation` gives a sentence on the first place where a module does not have the property; "" if it has it."""

    name: str
    violation: Callable[[IRModule], str]

    def __str__(self) -> str:
        return self.name


def _parts(expr: Expr) -> tuple[Expr, ...]:
    return () if isinstance(expr, Function) and expr.attrs.get("Primitive") else children(expr)


def _outside_primitives(module: IRModule) -> Iterator[tuple[str, Expr]]:
    """Every node that is in no primitive function, with the name of its global function."""
    for name, function in module.functions.items():
        yield from ((name.name_hint, node) for node in post_order((function,), _parts))


def _operands(node: Expr) -> tuple[Expr, ...]:
    """The parts of a node that A-normal form wants to be atoms: those that are no scope of their own."""
    parts = _parts(node)
    match node:
        case Function() | Let():
            return ()
        case If() | Match():
            return parts[:1]
        case _:
            return parts


def _not_a_normal(module: IRModule) -> str:
    for name, node in _outside_primitives(module):
        for part in _operands(node):
            if not isinstance(part, (*LEAVES, Function)):
                return f"@{name} has a {type(part).__name__} inside a {type(node).__name__}"
    return ""


def _unfused(module: IRModule) -> str:
    for name, node in _outside_primitives(module):
        if isinstance(node, Call) and isinstance(node.op, Op) and isinstance(node.op.operator, OperatorRecord):
            return f"@{name} calls {node.op.name} outside a primitive function"
    return ""


A_NORMAL_FORM = Property("A-normal form", _not_a_normal)
"""Every operand is a variable, a constant, a function or a name."""

FUSED = Property("fused", _unfused)
"""Every operator is called inside a primitive function."""
