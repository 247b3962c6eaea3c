"""What bodies of loops are given: what they take from around them, computed once and before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.arith.expr import Symbol
from relay.base.frozen import frozen
from relay.frontend.onnx.node import OnnxNode
from relay.frontend.shared.control.loops import Exprs, variables
from relay.frontend.shared.structures import expr_of, item_of
from relay.frontend.shared.value import Item, Value
from relay.ir.expr import Constant, Expr, Var
from relay.ir.type_traversal import type_symbols


@frozen(eq=False)
class Outside:
    """What a body takes from around it and is computed: variables, what they are worth, and the names by which the body
    knows them. `extents` are the symbols of all that it sees, which mean the same behind the loop."""

    given: Sequence[Var]
    exprs: Exprs
    named: Mapping[str, Item]
    extents: frozenset[Symbol]


def outside_of(node: OnnxNode, others: Sequence[Item]) -> Outside:
    """`others` are what the loop itself is given."""
    around = node.taken_by("body")
    taken = {name: item for name, item in around.items() if _is_computed(item)}
    exprs = [expr_of(item) for item in taken.values()]
    given = variables("outside", [item.type for item in taken.values()])
    extents = {symbol for item in (*around.values(), *others) for symbol in type_symbols(item.type)}
    named = {name: item_in(node, var) for name, var in zip(taken, given, strict=True)}
    return Outside(given, exprs, named, frozenset(extents))


def _is_computed(item: Item) -> bool:
    """Leaves of the program and what is known need no variable."""
    known = item.known if isinstance(item, Value) else None
    return known is None and item.expr is not None and not isinstance(item.expr, (Var, Constant))


def item_in(node: OnnxNode, expr: Expr) -> Item:
    item = item_of(expr)
    if item is None:
        node.unsupported("over what has no shape before the program runs")
    return item
