"""Regions that were partitioned for a target of this build, as parts of the program again, on the target's device.

    before: def @main(%x) { exp(@gpu_main_0(%x)) }
            def @gpu_main_0(%p0, Compiler="gpu", …) { nn.dense(%p0, 2f) }
    after:  def @main(%x) { exp(on_device(nn.dense(%x, 2f), device="gpu")) }

A target makes kernels of operators that it sees, another compiler is given a region as a whole. So what
`AnnotateTarget` marked for a kind of target is on its device, and is fused and laid out there as all else is.
"""

from __future__ import annotations

from collections.abc import Mapping

from relay.ir.expr import Expr, Function, Tuple
from relay.ir.module import IRModule
from relay.ir.types import TupleType
from relay.ops.device import on_device
from relay.transform.functions.inline import INLINE, Inline
from relay.transform.fusion.defuse_ops import calls_put_in_place
from relay.transform.regions.regions import COMPILER, COMPOSITE, fields_of


def regions_put_in_place(module: IRModule, devices: Mapping[str, str]) -> IRModule:
    """`devices` by kind of target: where what is for that runs."""
    opened = {
        name: _opened(function, module, devices[str(function.attrs[COMPILER])])
        for name, function in module.functions.items()
        if function.attrs.get(COMPILER) in devices
    }
    if not opened:
        return module
    inlined = Inline(module.with_functions({**module.functions, **opened}))
    return inlined.with_functions({name: each for name, each in inlined.functions.items() if name not in opened})


def _opened(function: Function, module: IRModule, device: str) -> Function:
    plain = Function(function.params, function.body, function.ret_type, attrs={INLINE: 1}, span=function.span)
    plain = calls_put_in_place(plain, module, lambda callee: COMPOSITE in callee.attrs)
    parts = [on_device(each, device) for each in fields_of(plain.body)]
    body: Expr = Tuple(tuple(parts)) if isinstance(plain.body.checked_type, TupleType) else parts[0]
    return Function(plain.params, body, plain.ret_type, attrs=plain.attrs, span=plain.span)
