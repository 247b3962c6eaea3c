"""The typing rules of the forms that bind nothing, and of match: each looks at the types of a node's parts and gives
the node its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from relay.arith.expr import Symbol
from relay.base.diagnostics import Origin, RelayError
from relay.infer.constraints import OperatorCall, OperatorValue, Projection
from relay.infer.dimensions import open_unknowns
from relay.infer.exhaustiveness import show_pattern, unmatched
from relay.infer.explain import arity_error, callee_name, describe, mismatch_error, short_name, span_of_use
from relay.infer.join import join
from relay.infer.patterns import bind_pattern
from relay.infer.unify import Mode, instantiate
from relay.ir.expr import Call, Expr, GlobalVar, If, Match, Op, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, Var
from relay.ir.type_traversal import type_symbols
from relay.ir.types import FuncType, IncompleteType, RefType, TupleType, Type, TypeVar, scalar_type

if TYPE_CHECKING:
    from relay.infer.walk import Inference

BOOL = scalar_type("bool")
UNIT = TupleType(())


def _type_tuple(inference: Inference, node: Tuple) -> None:
    inference.set_type(node, TupleType(tuple([inference.type_of(part) for part in node.fields])))


def _type_projection(inference: Inference, node: TupleGetItem) -> None:
    inference.solver.add(Projection(inference, node))


def _type_if(inference: Inference, node: If) -> None:
    cond = inference.type_of(node.cond)
    mismatch = inference.unifier.relate(cond, BOOL, Mode.EXACT)
    if mismatch is not None:
        sides = (Origin("condition", str(inference.unifier.zonk(cond)), describe(node.cond)),)
        message = "the condition of an if is not a bool scalar"
        raise mismatch_error("condition-not-bool", message, span_of_use(node.cond, node), mismatch, sides)
    inference.set_type(node, _joined(inference, node, (node.true_branch, node.false_branch), "the branches of an if"))


def _joined(inference: Inference, node: Expr, parts: tuple[Expr, ...], what: str) -> Type:
    """The type of a choice between `parts`: extents that differ are unknown."""
    result = inference.type_of(parts[0])
    for part in parts[1:]:
        joined = join(inference.unifier, result, inference.type_of(part))
        if isinstance(joined, str):
            one, other = (inference.unifier.zonk(inference.type_of(side)) for side in (parts[0], part))
            raise RelayError(
                rule="branch-mismatch",
                message=f"{what} have different types: {joined}",
                span=node.span,
                origins=(Origin("one", str(one), describe(parts[0])), Origin("other", str(other), describe(part))),
            )
        result = joined
    return open_unknowns(result)


def bind_patterns(inference: Inference, node: Match) -> None:
    for clause in node.clauses:
        bind_pattern(inference, clause.lhs, inference.type_of(node.data), node)


def _type_match(inference: Inference, node: Match) -> None:
    if not node.clauses:
        raise RelayError(rule="empty-match", message="a match has no clauses", span=node.span)
    if node.complete:
        _check_complete(inference, node)
    inference.set_type(node, _joined(inference, node, tuple(c.rhs for c in node.clauses), "the clauses of a match"))


def _check_complete(inference: Inference, node: Match) -> None:
    missing = unmatched(node.clauses, inference.type_definitions)
    if missing:
        raise RelayError(
            rule="match-incomplete",
            message="a match does not cover every value",
            span=node.span,
            expected="a clause for every value",
            found="no clause for " + ", ".join(map(show_pattern, missing)),
            remedy="add the clauses, or write `match?` for a match that may fail",
        )


def _type_ref_create(inference: Inference, node: RefCreate) -> None:
    inference.set_type(node, RefType(inference.type_of(node.value)))


def operator_as_value(inference: Inference, node: Op) -> Type:
    """The type of an operator where it is not called; each use has its own.

    Raises `RelayError` (rule `operator-as-value`) for one that needs attributes.
    """
    operator = node.operator
    try:
        operator.attributes()
    except TypeError:
        inputs = ", ".join(f"%{name}" for name in operator.inputs)
        raise RelayError(
            rule="operator-as-value",
            message=f"the operator {node.name} is used as a value, but some of its attributes have no default",
            span=node.span,
            remedy=f"wrap it in a function: fn ({inputs}) {{ {node.name}({inputs}, ...) }}",
        ) from None
    arguments = tuple(IncompleteType(reason=f"{name} of {node.name}", span=node.span) for name in operator.inputs)
    result = IncompleteType(reason=f"the result of {node.name}", span=node.span)
    inference.solver.add(OperatorValue(inference, node, arguments, result))
    return FuncType(arguments, result)


def _content(inference: Inference, node: RefRead | RefWrite) -> Type:
    type_ = inference.unifier.resolve(inference.type_of(node.ref))
    if isinstance(type_, IncompleteType):
        content = IncompleteType(reason=f"the content of {describe(node.ref)}", span=node.span)
        inference.unifier.relate(type_, RefType(content), Mode.EXACT)
        return content
    if not isinstance(type_, RefType):
        raise RelayError(
            rule="not-a-ref",
            message="what is read or written is not a ref",
            span=node.span,
            origins=(Origin("value", str(type_), describe(node.ref)),),
        )
    return type_.value


def _type_ref_read(inference: Inference, node: RefRead) -> None:
    inference.set_type(node, open_unknowns(inference.unifier.zonk(_content(inference, node))))


def _type_ref_write(inference: Inference, node: RefWrite) -> None:
    content = _content(inference, node)
    mismatch = inference.unifier.relate(inference.type_of(node.value), content, Mode.ASSIGN)
    if mismatch is not None:
        sides = (
            Origin("value", str(inference.unifier.zonk(inference.type_of(node.value))), describe(node.value)),
            Origin("ref", f"ref({inference.unifier.zonk(content)})", describe(node.ref)),
        )
        raise mismatch_error("ref-type", "a ref is written with another type", node.span, mismatch, sides)
    inference.set_type(node, UNIT)


def _type_call(inference: Inference, node: Call) -> None:
    if isinstance(node.op, Op):
        inference.solver.add(OperatorCall(inference, node, node.op.operator))
        return
    callee = inference.unifier.resolve(inference.type_of(node.op))
    match callee:
        case FuncType():
            _call_function(inference, node, callee)
        case IncompleteType():
            arguments = tuple(inference.type_of(argument) for argument in node.args)
            result = IncompleteType(reason=f"the result of {callee_name(node.op)}", span=node.span)
            mismatch = inference.unifier.relate(callee, FuncType(arguments, result), Mode.EXACT)
            if mismatch is not None:
                message = f"{callee_name(node.op)} cannot be called with these arguments"
                sides = (Origin("callee", callee_name(node.op), describe(node.op)),)
                raise mismatch_error("argument-type", message, node.span, mismatch, sides)
            inference.set_type(node, result)
        case _:
            raise RelayError(
                rule="not-a-function",
                message="what is called is not a function",
                span=node.span,
                origins=(Origin("callee", str(inference.unifier.zonk(callee)), describe(node.op)),),
            )


def _call_function(inference: Inference, node: Call, callee: FuncType) -> None:
    if len(node.args) != len(callee.arg_types):
        raise arity_error(node, None, len(callee.arg_types))
    polymorphic = _is_instantiated(inference, node.op)
    if not polymorphic:
        inference.called_itself(node)
    here = _instance(inference, node, callee) if polymorphic else callee
    for position, (argument, expected) in enumerate(zip(node.args, here.arg_types, strict=True)):
        mismatch = inference.unifier.relate(inference.type_of(argument), expected, Mode.ASSIGN)
        if mismatch is not None:
            sides = (
                Origin("argument", str(inference.unifier.zonk(inference.type_of(argument))), describe(argument)),
                Origin("parameter", str(inference.unifier.zonk(callee.arg_types[position])), callee_name(node.op)),
            )
            message = f"argument {position + 1} of {callee_name(node.op)} is of another type"
            raise mismatch_error("argument-type", message, node.span, mismatch, sides)
    if not polymorphic and inference.unifier.undecided:
        pair = inference.unifier.undecided[0]
        raise RelayError(
            rule="recursion-at-other-extents",
            message=f"{callee_name(node.op)} calls itself with {pair.found} where it has {pair.expected}",
            span=node.span,
            remedy="declare its result type, so that each call may have its own extents",
        )
    inference.unifier.undecided.clear()
    inference.set_type(node, open_unknowns(inference.unifier.zonk(here.ret_type), short_name(node.op)))


def _is_instantiated(inference: Inference, op: Expr) -> bool:
    """Whether each call may have its own extents: not while the callee's type is being inferred."""
    match op:
        case GlobalVar():
            return inference.signature(op)[1]
        case Var():
            return op not in inference.unfinished
        case _:
            return True


def _instance(inference: Inference, node: Call, callee: FuncType) -> FuncType:
    """The callee's type for this call: its own type parameters and symbols made new."""
    given = node.given_type_args
    if given and len(given) != len(callee.type_params):
        raise RelayError(
            rule="arity",
            message=f"{callee_name(node.op)} takes another number of type arguments",
            span=node.span,
            expected=str(len(callee.type_params)),
            found=str(len(given)),
        )
    arguments: dict[TypeVar, Type] = {
        variable: IncompleteType(reason=f"type argument {variable.name} of {callee_name(node.op)}", span=node.span)
        for variable in callee.type_params
    }
    for type_ in given:
        inference.check_annotation(type_, f"a type argument of {callee_name(node.op)}", node.span)
    arguments.update(zip(callee.type_params, given, strict=False))
    if arguments:
        inference.instantiated(node, tuple(arguments.values()))
    around = _around(inference, node.op)
    own = {symbol for argument in callee.arg_types for symbol in type_symbols(argument)} - around
    if not arguments and not own:
        return callee
    fresh = {symbol: inference.unifier.fresh_symbol(symbol.name) for symbol in sorted(own, key=lambda s: s.name)}
    return instantiate(callee, arguments, fresh)


def _around(inference: Inference, callee: Expr) -> frozenset[Symbol]:
    """The symbols of the functions around a callee, which it does not quantify."""
    match callee:
        case GlobalVar():
            return frozenset()
        case Var() if callee in inference.around:
            return inference.around[callee]
        case _:
            return inference.visible


TYPING: Mapping[type, Callable[[Inference, Any], None]] = {
    Tuple: _type_tuple,
    TupleGetItem: _type_projection,
    Call: _type_call,
    If: _type_if,
    Match: _type_match,
    RefCreate: _type_ref_create,
    RefRead: _type_ref_read,
    RefWrite: _type_ref_write,
}
"""What types a node of each form once its parts have types."""
