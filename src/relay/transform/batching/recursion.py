"""Which functions recurse over a data type in a form whose calls can be taken by levels, and the parts of that form.

    def @f(%t: T, %w: …) -> R { match (%t) { C(%x, %left, %right) => body of %x, @f(%left, %w), @f(%right, %w), … } }

One data value is taken apart (`subject`), each constructor by a clause of its own; calls of `f` inside are on fields of
the clause, and hand on all other parameters as they are (`invariants`). So the calls of one clause depend on nothing
but what is below them, and whether there are any depends on constructors alone, not on values of tensors.
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.analysis.call_graph import call_graph
from relay.base.frozen import frozen
from relay.ir.expr import (
    Call,
    Clause,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    Match,
    PatternConstructor,
    PatternVar,
    PatternWildcard,
    Var,
)
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.traversal import children, post_order
from relay.ir.types import TensorType, Type
from relay.transform.batching.rows import Refusal, leaf_types


@frozen(eq=False)
class ClauseForm:
    """A clause of a recursive function. `fields`: the variables of tensors that its body uses; `calls`: those of the
    function itself, `sub_trees` the field that each is on; `variables`: all that the pattern binds, by position."""

    constructor: Constructor
    variables: tuple[Var | None, ...]
    fields: tuple[Var, ...]
    calls: tuple[Call, ...]
    sub_trees: tuple[Var, ...]
    body: Expr


@frozen(eq=False)
class Recursion:
    """A function of that form. `leaves`: the tensors of its result."""

    name: GlobalVar
    function: Function
    subject: Var
    invariants: tuple[Var, ...]
    result: Type
    leaves: tuple[TensorType, ...]
    clauses: tuple[ClauseForm, ...]

    @property
    def ends(self) -> tuple[ClauseForm, ...]:
        """The clauses without recursive calls."""
        return tuple(clause for clause in self.clauses if not clause.calls)

    @property
    def steps(self) -> tuple[ClauseForm, ...]:
        """The clauses with recursive calls."""
        return tuple(clause for clause in self.clauses if clause.calls)

    @property
    def branches(self) -> bool:
        """Whether one value may have several instances on a level: else only several values do."""
        return any(len(clause.calls) > 1 for clause in self.clauses)

    @property
    def subject_type(self) -> Type:
        """The data type that is taken apart."""
        return known_type(self.subject)


def recursions(module: IRModule) -> tuple[Recursion | Refusal, ...]:
    """For each function of a typed module that calls itself: its form, or why it has another."""
    graph = call_graph(module)
    found: list[Recursion | Refusal] = []
    for component in graph.components:
        name = component[0]
        if len(component) > 1:
            found += (Refusal(each, "is recursive through other functions") for each in component)
        elif name in graph.recursive:
            found.append(recursion_of(name, module[name]))
    return tuple(found)


def recursion_of(name: GlobalVar, function: Function) -> Recursion | Refusal:
    """The form of one function that calls itself, or why it has another."""
    match function.body:
        case Match(data=Var() as subject, clauses=clauses, complete=complete) if subject in function.params:
            pass
        case _:
            return Refusal(name, "does not begin with a match of a parameter", function.span)
    if not complete:
        return Refusal(name, "matches a value that may have no clause", function.body.span)
    if function.type_params:
        return Refusal(name, "is generic", function.span)
    result = function.body.checked_type
    leaves = None if result is None else leaf_types(result)
    if result is None or not leaves:
        return Refusal(name, f"gives a value of type {result}, not tensors of known extents", function.span)
    forms: list[ClauseForm] = []
    for clause in clauses:
        form = _clause(name, function, subject, clause)
        if isinstance(form, Refusal):
            return form
        forms.append(form)
    invariants = tuple(param for param in function.params if param is not subject)
    recursion = Recursion(name, function, subject, invariants, result, leaves, tuple(forms))
    return recursion if recursion.steps and recursion.ends else Refusal(name, "has no clause that ends", function.span)


def _clause(name: GlobalVar, function: Function, subject: Var, clause: Clause) -> ClauseForm | Refusal:
    variables = _variables(clause)
    if variables is None or not isinstance(clause.lhs, PatternConstructor):
        return Refusal(name, "looks at more than one constructor at once", clause.rhs.span)
    nodes = post_order(clause.rhs)
    calls = tuple(node for node in nodes if isinstance(node, Call) and node.op == name)
    sub_trees: list[Var] = []
    for call in calls:
        problem = _call_problem(function, subject, call, variables)
        if problem is not None:
            return Refusal(name, problem, call.span)
        sub_trees += (arg for arg, param in zip(call.args, function.params, strict=True)
                      if param is subject and isinstance(arg, Var))  # fmt: skip
    if any(name in _value_parts(node) for node in nodes):
        return Refusal(name, "uses itself as a value", clause.rhs.span)
    used = {node for node in nodes if isinstance(node, Var)}
    fields = tuple(v for v in variables if v is not None and v in used and isinstance(known_type(v), TensorType))
    return ClauseForm(clause.lhs.constructor, variables, fields, calls, tuple(sub_trees), clause.rhs)


def _variables(clause: Clause) -> tuple[Var | None, ...] | None:
    if not isinstance(clause.lhs, PatternConstructor):
        return None
    found: list[Var | None] = []
    for pattern in clause.lhs.patterns:
        match pattern:
            case PatternVar(var):
                found.append(var)
            case PatternWildcard():
                found.append(None)
            case _:
                return None
    return tuple(found)


def _call_problem(function: Function, subject: Var, call: Call, variables: Sequence[Var | None]) -> str | None:
    """Why a recursive call is not of the form."""
    for arg, param in zip(call.args, function.params, strict=True):
        if param is subject and arg not in variables:
            return "calls itself on something else than a field of what it matched"
        if param is not subject and arg is not param:
            return f"calls itself with another %{param.name_hint} than it was given"
    return None


def _value_parts(node: Expr) -> tuple[Expr, ...]:
    return node.args if isinstance(node, Call) else children(node)
