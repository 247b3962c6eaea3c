"""Regions that other compilers took, as kernels whose code comes from elsewhere.

    before: let %1 = @mine_main_0(%0); …             def @mine_main_0(%p0, Compiler="mine", …) { add(%p0, meta[…]) }
    after:  let %1 = fn (%p0, %constant0, Compiler="mine", Primitive=1, name="mine_main_0") { … }(%0, meta[…]); …

A constant of more than one element is an argument of the kernel too, so that it lies with the program's constants. One
region called at several extents is a kernel for each.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import field

from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.base.frozen import mutable
from relay.base.names.fresh_names import FreshNames
from relay.base.span import Span
from relay.base.target import PROCESS
from relay.infer.unification.dimensions import function_type
from relay.ir.attributes import attribute_symbols
from relay.ir.expr import Call, Constant, Expr, Function, GlobalVar, Var, record_type
from relay.ir.known_types import known_tensor_type
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ir.traversal import children, post_order
from relay.ir.type_traversal import has_unknown_dimension, type_symbols
from relay.ir.types import TensorType, TupleType, Type
from relay.runtime.arguments.extents import symbol_sources
from relay.transform.devices.flows import DEVICE
from relay.transform.framework.external import ExternalFunction
from relay.transform.functions.extents import extents_of_call, function_at

COMPILER = "Compiler"
_C_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_external(function: Function) -> bool:
    """Whether another compiler makes the code of a function."""
    return COMPILER in function.attrs


def is_opaque(function: Function) -> bool:
    """Whether a kernel is called as it is, and nobody here looks into it: another compiler makes its code, or it is a
    region of a device."""
    return is_external(function) or DEVICE in function.attrs


def with_external_kernels(module: IRModule, compilers: Collection[str]) -> IRModule:
    """The module, where calls of the functions that other compilers took are kernel calls.

    Raises `RelayError`: `no-such-compiler` for a region whose compiler is not among `compilers`, `external-region` for
    one that cannot be called like a kernel.
    """
    regions = {name: function for name, function in module.functions.items() if is_external(function)}
    if not regions:
        return module
    for name, function in regions.items():
        if function.attrs[COMPILER] not in compilers:
            raise RelayError(
                rule="no-such-compiler",
                message=f"@{name.name_hint} is for the compiler `{function.attrs[COMPILER]}`, which was not given",
                span=function.span,
                expected=", ".join(f"`{each}`" for each in compilers) or "a compiler of that name",
                remedy=_remedy(str(function.attrs[COMPILER])),
            )
    placing = _Placing(regions)
    functions = {
        name: rewrite_nodes(function, lambda _, expr: placing.placed(expr))
        for name, function in module.functions.items()
        if name not in regions
    }
    return module.with_functions(functions)


def _remedy(compiler: str) -> str:
    if compiler in PROCESS.names():
        return f'build it for that target: relay.build(…, target="{compiler}")'
    return f'build it within relay.PassContext(external_compilers={{"{compiler}": …}}), or do not partition for it'


def signature_symbols(function: Function) -> tuple[Symbol, ...]:
    """The symbols in the types of a function's parameters, in order of appearance."""
    types = [parameter.checked_type for parameter in function.params]
    return tuple(dict.fromkeys(symbol for type_ in types if type_ is not None for symbol in type_symbols(type_)))


def external_key(function: Function) -> str:
    """What tells an external kernel from others."""
    return f"external {function.attrs['name']}"


def external_function(function: Function) -> ExternalFunction:
    """An external kernel as its compiler is given it: extents have names of their own, that C takes."""
    count = len(function.params) - len(_large_constants(function))
    inner = Function(
        function.params[:count], function.body, function.ret_type, attrs=function.attrs, span=function.span
    )  # fmt: skip
    names: dict[str, Symbol] = {}
    for symbol in signature_symbols(inner):
        names.setdefault(symbol.name, symbol)
    if list(names.values()) != list(signature_symbols(inner)) or not all(map(_C_NAME.fullmatch, names)):
        renamed = {each: Symbol(f"extent{i}") for i, each in enumerate(signature_symbols(inner))}
        inner = function_at(inner, renamed)
    return ExternalFunction(
        str(function.attrs["name"]),
        inner,
        tuple(map(known_tensor_type, inner.params)),
        _large_constants(inner),
        _tensors(inner.body.checked_type),
        signature_symbols(inner),
    )


@mutable
class _Placing:
    """The kernels made so far: by region and the types it is called at."""

    regions: dict[GlobalVar, Function]
    made: dict[tuple[GlobalVar, tuple[Type | None, ...]], Function] = field(default_factory=dict)
    symbols: FreshNames = field(default_factory=lambda: FreshNames(separator="_"))

    def placed(self, expr: Expr) -> Expr:
        match expr:
            case Call(op=GlobalVar() as name, args=args) if name in self.regions:
                self._refuse_values(args)
                kernel = self._kernel(name, args, expr.span)
                return Call(kernel, (*args, *_large_constants(kernel)), span=expr.span)
            case Call(args=args):
                self._refuse_values(args)
            case _:
                self._refuse_values(children(expr))
        return expr

    def _refuse_values(self, parts: tuple[Expr, ...]) -> None:
        for part in parts:
            if isinstance(part, GlobalVar) and part in self.regions:
                raise _refusal(part, "is used as a value", None)

    def _kernel(self, name: GlobalVar, args: tuple[Expr, ...], span: Span | None) -> Function:
        key = (name, tuple(argument.checked_type for argument in args))
        if key not in self.made:
            self.made[key] = self._instance(name, args, span)
        return self.made[key]

    def _instance(self, name: GlobalVar, args: tuple[Expr, ...], span: Span | None) -> Function:
        region = self.regions[name]
        params = [each.checked_type for each in region.params if each.checked_type is not None]
        types = [each.checked_type for each in args if each.checked_type is not None]
        extents = extents_of_call(params, types) if len(params) == len(types) else None
        if extents is None:
            raise _refusal(name, "is called with extents that the run must check", span)
        function = function_at(region, extents)
        _check(name, function)
        constants = [
            _parameter(f"constant{index}", constant) for index, constant in enumerate(_large_constants(function))
        ]  # fmt: skip
        attrs = {**region.attrs, "Primitive": 1, "name": self._symbol(name, region)}
        made = Function((*function.params, *constants), function.body, function.ret_type, attrs=attrs, span=region.span)
        result = function.body.checked_type
        return made if result is None else record_type(made, function_type(made.params, result))

    def _symbol(self, name: GlobalVar, region: Function) -> str:
        wanted = str(region.attrs.get("global_symbol", name.name_hint))
        if not _C_NAME.fullmatch(wanted):
            raise _refusal(name, f"has the global_symbol `{wanted}`, which is no name in C", region.span)
        return self.symbols.take(wanted)


def _check(name: GlobalVar, function: Function) -> None:
    """Whether a region takes and gives tensors, all of whose extents its parameters tell."""
    for parameter in function.params:
        if not isinstance(parameter.checked_type, TensorType):
            raise _refusal(name, f"takes %{parameter.name_hint} of type {parameter.checked_type}", function.span)
    result = function.body.checked_type
    fields = result.fields if isinstance(result, TupleType) else (result,)
    if not all(isinstance(each, TensorType) for each in fields):
        raise _refusal(name, f"gives a value of type {result}", function.span)
    known = set(symbol_sources([known_tensor_type(each).shape for each in function.params]))
    for node in post_order(function.body):
        used = type_symbols(node.checked_type) if node.checked_type is not None else ()
        if isinstance(node, Call) and node.attrs is not None:
            used = (*used, *attribute_symbols(node.attrs))
        unknown = [symbol.name for symbol in used if symbol not in known]
        if unknown or (node.checked_type is not None and has_unknown_dimension(node.checked_type)):
            what = f"`{unknown[0]}`" if unknown else "an extent"
            raise _refusal(name, f"holds {what}, which the types of its parameters do not tell", function.span)


def _refusal(name: GlobalVar, what: str, span: Span | None) -> RelayError:
    return RelayError(
        rule="external-region",
        message=f"@{name.name_hint} {what}, so another compiler's code cannot be called there",
        span=span,
        expected="calls of a function of tensors, whose extents its parameters tell",
        remedy="let relay.transform.AnnotateTarget make the regions",
    )


def _large_constants(function: Function) -> tuple[Constant, ...]:
    """The constants of more than one element in a body, each once."""
    nodes = post_order(function.body)
    found = {id(node.data): node for node in nodes if isinstance(node, Constant) and node.data.size > 1}
    return tuple(found.values())


def _parameter(name: str, constant: Constant) -> Var:
    type_ = TensorType(constant.data.shape, constant.dtype)
    return record_type(Var(name, type_), type_)


def _tensors(type_: Type | None) -> tuple[TensorType, ...]:
    fields = type_.fields if isinstance(type_, TupleType) else (type_,)
    return tuple(each for each in fields if isinstance(each, TensorType))
