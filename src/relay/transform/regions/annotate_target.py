"""Mark what other compilers take, call by call: AnnotateTarget.

    before: exp(nn.dense(%x, %w))
    after:  exp(fn (%p0, %p1, Compiler="mine") { nn.dense(%p0, %p1) }(%x, %w))       where "mine" supports that function

Compilers are asked as targets are, by `supports`, of each call of an operator and of each composite
(`MergeComposite`); the first that takes a call gets it. Kinds of targets may be named, too: a build for such a target
has on its device what was marked for it (`regions_of_targets`). Each call becomes a region of its own
(`regions.regions` says why it is a function); `MergeCompilerRegions` joins them. Left to relay, and not asked about:
calls with an effect, those whose extents the run must check or that the types of their arguments do not tell, and
values that are neither tensors nor tuples of them. Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from relay.base.arguments import Kind, expect
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.names.near_names import near_names
from relay.base.plugin import plugin
from relay.base.target import PROCESS, target_kind
from relay.infer.checks import node_checks
from relay.infer.eager import typed_by_parts
from relay.infer.infer_type import infer_type
from relay.ir.attributes import attribute_symbols
from relay.ir.expr import Call, Constant, Expr, Function, Op, Var
from relay.ir.module import IRModule
from relay.ir.operator import Effect
from relay.ir.rewriting import rewrite_nodes, typed_as, with_body
from relay.ir.traversal import post_order
from relay.ir.type_traversal import has_unknown_dimension, type_symbols
from relay.ir.types import TensorType, TupleType, Type
from relay.runtime.arguments.extents import symbol_sources
from relay.transform.framework.context import PassContext
from relay.transform.framework.external import (
    Answer,
    Refused,
    Supported,
    called_name,
    callee,
    checked_answer,
)
from relay.transform.framework.passes import Pass, function_pass, pass_factory
from relay.transform.regions.regions import COMPILER, make_region, outer_nodes, region_function, with_outer_parts


class Asked(Protocol):
    """Another compiler, or a target."""

    def supports(self, group: Function) -> Answer: ...


_PARTITIONED = {COMPILER, "Primitive"}
"""Attributes of functions that are regions or kernels already."""
_NAMES = Kind((list, tuple), "a list of names of compilers")


@pass_factory
def AnnotateTarget(targets: Sequence[str]) -> Pass:
    """Mark what other compilers take.

    They are those of these names among the `external_compilers` of the `PassContext`, or registered kinds of targets,
    asked in this order.

    Running it raises `RelayError`: `no-such-compiler`, and what a compiler raises.

    >>> print(AnnotateTarget(["mine"]))
    AnnotateTarget (from -O0)  Mark what other compilers take.
    """
    expect(targets, _NAMES, "what AnnotateTarget asks")

    @function_pass(level=0)
    def run(function: Function, module: IRModule, context: PassContext) -> Function:
        if _PARTITIONED & function.attrs.keys():
            return function
        compilers = _compilers(targets, context)
        new: dict[Expr, Expr] = {}
        for node in outer_nodes(function.body):
            answers = _answers(node, compilers, module)
            taker = next((name for name, answer in answers if isinstance(answer, Supported)), None)
            new.update(
                {node: with_outer_parts(node, new)} if taker is None else make_region(taker, [node], [node], new)
            )
        return with_body(function, new[function.body])

    return run


def refusals(module: IRModule, targets: Sequence[str]) -> tuple[str, ...]:
    """Why AnnotateTarget leaves calls to relay: a line for each that compilers were asked about, and none took.

    Raises what running `AnnotateTarget(targets)` raises.
    """
    module, found = infer_type(module), list[str]()
    compilers = _compilers(targets, PassContext.current())
    for name, function in module.functions.items():
        for node in () if _PARTITIONED & function.attrs.keys() else outer_nodes(function.body):
            answers = dict(_answers(node, compilers, module))
            reasons = [f"{each}: {said.reason}" for each, said in answers.items() if isinstance(said, Refused)]
            if isinstance(node, Call) and answers and len(reasons) == len(answers):
                found.append(f"@{name.name_hint}, {called_name(node)}: {'; '.join(reasons)}")
    return tuple(found)


def _compilers(names: Sequence[str], context: PassContext) -> Mapping[str, Asked]:
    given, kinds = context.external_compilers, PROCESS.names()
    for name in names:
        if name not in given and name not in kinds:
            raise RelayError(
                rule="no-such-compiler",
                message=f"AnnotateTarget asks the compiler `{name}`, which was not given",
                expected=", ".join(f"`{each}`" for each in given) or "a compiler of that name",
                remedy=near_names(name, (*given, *kinds))
                or f'run it within relay.PassContext(external_compilers={{"{name}": …}})',
            )
    return {
        name: plugin(given[name], f"the compiler `{name}`", callee) if name in given else _kernel_target(name)
        for name in names
    }


@frozen
class _KernelTarget:
    """What makes the kernels of a target, asked about the kernel that a region of one call would be."""

    asked: Asked

    def supports(self, group: Function) -> Answer:
        if not isinstance(group.body, Call) or not isinstance(group.body.op, Op):
            return Refused("it makes kernels of operators, and of no composites")
        return self.asked.supports(_as_kernel(group))


def _kernel_target(kind: str) -> Asked:
    """That of the target that a kind is without any flags."""
    found = target_kind(kind)
    return _KernelTarget(found.kernel_target(found.resolve(found.parse(()))))


def _as_kernel(region: Function) -> Function:
    """A region as a primitive function: constants of several elements are parameters."""
    given: list[Var] = []

    def step(_: Expr, new: Expr) -> Expr:
        if not isinstance(new, Constant) or new.data.size == 1:
            return new
        given.append(typed_as(Var(f"p{len(region.params) + len(given)}", new.checked_type), new))
        return given[-1]

    body = rewrite_nodes(region, step).body
    return typed_by_parts(Function((*region.params, *given), body, body.checked_type, attrs={"Primitive": 1}))


def _answers(node: Expr, compilers: Mapping[str, Asked], module: IRModule) -> Iterator[tuple[str, Answer]]:
    """What compilers say, one after another, of the region that a call would be; nothing for what is no such call."""
    if isinstance(node, Call) and called_name(node) and _can_leave(node, module):
        for name, compiler in compilers.items():
            group = region_function(make_region(name, [node], [node], {})[node])
            assert group is not None
            yield name, checked_answer(compiler.supports(group), f"the compiler `{name}`")


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
