"""Gradients of whole programs.

    before: def @main(%x: float32) -> float32 { multiply(%x, %x) }
    after:  def @main(%x: float32) { ...; (%v0, (%d_x,)) }                          reverse mode
            def @main(%x: float32, %d_x: float32) { ...; (%v0, %d_v0) }             forward mode

A program is made first order before (closures become data, `Defunctionalization`); what is left of calls, data and
choices is transposed by `relay.autodiff`. Where AutoBatch runs (`-O3`), recursion over data is batched by levels
before. Floating point: EXACT but for that (ROUNDING), the value is computed as it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.autodiff.chain import Chain
from relay.autodiff.differentiate import differentiated
from relay.autodiff.forward import with_tangents
from relay.autodiff.linearize import linearized
from relay.infer.infer_type import infer_type
from relay.ir.expr import Call, Expr, Function, GlobalVar, Let, Op, Tuple, Var, record_type
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.operator import Operator
from relay.ir.rewriting import rewrite_nodes, typed_as
from relay.ir.sharing import let_chain
from relay.ir.traversal import body_nodes
from relay.ops.transformations import CHECKPOINT_ATTRIBUTE, GRAD, ITS_COTANGENT, JVP, LINEARIZE, VJP
from relay.transform.batching.auto_batch import AutoBatch
from relay.transform.batching.batched import batched
from relay.transform.framework.context import PassContext
from relay.transform.functions.defunctionalize import Defunctionalization
from relay.transform.functions.inline_small_functions import lone_calls_in_place
from relay.transform.functions.lift_called_functions import LiftCalledFunctions
from relay.transform.functions.monomorphize import Monomorphize
from relay.transform.functions.normal_forms import ToANormalForm
from relay.transform.functions.remove_unused_functions import MAIN, RemoveUnusedFunctions
from relay.transform.functions.specialize_functions import SpecializeFunctions
from relay.transform.gradients.given_refs import on_refs, takes_refs, with_contents
from relay.transform.gradients.stores import without_refs
from relay.transform.simplify.promote_refs import PromoteRefs
from relay.transform.simplify.remove_unused_results import RemoveUnusedResults


def _lone_calls_in_place(module: IRModule) -> IRModule:
    """A pullback of a value's own is known by its calls, which stay."""
    nodes = [body_nodes(function) for function in module.functions.values()]
    with_own = (each for each in nodes if Op(ITS_COTANGENT) in each)
    return lone_calls_in_place(module, {node for each in with_own for node in each if isinstance(node, GlobalVar)})


def _by_levels(module: IRModule) -> IRModule:
    """Recursive functions by levels, where AutoBatch runs: they are differentiated as such, so the way back is by
    levels, too, and a weight gets one product for each level. Matrices stay as they are: nothing goes back through
    panels."""
    context = PassContext.current()
    runs = context.runs(AutoBatch.name, AutoBatch.level)
    return infer_type(batched(module, (), context.rates)) if runs else module


_TO_FIRST_ORDER = (
    RemoveUnusedFunctions, _by_levels, SpecializeFunctions, ToANormalForm, LiftCalledFunctions, Monomorphize,
    Defunctionalization, _lone_calls_in_place, PromoteRefs,
)  # fmt: skip
"""Functions handed to known functions are put in there; inner functions that are called, once all have names, become
global; closures that are left become data. What is called in one place only is differentiated there, where nothing
needs to be handed from the way forward to the way back. What a ref of one function holds is a value like others."""


def derivative(module: IRModule, transformation: Operator, places: Sequence[int], alone: bool = False) -> IRModule:
    """The module whose `@main` is a transformation of `@main`: `relay.grad` and its kin tell what each gives. `places`
    are those of the parameters that are meant; `alone`: there is one, whose gradient has no tuple around it.

    Raises `RelayError`: `no-gradient` (an operator without a gradient, refs in data that comes from outside, a value
    that is not a tensor), `not-first-order`.
    """
    typed = infer_type(module)
    on_contents = takes_refs(typed)
    prepared = _prepared(with_contents(typed) if on_contents else typed)
    if transformation is JVP:
        made = with_tangents(prepared, MAIN, places)
    elif transformation is LINEARIZE:
        made = linearized(prepared, MAIN, places)
    else:
        made = differentiated(prepared, MAIN, places, given=transformation is VJP, of_first=on_contents)
    if on_contents:
        made = on_refs(typed, infer_type(made), transformation)
    if transformation not in (JVP, LINEARIZE):
        made = made.with_function(MAIN, _shaped(made[MAIN], alone, with_value=transformation is not GRAD))
    return RemoveUnusedFunctions(RemoveUnusedResults(infer_type(made)))  # nobody else calls its parts


def checkpointed(module: IRModule, inner: GlobalVar) -> IRModule:
    """The module whose `@main` calls what it was, now `inner`, and is marked: derivatives keep its arguments alone."""
    before = infer_type(module)[MAIN]
    params = tuple(Var(each.name_hint, known_type(each), span=each.span) for each in before.params)
    marked = Function(params, Call(inner, params), span=before.span).with_attr(CHECKPOINT_ATTRIBUTE, 1)
    return infer_type(module.with_functions({**module.functions, inner: before, MAIN: marked}))


def _shaped(function: Function, alone: bool, with_value: bool) -> Function:
    """A function that gives `(value, (cotangents,))`, giving what is wanted of it."""
    if with_value and not alone:
        return function
    lets, result = let_chain(function.body)
    assert isinstance(result, Tuple)
    value, cotangents = result.fields
    assert isinstance(cotangents, Tuple)
    wanted = cotangents.fields[0] if alone else cotangents
    body = Chain([(let.var, let.value) for let in lets]).before(Tuple((value, wanted)) if with_value else wanted)
    return Function(function.params, body, None, function.type_params, function.attrs, span=function.span)


def _prepared(module: IRModule) -> IRModule:
    """The module, first order."""
    typed = infer_type(module)
    prepared = typed.with_functions({name: _with_named_callees(each) for name, each in typed.functions.items()})
    for each in _TO_FIRST_ORDER:
        prepared = each(prepared)
    return without_refs(RemoveUnusedFunctions(prepared))


def _with_named_callees(function: Function) -> Function:
    """Functions that are written out where they are called, bound by lets, as those are that become global."""

    def step(_: Expr, rebuilt: Expr) -> Expr:
        match rebuilt:
            case Call(op=Function(attrs=attrs) as callee, args=args) if not attrs:
                var = record_type(Var("fn"), known_type(callee))
                return Let(var, callee, typed_as(Call(var, args, span=rebuilt.span), rebuilt), span=rebuilt.span)
            case _:
                return rebuilt

    return rewrite_nodes(function, step)
