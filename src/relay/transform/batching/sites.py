"""Where batched functions are called: the function itself, on one value, and maps of it over lists."""

from __future__ import annotations

from collections.abc import Mapping

from relay.ir.expr import (
    Call,
    Clause,
    Constant,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    PatternConstructor,
    PatternVar,
    Tuple,
    Var,
    const,
    record_type,
)
from relay.ir.known_types import known_type, typed_var
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite, rewrite_nodes, typed_as
from relay.ir.structural import structural_equal
from relay.ir.traversal import body_nodes, children
from relay.ir.types import TensorType, TupleType
from relay.ir.variables import bound_vars
from relay.ops.elementwise.comparison import less
from relay.ops.elementwise.elementwise_binary import add, subtract
from relay.ops.framework.build import symbol
from relay.ops.indexing.index import take
from relay.ops.manipulation.shape import expand_dims
from relay.ops.table import OPERATORS
from relay.text.prelude import borrow_functions
from relay.transform.batching.definitions import Definitions, items
from relay.transform.batching.generate import Batches
from relay.transform.batching.recursions.recursion import Recursion
from relay.transform.batching.rows import has_unit_axis, nested_expr, rows_type
from relay.transform.batching.scheme import INDEX
from relay.transform.functions.extents import copied

MAP = GlobalVar("map")


def mapped(module: IRModule) -> frozenset[GlobalVar]:
    """The functions that are mapped over lists somewhere."""
    if not _has_map(module):
        return frozenset()
    nodes = (node for function in module.functions.values() for node in body_nodes(function))
    calls = (_mapped_call(node) for node in nodes)
    return frozenset(call.op for call in calls if call is not None and isinstance(call.op, GlobalVar))


def _has_map(module: IRModule) -> bool:
    """Whether `@map` is the prelude's."""
    if MAP not in module:
        return False
    prelude = borrow_functions(IRModule(), {"map": None}, OPERATORS)
    return structural_equal(module[MAP], prelude[MAP])


def _mapped_call(node: Expr) -> Call | None:
    """The call of a global function on the element, in a map of a function that uses the element for nothing else."""
    match node:
        case Call(op=GlobalVar() as callee, args=(Function(params=(element,)) as function, _)) if callee == MAP:
            pass
        case _:
            return None
    nodes = body_nodes(function)
    users = [each for each in nodes if element in children(each)]
    if len(users) != 1 or not isinstance(users[0], Call) or users[0].args.count(element) != 1:
        return None
    call = users[0]
    own = set(bound_vars(function))
    outside = all(
        isinstance(arg, Constant) or arg is element or (isinstance(arg, Var) and arg not in own) for arg in call.args
    )
    return call if isinstance(call.op, GlobalVar) and outside else None


def with_batches(name: GlobalVar, definitions: Definitions, made: Mapping[GlobalVar, Batches]) -> Function:
    """A function in which maps of batched functions are calls of `each`."""
    has_map = _has_map(definitions.module)

    def step(node: Expr) -> Expr:
        call = _mapped_call(node) if has_map else None
        if call is None or not isinstance(node, Call) or not isinstance(call.op, GlobalVar) or call.op not in made:
            return node
        batches = made[call.op]
        subject = batches.member.function.params.index(batches.member.subject)
        function, values = node.args
        if not isinstance(function, Function) or call.args[subject] is not function.params[0]:
            return node
        rest = [arg for position, arg in enumerate(call.args) if position != subject]
        define_each(batches, definitions)

        def together(values: Expr) -> Expr:
            results = Call(batches.each, (values, *rest), span=node.span)
            record_type(results, batches.lists.of(batches.member.result))
            return typed_as(_mapped_on(function, call, results, node), node)

        if batches.choice is None:
            return together(values)
        named = typed_var("values", known_type(values))
        one_by_one = typed_as(Call(node.op, (copied(function), named), span=node.span), node)
        chosen = If(batches.choice.pays_together(named), together(named), one_by_one)
        return Let(named, values, typed_as(chosen, node))

    return rewrite_nodes(definitions.functions[name], lambda _, node: step(node))


def _mapped_on(function: Function, call: Call, results: Expr, node: Call) -> Expr:
    """What is left of a map once its calls are made: the map of what is done with their results, if anything is."""
    result = typed_as(Var("result", call.checked_type), call)
    body = rewrite(function.body, lambda each: result if each is call else each)
    if body is result or (isinstance(body, Let) and body.value is result and body.body is body.var):
        return results
    return Call(node.op, (Function((result,), body, function.ret_type, span=function.span), results), span=node.span)


# ----------------------------------------------------------------------------------------- from rows to single results


def with_single_root(batches: Batches, alone: Mapping[GlobalVar, GlobalVar]) -> Function:
    """The recursive function as a batch of one, where that pays, and else under the name that it has `alone`."""
    member, lists = batches.member, batches.lists
    params = {param: Var(param.name_hint, known_type(param)) for param in member.function.params}
    values = lists.with_first(params[member.subject], lists.empty())
    rows = Var("rows")
    call = Call(batches.batch, (values, *(params[var] for var in member.others)))
    fields = items(rows, len(member.leaves))
    result = nested_expr(
        member.result,
        lambda i, leaf: take(fields[i], expand_dims(const(0), 0) if has_unit_axis(leaf) else const(0), axis=0),
    )
    body: Expr = Let(rows, call, result)
    if batches.choice is not None:
        one_by_one = Call(alone[member.name], tuple(params.values()))
        body = If(batches.choice.pays(params[member.subject]), body, one_by_one)
    return Function(tuple(params.values()), body, member.function.ret_type or member.result)


def define_alone(recursion: Recursion, definitions: Definitions) -> Mapping[GlobalVar, GlobalVar]:
    """The recursion as it was, under other names."""
    alone = {name: definitions.fresh(f"{name.name_hint}_alone") for name in recursion.component}
    for name, other in alone.items():
        definitions.functions[other] = rewrite_nodes(
            definitions.functions[name],
            lambda node, rebuilt: alone.get(node, rebuilt) if isinstance(node, GlobalVar) else rebuilt,
        )
    return alone


def define_each(batches: Batches, definitions: Definitions) -> None:
    """`each(values, others…)` → the list of the results; nothing is done if it is there."""
    if batches.each in definitions.functions:
        return
    member, lists = batches.member, batches.lists
    values = Var("values", lists.of(member.subject_type))
    others = tuple(Var(var.name_hint, known_type(var)) for var in member.others)
    last_first, rows = Var("last_first"), Var("rows")
    reversed_ = _define_reversed(batches, definitions)
    backwards, count = items(last_first, 2)
    listed = Call(
        _define_listed(batches, definitions),
        (*items(rows, len(member.leaves)), subtract(count, const(1)), lists.empty()),
    )
    body: Expr = Let(rows, Call(batches.batch, (backwards, *others)), listed)
    body = Let(last_first, Call(reversed_, (values, lists.empty(), const(0))), body)
    definitions.functions[batches.each] = Function((values, *others), body, lists.of(member.result))


def _define_reversed(batches: Batches, definitions: Definitions) -> GlobalVar:
    """`reversed(values, [], 0)` → the list, last first, and its length"""
    member, lists = batches.member, batches.lists
    name = definitions.fresh(f"{member.name.name_hint}_reversed")
    type_ = lists.of(member.subject_type)
    values, done, count = Var("values", type_), Var("done", type_), Var("count", INDEX)
    first, rest = Var("value"), Var("rest")
    again = Call(name, (rest, lists.with_first(first, done), add(count, const(1))))
    clauses = (
        Clause(PatternConstructor(lists.cons, (PatternVar(first), PatternVar(rest))), again),
        Clause(PatternConstructor(lists.nil), Tuple((done, count))),
    )
    definitions.functions[name] = Function((values, done, count), Match(values, clauses), TupleType((type_, INDEX)))
    return name


def _define_listed(batches: Batches, definitions: Definitions) -> GlobalVar:
    """`listed(rows…, last, [])` → the rows up to number `last` as a list of results"""
    member, lists = batches.member, batches.lists
    name = definitions.fresh(f"{member.name.name_hint}_listed")
    rows = tuple(Var(f"rows{i}" if i else "rows", rows_type(leaf, symbol("n"))) for i, leaf in enumerate(member.leaves))
    last, done = Var("last", INDEX), Var("done", lists.of(member.result))

    def row(position: int, leaf: TensorType) -> Expr:
        return take(rows[position], expand_dims(last, 0) if has_unit_axis(leaf) else last, axis=0)

    longer = lists.with_first(nested_expr(member.result, row), done)
    again = Call(name, (*rows, subtract(last, const(1)), longer))
    body = If(less(last, const(0)), done, again)
    definitions.functions[name] = Function((*rows, last, done), body, lists.of(member.result))
    return name
