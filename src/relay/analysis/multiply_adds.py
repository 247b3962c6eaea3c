"""How many products a program adds up: the work of its convolutions and matrix products."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from relay.analysis.call_graph import call_graph
from relay.arith.expr import IntExpr, Symbol, add, free_symbols, substitute
from relay.base.diagnostics import RelayError
from relay.base.frozen import mutable
from relay.base.graph import post_order as graph_post_order
from relay.infer.unification.explain import describe
from relay.ir.expr import Call, Constructor, Expr, Function, GlobalVar, Let, Op, Var
from relay.ir.module import IRModule
from relay.ir.operator import MultiplyAdds
from relay.ir.traversal import children, post_order
from relay.ir.type_traversal import has_unknown_dimension, type_leaves
from relay.ir.types import TensorType, Type


def get_total_mac_number(program: IRModule | Expr, module: IRModule | None = None) -> IntExpr:
    """The multiply-adds of one run of a typed program: of `@main`, of a function, or of an expression whose global
    functions are those of `module`. A number, or an expression in the symbols of the types.

    What a called function does counts at every call, in the caller's extents; what is shared counts once; of a choice
    all branches count, so it is the most that a run may do.

    Raises `RelayError`: `untyped`; `run-decides` for a recursive function, a function that is not known where it is
    called, and extents that are not known.

    >>> from relay.ir.expr import const
    >>> get_total_mac_number(Function((), const(1)))
    0
    """
    surroundings = program if isinstance(program, IRModule) else (module or IRModule())
    root = program["main"] if isinstance(program, IRModule) else program
    counts = _Counts(surroundings)
    counts.add_globals(node for node in post_order(root) if isinstance(node, GlobalVar))
    return counts.of_program(root)


@mutable
class _Counts:
    """The counts of functions: global ones, and those inside by identity."""

    module: IRModule
    of_globals: dict[GlobalVar, IntExpr] = field(default_factory=dict)
    of_functions: dict[Function, IntExpr] = field(default_factory=dict)
    bound: dict[Var, Function] = field(default_factory=dict)

    def add_globals(self, roots: Iterable[GlobalVar]) -> None:
        """Count the functions that are reached, callees first."""
        graph = call_graph(self.module)
        reached = set(graph.reachable(each for each in roots if each in self.module))
        for name in (each for group in graph.components for each in group):
            if name in reached and name not in graph.recursive:
                self.of_globals[name] = self.of_program(self.module[name])

    def of_program(self, program: Expr) -> IntExpr:
        """The count of a function's body, or of an expression; the functions inside are counted on the way."""
        nodes = post_order(program)
        for node in nodes:
            if isinstance(node, Let) and isinstance(node.value, Function):
                self.bound[node.var] = node.value
        for node in nodes:
            if isinstance(node, Function):
                self.of_functions[node] = self._of_scope(node.body)
        if isinstance(program, Function):
            return self.of_functions[program]
        return self._of_scope(program)

    def _of_scope(self, body: Expr) -> IntExpr:
        total: IntExpr = 0
        for node in graph_post_order((body,), lambda e: () if isinstance(e, Function) else children(e)):
            if isinstance(node, Call):
                total = add(total, self._of_call(node))
        return total

    def _of_call(self, call: Call) -> IntExpr:
        match call.op:
            case Op(operator):
                return 0 if operator.multiply_adds is None else _products(call, operator.multiply_adds)
            case Constructor():
                return 0
            case GlobalVar() as name if name in self.of_globals:
                return _at_call(self.of_globals[name], self.module[name], call)
            case Function() as function:
                return _at_call(self.of_functions[function], function, call)
            case Var() as var if var in self.bound and self.bound[var] in self.of_functions:
                return _at_call(self.of_functions[self.bound[var]], self.bound[var], call)
            case GlobalVar() as name if name in self.module:
                raise _refusal(call, f"@{name.name_hint} calls itself")
            case Var() as var if var in self.bound:
                raise _refusal(call, f"%{var.name_hint} calls itself")
            case callee:
                raise _refusal(call, f"{describe(callee)} may be any function")


def _products(call: Call, multiply_adds: MultiplyAdds) -> IntExpr:
    types = [_type_of(each) for each in (*call.args, call)]
    if any(map(has_unknown_dimension, types)):
        raise _refusal(call, f"{describe(call)} works on an extent that is not known")
    return multiply_adds(call.attrs, tuple(types[:-1]), types[-1])


def _at_call(count: IntExpr, function: Function, call: Call) -> IntExpr:
    """The count of a function in the extents of a call."""
    if isinstance(count, int):
        return count
    params, args = ([_type_of(each) for each in part] for part in (function.params, call.args))
    known = _extents(params, args)
    unknown = [symbol.name for symbol in free_symbols(count) if symbol not in known]
    if unknown:
        raise _refusal(call, f"the extent `{min(unknown)}` of {describe(call)} is not known at the call")
    return substitute(count, known)


def _extents(params: Sequence[Type], args: Sequence[Type]) -> dict[Symbol, IntExpr]:
    """What the symbols of parameters are at a call. Those inside an extent are those of the function around."""
    found: dict[Symbol, IntExpr] = {}
    for param, arg in zip(params, args, strict=True):
        for inner, outer in zip(type_leaves(param), type_leaves(arg), strict=False):
            if isinstance(inner, TensorType) and isinstance(outer, TensorType):
                for own, extent in zip(inner.shape, outer.shape, strict=False):
                    if isinstance(own, Symbol):
                        found.setdefault(own, extent)
                    elif not isinstance(own, int) and own == extent:
                        found.update((symbol, symbol) for symbol in free_symbols(own) if symbol not in found)
    return found


def _type_of(expr: Expr) -> Type:
    if expr.checked_type is None:
        raise RelayError(
            rule="untyped",
            message=f"{describe(expr)} has no type yet",
            span=expr.span,
            remedy="run relay.transform.infer_type first",
        )
    return expr.checked_type


def _refusal(call: Call, why: str) -> RelayError:
    return RelayError(
        rule="run-decides",
        message=f"only a run can tell how many multiply-adds there are: {why}",
        span=call.span,
        remedy="ask for the number of a function that does not",
    )
