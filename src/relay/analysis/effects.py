"""What evaluating an expression can do besides giving a value. Whoever removes, shares, moves or repeats work asks.

Sound, not exact: a function that is not known (a parameter, a field of a tuple) may do everything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from relay.analysis.call_graph import call_graph
from relay.base.frozen import frozen
from relay.base.graph import post_order as graph_post_order
from relay.ir.expr import (
    Call,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    Let,
    Match,
    Op,
    RefCreate,
    RefRead,
    RefWrite,
    Var,
)
from relay.ir.module import IRModule
from relay.ir.operator import Effect
from relay.ir.sharing import value_node
from relay.ir.traversal import children


@frozen
class Effects:
    """What may happen. `reads`, `writes` and `allocates` are of refs; `may_diverge`: it may not end."""

    may_fail: bool = False
    stateful: bool = False
    reads: bool = False
    writes: bool = False
    allocates: bool = False
    may_diverge: bool = False

    def __or__(self, other: Effects) -> Effects:
        if other is NONE or self is other:
            return self
        if self is NONE:
            return other
        return Effects(*(getattr(self, name) or getattr(other, name) for name in self.__match_args__))

    @property
    def kind(self) -> Effect:
        """The strongest effect in the terms of operators."""
        if self.stateful or self.reads or self.writes or self.allocates:
            return Effect.STATEFUL
        return Effect.MAY_FAIL if self.may_fail else Effect.PURE

    @property
    def is_removable(self) -> bool:
        """Whether nobody can tell that it was not evaluated, when its value is not used."""
        return not (self.may_fail or self.stateful or self.writes or self.may_diverge)

    @property
    def is_repeatable(self) -> bool:
        """Whether evaluating it again, or at another time, gives the same."""
        return not (self.stateful or self.reads or self.writes or self.allocates)


NONE = Effects()
EVERYTHING = Effects(True, True, True, True, True, True)
_OF_OPERATOR = {
    Effect.PURE: NONE,
    Effect.MAY_FAIL: Effects(may_fail=True),
    Effect.STATEFUL: Effects(stateful=True),
}


def effects_of(expr: Expr, module: IRModule | None = None) -> Effects:
    """What evaluating `expr` can do; for a Function nothing: see `effects_of_call`. Globals are those of `module`.

    >>> from relay.ir.expr import const
    >>> effects_of(RefWrite(Var("r"), const(1))).is_removable
    False
    """
    return ModuleEffects(module or IRModule()).of(expr)


def effects_of_call(function: Function | GlobalVar, module: IRModule | None = None) -> Effects:
    """What calling a function can do."""
    return ModuleEffects(module or IRModule()).of_call(function)


class ModuleEffects:
    """The same questions asked many times of one module: its functions are looked at once, and so is each node.

    >>> from relay.ir.expr import const
    >>> effects = ModuleEffects(IRModule())
    >>> effects.of_call(Function((), RefCreate(const(1)))).allocates, effects.of(const(1)) == NONE
    (True, True)
    """

    def __init__(self, module: IRModule) -> None:
        self._module = module
        self._of_functions: dict[Function, Effects] = {}
        self._of_nodes = _Analysis(self.of_call)

    @cached_property
    def _of_globals(self) -> dict[GlobalVar, Effects]:
        """What calling each global can do."""
        graph = call_graph(self._module)
        known: dict[GlobalVar, Effects] = {}
        for group in graph.components:
            known |= _of_group({name: self._module[name] for name in group}, group[0] in graph.recursive, known)
        return known

    def change(self, group: Mapping[GlobalVar, Function], is_recursive: bool) -> None:
        """Functions have other bodies now: one, or those that call each other. What they call is up to date."""
        self._of_globals.update(_of_group(group, is_recursive, self._of_globals))

    def of(self, expr: Expr) -> Effects:
        """What evaluating `expr` can do. A node that was met before is not looked at again: asked of every node that
        a rewriting makes, this is linear in all. A variable that is called may do everything unless its let was met."""
        return self._of_nodes.of(expr)

    def own(self, expr: Expr) -> Effects:
        """What evaluating a node that was met can do beyond what its parts do."""
        return self._of_nodes.own[expr]

    def of_nodes(self, root: Expr) -> Mapping[Expr, Effects]:
        """What evaluating each node of `root`, with all its parts, can do."""
        analysis = _Analysis(self.of_call)
        analysis.of(root)
        return analysis.totals

    def of_call(self, function: Function | GlobalVar) -> Effects:
        """What calling a function can do."""
        if isinstance(function, GlobalVar):
            return self._of_globals.get(function, EVERYTHING)
        if function not in self._of_functions:
            self._of_functions[function] = _Analysis(self.of_call).of(function.body)
        return self._of_functions[function]


def _of_group(
    group: Mapping[GlobalVar, Function], is_recursive: bool, known: Mapping[GlobalVar, Effects]
) -> dict[GlobalVar, Effects]:
    """What calling functions can do that call each other: all of them what any of them does, and then they may not end.
    `known` are their callees."""
    total = Effects(may_diverge=True) if is_recursive else NONE
    within = total
    for function in group.values():
        total |= _Analysis(lambda name: within if name in group else known.get(name, EVERYTHING)).of(function.body)
    return dict.fromkeys(group, total)


class _Analysis:
    """Walks from the leaves up, each node once. `own` holds what each node met so far can do beyond its parts, `totals`
    what it can do with them, `latent` what calling a function can do, `values` what variables are bound to."""

    def __init__(self, of_global: Callable[[GlobalVar], Effects]) -> None:
        self.of_global = of_global
        self.latent: dict[Function, Effects] = {}
        self.own: dict[Expr, Effects] = {}
        self.totals: dict[Expr, Effects] = {}
        self.values: dict[Var, Expr] = {}

    def of(self, root: Expr) -> Effects:
        """What evaluating `root` can do, its parts included."""
        own, totals = self.own, self.totals
        nodes = [node for node in graph_post_order((root,), self._new_parts) if node not in totals]
        self.values.update((node.var, node.value) for node in nodes if isinstance(node, Let))
        own_calls = _self_calls(nodes)
        for node in nodes:
            if isinstance(node, Function):
                self.latent[node] = totals[node.body]
                totals[node] = own[node] = NONE
                continue
            total = own[node] = Effects(may_diverge=True) if node in own_calls else self._own(node)
            for child in children(node):
                part = totals[child]
                if part is not NONE:
                    total |= part
            totals[node] = total
        return totals[root]

    def _new_parts(self, node: Expr) -> tuple[Expr, ...]:
        return () if node in self.totals else children(node)

    def _own(self, node: Expr) -> Effects:
        match node:
            case Call(op):
                return self._calling(op)
            case RefCreate():
                return Effects(allocates=True)
            case RefRead():
                return Effects(reads=True)
            case RefWrite():
                return Effects(writes=True)
            case Match(_, _, complete) if not complete:
                return Effects(may_fail=True)
            case _:
                return NONE

    def _calling(self, callee: Expr) -> Effects:
        callee = value_node(callee)
        while isinstance(callee, Var) and callee in self.values:
            callee = value_node(self.values[callee])
        match callee:
            case Op(operator):
                return _OF_OPERATOR[operator.effect]
            case Constructor():
                return NONE
            case GlobalVar():
                return self.of_global(callee)
            case Function():
                return self.latent.get(callee, EVERYTHING)
            case _:
                return EVERYTHING


def _self_calls(nodes: list[Expr]) -> set[Expr]:
    """The calls by which a function bound to a variable calls itself, not counting those from functions inside it:
    they add nothing to what the function does, but that it may not end."""
    found: set[Expr] = set()
    for let in nodes:
        if isinstance(let, Let) and isinstance(let.value, Function):
            found.update(n for n in _without_inner_functions(let.value.body) if isinstance(n, Call) and n.op is let.var)
    return found


def _without_inner_functions(root: Expr) -> list[Expr]:
    found: list[Expr] = []
    met: set[Expr] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node not in met and not isinstance(node, Function):
            met.add(node)
            found.append(node)
            stack.extend(children(node))
    return found
