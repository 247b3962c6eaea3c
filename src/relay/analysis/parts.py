"""The parts into which a program was cut: kernels, and the regions of other compilers."""

from __future__ import annotations

from relay.base.frozen import frozen
from relay.ir.expr import Call, Expr, Function, GlobalVar
from relay.ir.module import IRModule
from relay.ir.structural import structural_equal
from relay.ir.traversal import post_order


@frozen(eq=False)
class AnnotatedRegion:
    """What one compiler is given. `name` is that of the global function once the graph is partitioned, else empty;
    `calls` are the places that use it."""

    compiler: str
    name: str
    function: Function
    calls: tuple[Call, ...]

    @property
    def inputs(self) -> tuple[tuple[Expr, ...], ...]:
        """What each call gives it."""
        return tuple(call.args for call in self.calls)


def annotated_regions(program: IRModule | Function) -> tuple[AnnotatedRegion, ...]:
    """The regions of a program for other compilers, before `PartitionGraph` and after, in the order of their calls.

    >>> from relay.ir.expr import Var
    >>> p, x = Var("p"), Var("x")
    >>> region = Function((p,), p, attrs={"Compiler": "mine"})
    >>> [each.compiler for each in annotated_regions(Function((x,), Call(region, (x,))))]
    ['mine']
    """
    module = program if isinstance(program, IRModule) else IRModule()
    functions = module.functions.values() if isinstance(program, IRModule) else (program,)
    found: dict[Function, tuple[str, list[Call]]] = {}
    for function in functions:
        for node in post_order(function.body):
            if isinstance(node, Call):
                name, region = _callee(node, module)
                if region is not None and "Compiler" in region.attrs:
                    found.setdefault(region, (name, []))[1].append(node)
    return tuple(
        AnnotatedRegion(str(region.attrs["Compiler"]), name, region, tuple(calls))
        for region, (name, calls) in found.items()
    )


def _callee(call: Call, module: IRModule) -> tuple[str, Function | None]:
    match call.op:
        case Function() as function:
            return "", function
        case GlobalVar() as name if name in module:
            return name.name_hint, module[name]
        case _:
            return "", None


def extract_fused_functions(module: IRModule) -> dict[str, Function]:
    """The kernels of a fused program (`FuseOps`) by name, each once however often it is called. Kernels of one name
    that are not the same are told apart by numbers.

    >>> p = Function((), Call(GlobalVar("f"), ()), attrs={"Primitive": 1, "name": "fused_add"})
    >>> list(extract_fused_functions(IRModule({GlobalVar("main"): Function((), Call(p, ()))})))
    ['fused_add']
    """
    found: dict[str, Function] = {}
    kernels = (
        node
        for function in module.functions.values()
        for node in post_order(function)
        if isinstance(node, Function) and node.attrs.get("Primitive")
    )
    for kernel in dict.fromkeys(kernels):
        _keep(found, kernel)
    return found


def _keep(found: dict[str, Function], kernel: Function) -> None:
    stem = name = str(kernel.attrs.get("name", kernel.attrs.get("global_symbol", "kernel")))
    number = 1
    while name in found:
        if structural_equal(found[name], kernel):
            return
        number += 1
        name = f"{stem}_{number}"
    found[name] = kernel
