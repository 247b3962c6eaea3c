"""The types of the variables that patterns bind."""

from __future__ import annotations

from relay.base.diagnostics import Origin, RelayError
from relay.infer.forms.node_types import NodeTypes
from relay.infer.unification.dimensions import open_unknowns
from relay.infer.unification.explain import describe, mismatch_error
from relay.infer.unification.unify import Mode
from relay.ir.expr import Match, Pattern, PatternConstructor, PatternTuple, PatternVar, PatternWildcard
from relay.ir.type_traversal import instantiated
from relay.ir.types import IncompleteType, TupleType, Type, TypeCall


def bind_pattern(nodes: NodeTypes, pattern: Pattern, type_: Type, node: Match) -> None:
    """Give the variables of a pattern that matches a value of `type_` their types.

    Raises `RelayError` (rules `pattern-type`, `pattern-arity`).
    """
    stack = [(pattern, type_)]
    while stack:
        inner, value = stack.pop()
        match inner:
            case PatternWildcard():
                pass
            case PatternVar(var):
                opened = open_unknowns(nodes.unifier.zonk(value), var.name_hint)
                if var.type_annotation is not None:
                    _relate(nodes, opened, var.type_annotation, node, Mode.ASSIGN)
                nodes.bind(var, opened)
            case PatternConstructor():
                stack.extend(_constructor_fields(nodes, inner, value, node))
            case PatternTuple(patterns):
                stack.extend(zip(patterns, _tuple_fields(nodes, len(patterns), value, node), strict=True))


def _constructor_fields(
    nodes: NodeTypes, pattern: PatternConstructor, value: Type, node: Match
) -> list[tuple[Pattern, Type]]:
    constructor = pattern.constructor
    data = nodes.environment.data_of(constructor.belong_to, node)
    arguments = {
        variable: IncompleteType(reason=f"type argument {variable.name} of {data.header.name}", span=node.span)
        for variable in data.type_vars
    }
    _relate(nodes, value, TypeCall(data.header, tuple(arguments.values())), node, Mode.EXACT)
    if len(pattern.patterns) != len(constructor.inputs):
        raise RelayError(
            rule="pattern-arity",
            message=f"the pattern of {constructor.name_hint} has another number of fields",
            span=node.span,
            expected=str(len(constructor.inputs)),
            found=str(len(pattern.patterns)),
        )
    fields = [instantiated(field, arguments) for field in constructor.inputs]
    return list(zip(pattern.patterns, fields, strict=True))


def _tuple_fields(nodes: NodeTypes, count: int, value: Type, node: Match) -> tuple[Type, ...]:
    resolved = nodes.unifier.resolve(value)
    if isinstance(resolved, TupleType) and len(resolved.fields) == count:
        return resolved.fields
    fields = tuple(IncompleteType(reason="a field of a tuple pattern", span=node.span) for _ in range(count))
    _relate(nodes, value, TupleType(fields), node, Mode.EXACT)
    return fields


def _relate(nodes: NodeTypes, found: Type, expected: Type, node: Match, mode: Mode) -> None:
    mismatch = nodes.relate(found, expected, mode, node)
    if mismatch is not None:
        sides = (
            Origin("value", str(nodes.unifier.zonk(found)), describe(node.data)),
            Origin("pattern", str(nodes.unifier.zonk(expected))),
        )
        raise mismatch_error("pattern-type", "a pattern is of another type", node.span, mismatch, sides)
