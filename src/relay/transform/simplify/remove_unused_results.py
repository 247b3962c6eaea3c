"""Leave out the parts of results that no caller looks at: RemoveUnusedResults.

    before: def @f(%x: float32) -> (float32, float32) { (exp(%x), log(%x)) }
            def @main(%x: float32) { let %r = @f(%x); %r.1 }
    after:  def @f_used(%x: float32) -> ((), float32) { ((), log(%x)) }
            def @main(%x: float32) { let %r = @f_used(%x); %r.1 }                           (@f stays)

So a second derivative computes of a first one only what it needs, and a recursion carries nothing that its caller drops
(the half of dead argument elimination that is about results). What nobody looks at is `()`, so all other parts keep
their places. Looked at is what `@main` gives and what that needs, over all calls, by a fixed point from below. A
function that is used as a value, is generic or has attributes gives all of its result; one that ends in a call gives
what that function gives, so that calls stay in tail position. What may fail, draws, writes, may not end or checks an
extent is computed all the same, as everywhere (DeadCodeElimination). Floating point: EXACT.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from typing import TypeAlias

from relay.analysis.call_graph import call_graph
from relay.analysis.effects import ModuleEffects
from relay.base.names.fresh_names import FreshNames
from relay.infer.eager import typed_by_parts
from relay.ir.expr import (
    Call,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    Tuple,
    TupleGetItem,
    Var,
    record_type,
    record_type_args,
)
from relay.ir.known_types import known_type, typed_var
from relay.ir.module import IRModule
from relay.ir.rewriting import renamed_functions, with_body, with_lets
from relay.ir.traversal import body_nodes, children, rebuild
from relay.ir.type_traversal import tuple_leaves
from relay.ir.types import FuncType, TupleType, Type
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.extents import copied
from relay.transform.functions.remove_unused_functions import MAIN
from relay.transform.simplify.dead_code_elimination import Removable

Path: TypeAlias = tuple[int, ...]
"""The fields that lead to a leaf of nested tuples, outermost first."""

Leaves: TypeAlias = frozenset[Path]


@module_pass(level=2)
def RemoveUnusedResults(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Give `()` for what no caller looks at of what a function gives."""
    if MAIN not in module:
        return module
    reached = {name: module[name] for name in call_graph(module).reachable([MAIN])}
    if not any(map(_may_shrink, reached.items())):
        return module
    effects = ModuleEffects(module)
    uses = {name: _Uses(function, module, effects) for name, function in reached.items()}
    needed = _needed_results(uses)
    shrinking = {name for name, leaves in needed.items() if leaves != _leaves(module[name].body)}
    if not shrinking:
        return module
    names = FreshNames(module.__contains__)
    new = {name: GlobalVar(names.take(f"{name.name_hint}_used")) for name in reached if name in shrinking}
    changed = {name: _shrunk(name, each, needed) for name, each in uses.items()}
    changed |= {name: copied(changed[name]) for name in new}
    return module.with_functions({**module.functions, **renamed_functions(changed, new)})


def _may_shrink(named: tuple[GlobalVar, Function]) -> bool:
    """Whether a function gives several values to callers that all are known."""
    name, function = named
    type_ = function.checked_type
    plain = isinstance(type_, FuncType) and not type_.type_params and not function.attrs
    return plain and name != MAIN and isinstance(function.body.checked_type, TupleType)


def _leaves(expr: Expr) -> Leaves:
    """Where the values in nested tuples are; of any other value the one place."""
    type_ = expr.checked_type
    return _leaves_of(type_) if isinstance(type_, TupleType) else _WHOLE


_WHOLE: Leaves = frozenset({()})


@lru_cache(maxsize=1024)
def _leaves_of(type_: Type) -> Leaves:
    return frozenset(path for path, _ in tuple_leaves(type_))


def _in_field(leaves: Set[Path], index: int) -> Leaves:
    return frozenset(path[1:] for path in leaves if path[0] == index)


def _of_field(leaves: Set[Path], index: int) -> Leaves:
    return frozenset((index, *path) for path in leaves)


class _Uses:
    """What is looked at of the value of each node of a function."""

    def __init__(self, function: Function, module: IRModule, effects: ModuleEffects) -> None:
        self.function = function
        self.nodes = body_nodes(function)
        self.bound = {node.var: node.value for node in self.nodes if isinstance(node, Let)}
        self.is_removable = Removable(self.nodes, effects.of_nodes(function.body), module)

    def of_nodes(self, result: Leaves) -> Mapping[Expr, Set[Path]]:
        """For each node that is computed the leaves of its value that are looked at, where `result` are of the
        function's."""
        found: dict[Expr, set[Path]] = defaultdict(set)
        found[self.function.body] |= result
        for node in reversed(self.nodes):
            leaves = found.get(node)
            if leaves is None or self.is_left_out(node, leaves):
                continue
            match node:
                case Var():
                    if node in self.bound:
                        found[self.bound[node]] |= leaves
                case Tuple(fields):
                    for index, each in enumerate(fields):
                        found[each] |= _in_field(leaves, index)
                case TupleGetItem(whole, index) if _leaves(node):
                    found[whole] |= _of_field(leaves, index)
                case Let(value=value, body=body):
                    found[body] |= leaves
                    # a function may name itself, so it is met before all its uses are
                    found[value] |= _leaves(value) if isinstance(value, Function) else frozenset()
                case If(cond, true_branch, false_branch):
                    found[cond] |= _leaves(cond)
                    found[true_branch] |= leaves
                    found[false_branch] |= leaves
                case Match(data, clauses):
                    found[data] |= _leaves(data)
                    for each in clauses:
                        found[each.rhs] |= leaves
                case _:
                    for each in children(node):
                        found[each] |= _leaves(each)
        return found

    def is_left_out(self, node: Expr, leaves: Set[Path]) -> bool:
        return not leaves and bool(_leaves(node)) and self.is_removable(node)

    def ends(self) -> list[GlobalVar]:
        """The functions whose result may be the function's own."""
        found: list[GlobalVar] = []
        waiting = [self.function.body]
        while waiting:
            match waiting.pop():
                case Let(body=body):
                    waiting.append(body)
                case If(_, true_branch, false_branch):
                    waiting += [true_branch, false_branch]
                case Match(_, clauses):
                    waiting += [each.rhs for each in clauses]
                case Call(op=GlobalVar() as callee):
                    found.append(callee)
                case _:
                    pass
        return found


def _needed_results(uses: Mapping[GlobalVar, _Uses]) -> dict[GlobalVar, Leaves]:
    """For each function whose callers are all known the leaves of its result that somebody looks at."""
    whole = {name: _leaves(each.function.body) for name, each in uses.items()}
    needed: dict[GlobalVar, Leaves] = {
        name: frozenset() for name, each in uses.items() if _may_shrink((name, each.function))
    }
    enders: dict[GlobalVar, set[GlobalVar]] = defaultdict(set)
    waiting = list(uses)

    def look_at(name: GlobalVar, leaves: Set[Path]) -> None:
        if name in needed and not leaves <= needed[name]:
            needed[name] |= leaves
            waiting.extend({name, *enders[name]})

    for name, each in uses.items():
        for callee in each.ends():
            enders[callee].add(name)
        for node in each.nodes:
            for part in node.args if isinstance(node, Call) else children(node):
                if isinstance(part, GlobalVar):
                    look_at(part, whole[part])
    while waiting:
        name = waiting.pop()
        for callee in uses[name].ends():
            look_at(name, needed.get(callee, whole[name]))
        for node, leaves in uses[name].of_nodes(needed.get(name, whole[name])).items():
            if isinstance(node, Call) and isinstance(node.op, GlobalVar):
                look_at(node.op, leaves)
    return needed


def _shrunk(name: GlobalVar, uses: _Uses, needed: Mapping[GlobalVar, Leaves]) -> Function:
    """The function with the needed leaves of its result alone, where the functions that it calls give theirs."""
    function = uses.function
    result = needed.get(name, _leaves(function.body))
    shrinking = _Shrinking(uses, uses.of_nodes(result), needed)
    for node in uses.nodes:
        shrinking.go_over(node)
    body = shrinking.with_leaves(function.body, result)
    if result == _leaves(function.body):
        return with_body(function, body)
    type_ = _narrowed(known_type(function.body), result)
    return typed_by_parts(Function(function.params, body, type_, span=function.span))


class _Shrinking:
    """What stands for the nodes of a function, parts first."""

    def __init__(self, uses: _Uses, looked_at: Mapping[Expr, Set[Path]], needed: Mapping[GlobalVar, Leaves]) -> None:
        self.uses = uses
        self.looked_at = looked_at
        self.needed = needed
        self.new: dict[Expr, Expr] = {}
        self.given: dict[Expr, Leaves] = {}
        self.variables: dict[Expr, Var] = {}

    def go_over(self, node: Expr) -> None:
        """Put what stands for a node in `new`, and the leaves that it has in `given`, unless it is left out."""
        leaves = frozenset(self.looked_at.get(node, ()))
        if node not in self.looked_at or self.uses.is_left_out(node, leaves):
            return
        made, given = self._shrunk(node, leaves)
        if made is not node and made.checked_type is None and node.checked_type is not None:
            record_type(made, _narrowed(node.checked_type, given))
            if isinstance(made, Call) and isinstance(node, Call):
                record_type_args(made, node.type_args)
        self.new[node], self.given[node] = made, given

    def _shrunk(self, node: Expr, leaves: Leaves) -> tuple[Expr, Leaves]:
        new, with_leaves = self.new, self.with_leaves
        match node:
            case Var():
                return self._variable(node)
            case Tuple(fields) if leaves or not _leaves(node):
                parts = [with_leaves(each, _in_field(leaves, index)) for index, each in enumerate(fields)]
                return rebuild(node, parts), leaves
            case Tuple(fields):
                return self._for_effects([each for each in fields if each in new]), leaves
            case TupleGetItem(whole, index) if leaves or not _leaves(node):
                return rebuild(node, (new[whole],)), _in_field(self.given[whole], index)
            case TupleGetItem(whole):
                return self._for_effects([whole]), leaves
            case Let(value=value, body=body):
                inner = with_leaves(body, leaves)
                return (self._let(node, inner) if value in new else inner), leaves
            case If(cond, true_branch, false_branch):
                branches = with_leaves(true_branch, leaves), with_leaves(false_branch, leaves)
                return rebuild(node, (new[cond], *branches)), leaves
            case Match(data, clauses):
                return rebuild(node, (new[data], *(with_leaves(each.rhs, leaves) for each in clauses))), leaves
            case Call(op=GlobalVar() as callee) if callee in self.needed and self.needed[callee] != _leaves(node):
                args = tuple([new[each] for each in node.args])
                return Call(callee, args, node.attrs, node.given_type_args, span=node.span), self.needed[callee]
            case _:
                return rebuild(node, [new[each] for each in children(node)]), _leaves(node)

    def _let(self, let: Let, body: Expr) -> Let:
        (var, _), value = self._variable(let.var), self.new[let.value]
        if var is let.var and value is let.value and body is let.body:
            return let
        return Let(var, value, body, span=let.span)

    def _variable(self, var: Var) -> tuple[Var, Leaves]:
        """What stands for a variable: itself, where what it is bound to has all leaves."""
        given = self.given.get(self.uses.bound.get(var, var), _leaves(var))
        if given == _leaves(var):
            return var, given
        if var not in self.variables:
            annotation = None if var.type_annotation is None else _narrowed(var.type_annotation, given)
            new = Var(var.name_hint, annotation, span=var.span)
            self.variables[var] = record_type(new, _narrowed(known_type(var), given))
        return self.variables[var], given

    def with_leaves(self, node: Expr, wanted: Leaves) -> Expr:
        """What stands for a node, with some of the leaves that it has."""
        if self.uses.is_left_out(node, wanted):
            return _nothing()
        made, given = self.new[node], self.given[node]
        if given == wanted:
            return made
        if not wanted:
            return self._for_effects([node])
        if isinstance(made, Var):
            return _taken(made, given, wanted)
        var = typed_var("result", _narrowed(known_type(node), given))
        return typed_by_parts(Let(var, made, _taken(var, given, wanted), span=node.span))

    def _for_effects(self, nodes: Sequence[Expr]) -> Expr:
        bindings = [(typed_var("unused", known_type(self.new[each])), self.new[each]) for each in nodes]
        return with_lets(bindings, _nothing())


def _taken(value: Expr, given: Leaves, wanted: Leaves) -> Expr:
    """Some of the leaves that a value has."""
    if given == wanted:
        return value
    type_ = known_type(value)
    if not wanted or not isinstance(type_, TupleType):
        return _nothing()
    fields = [typed_by_parts(TupleGetItem(value, index)) for index in range(len(type_.fields))]
    taken = [_taken(each, _in_field(given, index), _in_field(wanted, index)) for index, each in enumerate(fields)]
    return typed_by_parts(Tuple(tuple(taken)))


def _nothing() -> Expr:
    return typed_by_parts(Tuple(()))


def _narrowed(type_: Type, leaves: Leaves) -> Type:
    """The type of a value that has some of the leaves of a type."""
    if not isinstance(type_, TupleType):
        return type_ if leaves else _NO_FIELDS
    if leaves == _leaves_of(type_):
        return type_
    if not leaves:
        return _NO_FIELDS
    return TupleType(tuple(_narrowed(each, _in_field(leaves, index)) for index, each in enumerate(type_.fields)))


_NO_FIELDS = TupleType(())
