"""A machine that evaluates a program as its text means it: scope by scope, each node once, in evaluation order.

A frame is one evaluation of a scope. Frames stand on an explicit stack, and a frame whose last step is a call or a
choice leaves it to its successor, so neither depth nor the length of a loop is limited by recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.frozen import frozen
from relay.infer.checks import node_checks
from relay.infer.unification.explain import arity_error, callee_name, describe
from relay.infer.unification.known import attributes_of
from relay.interpret.extents import concrete, conforms, enforce
from relay.interpret.patterns import fits
from relay.interpret.values import Closure, Environment, RefValue, Value, show_value, to_value_of
from relay.ir.attributes import Attributes
from relay.ir.expr import (
    Call,
    Constant,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    Op,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from relay.ir.module import IRModule
from relay.ir.operator import Check, Operator
from relay.ir.sharing import Scope, Scopes, scopes, value_node
from relay.ir.type_traversal import type_leaves
from relay.ir.types import RefType, TensorType, Type
from relay.ops.framework.record import OperatorRecord
from relay.runtime.values.values import DataValue

CallOperator = Callable[[Operator, Attributes, tuple[Value, ...]], Value]
Trace = Callable[["Step"], None]
NO_VALUES: Mapping[Var, Value] = {}


@frozen
class Step:
    """One node that was evaluated: its value, and how many calls, branches and clauses were open."""

    node: Expr
    value: Value
    depth: int

    def __str__(self) -> str:
        return f"{'  ' * self.depth}{describe(self.node)} is {show_value(self.value)}"


class Frame:
    """One evaluation of `scope`: `position` is the next node of its order. `caller` is the function whose declared
    result must be checked when the frame ends."""

    __slots__ = ("caller", "environment", "position", "scope", "scopes")

    def __init__(self, scope: Scope, of: Scopes, environment: Environment, caller: Function | None = None) -> None:
        self.scope = scope
        self.scopes = of
        self.environment = environment
        self.position = 0
        self.caller = caller


def by_meaning(operator: Operator, attributes: Attributes, arguments: tuple[Value, ...]) -> Value:
    """An operator as its record means it, in NumPy. Raises `RelayError` (rule `operator-without-meaning`)."""
    if not isinstance(operator, OperatorRecord):
        raise RelayError(
            rule="operator-without-meaning",
            message=f"{operator.name} is declared but has no meaning, so it cannot be evaluated",
            remedy="use a table of full records (relay.ops)",
        )
    result = operator.meaning(attributes, *arguments)
    return tuple(map(np.asarray, result)) if isinstance(result, tuple) else np.asarray(result)  # type: ignore[arg-type]


class Machine:
    """Evaluates expressions over the functions of `module`; at most `step_limit` nodes in all."""

    def __init__(
        self, module: IRModule, step_limit: int | None, call_operator: CallOperator, trace: Trace | None = None
    ) -> None:
        self.module = module
        self.steps_left = step_limit
        self.step_limit = step_limit
        self.call_operator = call_operator
        self.trace = trace
        self._entered_times: dict[str, int] = {}
        self._stack: list[Frame] = []
        self._globals: dict[GlobalVar, Closure] = {}
        self._checks: dict[Expr, tuple[Check, ...]] = {}

    # ---------------------------------------------------------------------------------------------------- run

    def evaluate(self, expr: Expr, variables: Mapping[Var, Value] = NO_VALUES) -> Value:
        """The value of an expression whose free variables have these values."""
        found = scopes(expr)
        environment = Environment(None)
        for var, value in variables.items():
            environment.values[var] = value
        return self._run(Frame(found.root, found, environment))

    def apply(self, closure: Closure, arguments: tuple[Value, ...], name: str) -> Value:
        """The result of a function. Raises `RelayError` when the arguments are not what its parameters say."""
        expected = len(closure.function.params)
        if len(arguments) != expected:
            raise RelayError(
                rule="arity",
                message=f"{name} is called with another number of arguments than it takes",
                expected=str(expected),
                found=str(len(arguments)),
            )
        return self._run(self._entered(closure, arguments, name))

    def global_closure(self, name: GlobalVar) -> Closure:
        """A function of the module as a value."""
        known = self._globals.get(name)
        if known is None:
            function = self.module[name]
            known = self._globals[name] = Closure(function, None, scopes(function), self.apply)
        return known

    def _run(self, first: Frame) -> Value:
        outer, self._stack = self._stack, [first]
        try:
            return self._run_stack(self._stack)
        finally:
            self._stack = outer  # an operator that Python evaluates may call a closure while the machine runs

    def _run_stack(self, stack: list[Frame]) -> Value:
        while True:
            frame = stack[-1]
            order = frame.scope.order
            if frame.position < len(order):
                node = order[frame.position]
                self._count(node)
                try:
                    STEPS[type(node)](self, frame, node)
                except RelayError as error:
                    raise error.at(node.span) from None
                continue
            value = self.value(value_node(frame.scope.result), frame)
            stack.pop()
            if frame.caller is not None:
                self._check_result(frame.caller, value, frame.environment)
            if not stack:
                return value
            self._finish(stack[-1], value)

    def _count(self, node: Expr) -> None:
        if self.steps_left is None:
            return
        self.steps_left -= 1
        if self.steps_left < 0:
            calls = sorted(self._entered_times.items(), key=lambda item: (-item[1], item[0]))[:3]
            raise RelayError(
                rule="step-limit",
                message="the program has not ended within the limit",
                span=node.span,
                expected=f"at most {self.step_limit} steps",
                found=f"{len(self._stack)} scopes open; "
                + (", ".join(f"{name} entered {count} times" for name, count in calls) or "no function entered"),
                remedy="a function that calls itself must come to an end; raise step_limit if this one does",
            )

    def _finish(self, frame: Frame, value: Value) -> None:
        """The node that the frame stands at has this value."""
        node = frame.scope.order[frame.position]
        frame.environment.values[node] = value
        frame.position += 1
        if self.trace is not None:
            self.trace(Step(node, value, len(self._stack) - 1))
        if node.checked_type is not None:
            fact = conforms(value, node.checked_type, frame.environment)
            if fact and isinstance(node, Call) and isinstance(node.op, Op):
                raise CompilerBug("interpret", f"{node.op.name} gives another type than its relation says: {fact}")
            if fact:
                message = f"a value is not of the inferred type: {fact}"
                raise RelayError(rule="extent-mismatch", message=message, span=node.span)

    def value(self, expr: Expr, frame: Frame) -> Value:
        """The value of a part that was evaluated before, or of a leaf."""
        match expr:
            case Constant(data):
                return data
            case GlobalVar():
                return self.global_closure(expr)
            case Constructor() | Op():
                return expr
            case Let():
                return self.value(value_node(expr), frame)
            case _:
                value = frame.environment.find(expr)
        if value is None or isinstance(value, int):
            if isinstance(expr, Var):
                raise RelayError(rule="unbound-variable", message=f"%{expr.name_hint} has no value", span=expr.span)
            raise CompilerBug("interpret", f"a {type(expr).__name__} is used before it is evaluated")
        return value

    # -------------------------------------------------------------------------------------------------- calls

    def call(self, frame: Frame, node: Call) -> None:
        callee = self.value(node.op, frame)
        arguments = tuple([self.value(argument, frame) for argument in node.args])
        self._enforce(node, frame.environment)
        match callee:
            case Op(operator):
                attributes = concrete(attributes_of(node, operator), frame.environment)
                self._finish(frame, self.call_operator(operator, attributes, arguments))
            case Constructor(name, inputs, type_name):
                if len(arguments) != len(inputs):
                    raise arity_error(node, None, len(inputs))
                self._finish(frame, DataValue(type_name.name, name, arguments))
            case Closure():
                if len(arguments) != len(callee.function.params):
                    raise arity_error(node, None, len(callee.function.params))
                self._push(frame, self._entered(callee, arguments, callee_name(node.op)))
            case np.ndarray() | tuple() | DataValue() | RefValue():
                raise RelayError(rule="not-a-function", message="what is called is not a function", span=node.span)
            case _:
                self._finish(frame, to_value_of(callee(*arguments), node.checked_type))

    def _entered(self, closure: Closure, arguments: tuple[Value, ...], name: str) -> Frame:
        function = closure.function
        if self.steps_left is not None:
            self._entered_times[name] = self._entered_times.get(name, 0) + 1
        environment = Environment(closure.environment)
        for param, argument in zip(function.params, arguments, strict=True):
            environment.values[param] = argument
            type_ = param.checked_type or param.type_annotation
            fact = conforms(argument, type_, environment) if type_ is not None else ""
            if fact:
                raise RelayError(
                    rule="argument-type",
                    message=f"the argument %{param.name_hint} of {name} is of another type: {fact}",
                    span=param.span,
                    expected=str(type_),
                )
        caller = function if self._result_is_open(function) else None
        return Frame(closure.scopes.inner(function)[0], closure.scopes, environment, caller)

    def _push(self, frame: Frame, successor: Frame) -> None:
        """Evaluate `successor` for the node that `frame` stands at; in place of `frame`, when nothing else is left."""
        node = frame.scope.order[frame.position]
        last = frame.position + 1 == len(frame.scope.order) and value_node(frame.scope.result) is node
        if last and frame.caller is None:
            self._stack.pop()
        self._stack.append(successor)

    def _result_is_open(self, function: Function) -> bool:
        """Whether the declared result type says something that inference has not proven."""
        if function.ret_type is None:
            return False
        if function.checked_type is None:
            return any(isinstance(leaf, TensorType) and leaf.shape for leaf in type_leaves(function.ret_type))
        return bool(self._checks_at(function))

    def _check_result(self, function: Function, value: Value, environment: Environment) -> None:
        if function.ret_type is None:
            return
        fact = conforms(value, function.ret_type, environment)
        if fact:
            raise RelayError(
                rule="extent-mismatch",
                message=f"the result of a function is not of the declared type: {fact}",
                span=function.span,
                expected=str(function.ret_type),
            )

    def _enforce(self, node: Expr, environment: Environment) -> None:
        if node.checked_type is not None:
            for check in self._checks_at(node):
                enforce(check, environment, node.span)

    def _checks_at(self, node: Expr) -> tuple[Check, ...]:
        known = self._checks.get(node)
        if known is None:
            known = self._checks[node] = node_checks(node, self.module, frozenset())
        return known

    # -------------------------------------------------------------------------------------------- other forms

    def tuple_(self, frame: Frame, node: Tuple) -> None:
        self._finish(frame, tuple([self.value(part, frame) for part in node.fields]))

    def projection(self, frame: Frame, node: TupleGetItem) -> None:
        whole = self.value(node.tuple_value, frame)
        if not isinstance(whole, tuple) or not 0 <= node.index < len(whole):
            raise RelayError(rule="unknown-field", message=f"the value has no field {node.index}", span=node.span)
        self._finish(frame, whole[node.index])

    def function(self, frame: Frame, node: Function) -> None:
        self._finish(frame, Closure(node, frame.environment, frame.scopes, self.apply))

    def let(self, frame: Frame, node: Let) -> None:
        """The value is there already: give it the name."""
        value = self.value(node.value, frame)
        if node.var.type_annotation is not None:
            _must_conform(value, node.var.type_annotation, frame.environment, f"the value of %{node.var.name_hint}")
        frame.environment.values[node.var] = value
        frame.position += 1

    def if_(self, frame: Frame, node: If) -> None:
        cond = self.value(node.cond, frame)
        if not isinstance(cond, np.ndarray) or cond.shape != () or cond.dtype != np.bool_:
            message = "the condition of an if is not a bool scalar"
            raise RelayError(rule="condition-not-bool", message=message, span=node.span)
        scope = frame.scopes.inner(node)[0 if cond else 1]
        self._push(frame, Frame(scope, frame.scopes, Environment(frame.environment)))

    def match(self, frame: Frame, node: Match) -> None:
        data = self.value(node.data, frame)
        for clause, scope in zip(node.clauses, frame.scopes.inner(node), strict=True):
            bound: dict[object, Value | int] = {}
            if fits(clause.lhs, data, bound):
                environment = Environment(frame.environment)
                environment.values.update(bound)
                self._push(frame, Frame(scope, frame.scopes, environment))
                return
        shown = data.constructor if isinstance(data, DataValue) else type(data).__name__
        raise RelayError(rule="no-clause-fits", message=f"no clause of a match fits {shown}", span=node.span)

    def ref_create(self, frame: Frame, node: RefCreate) -> None:
        self._finish(frame, RefValue(self.value(node.value, frame)))

    def _ref(self, expr: Expr, frame: Frame, node: Expr) -> RefValue:
        ref = self.value(expr, frame)
        if not isinstance(ref, RefValue):
            raise RelayError(rule="not-a-ref", message="what is read or written is not a ref", span=node.span)
        return ref

    def ref_read(self, frame: Frame, node: RefRead) -> None:
        value: object = self._ref(node.ref, frame, node).value
        if isinstance(value, bool | int | float | list | np.generic):  # put there by Python
            value = to_value_of(cast("object", value), node.checked_type)
        self._finish(frame, cast("Value", value))

    def ref_write(self, frame: Frame, node: RefWrite) -> None:
        value = self.value(node.value, frame)
        if isinstance(node.ref.checked_type, RefType):
            _must_conform(value, node.ref.checked_type.value, frame.environment, "what a ref is given")
        self._ref(node.ref, frame, node).value = value
        self._finish(frame, ())


def _must_conform(value: Value, type_: Type, environment: Environment, what: str) -> None:
    fact = conforms(value, type_, environment)
    if fact:
        message = f"{what} is not of the declared type: {fact}"
        raise RelayError(rule="extent-mismatch", message=message, expected=str(type_))


STEPS: Mapping[type, Callable[[Machine, Frame, Any], None]] = {
    Tuple: Machine.tuple_,
    TupleGetItem: Machine.projection,
    Function: Machine.function,
    Call: Machine.call,
    Let: Machine.let,
    If: Machine.if_,
    RefCreate: Machine.ref_create,
    RefRead: Machine.ref_read,
    RefWrite: Machine.ref_write,
    Match: Machine.match,
}
