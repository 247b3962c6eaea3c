"""What inference found, in words: where a type came from, and why two do not fit."""

from __future__ import annotations

import re
from pathlib import Path

from relay.base.diagnostics import Origin, RelayError
from relay.base.span import Span
from relay.infer.unification.unify import Mismatch
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
from relay.ir.operator import Conflict, Operator
from relay.ir.types import Type

_ASSIGNED = re.compile(r"\s*(?:let\s+)?(%[\w.]+|[A-Za-z_]\w*)(?:\s*:[^=]+)?\s*=(?!=)")


def describe(expr: Expr) -> str:
    """What an expression is and where it stands: `parameter %x`, `%3 = nn.conv2d, line 12`.

    >>> describe(Var("x"))
    'variable %x'
    """
    match expr:
        case Var(name, annotation):
            what = f"{'parameter' if annotation is not None else 'variable'} %{name}"
        case GlobalVar(name):
            what = f"@{name}"
        case Constant(data):
            what = "a constant" if data.ndim else f"the constant {data}"
        case Op():
            what = f"the operator {expr.name}"
        case Constructor(name):
            what = f"the constructor {name}"
        case Call(op):
            what = callee_name(op)
        case Let(var):
            what = f"let %{var.name_hint}"
        case _:
            what = _FORMS[type(expr)]
    return f"{_assigned_to(expr)}{what}{place(expr.span)}"


_FORMS: dict[type, str] = {
    Tuple: "a tuple",
    TupleGetItem: "a field of a tuple",
    Function: "a function",
    If: "an if",
    Match: "a match",
    RefCreate: "a ref",
    RefRead: "a read of a ref",
    RefWrite: "a write of a ref",
}


def callee_name(op: Expr) -> str:
    """How a call is spoken of: by what it calls."""
    match op:
        case Op():
            return op.name
        case GlobalVar(name):
            return f"@{name}"
        case Var(name):
            return f"%{name}"
        case Constructor(name):
            return name
        case _:
            return "a call"


def short_name(op: Expr) -> str:
    """A plain name for what a call gives: `conv2d` of `nn.conv2d`."""
    name = callee_name(op).lstrip("%@").rpartition(".")[2]
    return name if name.isidentifier() else "d"


def place(span: Span | None) -> str:
    """`, line 12` in a text, `, model.py:12` in a file; the empty string when unknown."""
    if span is None:
        return ""
    if span.source.text is not None:
        return f", line {span.line}"
    return f", {Path(span.source.name).name}:{span.line}"


def span_of_use(part: Expr, node: Expr) -> Span | None:
    """Where `node` uses `part`: a variable's own place is where it is bound, so there it is the node's."""
    return node.span if isinstance(part, Var) or part.span is None else part.span


def _assigned_to(expr: Expr) -> str:
    """`%3 = ` when the source line says that this is what gets a name there."""
    if expr.span is None or not isinstance(expr, (Call, Tuple, TupleGetItem, If, Match)):
        return ""
    line = expr.span.source.line(expr.span.line)
    match = _ASSIGNED.match(line) if line else None
    starts_there = (
        match is not None
        and line is not None
        and (not expr.span.column or line[match.end() :].lstrip() == line[expr.span.column - 1 :])
    )
    return f"{match.group(1)} = " if match is not None and starts_there else ""


def conflict_error(use: Call | Op, operator: Operator, types: tuple[Type, ...], conflict: Conflict) -> RelayError:
    """The user's view of a relation's conflict: which inputs disagree, what their types are and where from. `use` is
    the operator's call, or the operator itself where it stands as a function."""
    called = isinstance(use, Call)
    sources = [describe(argument) for argument in use.args] if called else [""] * len(types)
    positions = conflict.inputs or range(len(types))
    return RelayError(
        rule=conflict.rule,
        message=f"{operator.name}{'' if called else ', used as a function'}: {conflict.message}",
        span=use.span,
        expected=conflict.expected,
        found=conflict.found,
        origins=tuple(Origin(operator.inputs[i], str(types[i]), sources[i]) for i in positions if i < len(types)),
        remedy=conflict.remedy,
    )


def arity_error(call: Call, names: tuple[str, ...] | None, count: int) -> RelayError:
    """A call with too many or too few arguments."""
    listed = f" ({', '.join(names)})" if names else ""
    return RelayError(
        rule="arity",
        message=f"{callee_name(call.op)} is called with another number of arguments than it takes",
        span=call.span,
        expected=f"{count} argument{'' if count == 1 else 's'}{listed}",
        found=str(len(call.args)),
    )


def mismatch_error(
    rule: str,
    message: str,
    span: Span | None,
    mismatch: Mismatch,
    sides: tuple[Origin, ...],
    remedy: str = "",
) -> RelayError:
    """Two types that do not fit: `sides` are the whole types with their origins, `mismatch` the fact."""
    where = f" (in {mismatch.where})" if mismatch.where else ""
    return RelayError(rule=rule, message=f"{message}: {mismatch.fact}{where}", span=span, origins=sides, remedy=remedy)
