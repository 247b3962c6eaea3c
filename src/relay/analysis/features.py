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

    fVar = 0
    fGlobalVar = 1
    fConstant = 2
    fTuple = 3
    fTupleGetItem = 4
    fFunction = 5
    fOp = 6
    fCall = 7
    fLet = 8
    fIf = 9
    fRefCreate = 10
    fRefRead = 11
    fRefWrite = 12
    fConstructor = 13
    fMatch = 14
    fGraph = 15
    fLetRec = 16


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
    used: set[Expr] = set()
    for node in nodes:
        if isinstance(node, Function) and node.params:
            found.add(Feature.fVar)
        for child in children(node):
            if not isinstance(child, LEAVES):
                if child in used:
                    found.add(Feature.fGraph)
                used.add(child)
    if _has_recursive_let(nodes):
        found.add(Feature.fLetRec)
    return frozenset(found)


def _has_recursive_let(nodes: list[Expr]) -> bool:
    """In post-order a variable is met within the value of the let that binds it only when the value uses it."""
    place = {node: index for index, node in enumerate(nodes)}
    return any(
        isinstance(node, Let)
        and isinstance(node.value, Function)
        and place.get(node.var, len(nodes)) < place[node.value]
        for node in nodes
    )
