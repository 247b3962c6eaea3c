"""What evaluating an expression can do besides giving a value. Whoever removes, shares, moves or repeats work asks.

Sound, not exact: a function that is not known (a parameter, a field of a tuple) may do everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from relay.analysis.call_graph import call_graph
from relay.base.frozen import frozen
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
from relay.ir.traversal import children, post_order


@frozen
class Effects:
    """What may happen. `reads`, `writes` and `allocates` are of refs; `may_diverge`: it may not end."""

    may_fail: bool = False
    random: bool = False
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
        if self.random:
            return Effect.RANDOM
        return Effect.MAY_FAIL if self.may_fail else Effect.PURE

    @property
    def is_removable(self) -> bool:
        """Whether nobody can tell that it was not evaluated, when its value is not used."""
        return not (self.may_fail or self.random or self.stateful or self.writes or self.may_diverge)

    @property
    def is_repeatable(self) -> bool:
        """Whether evaluating it again, or at another time, gives the same."""
        return not (self.random or self.stateful or self.reads or self.writes or self.allocates)


NONE = Effects()
EVERYTHING = Effects(True, True, True, True, True, True, True)
_OF_OPERATOR = {
    Effect.PURE: NONE,
    Effect.MAY_FAIL: Effects(may_fail=True),
    Effect.RANDOM: Effects(random=True),
    Effect.STATEFUL: Effects(stateful=True),
}


def effects_of(expr: Expr, module: IRModule | None = None) -> Effects:
    """What evaluating `expr` can do; for a Function nothing: see `effects_of_call`. Globals are those of `module`.

    >>> from relay.ir.expr import const
    >>> effects_of(RefWrite(Var("r"), const(1))).is_removable
    False
    """
    return _Analysis(_global_effects(module or IRModule())).of(expr)


def own_effects(root: Expr, module: IRModule | None = None) -> Callable[[Expr], Effects]:
    """What evaluating a node of `root` can do beyond what its parts do: one walk answers for all nodes."""
    return _Analysis(_global_effects(module or IRModule())).own(root)


def effects_of_call(function: Function | GlobalVar, module: IRModule | None = None) -> Effects:
    """What calling a function can do."""
    known = _global_effects(module or IRModule())
    if isinstance(function, GlobalVar):
        return known.get(function, EVERYTHING)
    return _Analysis(known).of(function.body)


class ModuleEffects:
    """The same questions asked many times of one module: its functions are looked at once.

    >>> from relay.ir.expr import const
    >>> ModuleEffects(IRModule()).of_call(Function((), RefCreate(const(1)))).allocates
    True
    """

    def __init__(self, module: IRModule) -> None:
        self._of_globals = _global_effects(module)
        self._of_functions: dict[int, tuple[Function, Effects]] = {}

    def of_nodes(self, root: Expr) -> dict[int, Effects]:
        """What evaluating each node of `root`, with all its parts, can do; by identity."""
        analysis = _Analysis(self._of_globals)
        analysis.own(root)
        return analysis.totals

    def of_call(self, function: Function | GlobalVar) -> Effects:
        """What calling a function can do."""
        if isinstance(function, GlobalVar):
            return self._of_globals.get(function, EVERYTHING)
        known = self._of_functions.get(id(function))
        if known is None:
            effects = _Analysis(self._of_globals).of(function.body)
            known = self._of_functions[id(function)] = (function, effects)
        return known[1]


def _global_effects(module: IRModule) -> dict[GlobalVar, Effects]:
    """What calling each global can do: those of a recursive group may do what any of them does, and may not end."""
    graph = call_graph(module)
    known: dict[GlobalVar, Effects] = {}
    for group in graph.components:
        recursive = graph.is_recursive(group[0])
        total = Effects(may_diverge=True) if recursive else NONE
        known.update((name, total) for name in group if recursive)
        for name in group:
            total |= _Analysis(known).of(module[name].body)
        known.update((name, total) for name in group)
    return known


class _Analysis:
    """One walk, from the leaves up. `latent` holds what calling each function met so far can do, `totals` what each
    node can do, its parts included."""

    def __init__(self, of_globals: dict[GlobalVar, Effects]) -> None:
        self.of_globals = of_globals
        self.latent: dict[int, Effects] = {}
        self.totals: dict[int, Effects] = {}
        self.values: dict[Var, Expr] = {}

    def of(self, root: Expr) -> Effects:
        """What evaluating `root` can do, its parts included."""
        self.own(root)
        return self.totals[id(root)]

    def own(self, root: Expr) -> Callable[[Expr], Effects]:
        """What each node can do beyond its parts."""
        nodes = post_order(root)
        self.values = {node.var: node.value for node in nodes if isinstance(node, Let)}
        own_calls = _self_calls(nodes)
        own: dict[int, Effects] = {}
        totals = self.totals
        for node in nodes:
            if isinstance(node, Function):
                self.latent[id(node)] = totals[id(node.body)]
                totals[id(node)] = own[id(node)] = NONE
                continue
            own[id(node)] = Effects(may_diverge=True) if id(node) in own_calls else self._own(node)
            totals[id(node)] = _union(totals[id(child)] for child in children(node)) | own[id(node)]
        return lambda node: own[id(node)]

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
                return self.of_globals.get(callee, EVERYTHING)
            case Function():
                return self.latent.get(id(callee), EVERYTHING)
            case _:
                return EVERYTHING


def _self_calls(nodes: list[Expr]) -> set[int]:
    """The calls by which a function bound to a variable calls itself, not counting those from functions inside it:
    they add nothing to what the function does, but that it may not end."""
    found: set[int] = set()
    for let in nodes:
        if isinstance(let, Let) and isinstance(let.value, Function):
            found.update(
                id(n) for n in _without_inner_functions(let.value.body) if isinstance(n, Call) and n.op is let.var
            )
    return found


def _without_inner_functions(root: Expr) -> list[Expr]:
    found: list[Expr] = []
    met: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if id(node) not in met and not isinstance(node, Function):
            met.add(id(node))
            found.append(node)
            stack.extend(children(node))
    return found


def _union(effects: Iterable[Effects]) -> Effects:
    total = NONE
    for part in effects:
        total |= part
    return total
