"""The function with a primitive function for each group."""

from __future__ import annotations

from relay.base.graph import post_order as graph_post_order
from relay.infer.eager import typed_by_parts
from relay.ir.expr import Call, Constant, Expr, Function, Op, Tuple, TupleGetItem, Var
from relay.ir.rewriting import rebuild_typed, typed_as, with_body
from relay.transform.fusion.graph import FusionGraph, Group, parts_of

_LARGEST_INLINED_CONSTANT_ELEMENTS = 1
_LONGEST_NAME = 120


def rebuilt(function: Function, graph: FusionGraph) -> Function:
    """The function with the groups of its graph as calls of primitive functions."""
    outputs: dict[Expr, Group] = {output.call: node.group for node in graph.nodes for output in node.group.outputs}

    def parts(expr: Expr) -> tuple[Expr, ...]:
        group = outputs.get(expr)
        found = group.operands if group is not None else parts_of(expr)
        return tuple(_standing_for(each, outputs) for each in found)

    new: dict[Expr, Expr] = {}
    for expr in graph_post_order([_standing_for(function.body, outputs)], parts):
        group = outputs.get(expr)
        if group is not None:
            _add_results(group, new)
        else:
            changed = [new.get(part, part) for part in parts_of(expr)]
            new[expr] = rebuild_typed(expr, changed) if changed else expr
    return with_body(function, new[function.body])


def _standing_for(expr: Expr, outputs: dict[Expr, Group]) -> Expr:
    """The expression that is visited for another: of the outputs of a group, the last."""
    group = outputs.get(expr)
    return expr if group is None else group.result.call


def _add_results(group: Group, new: dict[Expr, Expr]) -> None:
    call = _primitive_call(group, new)
    if len(group.outputs) == 1:
        new[group.result.call] = call
        return
    for index, output in enumerate(group.outputs):
        new[output.call] = typed_as(TupleGetItem(call, index, span=output.call.span), output.call)


def _primitive_call(group: Group, new: dict[Expr, Expr]) -> Call:
    """The call of a function that computes a group, on what the group reads."""
    parameters: dict[Expr, Var] = {}
    arguments: list[Expr] = []
    local: dict[Expr, Expr] = {}

    def parameter(operand: Expr) -> Expr:
        if operand in local:
            return local[operand]
        if isinstance(operand, Constant) and operand.data.size <= _LARGEST_INLINED_CONSTANT_ELEMENTS:
            return operand
        if operand not in parameters:
            parameters[operand] = typed_as(Var(f"p{len(parameters)}", operand.checked_type), operand)
            arguments.append(new.get(operand, operand))
        return parameters[operand]

    for member in group.members:
        call = member.call
        args: list[Expr] = []
        for argument in call.args:
            if isinstance(argument, Tuple):
                args.append(typed_as(Tuple(tuple(parameter(part) for part in argument.fields)), argument))
            else:
                args.append(parameter(argument))
        local[call] = typed_as(Call(call.op, tuple(args), call.attrs, call.type_args, span=call.span), call)
    body = _result(group, local)
    names = "_".join(
        member.call.op.name.replace(".", "_") for member in group.members if isinstance(member.call.op, Op)
    )
    span = group.result.call.span
    attrs = {"Primitive": 1, "name": f"fused_{names}"[:_LONGEST_NAME]}
    function = typed_by_parts(Function(tuple(parameters.values()), body, body.checked_type, attrs=attrs, span=span))
    return typed_by_parts(Call(function, tuple(arguments), span=span))


def _result(group: Group, local: dict[Expr, Expr]) -> Expr:
    fields = tuple(local[output.call] for output in group.outputs)
    if len(fields) == 1:
        return fields[0]
    return typed_by_parts(Tuple(fields, span=group.result.call.span))
