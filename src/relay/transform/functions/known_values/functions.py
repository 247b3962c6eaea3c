"""What is known of the functions of a program, looked at once: their normal form, free variables and effects."""

from __future__ import annotations

from collections.abc import Set
from functools import cache, cached_property

from relay.analysis.effects import EVERYTHING, ModuleEffects
from relay.arith.expr import Symbol
from relay.infer.checks import node_checks
from relay.ir.expr import Call, Constructor, Expr, Function, GlobalVar, Op, Tuple, TupleGetItem, Var
from relay.ir.module import IRModule
from relay.ir.operator import Effect
from relay.ir.traversal import LEAVES, body_nodes, post_order
from relay.ir.type_traversal import has_extents_of, type_leaves, type_symbols
from relay.ir.types import FuncType, TypeVar
from relay.ir.variables import free_vars
from relay.normalize.a_normal_form import to_a_normal_form
from relay.transform.functions.known_values.values import (
    KnownData,
    KnownFunction,
    KnownName,
    KnownTuple,
    PartialValue,
)


class Functions:
    """The functions of one typed module, and those inside them."""

    def __init__(self, module: IRModule) -> None:
        self.module = module
        self.free_vars = cache(free_vars)
        self.spoken_of = cache(_spoken_of)
        self._is_plain = cache(_is_plain)
        self._normal: dict[GlobalVar, Function] = {}
        self._homes: dict[Function, GlobalVar] = {}

    @cached_property
    def effects(self) -> ModuleEffects:
        return ModuleEffects(self.module)

    def normal(self, name: GlobalVar) -> Function:
        """A global function in A-normal form."""
        known = self._normal.get(name)
        if known is None:
            known = self._normal[name] = to_a_normal_form(self.module[name])
            self._homes |= {node: name for node in post_order(known.body) if isinstance(node, Function)}
        return known

    def written_in(self, function: Function) -> GlobalVar | None:
        """The global function in which one is written."""
        return self._homes.get(function)

    def parts_of(self, value: PartialValue) -> tuple[PartialValue, ...]:
        """The partial values that stand directly in one; for a closure those of its free variables."""
        match value.static:
            case KnownTuple(fields) | KnownData(_, fields):
                return fields
            case KnownFunction(function, environment):
                return tuple([environment.find(var) for var in self.free_vars(function)])
            case _:
                return ()

    def may_be_entered(self, function: Function, symbols: frozenset[Symbol]) -> bool:
        """Whether the body may stand where the function is called: it is no kernel, and its declared extents are
        numbers, or symbols that mean the same there, so no check of an extent is lost."""
        type_ = function.checked_type
        return self._is_plain(function) and type_ is not None and has_extents_of(type_, symbols)

    def is_pure(self, var: Var, value: Expr) -> bool:
        """Whether nobody can tell when a value is evaluated and bound to a variable."""
        match value:
            case Tuple() | TupleGetItem() | Function():
                return True
            case Call(op=Op(operator)):
                return operator.effect is Effect.PURE and not node_checks(value, self.module, frozenset())
            case Call(op=Constructor()):
                return not node_checks(value, self.module, frozenset())
            case _:
                return isinstance(value, LEAVES) and var.type_annotation is None

    def may_write(self, callee: PartialValue) -> bool:
        """Whether calling a value may change what refs hold."""
        match callee.static:
            case KnownName(GlobalVar() as name):
                found = self.effects.of_call(name)
            case KnownFunction(function):
                found = self.effects.of_call(function)
            case _:
                found = self.effects.of_call(callee.atom) if isinstance(callee.atom, Function) else EVERYTHING
        return found.writes or found.stateful


def _spoken_of(function: Function) -> Set[Symbol | TypeVar]:
    """The symbols and type variables in the types of a function and of all that is inside."""
    types = {node.checked_type for node in post_order(function) if node.checked_type is not None}
    leaves = (leaf for type_ in types for leaf in type_leaves(type_) if isinstance(leaf, TypeVar))
    return {*leaves, *(symbol for type_ in types for symbol in type_symbols(type_))}


def _is_plain(function: Function) -> bool:
    if function.attrs or not isinstance(function.checked_type, FuncType):
        return False
    return not any(isinstance(node, Function) and node.attrs for node in body_nodes(function))
