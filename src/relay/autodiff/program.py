"""The program that is differentiated, and the functions that are made of its functions: what both modes share."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field
from typing import cast

from relay.analysis.call_graph import CallGraph, call_graph
from relay.arith.expr import Symbol, free_symbols
from relay.autodiff.activity import Counting, active_arguments, active_variables, counting_parameters
from relay.autodiff.cotangents import Cotangents
from relay.base.diagnostics import CompilerBug
from relay.base.frozen import mutable
from relay.base.names.fresh_names import FreshNames
from relay.ir.datatype import TypeData
from relay.ir.expr import Call, Expr, Function, GlobalVar, Var
from relay.ir.module import IRModule
from relay.ir.rewriting import has_type, typed_as
from relay.ir.traversal import children, post_order, rebuild
from relay.ir.type_traversal import is_closed, map_type
from relay.ir.types import ANY, GlobalTypeVar, TensorType, TupleType, Type
from relay.ir.variables import bound_vars, renaming
from relay.normalize.a_normal_form import to_a_normal_form


@mutable
class DerivedProgram:
    """A typed first-order module and what is added to it."""

    module: IRModule
    names: FreshNames = field(init=False)
    types: Cotangents = field(init=False)
    graph: CallGraph = field(init=False)
    functions: dict[GlobalVar, Function] = field(default_factory=dict)
    definitions: dict[GlobalTypeVar, TypeData] = field(default_factory=dict)
    _counting: Counting | None = None
    _normal: dict[GlobalVar, Function] = field(default_factory=dict)
    _active: dict[tuple[Function, tuple[bool, ...]], set[Var]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        taken = {each.name_hint for each in self.module} | {each.name for each in self.module.type_definitions}
        self.names = FreshNames(taken.__contains__, "_", 0)
        self.types = Cotangents(self.module, self.names)
        self.graph = call_graph(self.module)

    def normal(self, name: GlobalVar) -> Function:
        """A function of the module, in A-normal form."""
        if name not in self._normal:
            self._normal[name] = to_a_normal_form(self.module[name])
        return self._normal[name]

    def active(self, function: Function, active: Sequence[bool]) -> set[Var]:
        """What depends on the parameters that are `active`."""
        key = function, tuple(active)
        if key not in self._active:
            roots = [param for param, on in zip(function.params, active, strict=True) if on]
            self._active[key] = active_variables(function.body, roots, self.types.exists, self._counting_parameters())
        return self._active[key]

    def active_arguments(self, call: Call, active: AbstractSet[Var]) -> tuple[bool, ...]:
        """Of each argument of a function's call whether it is differentiated there; `active` are the variables that
        are."""
        return active_arguments(call, active, self._counting_parameters())

    def _counting_parameters(self) -> Counting:
        if self._counting is None:
            self._counting = counting_parameters(self.graph, self.normal, self.types.exists)
        return self._counting

    def with_tangent(self, function: Function, wrt: Sequence[int]) -> tuple[bool, ...]:
        """For each parameter whether it has a tangent: those in `wrt` but integers and the like."""
        return tuple(at in wrt and self.types.exists(typed(param)) for at, param in enumerate(function.params))

    def finished(self, name: GlobalVar, function: Function) -> IRModule:
        """The module with all that was made, and `function` under `name`."""
        made = {**self.functions, **self.types.functions, name: function}
        functions = {**self.module.functions, **{key: _annotated(each) for key, each in made.items()}}
        types = {**self.module.type_definitions, **self.definitions, **self.types.definitions}
        return IRModule(functions, types)


def told(type_: Type) -> set[Symbol]:
    """The names of extents that hold where there is a value of a type."""
    match type_:
        case TensorType(shape):
            return {extent for extent in shape if isinstance(extent, Symbol)}
        case TupleType(fields):
            return {symbol for each in fields for symbol in told(each)}
        case _:
            return set()


def declared(params: Sequence[Var], body: Expr, type_: Type) -> Function:
    """A function that says its result type, as far as its parameters tell the extents in that: each call of a recursive
    one may have extents of its own."""
    known = {symbol for each in params for symbol in told(typed(each))}
    return Function(
        tuple(params), body, map_type(type_, dimension=lambda each: each if free_symbols(each) <= known else ANY)
    )


def typed(expr: Expr) -> Type:
    """The type of an expression of a typed program."""
    if expr.checked_type is None:
        raise CompilerBug("autodiff", f"a {type(expr).__name__} without a type")
    return expr.checked_type


def _annotated(function: Function) -> Function:
    """A function with variables of its own, and with the types of its parameters written out. What has a type of which
    no extent has a name keeps it: the names are those of this function's parameters once it is inferred."""
    fresh = {var: _own(var, var in function.params) for var in bound_vars(function)}
    renamed = renaming(fresh)
    new: dict[Expr, Expr] = {}
    for node in post_order(function):
        parts = [new[part] for part in children(node)]
        made = renamed(rebuild(node, parts))
        new[node] = typed_as(made, node) if is_closed(node.checked_type) and all(map(has_type, parts)) else made
    return cast("Function", new[function])


def _own(var: Var, is_parameter: bool) -> Var:
    """A new variable in the place of another one."""
    made = Var(var.name_hint, var.type_annotation or (var.checked_type if is_parameter else None), span=var.span)
    return typed_as(made, var) if is_closed(var.checked_type) else made
