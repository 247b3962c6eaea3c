"""Write operators whose shapes are known tensors as those whose shapes are attributes: DynamicToStatic.

    before: dyn.reshape(%x, concatenate((shape_of(%y), [3i64])))           %y: Tensor[(2, 4), float32]
    after:  reshape(%x, newshape=[2, 4, 3])

Which operator is the static form of which, and with what attributes, its record says (`static_of`). On the way what is
made of known shapes is computed by the operators' own meaning (`known_elements.py`), so that a shape may depend on
the result of another such operator, or on extents of the function's parameters; types become exact, those of let
variables without annotation and those of callers too. Not changed: a shape that only the run knows, one that the
operator refuses, one that the run must check against extents that are not known, and a function in which exact types
show that a call would fail: it fails when it is run. Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from functools import partial

from relay.analysis.call_graph import call_graph
from relay.analysis.effects import ModuleEffects
from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.infer.eager import eager_type
from relay.infer.infer_type import infer_type
from relay.infer.unification.known import attributes_of
from relay.ir.attributes import attribute_symbols
from relay.ir.expr import Call, Constant, Expr, Function, GlobalVar, Let, Op, Var, record_type
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.operator import Solved
from relay.ir.rewriting import typed_as
from relay.ir.traversal import body_nodes, children, rebuild
from relay.ir.type_traversal import has_extents_of, type_symbols
from relay.ir.types import FuncType, Type
from relay.ops.framework.known_elements import Known, depends_on_extents, elements_of, of_known
from relay.ops.framework.record import FromValues, OperatorRecord
from relay.ops.registry import operators
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.simplify.fold_constant import constant_of


@module_pass(level=2)
def DynamicToStatic(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Write operators whose shapes are known tensors as those whose shapes are attributes."""
    forms = _static_forms(module)
    retyped: set[GlobalVar] = set()
    for component in call_graph(module).components if forms else ():
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


def _static_forms(module: IRModule) -> Mapping[str, OperatorRecord]:
    """By the name of an operator its static form, if the module calls any that has one."""
    nodes = (node for function in module.functions.values() for node in body_nodes(function))
    called = (node.operator for node in nodes if isinstance(node, Op) and isinstance(node.operator, OperatorRecord))
    of_values = {each.name for each in called if isinstance(each.extents, FromValues)}
    if not of_values:
        return {}  # most programs: no more operators are loaded for them
    forms = {each.static_of.dynamic.name: each for each in operators().values() if each.static_of is not None}
    return {} if of_values.isdisjoint(forms) else forms


class _Rewriting:
    """One function. What changes loses its type; exact ones are found on the way, the others by inference."""

    def __init__(self, module: IRModule, forms: Mapping[str, OperatorRecord], retyped: Collection[GlobalVar]) -> None:
        self.module = module
        self.forms = forms
        self.retyped = retyped
        self.effects = ModuleEffects(IRModule())
        self.symbols: Set[Symbol] = frozenset()
        self.new: dict[Expr, Expr] = {}
        self.vars: dict[Var, Expr] = {}
        self.known: dict[Expr, Known | None] = {}

    def of(self, function: Function) -> Function:
        """The function without a type; the same one if nothing changes."""
        self.symbols = {symbol for each in function.params for symbol in type_symbols(known_type(each))}
        nodes = body_nodes(function)
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
            if value is None or value is let.value:
                self.known[var] = self.known.get(let.value)
                return var
            stands = value if isinstance(value, Constant) else typed_as(Var(var.name_hint, span=var.span), value)
            self.vars[var], self.known[stands] = stands, self.known.get(value)
        return self.vars[var]

    def _node(self, node: Expr) -> Expr:
        rebuilt = self._typed(rebuild(node, [self.new[part] for part in children(node)]), node)
        elements = self.known[rebuilt] = elements_of(rebuilt, self.known)
        type_ = rebuilt.checked_type
        if elements is None or type_ is None or depends_on_extents(elements) or isinstance(rebuilt, Constant):
            return rebuilt
        if not self.effects.of(rebuilt).is_removable:
            return rebuilt
        constant = constant_of(elements, type_, rebuilt.span)
        self.known[constant] = elements
        return constant

    def _typed(self, rebuilt: Expr, node: Expr) -> Expr:
        """The static form of a node, or the node itself, with a type that is as exact as may be."""
        match rebuilt:
            case Call(op=Op(operator=OperatorRecord() as record)):
                static = self._static(rebuilt, record)
                if static is None and _types_of_parts(rebuilt) == _types_of_parts(node):
                    return typed_as(rebuilt, node)  # attributes may name the extents that it finds
                rebuilt = static or rebuilt
                if rebuilt.checked_type is None:
                    self._record_exact(rebuilt, _result(rebuilt))
                return rebuilt
            case Call(op=GlobalVar() as callee) if callee in self.retyped:
                again = Call(callee, rebuilt.args, rebuilt.attrs, rebuilt.given_type_args, span=rebuilt.span)
                type_ = self.module[callee].checked_type
                if isinstance(type_, FuncType) and not type_.type_params:
                    self._record_exact(again, Solved(type_.ret_type))
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
        shapes = call.args[count:]
        known = [each for each in map(self.known.get, shapes) if each is not None]
        if len(known) < len(shapes) or not all(self.effects.of(each).is_removable for each in shapes):
            return None
        types = [each.checked_type for each in shapes]
        attributes = of_known(partial(form.static_of.attributes, attributes_of(call, record)), known, types)
        if attributes is None or not self.symbols >= set(attribute_symbols(attributes)):
            return None
        static = Call(form.op, call.args[:count], attributes, span=call.span)
        outcome = _result(static)
        if outcome is None or outcome.checks:
            return None
        return self._record_exact(static, outcome)

    def _record_exact(self, call: Call, outcome: Solved | None) -> Call:
        """The call, its type recorded where the extents in it are told by the parameters: others are inference's to
        name."""
        if outcome is not None and has_extents_of(outcome.result, self.symbols):
            record_type(call, outcome.result)
        return call


def _types_of_parts(call: Expr) -> list[Type | None]:
    return [part.checked_type for part in children(call)]


def _result(call: Call) -> Solved | None:
    """What the relation of an operator says of a call, where the types of its arguments are known and fit."""
    types = [each.checked_type for each in call.args if each.checked_type is not None]
    if len(types) != len(call.args) or not isinstance(call.op, Op):
        return None
    outcome = call.op.operator.relation(tuple(types), attributes_of(call, call.op.operator))
    return outcome if isinstance(outcome, Solved) else None
