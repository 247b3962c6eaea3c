"""Which parts of the language a program uses."""

from __future__ import annotations

from enum import IntEnum

from relay.ir.expr import (
    Call,
    Constant,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
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
from relay.ir.traversal import LEAVES, children, post_order


class Feature(IntEnum):
    """The features, with Relay's numbers. `fGraph`: a node that is no leaf stands in two places; `fLetRec`: a function
    that calls the variable it is bound to."""

    fVar = 0  # noqa: N815
    fGlobalVar = 1  # noqa: N815
    fConstant = 2  # noqa: N815
    fTuple = 3  # noqa: N815
    fTupleGetItem = 4  # noqa: N815
    fFunction = 5  # noqa: N815
    fOp = 6  # noqa: N815
    fCall = 7  # noqa: N815
    fLet = 8  # noqa: N815
    fIf = 9  # noqa: N815
    fRefCreate = 10  # noqa: N815
    fRefRead = 11  # noqa: N815
    fRefWrite = 12  # noqa: N815
    fConstructor = 13  # noqa: N815
    fMatch = 14  # noqa: N815
    fGraph = 15  # noqa: N815
    fLetRec = 16  # noqa: N815


_OF_FORM: dict[type, Feature] = {
    Var: Feature.fVar,
    GlobalVar: Feature.fGlobalVar,
    Constant: Feature.fConstant,
    Tuple: Feature.fTuple,
    TupleGetItem: Feature.fTupleGetItem,
    Function: Feature.fFunction,
    Op: Feature.fOp,
    Call: Feature.fCall,
    Let: Feature.fLet,
    If: Feature.fIf,
    RefCreate: Feature.fRefCreate,
    RefRead: Feature.fRefRead,
    RefWrite: Feature.fRefWrite,
    Constructor: Feature.fConstructor,
    Match: Feature.fMatch,
}


def detect_feature(program: IRModule | Expr) -> frozenset[Feature]:
    """The features that occur in a program.

    >>> x = Var("x")
    >>> sorted(feature.name for feature in detect_feature(Function((x,), Tuple((x, x)))))
    ['fFunction', 'fTuple', 'fVar']
    """
    if isinstance(program, IRModule):
        return frozenset().union(*map(detect_feature, program.functions.values()))
    nodes = post_order(program)
    found = {_OF_FORM[type(node)] for node in nodes}
    used: set[int] = set()
    for node in nodes:
        if isinstance(node, Function) and node.params:
            found.add(Feature.fVar)
        for child in children(node):
            if not isinstance(child, LEAVES):
                if id(child) in used:
                    found.add(Feature.fGraph)
                used.add(id(child))
    if _has_recursive_let(nodes):
        found.add(Feature.fLetRec)
    return frozenset(found)


def _has_recursive_let(nodes: list[Expr]) -> bool:
    """In post-order a variable is met within the value of the let that binds it only when the value uses it."""
    place = {id(node): index for index, node in enumerate(nodes)}
    return any(
        isinstance(node, Let)
        and isinstance(node.value, Function)
        and place.get(id(node.var), len(nodes)) < place[id(node.value)]
        for node in nodes
    )
