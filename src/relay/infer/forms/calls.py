"""The typing rule of calls: an operator's relation, or an instance of the type of a function for this call."""

from __future__ import annotations

from relay.arith.expr import Symbol
from relay.base.diagnostics import Origin, RelayError
from relay.infer.forms.constraints import OperatorCall
from relay.infer.forms.node_types import NodeTypes
from relay.infer.unification.dimensions import open_unknowns
from relay.infer.unification.explain import arity_error, callee_name, describe, mismatch_error, short_name
from relay.infer.unification.known import operator_of
from relay.infer.unification.unify import Mode
from relay.ir.expr import Call, Op
from relay.ir.type_traversal import type_symbols
from relay.ir.types import FuncType, IncompleteType, Type, TypeVar


def type_operator_call(nodes: NodeTypes, node: Call, op: Op) -> None:
    """Raises `RelayError` (rule `arity`, and those of the operator's relation)."""
    operator_of(node, op)
    nodes.solver.add(OperatorCall(nodes, node, op))


def type_call(nodes: NodeTypes, node: Call, around: frozenset[Symbol] | None) -> None:
    """A call of a function that does not quantify the symbols `around`, or (None) whose type is being inferred: then
    each call is of that one type.

    Raises `RelayError` (rules `arity`, `argument-type`, `not-a-function`, `recursion-at-other-extents`).
    """
    match nodes.unifier.resolve(nodes.of(node.op)):
        case FuncType() as callee:
            _call_function(nodes, node, callee, around)
        case IncompleteType() as callee:
            result = IncompleteType(reason=f"the result of {callee_name(node.op)}", span=node.span)
            assumed = FuncType(tuple(map(nodes.of, node.args)), result)
            mismatch = nodes.relate(callee, assumed, Mode.EXACT, node)
            if mismatch is not None:
                message = f"{callee_name(node.op)} cannot be called with these arguments"
                sides = (Origin("callee", callee_name(node.op), describe(node.op)),)
                raise mismatch_error("argument-type", message, node.span, mismatch, sides)
            nodes.set(node, result)
        case callee:
            raise RelayError(
                rule="not-a-function",
                message="what is called is not a function",
                span=node.span,
                origins=(Origin("callee", str(nodes.unifier.zonk(callee)), describe(node.op)),),
            )


def _call_function(nodes: NodeTypes, node: Call, callee: FuncType, around: frozenset[Symbol] | None) -> None:
    if len(node.args) != len(callee.arg_types):
        raise arity_error(node, None, len(callee.arg_types))
    unifier = nodes.unifier
    undecided_before = len(unifier.undecided)
    here = callee if around is None else _instance(nodes, node, callee, around)
    for position, (argument, expected) in enumerate(zip(node.args, here.arg_types, strict=True)):
        mismatch = nodes.relate(nodes.of(argument), expected, Mode.ASSIGN, node)
        if mismatch is not None:
            parameter = str(unifier.zonk(callee.arg_types[position]))
            sides = nodes.origin("argument", argument), Origin("parameter", parameter, callee_name(node.op))
            message = f"argument {position + 1} of {callee_name(node.op)} is of another type"
            raise mismatch_error("argument-type", message, node.span, mismatch, sides)
    if around is None:
        nodes.call_itself(node)
        for pair in unifier.undecided[undecided_before:]:
            raise RelayError(
                rule="recursion-at-other-extents",
                message=f"{callee_name(node.op)} calls itself with {pair.found} where it has {pair.expected}",
                span=node.span,
                remedy="declare its result type, so that each call may have its own extents",
            )
    nodes.set(node, open_unknowns(unifier.zonk(here.ret_type), short_name(node.op)))


def _instance(nodes: NodeTypes, node: Call, callee: FuncType, around: frozenset[Symbol]) -> FuncType:
    """The callee's type for this call: its own type parameters and symbols made new."""
    name = callee_name(node.op)
    given = node.given_type_args
    if given and len(given) != len(callee.type_params):
        raise RelayError(
            rule="arity",
            message=f"{name} takes another number of type arguments",
            span=node.span,
            expected=str(len(callee.type_params)),
            found=str(len(given)),
        )
    for type_ in given:
        nodes.environment.check_annotation(type_, f"a type argument of {name}", node.span)
    arguments: dict[TypeVar, Type] = {
        variable: IncompleteType(reason=f"type argument {variable.name} of {name}", span=node.span)
        for variable in callee.type_params
    }
    arguments.update(zip(callee.type_params, given, strict=False))
    if arguments:
        nodes.instantiate(node, tuple(arguments.values()))
    own = {symbol for argument in callee.arg_types for symbol in type_symbols(argument)} - around
    return nodes.unifier.instance(callee, arguments, own)
