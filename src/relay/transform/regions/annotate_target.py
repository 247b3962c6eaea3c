"""Mark what other compilers take, call by call: AnnotateTarget.

    before: exp(nn.dense(%x, %w))
    after:  exp(fn (%p0, %p1, Compiler="mine") { nn.dense(%p0, %p1) }(%x, %w))       where "mine" supports that function

Compilers are asked as targets are, by `supports`, of each call of an operator and of each composite (`MergeComposite`);
the first that takes a call gets it. Each call becomes a region of its own (`regions.regions` says why it is a
function); `MergeCompilerRegions` joins them. Left to relay, and not asked about: calls with an effect, those whose
extents the run must check or that the types of their arguments do not tell, and values that are neither tensors nor
tuples of them. Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.base.arguments import Kind, expect
from relay.base.diagnostics import RelayError
from relay.base.near_names import near_names
from relay.base.plugin import plugin
from relay.infer.checks import node_checks
from relay.ir.attributes import attribute_symbols
from relay.ir.expr import Call, Expr, Function, Op
from relay.ir.module import IRModule
from relay.ir.operator import Effect
from relay.ir.rewriting import with_body
from relay.ir.traversal import post_order
from relay.ir.type_traversal import has_unknown_dimension, type_symbols
from relay.ir.types import TensorType, TupleType, Type
from relay.runtime.arguments.extents import symbol_sources
from relay.transform.framework.context import PassContext
from relay.transform.framework.external import COMPOSITE, ExternalCompiler, Supported, callee
from relay.transform.framework.passes import Pass, function_pass, pass_factory
from relay.transform.regions.regions import make_region, outer_nodes, region_function, with_outer_parts

_NAMES = Kind((list, tuple), "a list of names of compilers")


@pass_factory
def AnnotateTarget(targets: Sequence[str]) -> Pass:
    """Mark what other compilers take.

    They are those of these names among the `external_compilers` of the `PassContext`, asked in this order.

    Running it raises `RelayError`: `no-such-compiler`, and what a compiler raises.

    >>> print(AnnotateTarget(["mine"]))
    AnnotateTarget (from -O0)  Mark what other compilers take.
    """
    expect(targets, _NAMES, "what AnnotateTarget asks")

    @function_pass(level=0)
    def run(function: Function, module: IRModule, context: PassContext) -> Function:
        if function.attrs.get("Primitive"):
            return function
        compilers = {name: _compiler(name, context) for name in targets}
        new: dict[Expr, Expr] = {}
        for node in outer_nodes(function.body):
            region = _region(node, compilers, module, new)
            if region is None:
                new[node] = with_outer_parts(node, new)
            else:
                new.update(region)
        return with_body(function, new[function.body])

    return run


def _compiler(name: str, context: PassContext) -> ExternalCompiler:
    given = context.external_compilers
    if name not in given:
        raise RelayError(
            rule="no-such-compiler",
            message=f"AnnotateTarget asks the compiler `{name}`, which was not given",
            expected=", ".join(f"`{each}`" for each in given) or "a compiler of that name",
            remedy=near_names(name, given) or f'run it within relay.PassContext(external_compilers={{"{name}": …}})',
        )
    return plugin(given[name], f"the compiler `{name}`", callee)


def _region(
    node: Expr, compilers: Mapping[str, ExternalCompiler], module: IRModule, new: Mapping[Expr, Expr]
) -> Mapping[Expr, Expr] | None:
    """What stands for a call that a compiler takes, and None for others. `new` is what stands for its arguments."""
    if not isinstance(node, Call) or not _is_asked_about(node) or not _can_leave(node, module):
        return None
    for name, compiler in compilers.items():
        made = make_region(name, [node], [node], new)
        group = region_function(made[node])
        if group is not None and isinstance(compiler.supports(group), Supported):
            return made
    return None


def _is_asked_about(call: Call) -> bool:
    """Whether it is the call of an operator or of a composite."""
    return isinstance(call.op, Op) or (isinstance(call.op, Function) and COMPOSITE in call.op.attrs)


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
