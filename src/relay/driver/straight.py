"""What the graph executor can run, and how the rest is refused: by the expression, and with its place."""

from __future__ import annotations

from relay.analysis.call_graph import call_graph
from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.span import Span
from relay.ir.expr import (
    Call,
    Constant,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    Op,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from relay.ir.module import IRModule
from relay.ir.types import TensorType, TupleType, Type
from relay.lower.kernels.checked import is_check


def check_straight(module: IRModule) -> None:
    """Make sure that `@main` of a fused module in A-normal form only runs kernels, one after another, on tensors whose
    extents are numbers.

    Raises `RelayError` (rule `not-a-graph`) that names the first expression which the graph executor cannot run.
    """
    function = module["main"]
    for parameter in function.params:
        _check_type(parameter.checked_type, f"takes the parameter %{parameter.name_hint}", parameter.span)
    body: Expr = function.body
    while isinstance(body, Let):
        what = _beyond(body.value, module)
        if what:
            raise _refusal(what, body.value.span)
        _check_type(body.value.checked_type, "computes a value", body.value.span)
        body = body.body
    _check_type(body.checked_type, "gives a result", body.span)


def _beyond(value: Expr, module: IRModule) -> str:
    """What an expression does that a graph cannot; nothing if it can."""
    match value:
        case Call(op=Function() as callee) if callee.attrs.get("Primitive"):
            return "checks a value (`checked`)" if is_check(callee) else ""
        case Var() | Constant() | Tuple() | TupleGetItem():
            return ""
        case If():
            return "branches with `if`"
        case Match():
            return "branches with `match`"
        case Function():
            return "makes a function value"
        case RefCreate() | RefRead() | RefWrite():
            return "uses a reference"
        case Constructor():
            return f"uses the constructor `{value.name_hint}` of a data type"
        case GlobalVar():
            return f"takes the function @{value.name_hint} as a value"
        case Op():
            return f"takes the operator `{value.name}` as a value"
        case Call(op=GlobalVar() as callee):
            return f"calls @{callee.name_hint}" + _why_apart(callee, module)
        case Call(op=Constructor(name_hint=name)):
            return f"makes a value of a data type, `{name}`"
        case Call(op=Op(name=name)):
            return f"calls the operator `{name}` outside of a kernel"
        case Call():
            return "calls a function value"
        case Let():
            raise CompilerBug("check straight", "a binding inside a value: this is no A-normal form")


def _why_apart(callee: GlobalVar, module: IRModule) -> str:
    """Why the body of a function is not put where it is called."""
    if callee in call_graph(module).recursive:
        return ", which is recursive"
    if callee in module and module[callee].type_params:
        return ", which is generic"
    return ""


def _check_type(type_: Type | None, what: str, span: Span | None) -> None:
    """Whether a type is of tensors whose extents are numbers."""
    stack = [type_]
    while stack:
        each = stack.pop()
        match each:
            case TensorType(shape=shape) if all(isinstance(extent, int) for extent in shape):
                pass
            case TensorType():
                raise _refusal(f"{what} of the type {each}", span, "write numbers for its extents, or ")
            case TupleType(fields):
                stack += reversed(fields)
            case _:
                raise _refusal(f"{what} of the type {each}", span)


def _refusal(what: str, span: Span | None, remedy: str = "") -> RelayError:
    return RelayError(
        rule="not-a-graph",
        message=f"the graph executor cannot run `main`, which {what}",
        span=span,
        expected="a straight line of operators on tensors whose extents are numbers",
        remedy=f'{remedy}run it with relay.create_executor("aot"), '
        "whose profile names the regions that build_graph(region=…) takes",
    )
