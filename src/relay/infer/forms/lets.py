"""The typing rule of let: what a function may call itself by, and what its variable stands for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from relay.arith.expr import Symbol
from relay.base.diagnostics import Origin, RelayError
from relay.infer.environment import Signature
from relay.infer.forms.functions import EnclosingFunctions, own_type_params
from relay.infer.forms.node_types import NodeTypes
from relay.infer.unification.dimensions import close_symbols
from relay.infer.unification.explain import describe, mismatch_error, span_of_use
from relay.infer.unification.generalise import open_leaves, quantified
from relay.infer.unification.unify import Mode
from relay.ir.expr import Expr, Function, Let, Var
from relay.ir.sharing import Scopes, scopes
from relay.ir.traversal import LEAVES, post_order
from relay.ir.type_traversal import free_type_leaves, has_unknown_dimension, type_holes, type_symbols
from relay.ir.types import FuncType, IncompleteType, Type, TypeVar
from relay.ir.variables import free_vars


class Lets:
    """The lets of one expression."""

    def __init__(self, nodes: NodeTypes, enclosing: EnclosingFunctions, root: Expr) -> None:
        self._nodes = nodes
        self._enclosing = enclosing
        self._root = root
        self._around: dict[Var, frozenset[Symbol]] = {}  # the symbols of the functions around a let-bound function
        self._unfinished: set[Var] = set()  # the functions whose results are being inferred
        self._generalised: set[Expr] = set()  # the functions that give no type parameters and stand in a let first

    @cached_property
    def _scopes(self) -> Scopes:
        return scopes(self._root)

    def symbols_around(self, callee: Var) -> frozenset[Symbol] | None:
        """The symbols that a callee does not quantify; None while it is of one type, which is being inferred."""
        return None if callee in self._unfinished else self._around.get(callee, self._enclosing.scope.symbols)

    def announce(self, var: Var, function: Function) -> None:
        """A function that is typed next may call the variable that it is bound to: by its annotations, or as one
        type."""
        self._around[var] = self._enclosing.scope.symbols
        if function not in self._nodes and function.checked_type is None and not function.type_params:
            self._generalised.add(function)
        if var.type_annotation is None:
            around = self._enclosing.scope
            signature = announced(self._nodes, function, f"%{var.name_hint}", around.type_vars, around.symbols)
            self._nodes.bind(var, signature.type)
            if signature.being_inferred:
                self._unfinished.add(var)

    def bind(self, node: Let) -> None:
        """The value of a let is typed: give its variable a type.

        Raises `RelayError` (rule `let-type`) when the value is not of the annotated type.
        """
        nodes, var = self._nodes, node.var
        value = nodes.of(node.value)
        annotation = var.type_annotation
        if isinstance(annotation, FuncType) and annotation.type_params:
            value = self._generalise(node.value, value, var)
        known = nodes.known(var) or annotation
        undecided = len(nodes.unifier.undecided)
        if known is not None and known is not value:
            if annotation is not None:
                self._enclosing.loosen(annotation, nodes.unifier.zonk(value))
            mismatch = nodes.relate(value, known, Mode.ASSIGN, node)
            if mismatch is not None:
                found = str(nodes.unifier.zonk(value))
                sides = Origin("value", found, describe(node.value)), Origin(f"%{var.name_hint}", str(known))
                message = f"the value of %{var.name_hint} is of another type"
                raise mismatch_error("let-type", message, span_of_use(node.value, node), mismatch, sides)
        is_polymorphic = isinstance(value, FuncType) and bool(value.type_params)
        declared = (
            annotation if isinstance(annotation, FuncType) and (annotation.type_params or is_polymorphic) else None
        )
        if declared is None and annotation is not None and len(nodes.unifier.undecided) > undecided:
            declared = annotation if not has_unknown_dimension(annotation) else None  # the run checks that it is so
        nodes.bind(var, declared or self._generalise(node.value, value, var))
        self._unfinished.discard(var)

    def _generalise(self, value: Expr, type_: Type, var: Var) -> Type:
        """The type of the value of a let, quantified over all that nothing outside determines if it is a function that
        stands here alone."""
        unifier, around = self._nodes.unifier, self._enclosing.scope.type_vars
        if not (isinstance(value, Function) and value in self._generalised and isinstance(type_, FuncType)):
            return type_
        if not open_leaves(unifier, type_, around):
            return type_
        self._nodes.solver.drain()
        fixed = {leaf for outside in self._outside(value, var) for leaf in free_type_leaves(unifier.zonk(outside))}
        leaves = [leaf for leaf in open_leaves(unifier, type_, around) if leaf not in fixed]
        type_ = quantified(unifier, type_, leaves, around)
        self._nodes.replace(value, type_)
        return type_

    def _outside(self, function: Function, itself: Var) -> Iterator[Type]:
        """The types of what a function takes from outside (the functions around it that are not finished have one type
        while they are), and of what is not solved yet."""
        yield from (self._nodes.of(var) for var in free_vars(function) if var is not itself)
        signatures = self._nodes.environment.signatures.values()
        yield from (signature.type for signature in signatures if signature.being_inferred)
        yield from map(self._nodes.of, _shared_with_outside(function, self._scopes))
        yield from self._nodes.solver.waiting()

    def check_escape(self, function: Function) -> None:
        """A variable from outside a function must not have a type that mentions the function's own type parameters.

        Raises `RelayError` (rule `type-parameter-escapes`).
        """
        for var in free_vars(function):
            type_ = self._nodes.now(var)
            escaped = [each.name for each in function.type_params if each in free_type_leaves(type_)]
            if escaped and var not in self._unfinished:
                raise RelayError(
                    rule="type-parameter-escapes",
                    message=f"%{var.name_hint} would be of type {type_}, but {escaped[0]} is chosen by each call",
                    span=function.span,
                    expected=f"a type without {escaped[0]}",
                    found=f"{type_}, the type of {describe(var)}",
                    remedy=f"pass %{var.name_hint} as a parameter, or annotate it",
                )


def announced(
    nodes: NodeTypes,
    function: Function,
    name: str,
    around: frozenset[TypeVar] = frozenset(),
    symbols_around: frozenset[Symbol] = frozenset(),
) -> Signature:
    """By which type a function may call itself: the one that it declares, or one with parts that are to be found.
    `around` and `symbols_around` are what the functions around it quantify."""
    params = tuple(map(nodes.of, function.params))
    own = own_type_params(function, params, around)
    declared = _declared_type(function, symbols_around)
    if declared is not None:
        return Signature(FuncType(declared.arg_types, declared.ret_type, own))
    hole = IncompleteType(reason=f"the result type of {name}", span=function.span)
    return Signature(FuncType(params, function.ret_type or hole, own), being_inferred=True)


def _declared_type(function: Function, symbols_around: frozenset[Symbol]) -> FuncType | None:
    """The type that a function's annotations give, when all are there and without holes."""
    ret_type = function.ret_type
    arg_types = [type_ for param in function.params if (type_ := param.checked_type or param.type_annotation)]
    if ret_type is None or len(arg_types) < len(function.params) or any(map(type_holes, (*arg_types, ret_type))):
        return None
    symbols = frozenset(symbol for arg in arg_types for symbol in type_symbols(arg))
    return FuncType(tuple(arg_types), close_symbols(ret_type, symbols | symbols_around))


def _shared_with_outside(function: Function, found: Scopes) -> list[Expr]:
    """The nodes in the body of a function that are evaluated before the function is made, since others use them."""
    inside = found.inner(function)[0].depth
    nodes = (node for node in post_order(function.body) if not isinstance(node, LEAVES))
    return [node for node in nodes if found.of(node).depth < inside]
