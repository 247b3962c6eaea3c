"""Rewriting whole function bodies where every replacement has the type of what it replaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from relay.arith.expr import IntExpr, Symbol, substitute
from relay.base.diagnostics import CompilerBug
from relay.ir.attributes import with_extents
from relay.ir.expr import AnyExpr, Call, Expr, Function, Var, record_type
from relay.ir.traversal import children, post_order, rebuild
from relay.ir.type_traversal import map_type, type_symbols
from relay.ir.types import Type
from relay.ir.variables import bound_vars, renaming


@dataclass(frozen=True, slots=True)
class Uses:
    """How often each expression is used, replacements included."""

    counts: dict[int, int] = field(default_factory=dict)

    def of(self, expr: Expr) -> int:
        """The number of uses; 1 for what a rewriting step has just made."""
        return self.counts.get(id(expr), 1)


def same_type(expr: AnyExpr, model: Expr) -> AnyExpr:
    """`expr`, which has the type of `model`, with that type recorded."""
    if expr.checked_type is None and model.checked_type is not None:
        record_type(expr, model.checked_type)
    return expr


def rewrite_typed(function: Function, step: Callable[[Expr, Uses], Expr]) -> Function:
    """`function` with `step(node, uses)` applied to each node of its body, from the leaves up.

    `step` sees a node whose parts are rewritten already, and gives it back or an expression of the same type.
    """
    uses = Uses()
    order = post_order(function.body)
    for node in order:
        for child in children(node):
            uses.counts[id(child)] = uses.counts.get(id(child), 0) + 1
    new: dict[int, Expr] = {}
    kept: list[Expr] = []  # alive, so that identities stay unique
    for node in order:
        parts: Sequence[Expr] = [new[id(child)] for child in children(node)]
        rebuilt = same_type(rebuild(node, parts), node)
        result = same_type(step(rebuilt, uses), node)
        uses.counts[id(result)] = max(uses.counts.get(id(node), 0), uses.counts.get(id(result), 0))
        new[id(node)] = result
        kept += (rebuilt, result)
    return with_body(function, new[id(function.body)])


def copied(function: Function) -> Function:
    """A copy whose bound variables are new, and whose types speak of new symbols for extents that are found inside, so
    that both may stand in one program, and both bodies in one function."""
    names = _inner_symbols(function)
    fresh: dict[Var, Var] = {}
    for var in bound_vars(function):
        annotation = None if var.type_annotation is None else _renamed(var.type_annotation, names)
        fresh[var] = _typed_as(Var(var.name_hint, annotation, span=var.span), var, names)
    step = renaming(fresh)
    new: dict[int, Expr] = {}
    for node in post_order(function):
        rebuilt = step(rebuild(node, [new[id(child)] for child in children(node)]))
        if names and not isinstance(node, Var):
            rebuilt = _with_symbols(rebuilt, node, names)
        new[id(node)] = _typed_as(rebuilt, node, names)
    result = new[id(function)]
    if not isinstance(result, Function):
        raise CompilerBug("transform", "the copy of a function is none")
    return result


def _inner_symbols(function: Function) -> dict[Symbol, IntExpr]:
    """New symbols for those of a function that do not stand in its own type."""
    own = set(type_symbols(function.checked_type)) if function.checked_type is not None else set[Symbol]()
    types = [node.checked_type for node in post_order(function.body)]
    types += [var.checked_type for var in bound_vars(function)]
    inner = dict.fromkeys(symbol for type_ in types if type_ is not None for symbol in type_symbols(type_))
    return {symbol: Symbol(symbol.name) for symbol in inner if symbol not in own}


def _with_symbols(expr: Expr, model: Expr, names: Mapping[Symbol, IntExpr]) -> Expr:
    """`expr` with the symbols renamed in what it says itself; another node than `model` if its type changes."""
    match expr:
        case Call(op, args, attrs) if attrs is not None or expr.given_type_args:
            given = tuple(_renamed(type_, names) for type_ in expr.given_type_args)
            changed = None if attrs is None else with_extents(attrs, names)
            if changed is not attrs or any(
                new is not old for new, old in zip(given, expr.given_type_args, strict=True)
            ):
                return Call(op, args, changed, given, span=expr.span)
        case Function(params, body, ret_type, type_params, attrs) if ret_type is not None:
            renamed = _renamed(ret_type, names)
            if renamed is not ret_type:
                return Function(params, body, renamed, type_params, attrs, span=expr.span)
        case _:
            pass
    type_ = model.checked_type
    same = expr is model and (type_ is None or _renamed(type_, names) is type_)
    return expr if same or expr is not model else replace(expr)


def _renamed(type_: Type, names: Mapping[Symbol, IntExpr]) -> Type:
    return map_type(type_, dimension=lambda extent: substitute(extent, names)) if names else type_


def _typed_as(expr: AnyExpr, model: Expr, names: Mapping[Symbol, IntExpr]) -> AnyExpr:
    """`expr` with the type of `model`, symbols renamed."""
    if expr.checked_type is None and model.checked_type is not None:
        record_type(expr, _renamed(model.checked_type, names))
    return expr


def with_body(function: Function, body: Expr) -> Function:
    """The function with another body of the same type; the same function if the body is the same."""
    if body is function.body:
        return function
    changed = Function(
        function.params, body, function.ret_type, function.type_params, function.attrs, span=function.span
    )
    return same_type(changed, function)
