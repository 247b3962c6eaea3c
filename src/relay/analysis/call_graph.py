"""Which global functions name which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from relay.base.frozen import frozen
from relay.base.graph import strongly_connected
from relay.ir.expr import GlobalVar
from relay.ir.module import IRModule
from relay.ir.traversal import body_nodes


@frozen
class CallGraph:
    """`callees` of each function in the order they are named; `components`: groups that reach each other, callees
    before callers; `recursive`: the functions that can reach themselves."""

    callees: Mapping[GlobalVar, tuple[GlobalVar, ...]]
    components: tuple[tuple[GlobalVar, ...], ...]
    recursive: Set[GlobalVar]

    def callers(self, name: GlobalVar) -> tuple[GlobalVar, ...]:
        """The functions that name `name`."""
        return tuple(caller for caller, callees in self.callees.items() if name in callees)

    def reachable(self, roots: Iterable[GlobalVar]) -> tuple[GlobalVar, ...]:
        """`roots` and whatever they reach, each once, in the order they are met."""
        found: dict[GlobalVar, None] = {}
        waiting = list(roots)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found[name] = None
                waiting.extend(reversed(self.callees.get(name, ())))
        return tuple(found)


def call_graph(module: IRModule) -> CallGraph:
    """The call graph of a module. A function that is only named, not called, counts as called.

    >>> from relay.ir.expr import Call, Function
    >>> f, g = GlobalVar("f"), GlobalVar("g")
    >>> graph = call_graph(IRModule({f: Function((), Call(g, ())), g: Function((), Call(g, ()))}))
    >>> [[name.name_hint for name in group] for group in graph.components], f in graph.recursive
    ([['g'], ['f']], False)
    """
    callees: dict[GlobalVar, tuple[GlobalVar, ...]] = {}
    for name, function in module.functions.items():
        named = (node for node in body_nodes(function) if isinstance(node, GlobalVar) and node in module)
        callees[name] = tuple(dict.fromkeys(named))
    components = tuple(strongly_connected(callees, callees.__getitem__))
    recursive = {name for group in components for name in group if len(group) > 1 or name in callees[name]}
    return CallGraph(callees, components, recursive)
