"""The typing rule of functions: what their bodies see, and what they promise their callers."""

from __future__ import annotations

from collections.abc import Iterable

from relay.arith.expr import Symbol, free_symbols
from relay.base.diagnostics import Origin, RelayError
from relay.base.frozen import frozen
from relay.infer.forms.node_types import NodeTypes
from relay.infer.unification.dimensions import close_symbols
from relay.infer.unification.explain import mismatch_error, place, span_of_use
from relay.infer.unification.unify import Mode
from relay.ir.expr import Function
from relay.ir.type_traversal import free_type_leaves, type_symbols
from relay.ir.types import FuncType, Type, TypeVar


@frozen
class Scope:
    """The body of a function: the symbols and type parameters that may be mentioned there, those of its symbols that
    annotations of parameters name (each caller chooses them), and the type parameters that are the function's own."""

    symbols: frozenset[Symbol] = frozenset()
    type_vars: frozenset[TypeVar] = frozenset()
    annotated: frozenset[Symbol] = frozenset()
    own: tuple[TypeVar, ...] = ()


class EnclosingFunctions:
    """The functions around the node that is being typed; their scopes, innermost last."""

    def __init__(self, nodes: NodeTypes) -> None:
        self._nodes = nodes
        self._scopes = [Scope()]

    @property
    def scope(self) -> Scope:
        """The innermost scope."""
        return self._scopes[-1]

    def enter(self, node: Function) -> None:
        """The parameters get types, and the body comes into their scope."""
        params = [self._nodes.of(param) for param in node.params]
        annotations = [param.type_annotation for param in node.params if param.type_annotation is not None]
        around = self.scope
        own = own_type_params(node, params, around.type_vars)
        symbols = around.symbols.union(*map(type_symbols, params))
        annotated = around.annotated.union(*map(type_symbols, annotations))
        self._scopes.append(Scope(symbols, around.type_vars.union(own), annotated, own))
        self._nodes.unifier.visible = symbols
        if node.ret_type is not None:
            self._nodes.environment.check_annotation(node.ret_type, "the result of a function", node.span)
            self.loosen(node.ret_type)

    def leave(self, node: Function) -> None:
        """The body is typed, so the function is.

        Raises `RelayError` (rules `return-type`, `rigid-dimension`) when the body is not what the signature promises.
        """
        nodes = self._nodes
        if node.ret_type is not None:
            self._check_result(node, node.ret_type)
        scope = self._scopes.pop()
        nodes.unifier.visible = self.scope.symbols
        ret_type = close_symbols(nodes.unifier.zonk(node.ret_type or nodes.of(node.body)), scope.symbols)
        nodes.determine(node, scope.symbols)
        nodes.set(node, FuncType(tuple(map(nodes.now, node.params)), ret_type, scope.own))

    def loosen(self, annotation: Type, found: Type | None = None) -> None:
        """Symbols that an annotation in a body mentions first stand for extents to be found. Those that the type which
        was `found` for the value mentions are not its first: they stand for what they stand for there."""
        known = self.scope.symbols if found is None else self.scope.symbols.union(type_symbols(found))
        self._nodes.unifier.flexible.update(set(type_symbols(annotation)) - known)

    def _check_result(self, node: Function, ret_type: Type) -> None:
        nodes = self._nodes
        undecided_before = len(nodes.unifier.undecided)
        mismatch = nodes.relate(nodes.of(node.body), ret_type, Mode.ASSIGN, node)
        sides = (nodes.origin("body", node.body), Origin("declared", str(ret_type), f"the signature{place(node.span)}"))
        if mismatch is not None:
            message = "the body of a function is not of the declared type"
            raise mismatch_error("return-type", message, span_of_use(node.body, node), mismatch, sides)
        for pair in nodes.unifier.undecided[undecided_before:]:
            if free_symbols(pair.found) | free_symbols(pair.expected) <= self.scope.annotated:
                raise RelayError(
                    rule="rigid-dimension",
                    message=f"the signature promises {pair.expected}, but the body has {pair.found}",
                    span=span_of_use(node.body, node),
                    origins=sides,
                    remedy="each caller chooses these extents, so they may differ; declare what the body has, or `?`",
                )


def own_type_params(function: Function, params: Iterable[Type], around: frozenset[TypeVar]) -> tuple[TypeVar, ...]:
    """The type parameters of a function whose parameters have these types, before generalisation: those that it
    declares, and the variables that stand first in the types of its parameters, which an earlier inference found.

    >>> from relay.ir.expr import const
    >>> a, b, c = TypeVar("a"), TypeVar("b"), TypeVar("c")
    >>> [variable.name for variable in own_type_params(Function((), const(0), None, (c,)), (a, b), frozenset({a}))]
    ['c', 'b']
    """
    found = dict.fromkeys(function.type_params)
    for param in params:
        found.update((leaf, None) for leaf in free_type_leaves(param) if isinstance(leaf, TypeVar))
    return tuple(variable for variable in found if variable not in around or variable in function.type_params)
