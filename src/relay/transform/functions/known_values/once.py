"""A program of which nothing is copied: functions that are called in one place are entered there, and so are copies
that somebody made for single calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import chain
from typing import TypeAlias

from relay.base.trampoline import run
from relay.ir.expr import Call, Expr, Function, GlobalVar, If, Let, Match, Var
from relay.ir.known_types import known_type
from relay.ir.rewriting import typed_as, with_body
from relay.ir.traversal import children, post_order
from relay.ir.type_traversal import has_extents_of, type_symbols
from relay.ir.types import FuncType, Type
from relay.ir.variables import free_vars
from relay.normalize.a_normal_form import to_a_normal_form
from relay.normalize.graph_normal_form import to_graph_normal_form
from relay.transform.functions.known_values.choices import Choices
from relay.transform.functions.known_values.evaluator import Evaluator
from relay.transform.functions.known_values.functions import Functions
from relay.transform.functions.known_values.policy import Policy, Work
from relay.transform.functions.known_values.residual import Residual
from relay.transform.functions.known_values.values import (
    Environment,
    KnownFunction,
    KnownName,
    PartialValue,
)
from relay.transform.simplify.dead_code_elimination import without_dead_code

CopyFor: TypeAlias = Callable[[Call], Function | None]


class Once(Policy):
    """The policy for one function in A-normal form; `policy.Policy` says what its attributes are. `copy_for` gives, for
    a call of a global function, a copy in A-normal form whose body shall stand for it."""

    def __init__(self, function: Function, evaluator: Evaluator, copy_for: CopyFor) -> None:
        self.evaluator = evaluator
        self.copy_for = copy_for
        self.counts = self._counts = Counter[Expr]()
        self.opaque = self._opaque = set[Function]()
        self.only_called = self._only_called = set[Var]()
        self._entered: dict[Call, Function] = {}
        self._symbols = frozenset(type_symbols(known_type(function)))
        self._look_at(function.body)

    def _look_at(self, body: Expr) -> None:
        """Find the functions in a body that are called in one place."""
        nodes = post_order(body)
        if not any(isinstance(node, Function | If | Match) for node in nodes):
            return  # nothing is called in it, and nothing asks how often a name is used
        self._counts.update(chain((body,), *map(children, nodes)))
        functions = [node for node in nodes if isinstance(node, Function)]
        if not functions:
            return
        opaque = [each for each in functions if each.attrs or self._counts[each] > 1]
        self._opaque.update(opaque)
        kept = {var for each in opaque for var in free_vars(each)}
        inside = {part for each in opaque for part in post_order(each)}
        bound = {
            node.var: node.value
            for node in nodes
            if isinstance(node, Let) and isinstance(node.value, Function) and node.value not in self._opaque
            and self._counts[node.var] == 1 and node.var not in kept
        }  # fmt: skip
        for node in nodes:
            if isinstance(node, Call) and node not in inside:
                callee = bound.get(node.op) if isinstance(node.op, Var) else node.op
                if isinstance(callee, Function) and self._stands_for(callee, node):
                    self._entered[node] = callee
                    self._only_called.update({node.op} if isinstance(node.op, Var) else ())

    def _stands_for(self, function: Function, call: Call) -> bool:
        """Whether the body of a function may take the place of its call: all types are the same, and no extent is
        checked."""
        type_ = known_type(function)
        if function in self._opaque or not isinstance(type_, FuncType) or not has_extents_of(type_, self._symbols):
            return False
        if function.type_params or not function.body.checked_type == call.checked_type == type_.ret_type:
            return False
        given = [each.checked_type for each in call.args]
        return given == list(type_.arg_types) and [each.checked_type for each in function.params] == given

    def call(self, node: Call, callee: PartialValue, values: tuple[PartialValue, ...], type_: Type, name: Var) -> Work:
        """The body of a function in place of its only call, or of a call for which there is a copy, or the call."""
        function = self._entered[node] if node in self._entered else self._copy(node, callee)
        if function is None:
            return (yield from self.evaluator.unknown_call(node, callee, values, callee, type_, name))
        self.evaluator.residual.reductions += 1
        inner = Environment(callee.static.environment if isinstance(callee.static, KnownFunction) else None)
        for param, value in zip(function.params, values, strict=True):
            yield from self.evaluator.define(param, value, inner)
        return (yield self.evaluator.chain(function.body, inner))

    def _copy(self, node: Call, callee: PartialValue) -> Function | None:
        if not isinstance(callee.static, KnownName) or not isinstance(callee.static.name, GlobalVar):
            return None
        copy = self.copy_for(typed_as(Call(callee.static.name, node.args, span=node.span), node))
        if copy is not None:
            self._look_at(copy.body)
        return copy


def simplified(function: Function, functions: Functions, copy_for: CopyFor = lambda _: None) -> Function:
    """The function after one walk, in graph normal form; the same function where nothing is known. `copy_for`
    as of `Once`."""
    normal = to_a_normal_form(function)
    residual = Residual(copies=False, parts=functions.parts_of)
    evaluator = Evaluator(functions, residual)
    evaluator.policy = Once(normal, evaluator, copy_for)
    evaluator.choice = Choices(evaluator).value
    body = run(evaluator.whole(normal))
    if not residual.reductions:
        return function
    return to_graph_normal_form(without_dead_code(with_body(function, body), functions.module, functions.effects))
