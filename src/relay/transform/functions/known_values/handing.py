"""The policy of SpecializeFunctions: functions are all that is known of arguments, and are copied for those."""

from __future__ import annotations

from collections.abc import Container, Generator, Sequence
from dataclasses import replace
from typing import Any

from relay.analysis.effects import ModuleEffects
from relay.base.diagnostics import CompilerBug
from relay.infer.infer_type import infer_type
from relay.ir.expr import Call, Constructor, Function, GlobalVar, Op, Var
from relay.ir.module import IRModule
from relay.ir.types import Type
from relay.normalize.graph_normal_form import to_graph_normal_form
from relay.transform.functions.budgets import BUDGETS
from relay.transform.functions.known_values.choices import Choices
from relay.transform.functions.known_values.evaluator import Evaluator, evaluated
from relay.transform.functions.known_values.functions import Functions
from relay.transform.functions.known_values.policy import Policy, Work
from relay.transform.functions.known_values.residual import Residual
from relay.transform.functions.known_values.sites import Site, site_of
from relay.transform.functions.known_values.values import (
    Environment,
    KnownFunction,
    KnownName,
    PartialValue,
    title_of,
)
from relay.transform.functions.known_values.variants import Variants
from relay.transform.simplify.dead_code_elimination import without_dead_code


def specialized(
    module: IRModule, handing: Container[GlobalVar], callers: Sequence[GlobalVar], max_operations: int
) -> IRModule:
    """The typed module, in which `callers` call copies. `handing` are functions that hand over functions themselves."""
    functions = Functions(module)
    residual = Residual(
        copies=True,
        parts=functions.parts_of,
        max_operations=max_operations,
        steps_left=BUDGETS.copying_steps * max_operations,
    )
    evaluator = Evaluator(functions, residual)
    policy = evaluator.policy = _HandedFunctions(functions, residual, evaluator, handing)
    evaluator.choice = Choices(evaluator).value
    changed = {name: evaluated(name, functions, evaluator) for name in callers}
    changed = {name: each for name, each in changed.items() if each is not module[name]} | policy.variants.made
    whole = infer_type(module.with_functions({**module.functions, **changed}))
    effects = ModuleEffects(whole)
    clean = {name: to_graph_normal_form(without_dead_code(whole[name], whole, effects)) for name in changed}
    return whole.with_functions({**whole.functions, **clean}) if clean else module


class _HandedFunctions(Policy):
    """The policy: calls of known functions, and of those that are handed some, become calls of copies. `handing` are
    functions that hand over functions themselves, so that generic ones are copied for their types."""

    def __init__(
        self, functions: Functions, residual: Residual, evaluator: Evaluator, handing: Container[GlobalVar]
    ) -> None:
        self.functions = functions
        self.evaluator = evaluator
        self.residual = residual
        self.handing = handing
        self.variants = Variants(
            functions, residual, evaluator, BUDGETS.open_copies, self._is_worth, self._name, may_know_less=False
        )

    def call(self, node: Call, callee: PartialValue, values: tuple[PartialValue, ...], type_: Type, name: Var) -> Work:
        site = site_of(node, callee, values, type_, name, self.functions, self.residual.names)
        if site is None:
            return (yield from self.evaluator.unknown_call(node, callee, values, callee, type_, name))
        if isinstance(site.function.body, Function):  # what it gives is known
            self.residual.reductions += 1
            inner = Environment(site.environment)
            inner.values.update(zip(site.function.params, values, strict=True))
            return (yield self.evaluator.chain(site.function.body, inner))
        result = None
        if self._is_worth(site):
            result = yield from self.variants.call((yield from self._with_functions_only(site)))
        if result is not None:
            return result
        return (yield from self.evaluator.unknown_call(node, callee, values, callee, type_, name))

    def _is_worth(self, site: Site) -> bool:
        if isinstance(site.callee.static, KnownFunction) or any(map(_is_known_function, site.arguments)):
            return True
        match site.callee.static:
            case KnownName(GlobalVar() as name):
                return bool(site.function.type_params) and name in self.handing
            case _:
                return False

    def _with_functions_only(self, site: Site) -> Generator[Any, Any, Site]:
        """The site, where other arguments are variables, each its own: what is the same by chance is none of a copy's
        business."""
        done: dict[PartialValue, PartialValue] = {}
        callee = yield self._functions_only(site.callee, site.result, done)
        arguments: list[PartialValue] = []
        for each, param in zip(site.arguments, site.function.params, strict=True):
            if _is_known_function(each):
                arguments.append((yield self._functions_only(each, param, done)))
            else:
                atom = yield self.evaluator.atom(each)
                self.residual.store.escape((each,))
                var = self.residual.bind(self.residual.block, atom, each.type_, param)
                arguments.append(PartialValue(None, each.type_, var))
        return replace(site, callee=callee, arguments=tuple(arguments))

    def _functions_only(self, value: PartialValue, name: Var, done: dict[PartialValue, PartialValue]) -> Work:
        """The value, of which nothing is known but functions, nor of what these take along."""
        if value in done:
            return done[value]
        match value.static:
            case KnownFunction(function, environment):
                inner = Environment(None, environment.types)
                done[value] = replace(value, static=KnownFunction(function, inner))
                for var in self.functions.free_vars(function):
                    inner.values[var] = yield self._functions_only(environment.find(var), var, done)
            case KnownName():
                done[value] = value
            case _:
                done[value] = yield self.evaluator.forgotten(value, name)
        return done[value]

    def _name(self, site: Site) -> str:
        known = [each for each in site.arguments if _is_known_function(each)]
        return "_".join(self._title(each) for each in (site.callee, *known))

    def _title(self, value: PartialValue) -> str:
        match value.static:
            case KnownName(Op(operator)):
                return operator.name.replace(".", "_")
            case KnownName(GlobalVar() | Constructor() as name):
                return name.name_hint
            case KnownFunction(function):
                outer, own = self.functions.written_in(function), title_of(value.name)
                return f"{outer.name_hint if outer else 'a'}_{own if own not in ('', 'v') else 'fn'}"
            case _:
                raise CompilerBug("specialize functions", "a value that is no function has no title")


def _is_known_function(value: PartialValue) -> bool:
    return isinstance(value.static, KnownFunction | KnownName)
