"""What the drawing of each form of expression says: its kind, its title, what it takes, and as what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, assert_never, cast

from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
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
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from relay.ir.traversal import post_order
from relay.ir.types import FuncType, TensorType, TupleType, Type
from relay.report.dataflow.diagram import NodeKind


@frozen
class Operand:
    """An expression that a node takes, and as what."""

    role: str
    value: Expr


@frozen
class Form:
    """A node, in words. `lines` say what else it is; `operands` are what it takes, in order."""

    kind: NodeKind
    title: str
    operands: tuple[Operand, ...] = ()
    lines: tuple[str, ...] = ()


def form(node: Expr) -> Form:
    """What is said of an expression that is no leaf and no let."""
    match node:
        case Call():
            return _call(node)
        case Tuple(fields):
            return Form(NodeKind.DATA, "tuple" if fields else "()", _operands("field {}", fields))
        case TupleGetItem(value, index):
            return Form(NodeKind.DATA, f".{index}", (Operand("tuple", value),))
        case Function():
            return Form(NodeKind.CLOSURE, "fn")
        case If(condition):
            return Form(NodeKind.CHOICE, "if", (Operand("condition", condition),))
        case Match(data):
            return Form(NodeKind.CHOICE, "match", (Operand("data", data),))
        case RefCreate(value):
            return Form(NodeKind.REF, "ref", (Operand("value", value),))
        case RefRead(ref):
            return Form(NodeKind.REF, "ref_read", (Operand("ref", ref),))
        case RefWrite(ref, value):
            return Form(NodeKind.REF, "ref_write", (Operand("ref", ref), Operand("value", value)))
        case Let() | Var() | GlobalVar() | Constant() | Constructor() | Op():
            raise CompilerBug("drawing", f"a {type(node).__name__} is no node of a drawing")
        case _:
            assert_never(node)


def is_primitive(expr: Expr | None) -> bool:
    """Whether an expression is a function that is drawn as one node: it is one kernel."""
    return isinstance(expr, Function) and ("Primitive" in expr.attrs or "Compiler" in expr.attrs)


def _call(call: Call) -> Form:
    match call.op:
        case Op(operator):
            roles = operator.inputs if len(operator.inputs) == len(call.args) else [""] * len(call.args)
            operands = tuple(Operand(role, value) for role, value in zip(roles, call.args, strict=True))
            return Form(NodeKind.OPERATOR, operator.name, operands, tuple(_attributes(call.attrs)))
        case Function() if is_primitive(call.op):
            return _fused(call.op, call.args)
        case GlobalVar(name):
            return Form(NodeKind.CALL, f"@{name}", _operands("argument {}", call.args))
        case Constructor(name):
            return Form(NodeKind.DATA, name, _operands("field {}", call.args))
        case _:
            callee = Operand("function", call.op)
            return Form(NodeKind.CALL, "call", (callee, *_operands("argument {}", call.args)))


def _fused(function: Function, arguments: tuple[Expr, ...]) -> Form:
    """The operators of a kernel, in order, the first of them its title."""
    calls = [node for node in post_order(function.body) if isinstance(node, Call)]
    names = [call.op.name for call in calls if isinstance(call.op, Op)] or ["kernel"]
    compiler = function.attrs.get("Compiler")
    by = [f"by {compiler}"] if compiler else []
    return Form(
        NodeKind.FUSED, names[0], _operands("argument {}", arguments), (*(f"+ {name}" for name in names[1:]), *by)
    )


def _operands(role: str, values: tuple[Expr, ...]) -> tuple[Operand, ...]:
    return tuple(Operand(role.format(number), value) for number, value in enumerate(values))


def _attributes(attributes: Attributes | None) -> Iterator[str]:
    if attributes is not None:
        yield from (f"{name} = {_value_text(value)}" for name, value in attributes.shown())


def _value_text(value: object) -> str:
    """An attribute, short. What is inside of brackets inside of brackets is left out."""
    parts: list[str] = []
    for each in cast("tuple[object, ...]", value) if isinstance(value, tuple) else ():
        parts.append("[…]" if isinstance(each, tuple | Mapping) else str(each))
    if isinstance(value, Mapping):
        return "{…}"
    return f"[{', '.join(parts)}]" if isinstance(value, tuple) else str(value)


def leaf_text(leaf: Expr) -> str:
    """A constant or a name, where it is used: small numbers as they are, tensors as their types."""
    match leaf:
        case Constant(data):
            return str(data[()]) if data.ndim == 0 else type_text(leaf.checked_type)
        case GlobalVar(name):
            return f"@{name}"
        case Constructor(name):
            return name
        case Op():
            return leaf.name
        case _:
            return "fn" if isinstance(leaf, Function) else ""


def type_text(type_: Type | None) -> str:
    """A type, short; nothing for one that is not known.

    >>> type_text(TupleType((TensorType((2, 3)), TensorType(()))))
    '(float32[2, 3], float32)'
    """
    match type_:
        case None:
            return ""
        case TensorType(shape, dtype):
            return f"{dtype}[{', '.join(map(str, shape))}]" if shape else str(dtype)
        case TupleType(fields):
            return f"({', '.join(map(type_text, fields))})"
        case FuncType(arguments, result):
            return f"fn ({', '.join(map(type_text, arguments))}) -> {type_text(result)}"
        case _:
            return str(type_)


def pattern_text(pattern: Pattern, name: Callable[[Var], str]) -> str:
    """A pattern as text, its variables called as `name` says."""
    parts: list[str] = []
    rest: list[Pattern | str] = [pattern]
    while rest:
        match rest.pop():
            case PatternWildcard():
                parts.append("_")
            case PatternVar(var):
                parts.append(name(var))
            case PatternConstructor(constructor, patterns):
                parts.append(constructor.name_hint)
                rest += _enclosed(patterns) if patterns else ()
            case PatternTuple(patterns):
                rest += _enclosed(patterns)
            case str(text):
                parts.append(text)
    return "".join(parts)


def _enclosed(patterns: tuple[Pattern, ...]) -> list[Any]:
    """`(a, b)`, the last first."""
    parts: list[Pattern | str] = ["("]
    for position, pattern in enumerate(patterns):
        parts += [", ", pattern] if position else [pattern]
    return [*parts, ")"][::-1]
