"""Write operators whose shapes are known tensors as those whose shapes are attributes: DynamicToStatic.

    before: dyn.reshape(%x, concatenate((shape_of(%y), [3i64])))           %y: Tensor[(2, 4), float32]
    after:  reshape(%x, newshape=[2, 4, 3])

Which operator is the static form of which, and with what attributes, its record says (`static_of`). On the way what is
made of known shapes is computed, so that a shape may depend on the result of another such operator; types become
exact, those of let variables without annotation and those of callers too. Not changed: a shape that only the run
knows, one that the operator refuses, one that the run must check against extents that are not known, and a function in
which exact types show that a call would fail: it fails when it is run. Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from relay.analysis.call_graph import call_graph
from relay.analysis.effects import ModuleEffects
from relay.base.diagnostics import RelayError
from relay.infer.eager import eager_type
from relay.infer.infer_type import infer_type
from relay.infer.known import attributes_of
from relay.ir.expr import Call, Constant, Expr, Function, GlobalVar, Let, Op, Var, record_type
from relay.ir.module import IRModule
from relay.ir.operator import Solved
from relay.ir.traversal import children, post_order, rebuild
from relay.ir.type_traversal import is_closed
from relay.ir.types import FuncType, TensorType, Type
from relay.ops.record import OperatorRecord
from relay.ops.registry import operators
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.simplify.fold_constant import fold_call


@module_pass(level=2)
def DynamicToStatic(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Write operators whose shapes are known tensors as those whose shapes are attributes."""
    forms = {each.static_of.dynamic.name: each for each in operators().values() if each.static_of is not None}
    retyped: set[GlobalVar] = set()
    for component in call_graph(module).components if _names_any(module, forms) else ():
        for name in component:
            function = module[name]
            changed = function if function.attrs.get("Primitive") else _Rewriting(module, forms, retyped).of(function)
            if changed is function:
                continue
            try:
                module = infer_type(module.with_function(name, changed))
            except RelayError:
                continue  # a call that cannot be right is left to the run
            if module[name].checked_type != function.checked_type:
                retyped.add(name)
    return module


def _names_any(module: IRModule, operators: Collection[str]) -> bool:
    nodes = (node for function in module.functions.values() for node in post_order(function.body))
    return any(isinstance(node, Op) and node.name in operators for node in nodes)


class _Rewriting:
    """One function. What changes loses its type; exact ones are found on the way, the others by inference."""

    def __init__(self, module: IRModule, forms: Mapping[str, OperatorRecord], retyped: Collection[GlobalVar]) -> None:
        self.module = module
        self.forms = forms
        self.retyped = retyped
        self.effects = ModuleEffects(IRModule())
        self.new: dict[Expr, Expr] = {}
        self.vars: dict[Var, Expr] = {}

    def of(self, function: Function) -> Function:
        """The function without a type; the same one if nothing changes."""
        nodes = post_order(function.body)
        lets = {node.var: node for node in nodes if isinstance(node, Let) and node.var.type_annotation is None}
        for node in nodes:
            if isinstance(node, Var):
                self.new[node] = self._variable(node, lets[node]) if node in lets else node
            elif isinstance(node, Let) and node.var in self.vars:
                var = self.vars[node.var]
                parts = [self.new[part] for part in children(node)]
                self.new[node] = Let(var, *parts, span=node.span) if isinstance(var, Var) else parts[1]
            else:
                self.new[node] = self._node(node)
        body = self.new[function.body]
        if body is function.body:
            return function
        return Function(
            function.params, body, function.ret_type, function.type_params, function.attrs, span=function.span
        )

    def _variable(self, var: Var, let: Let) -> Expr:
        """What stands for a variable: a constant, or a new one where the type of its value may be another."""
        if var not in self.vars:
            value = self.new.get(let.value)  # none yet inside a function that calls itself
            if value is let.value or value is None:
                return var
            fresh = Var(var.name_hint, span=var.span)
            if value.checked_type is not None:
                record_type(fresh, value.checked_type)
            self.vars[var] = value if isinstance(value, Constant) else fresh
        return self.vars[var]

    def _node(self, node: Expr) -> Expr:
        rebuilt = rebuild(node, [self.new[part] for part in children(node)])
        match rebuilt:
            case Call(op=Op(operator=OperatorRecord() as record)):
                rebuilt = self._static(rebuilt, record) or rebuilt
                if rebuilt.checked_type is None:
                    _record_exact(rebuilt, _result(rebuilt))
                return self._known_shape(rebuilt, record) or fold_call(rebuilt)
            case Call(op=GlobalVar() as callee) if callee in self.retyped:
                again = Call(callee, rebuilt.args, rebuilt.attrs, rebuilt.given_type_args, span=rebuilt.span)
                type_ = self.module[callee].checked_type
                if isinstance(type_, FuncType) and not type_.type_params:
                    _record_exact(again, Solved(type_.ret_type))
                return again
            case _:
                if rebuilt.checked_type is None:
                    eager_type(rebuilt)
                return rebuilt

    def _static(self, call: Call, record: OperatorRecord) -> Call | None:
        """The static form of a call; None where there is none, or where it says something else."""
        form = self.forms.get(record.name)
        if form is None or form.static_of is None:
            return None
        count = len(form.inputs)
        shapes = [each.data for each in call.args[count:] if isinstance(each, Constant)]
        if count + len(shapes) != len(call.args):
            return None
        attributes = form.static_of.attributes(attributes_of(call, record), *shapes)
        if attributes is None:
            return None
        static = Call(Op(form), call.args[:count], attributes, span=call.span)
        outcome = _result(static)
        if outcome is None or outcome.checks:
            return None
        return _record_exact(static, outcome)

    def _known_shape(self, call: Call, record: OperatorRecord) -> Expr | None:
        """What an operator says of shapes that are known."""
        types = [each.checked_type for each in call.args]
        if not record.reads_shapes_only or not all(map(is_closed, types)) or call.checked_type is None:
            return None
        if not all(self.effects.of(each).is_removable for each in call.args):
            return None
        value: Any = record.meaning(attributes_of(call, record), *map(_placeholder, types))
        return record_type(Constant(np.asarray(value), span=call.span), call.checked_type)


def _placeholder(type_: Type | None) -> Any:
    """An array of a type, without memory of its own."""
    if not isinstance(type_, TensorType):
        raise TypeError(f"a shape of {type_}")
    shape = tuple(extent for extent in type_.shape if isinstance(extent, int))
    return np.broadcast_to(np.zeros((), type_.dtype.numpy), shape)


def _result(call: Call) -> Solved | None:
    """What the relation of an operator says of a call, where the types of its arguments are known and fit."""
    types = [each.checked_type for each in call.args if each.checked_type is not None]
    if len(types) != len(call.args) or not isinstance(call.op, Op):
        return None
    outcome = call.op.operator.relation(tuple(types), attributes_of(call, call.op.operator))
    return outcome if isinstance(outcome, Solved) else None


def _record_exact(call: Call, outcome: Solved | None) -> Call:
    """The call, its type recorded where it has numbers for extents: others are inference's to name."""
    if outcome is not None and is_closed(outcome.result):
        record_type(call, outcome.result)
    return call
