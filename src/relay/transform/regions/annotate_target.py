"""Mark what other compilers take, call by call: AnnotateTarget.

    before: exp(nn.dense(%x, %w))
    after:  exp(fn (%p0, %p1, Compiler="mine") { nn.dense(%p0, %p1) }(%x, %w))           for {"mine": ["nn.dense"]}

Rules say which operators and composites (`MergeComposite`) a target takes; the first target that takes a call gets it.
Each call becomes a region of its own (`regions.regions` says why it is a function); `MergeCompilerRegions`
joins them. Left to relay, whatever the rules say: calls with an effect, those whose extents the run must check or that
the types of their arguments do not tell, and values that are neither tensors nor tuples of them. Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, Union

from relay.base.diagnostics import RelayError
from relay.base.near_names import near_names
from relay.infer.checks import node_checks
from relay.ir.attributes import attribute_symbols
from relay.ir.expr import Call, Expr, Function, Op
from relay.ir.module import IRModule
from relay.ir.operator import Effect
from relay.ir.rewriting import with_body
from relay.ir.traversal import post_order
from relay.ir.type_traversal import has_unknown_dimension, type_symbols
from relay.ir.types import TensorType, TupleType, Type
from relay.ops.registry import operators
from relay.runtime.arguments.extents import symbol_sources
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import Pass, function_pass, pass_factory
from relay.transform.regions.regions import COMPOSITE, make_region, outer_nodes, with_outer_parts

Rule: TypeAlias = Callable[[Call], bool]
"""Whether a target takes a call, whose types and attributes it may look at."""
Taken: TypeAlias = Union[Sequence[str], Mapping[str, Rule]]
"""The operators and composites that a target takes: always, or when a rule says so."""


@pass_factory
def AnnotateTarget(targets: Mapping[str, Taken]) -> Pass:
    """Mark what other compilers take.

    For what each target takes, by its name; composites are named `target.something`.

    Raises `RelayError` (rule `unknown-operator`) for a name that is neither an operator nor that of a composite.

    >>> print(AnnotateTarget({"mine": {"nn.dense": lambda call: call.checked_type.dtype == "float32"}}))
    AnnotateTarget (from -O0)  Mark what other compilers take.
    """
    rules = {target: _rules(target, taken) for target, taken in targets.items()}

    @function_pass(level=0)
    def run(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
        if function.attrs.get("Primitive"):
            return function
        new: dict[Expr, Expr] = {}
        for node in outer_nodes(function.body):
            target = _taker(node, rules, module)
            if target is None:
                new[node] = with_outer_parts(node, new)
            else:
                new.update(make_region(target, [node], [node], new))
        return with_body(function, new[function.body])

    return run


def _always(call: Call) -> bool:  # noqa: ARG001
    return True


def _rules(target: str, taken: Taken) -> Mapping[str, Rule]:
    rules = taken if isinstance(taken, Mapping) else dict.fromkeys(taken, _always)
    for name in rules:
        if name not in operators() and not name.startswith(f"{target}."):
            raise RelayError(
                rule="unknown-operator",
                message=f"the target `{target}` takes something that is not there",
                expected=f"an operator, or a composite whose name begins with `{target}.`",
                found=name,
                remedy=near_names(name, operators()),
            )
    return rules


def _taker(node: Expr, rules: Mapping[str, Mapping[str, Rule]], module: IRModule) -> str | None:
    """The target that takes a node, if one does."""
    match node:
        case Call(op=Op(operator)):
            name = operator.name
        case Call(op=Function(attrs=attrs)) if COMPOSITE in attrs:
            name = str(attrs[COMPOSITE])
        case _:
            return None
    wanted = [target for target, of_target in rules.items() if name in of_target]
    if not wanted or not _can_leave(node, module):
        return None
    return next((target for target in wanted if rules[target][name](node)), None)


def _can_leave(call: Call, module: IRModule) -> bool:
    """Whether a call means the same as a function of its own: it has no effect, checks nothing, and all its extents are
    told by those of its arguments."""
    leaves = [leaf for each in call.args for leaf in _tensors(each.checked_type)]
    if not all(map(_tensors, (call.checked_type, *(each.checked_type for each in call.args)))):
        return False
    known = set(symbol_sources([leaf.shape for leaf in leaves]))
    inside: list[Expr] = [call]
    if isinstance(call.op, Function):
        inside += [each for each in post_order(call.op.body) if isinstance(each, Call)]
    for each in inside:
        if not isinstance(each, Call) or each.checked_type is None or has_unknown_dimension(each.checked_type):
            return False
        symbols = {*type_symbols(each.checked_type), *(attribute_symbols(each.attrs) if each.attrs else ())}
        pure = isinstance(each.op, Function) or (isinstance(each.op, Op) and each.op.operator.effect is Effect.PURE)
        if not pure or not symbols <= known or node_checks(each, module, frozenset()):
            return False
    return True


def _tensors(type_: Type | None) -> list[TensorType]:
    """The tensors of a tensor or a tuple of them; none of anything else."""
    match type_:
        case TensorType():
            return [type_]
        case TupleType(fields):
            tensors = [each for each in fields if isinstance(each, TensorType)]
            return tensors if len(tensors) == len(fields) else []
        case _:
            return []
