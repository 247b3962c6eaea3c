"""Loops over lists that call a batched function on each element: the calls are made together, before the loop.

    before: def @loop(%xs: List[T], %w, %sum) {
              match (%xs) { Cons(%x, %rest) => @loop(%rest, %w, %sum + @f(%x, %w)), Nil => %sum } }
    after:  def @loop(%xs, %w, %sum) { if (levels pay for %xs) { @loop_over(@f_each(%xs, %w), %w, %sum) }
                                       else { @loop_alone(%xs, %w, %sum) } }
            def @loop_over(%xs: List[R], %w, %sum) {
              match (%xs) { Cons(%y, %rest) => @loop_over(%rest, %w, %sum + %y), Nil => %sum } }
            @loop_alone  the loop as it was

Folds are of this form, maps that users write, and `for` loops, which are functions inside functions. The loop goes
through the whole list and calls `f` once for each element, whatever tensors hold; it does nothing else with an element,
and hands on as they are what else it gives to `f`. The calls are pure, so that nobody sees when they are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from relay.base.frozen import frozen
from relay.base.span import Span
from relay.ir.expr import (
    Call,
    Clause,
    Constant,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    PatternConstructor,
    PatternVar,
    Var,
)
from relay.ir.known_types import known_type, typed_var
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite
from relay.ir.traversal import body_nodes, children, post_order
from relay.ir.variables import bound_vars, refresh
from relay.transform.batching.definitions import Definitions, Lists
from relay.transform.batching.generate import Batches
from relay.transform.batching.sites import define_each


@frozen(eq=False)
class ListLoop:
    """A function that calls itself, by `name`, on the rest of a list, its parameter `subject`; `call` is that of a
    global function on the first element."""

    name: GlobalVar | Var
    function: Function
    match: Match
    subject: Var
    cell: Clause
    element: Var
    rest: Var
    call: Call
    callee: GlobalVar


@frozen(eq=False)
class NoListLoop:
    """Why a function that goes over a list and calls `callee` on its elements is no such loop: a sentence whose subject
    is the function."""

    name: GlobalVar | Var
    callee: GlobalVar
    reason: str
    span: Span | None


def loops_over_lists(module: IRModule) -> Iterator[tuple[GlobalVar, ListLoop | NoListLoop]]:
    """Functions that go over a list and call a global function on its elements, be they global or written inside one,
    with the global function that they are in."""
    lists = Definitions.of(module).lists()
    if lists is None:
        return
    for name, function in module.functions.items():
        inner = (node for node in body_nodes(function) if isinstance(node, Let) and isinstance(node.value, Function))
        for own, each in ((name, function), *((let.var, let.value) for let in inner)):
            loop = list_loop_of(own, each, lists) if isinstance(each, Function) else None
            if loop is not None:
                yield name, loop


def list_loop_of(name: GlobalVar | Var, function: Function, lists: Lists) -> ListLoop | NoListLoop | None:
    """A function as a loop over a list, if it is one; None where it does not call itself, match a list, and give an
    element to a global function."""
    match function.body:
        case Match(data=Var() as subject, clauses=clauses, complete=True) as whole if subject in function.params:
            pass
        case _:
            return None
    cell = next((each for each in clauses if _is_of(each, lists.cons)), None)
    if function.type_params or cell is None or len(clauses) != 2:
        return None
    if not _is_of(clauses[0] if cell is clauses[1] else clauses[1], lists.nil):
        return None
    match cell.lhs:
        case PatternConstructor(patterns=(PatternVar(element), PatternVar(rest))):
            pass
        case _:
            return None
    users = [node for node in post_order(cell.rhs) if element in children(node)]
    call = next((each for each in users if isinstance(each, Call) and each.op != name), None)
    if call is None or not isinstance(call.op, GlobalVar) or not _own_calls(name, function):
        return None
    problem = _problem(name, function, subject, rest, cell) or _problem_of(call, element, name, function, cell.rhs)
    if problem:
        return NoListLoop(name, call.op, problem, call.span)
    return ListLoop(name, function, whole, subject, cell, element, rest, call, call.op)


def _is_of(clause: Clause, constructor: Constructor) -> bool:
    return isinstance(clause.lhs, PatternConstructor) and clause.lhs.constructor == constructor


def _problem(name: GlobalVar | Var, function: Function, subject: Var, rest: Var, cell: Clause) -> str:
    """Why a function does not just go through the whole list; empty where it does."""
    nodes, own_calls = body_nodes(function), _own_calls(name, function)
    position = function.params.index(subject)
    if any(call.args[position] is not rest for call in own_calls):
        return "does not call itself on the rest of the list"
    if own_calls.isdisjoint(_always(cell.rhs)) or not own_calls.issubset(post_order(cell.rhs)):
        return "does not always go on to the rest of the list"
    for node in nodes:
        parts = [part for part in children(node) if part == name or part is subject or part is rest]
        expected = 2 if node in own_calls else int(node is function.body)
        if len(parts) != expected:
            return "uses the list for more than to go through it"
    return ""


def _problem_of(call: Call, element: Var, name: GlobalVar | Var, function: Function, body: Expr) -> str:
    """Why the calls on elements cannot be made before the loop; empty where they can: the only use of an element is
    the call, which is always made, on what the loop does not change."""
    callee = f"@{call.op.name_hint}" if isinstance(call.op, GlobalVar) else "a function"
    users = [node for node in post_order(body) if element in children(node)]
    if len(users) != 1 or call.args.count(element) != 1:
        return f"uses an element for more than one call of {callee}"
    if call not in _always(body):
        return f"does not call {callee} on every element"
    own_calls, pairs = _own_calls(name, function), enumerate(function.params)
    handed_on = {param for i, param in pairs if all(each.args[i] is param for each in own_calls)}
    own = {*bound_vars(function)} - handed_on
    fixed = all(
        arg is element or isinstance(arg, Constant) or (isinstance(arg, Var) and arg not in own) for arg in call.args
    )
    return "" if fixed else f"calls {callee} with what may differ from element to element"


def _own_calls(name: GlobalVar | Var, function: Function) -> set[Call]:
    return {node for node in body_nodes(function) if isinstance(node, Call) and node.op == name}


def _always(body: Expr) -> set[Expr]:
    """The nodes that are computed whenever the body is: those in no branch and in no function."""
    found: set[Expr] = set()
    waiting = [body]
    while waiting:
        node = waiting.pop()
        if node in found:
            continue
        found.add(node)
        match node:
            case If(cond=cond):
                waiting.append(cond)
            case Match(data=data):
                waiting.append(data)
            case Function():
                pass
            case _:
                waiting += children(node)
    return found


# ---------------------------------------------------------------------------------------------------------- rewriting


def with_calls_before(name: GlobalVar, definitions: Definitions, made: Mapping[GlobalVar, Batches]) -> Function:
    """A function that is such a loop, or has such loops inside, with the calls made together where that pays."""
    lists = next(iter(made.values())).lists

    def loop_of(own: GlobalVar | Var, function: Expr) -> ListLoop | None:
        found = list_loop_of(own, function, lists) if isinstance(function, Function) else None
        if not isinstance(found, ListLoop) or found.callee not in made:
            return None
        member = made[found.callee].member
        on = found.call.args[member.function.params.index(member.subject)]
        return found if on is found.element else None

    def step(node: Expr) -> Expr:
        loop = loop_of(node.var, node.value) if isinstance(node, Let) else None
        if loop is None or not isinstance(node, Let):
            return node
        return Let(node.var, _inner(loop, made[loop.callee], definitions), node.body, span=node.span)

    function = rewrite(definitions.functions[name], step)
    assert isinstance(function, Function)
    loop = loop_of(name, function)
    return function if loop is None else _outer(loop, made[loop.callee], definitions)


def _outer(loop: ListLoop, batches: Batches, definitions: Definitions) -> Function:
    """A loop that is a global function."""
    assert isinstance(loop.name, GlobalVar)
    over = definitions.fresh(f"{loop.name.name_hint}_over")
    definitions.functions[over] = _over_results(loop, over, batches)
    alone = definitions.fresh(f"{loop.name.name_hint}_alone") if batches.choice is not None else None
    if alone is not None:
        definitions.functions[alone] = _under_another_name(loop, alone)
    params = _new_params(loop)
    together = Call(over, _args_over(loop, params, batches, definitions))
    return _chosen(loop, params, together, None if alone is None else Call(alone, params), batches)


def _inner(loop: ListLoop, batches: Batches, definitions: Definitions) -> Function:
    """A loop that is a function inside another, with its own functions inside."""
    over, alone = Var(f"{loop.name.name_hint}_over"), Var(f"{loop.name.name_hint}_alone")
    params = _new_params(loop)
    together = Let(over, _over_results(loop, over, batches), Call(over, _args_over(loop, params, batches, definitions)))
    one_by_one = None if batches.choice is None else Let(alone, _under_another_name(loop, alone), Call(alone, params))
    return _chosen(loop, params, together, one_by_one, batches)


def _chosen(
    loop: ListLoop, params: Sequence[Var], together: Expr, one_by_one: Expr | None, batches: Batches
) -> Function:
    """`fn (params) { if (levels pay) { together } else { one by one } }`"""
    body = together
    if batches.choice is not None and one_by_one is not None:
        values = params[loop.function.params.index(loop.subject)]
        body = If(batches.choice.pays_together(values), together, one_by_one)
    return Function(tuple(params), body, loop.function.ret_type, span=loop.function.span)


def _new_params(loop: ListLoop) -> tuple[Var, ...]:
    return tuple(typed_var(param.name_hint, known_type(param)) for param in loop.function.params)


def _under_another_name(loop: ListLoop, name: GlobalVar | Var) -> Function:
    renamed = rewrite(loop.function, lambda node: name if node == loop.name else node)
    assert isinstance(renamed, Function)
    return renamed


def _args_over(loop: ListLoop, params: tuple[Var, ...], batches: Batches, definitions: Definitions) -> tuple[Expr, ...]:
    """The arguments of the loop over results: the parameters, with the results in place of the values."""
    define_each(batches, definitions)
    new = dict(zip(loop.function.params, params, strict=True))
    others = [arg for arg in loop.call.args if arg is not loop.element]
    rest = (new.get(arg, arg) if isinstance(arg, Var) else arg for arg in others)
    results = Call(batches.each, (new[loop.subject], *rest), span=loop.call.span)
    return tuple(results if param is loop.subject else new[param] for param in loop.function.params)


def _over_results(loop: ListLoop, name: GlobalVar | Var, batches: Batches) -> Function:
    """The loop over the list of the results of its calls."""
    results = batches.lists.of(batches.member.result)
    subject = Var(loop.subject.name_hint, results)
    result, rest = Var("result", batches.member.result), Var(loop.rest.name_hint, results)
    instead: dict[Expr, Expr] = {loop.subject: subject, loop.rest: rest, loop.call: result, loop.name: name}
    # no part of the call is replaced, so that it is met as it was
    bodies = [rewrite(clause.rhs, lambda node: instead.get(node, node)) for clause in loop.match.clauses]
    pattern = PatternConstructor(batches.lists.cons, (PatternVar(result), PatternVar(rest)))
    clauses = tuple(
        Clause(pattern if clause is loop.cell else clause.lhs, body)
        for clause, body in zip(loop.match.clauses, bodies, strict=True)
    )
    params = tuple(subject if param is loop.subject else param for param in loop.function.params)
    made = refresh(Function(params, Match(subject, clauses), loop.function.ret_type, span=loop.function.span))
    assert isinstance(made, Function)
    return made
