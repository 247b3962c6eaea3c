"""A program of which nothing is copied: functions that are called in one place are entered there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set

from relay.arith.expr import Symbol
from relay.ir.expr import Call, Function, Let, Var
from relay.ir.traversal import children, post_order
from relay.ir.type_traversal import has_extents_of, type_symbols
from relay.ir.types import FuncType, Type
from relay.ir.variables import free_vars
from relay.transform.functions.known_values.evaluator import Evaluator
from relay.transform.functions.known_values.policy import Work
from relay.transform.functions.known_values.values import Environment, KnownFunction, PartialValue


class Once:
    """The policy for one function in A-normal form; `policy.Policy` says what its attributes are."""

    def __init__(self, function: Function, evaluator: Evaluator) -> None:
        nodes = post_order(function.body)
        places = [part for node in nodes for part in children(node)] + [function.body]
        times = Counter(part for part in places if isinstance(part, Function))
        functions = [node for node in nodes if isinstance(node, Function)]
        self.evaluator = evaluator
        self.counts = Counter(part for part in places if isinstance(part, Var))
        self.opaque: Set[Function] = {each for each in functions if each.attrs or times[each] > 1}
        opaque = [each for each in functions if each in self.opaque]
        kept = {var for each in opaque for var in free_vars(each)}
        inside = {part for each in opaque for part in post_order(each)}
        bound = {
            node.var: node.value
            for node in nodes
            if isinstance(node, Let) and isinstance(node.value, Function) and node.value not in self.opaque
            and self.counts[node.var] == 1 and node.var not in kept
        }  # fmt: skip
        symbols = frozenset(type_symbols(function.checked_type)) if function.checked_type is not None else frozenset()
        self.only_called: set[Var] = set()
        self._entered: set[Call] = set()
        for node in nodes:
            if isinstance(node, Call) and node not in inside:
                callee = bound.get(node.op) if isinstance(node.op, Var) else node.op
                if isinstance(callee, Function) and callee not in self.opaque and _stands_for(callee, node, symbols):
                    self._entered.add(node)
                    self.only_called.update({node.op} if isinstance(node.op, Var) else ())

    def call(self, node: Call, callee: PartialValue, values: tuple[PartialValue, ...], type_: Type, name: Var) -> Work:
        """The body of a function in place of its only call, or the call."""
        if node not in self._entered or not isinstance(callee.static, KnownFunction):
            return (yield self.evaluator.unknown_call(node, callee, values, callee, type_, name))
        self.evaluator.residual.reductions += 1
        function = callee.static.function
        inner = Environment(callee.static.environment)
        for param, value in zip(function.params, values, strict=True):
            yield self.evaluator.define(param, value, inner)
        return (yield self.evaluator.chain(function.body, inner))


def _stands_for(function: Function, call: Call, symbols: frozenset[Symbol]) -> bool:
    """Whether the body of a function may take the place of its call: all types are the same, and no extent is
    checked."""
    type_ = function.checked_type
    if not isinstance(type_, FuncType) or function.type_params or not has_extents_of(type_, symbols):
        return False
    if function.body.checked_type != call.checked_type or type_.ret_type != call.checked_type:
        return False
    given = [each.checked_type for each in call.args]
    return given == list(type_.arg_types) and [each.checked_type for each in function.params] == given
