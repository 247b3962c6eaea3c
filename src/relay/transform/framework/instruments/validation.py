"""Each pass checked by what it made."""

from __future__ import annotations

from dataclasses import replace

from relay.base.diagnostics import CompilerBug, RelayError
from relay.infer.infer_type import infer_type
from relay.ir.expr import Constant, Constructor, Expr, Function, GlobalVar, Op, Var
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite
from relay.ir.traversal import post_order
from relay.ir.type_compatibility import compatible
from relay.ir.types import FuncType
from relay.ir.variables import bound_vars, renaming
from relay.ir.well_formed import well_formed
from relay.transform.framework.instruments.instrument import Instrument
from relay.transform.framework.pass_info import PassInfo
from relay.transform.framework.properties import Property


class Validation(Instrument):
    """After each pass that changed the module: it is well-formed, every node has a type, its types are what inference
    finds anew, and the properties that the pass keeps are still there. Before each pass: what it needs is there.

    Raises `CompilerBug` that names the pass.
    """

    def __init__(self) -> None:
        self._open: list[tuple[IRModule, frozenset[Property]]] = []

    def exit_pass_ctx(self) -> None:
        self._open.clear()

    def run_before_pass(self, module: IRModule, info: PassInfo) -> None:
        for each in sorted(info.needs, key=str):
            violation = each.violation(module)
            if violation:
                raise CompilerBug(info.name, f"it needs a module in {each}, but {violation}")
        self._open.append((module, frozenset(each for each in info.keeps if not each.violation(module))))

    def run_after_pass(self, module: IRModule, info: PassInfo) -> None:
        before, had = self._open.pop()
        if module is before:
            return
        reasons = well_formed(module)
        if reasons:
            raise CompilerBug(info.name, f"it made a program that is not well-formed: {reasons[0]}")
        _check_types(module, info)
        for each in sorted(had, key=str):
            violation = each.violation(module)
            if violation:
                raise CompilerBug(info.name, f"it does not keep what it says, {each}: {violation}")


def _check_types(module: IRModule, info: PassInfo) -> None:
    for name, function in module.functions.items():
        for node in post_order(function):
            if node.checked_type is None and not isinstance(node, (GlobalVar, Op, Constructor)):
                raise CompilerBug(info.name, f"it left a {type(node).__name__} of @{name.name_hint} without a type")
    try:
        anew = infer_type(without_types(module))
    except RelayError as error:
        raise CompilerBug(info.name, f"it made a program that does not type: {error}") from error
    for name, function in module.functions.items():
        kept, found = function.checked_type, anew[name].checked_type
        if kept is not None and found is not None and not compatible(kept, found):
            raise CompilerBug(info.name, f"it left @{name.name_hint} the type {kept}, but it is of type {found}")


def without_types(module: IRModule) -> IRModule:
    """A copy of the module in which no node has a type; parameters are annotated with the types that they had.

    >>> from relay.ir.types import scalar_type
    >>> x = Var("x", scalar_type("float32"))
    >>> without_types(infer_type(IRModule.from_expr(Function((x,), x))))["main"].checked_type is None
    True
    """
    functions = {name: _copied(function) for name, function in module.functions.items()}
    return IRModule(functions, module.type_definitions)


def _copied(function: Function) -> Function:
    nodes = post_order(function)
    params = {param for node in nodes if isinstance(node, Function) for param in node.params}
    fresh = {
        var: Var(var.name_hint, var.type_annotation or (var.checked_type if var in params else None), span=var.span)
        for var in bound_vars(function)
    }
    type_params = {
        node.params: node.checked_type.type_params
        for node in nodes
        if isinstance(node, Function) and isinstance(node.checked_type, FuncType) and not node.type_params
    }
    rename = renaming(fresh)

    def step(node: Expr) -> Expr:
        own = type_params.get(node.params, ()) if isinstance(node, Function) else ()
        new = rename(node)
        if isinstance(new, Function) and own:
            new = replace(new, type_params=own)
        if new is node and (node.checked_type is not None or isinstance(node, Constant)):
            return replace(node)  # made anew, it has no type
        return new

    copied = rewrite(function, step)
    if not isinstance(copied, Function):
        raise CompilerBug("without_types", "the copy of a function is no function")
    return copied
