"""What procedures check where they get there: the statements about extents that inference could not decide."""

from __future__ import annotations

from relay.arith.expr import Symbol
from relay.infer.checks import node_checks
from relay.ir.expr import Call, Function, Op
from relay.ir.module import IRModule
from relay.ir.operator import Check
from relay.ir.traversal import post_order
from relay.ir.type_traversal import type_symbols
from relay.runtime.artefact.failures import Failure, FailureKind

_NO_MODULE = IRModule()


def group_checks(function: Function) -> tuple[Check, ...]:
    """The checks of the operators of a primitive function, in terms of its parameters' extents."""
    types = [parameter.checked_type for parameter in function.params]
    if not any(type_symbols(type_) for type_ in types if type_ is not None):
        return ()
    found: dict[Check, None] = {}
    for node in post_order(function.body):
        if isinstance(node, Call) and isinstance(node.op, Op):
            found.update(dict.fromkeys(node_checks(node, _NO_MODULE, frozenset())))
    return tuple(found)


def own_symbols(function: Function) -> frozenset[Symbol]:
    """The symbols in the types of a function's parameters."""
    types = [parameter.checked_type for parameter in function.params]
    return frozenset(symbol for type_ in types if type_ is not None for symbol in type_symbols(type_))


def failure_of(check: Check) -> Failure:
    """What it means that a check does not hold."""
    return Failure(FailureKind.EXTENTS, f"{check.message} (needs {check.text})")
