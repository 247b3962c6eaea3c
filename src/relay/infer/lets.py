"""The typing rule of let: what a function may call itself by, and what its variable stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relay.base.diagnostics import Origin
from relay.infer.dimensions import close_symbols
from relay.infer.explain import describe, mismatch_error, span_of_use
from relay.infer.generalise import generalised, own_type_params
from relay.infer.unify import Mode
from relay.ir.expr import Expr, Function, Let, Var
from relay.ir.type_traversal import type_holes, type_symbols
from relay.ir.types import FuncType, IncompleteType, Type

if TYPE_CHECKING:
    from relay.infer.walk import Inference


def announce_let(inference: Inference, node: Let) -> None:
    """A function may call the variable that it is bound to: by its annotations, or as one type."""
    value = node.value
    if not isinstance(value, Function):
        return
    inference.around[node.var] = inference.visible
    if not inference.has_met(value) and value.checked_type is None and not value.type_params:
        inference.generalises.add(value)
    if node.var.type_annotation is None:
        type_, declared = announced(inference, value, f"%{node.var.name_hint}")
        inference.bind_var(node.var, type_)
        if not declared:
            inference.unfinished.add(node.var)


def announced(inference: Inference, function: Function, name: str) -> tuple[FuncType, bool]:
    """The type by which a function may call itself, and whether it is all declared (else parts are variables)."""
    params = tuple(inference.type_of_var(param) for param in function.params)
    own = own_type_params(function, params, inference.type_vars)
    declared = _declared_type(function)
    if declared is not None:
        return FuncType(declared.arg_types, declared.ret_type, own), True
    hole = IncompleteType(reason=f"the result type of {name}", span=function.span)
    return FuncType(params, function.ret_type or hole, own), False


def _declared_type(function: Function) -> FuncType | None:
    """The type that a function's annotations give, when all are there and without holes."""
    annotations = [param.checked_type or param.type_annotation for param in function.params]
    ret_type = function.ret_type
    if ret_type is None or type_holes(ret_type):
        return None
    arg_types: list[Type] = []
    for annotation in annotations:
        if annotation is None or type_holes(annotation):
            return None
        arg_types.append(annotation)
    symbols = frozenset(symbol for arg in arg_types for symbol in type_symbols(arg))
    return FuncType(tuple(arg_types), close_symbols(ret_type, symbols))


def bind_let(inference: Inference, node: Let) -> None:
    """The value of a let is typed: give its variable a type.

    Raises `RelayError` (rule `let-type`) when the value is not of the annotated type.
    """
    unifier, var = inference.unifier, node.var
    value = inference.type_of(node.value)
    annotation = var.type_annotation
    polymorphic = annotation if isinstance(annotation, FuncType) and annotation.type_params else None
    if polymorphic is not None:
        value = _generalised(inference, node.value, value, var)
    known = inference.known_type_of(var) or annotation
    if known is not None and known is not value:
        if annotation is not None:
            inference.loosen(annotation)
        mismatch = unifier.relate(value, known, Mode.ASSIGN)
        if mismatch is not None:
            sides = (
                Origin("value", str(unifier.zonk(value)), describe(node.value)),
                Origin(f"%{var.name_hint}", str(known)),
            )
            message = f"the value of %{var.name_hint} is of another type"
            raise mismatch_error("let-type", message, span_of_use(node.value, node), mismatch, sides)
        unifier.undecided.clear()
    type_ = polymorphic or _generalised(inference, node.value, value, var)
    inference.unfinished.discard(var)
    inference.bind_var(var, type_)


def _generalised(inference: Inference, value: Expr, type_: Type, var: Var) -> Type:
    """The type of the value of a let, quantified if it is a function that stands here alone."""
    if value in inference.generalises and isinstance(value, Function) and isinstance(type_, FuncType):
        type_ = generalised(inference, value, type_, var)
        inference.replace_type(value, type_)
    return type_
