"""Make each region a global function that its compiler is given: PartitionGraph.

    before: def @main(%x) { exp(fn (%p0, %p1, Compiler="mine") { nn.dense(%p0, %p1) }(%x, 2f)) }
    after:  def @main(%x) { exp(@mine_main_0(%x)) }
            def @mine_main_0(%p0, Compiler="mine", Primitive=1, Inline=1, global_symbol="mine_main_0") {
              nn.dense(%p0, 2f)
            }

Constants that a region is given are inside it afterwards, where its compiler can pack them. Composites that no target
took are put back in place. A region must be closed: one that uses a variable of what is around it is refused. Such
functions are kernels: no pass looks into them, and `relay.build` gives them to the compiler of that name
(`PassContext(external_compilers=...)`). Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.names.fresh_names import FreshNames
from relay.infer.eager import typed_by_parts
from relay.ir.attributes import AttributeValue
from relay.ir.expr import Call, Constant, Expr, Function, GlobalVar
from relay.ir.module import IRModule
from relay.ir.rewriting import typed_as, with_body
from relay.ir.variables import free_vars
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.extents import copied
from relay.transform.fusion.defuse_ops import calls_put_in_place
from relay.transform.regions.regions import COMPILER, COMPOSITE, outer_nodes, region_function, with_outer_parts


@module_pass(level=0)
def PartitionGraph(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Make each region a global function that its compiler is given."""
    lifting = _Lifting(FreshNames(module.__contains__, "_", first=0))
    changed: dict[GlobalVar, Function] = {}
    for name, function in module.functions.items():
        kept = COMPILER in function.attrs or bool(function.attrs.get("Primitive"))
        changed[name] = function if kept else lifting.without_regions(name, function)
    lifted = module.with_functions({**changed, **lifting.made})
    for name in module.functions:
        if COMPILER not in lifted[name].attrs:
            changed[name] = calls_put_in_place(lifted[name], lifted, lambda callee: COMPOSITE in callee.attrs)
    return module.with_functions({**changed, **lifting.made})


@frozen
class _Lifting:
    names: FreshNames
    made: dict[GlobalVar, Function] = field(default_factory=dict)

    def without_regions(self, name: GlobalVar, function: Function) -> Function:
        new: dict[Expr, Expr] = {}
        for node in outer_nodes(function.body):
            region = region_function(node)
            if region is not None and isinstance(node, Call):
                args = tuple(new[argument] for argument in node.args)
                new[node] = typed_as(self._call(name, region, args, node), node)
            else:
                new[node] = with_outer_parts(node, new)
        return with_body(function, new[function.body])

    def _call(self, outer: GlobalVar, region: Function, args: tuple[Expr, ...], call: Call) -> Call:
        """The call of the global function that a region becomes."""
        captured = free_vars(region)
        if captured:
            raise RelayError(
                rule="open-region",
                message=f"a region for the compiler `{region.attrs[COMPILER]}` uses %{captured[0].name_hint}, "
                "a variable of the function around it",
                span=call.span,
                expected="a region that takes what it uses as arguments",
                remedy="let relay.transform.AnnotateTarget make the regions",
            )
        compiler = str(region.attrs[COMPILER])
        name = GlobalVar(self.names.take_numbered(f"{compiler}_{outer.name_hint}"))
        attrs = {**region.attrs, "Primitive": 1, "Inline": 1, "global_symbol": name.name_hint}
        self.made[name] = copied(_with_constants(region, args, attrs))
        rest = tuple(argument for argument in args if not isinstance(argument, Constant))
        return Call(name, rest, span=call.span)


def _with_constants(region: Function, args: tuple[Expr, ...], attrs: Mapping[str, AttributeValue]) -> Function:
    """The region with these attributes, and the constants among its arguments for its parameters."""
    known: dict[Expr, Expr] = {
        param: typed_as(argument, param)
        for param, argument in zip(region.params, args, strict=True)
        if isinstance(argument, Constant)
    }
    params = tuple(param for param in region.params if param not in known)
    for node in outer_nodes(region.body):
        if node not in known:
            known[node] = with_outer_parts(node, known)
    body = known[region.body]
    return typed_by_parts(Function(params, body, region.ret_type, region.type_params, attrs, span=region.span))
