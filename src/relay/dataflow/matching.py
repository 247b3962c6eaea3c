"""Matching a pattern against an expression: goals on a list, and choices to go back to. No recursion on either side.

Each goal is a pattern and the expression that it must match. A goal gives way to the goals for its parts; an
alternative leaves the other one behind as a choice. Costs O(pattern) for each expression; what a dominator pattern
learns of the nodes between is kept for the next expression, so that trying every node of a program is linear too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TypeAlias, Union, assert_never

import numpy as np

from relay.base.frozen import mutable
from relay.dataflow.patterns import (
    AltPattern,
    AttrPattern,
    CallPattern,
    ConstantPattern,
    DataTypePattern,
    DominatorPattern,
    ExprPattern,
    FunctionPattern,
    IfPattern,
    LetPattern,
    LiteralPattern,
    OpPattern,
    Pattern,
    ShapePattern,
    TupleGetItemPattern,
    TuplePattern,
    TypePattern,
    VarPattern,
    Wildcard,
)
from relay.infer.eager import eager_type
from relay.ir.expr import Call, Constant, Expr, Function, If, Let, Op, Tuple, TupleGetItem, Var
from relay.ir.structural import structural_equal
from relay.ir.traversal import children
from relay.ir.types import TensorType, Type
from relay.ops.framework.record import OperatorRecord

COMMUTATIVE = frozenset(
    {
        "add", "bitwise_and", "bitwise_or", "bitwise_xor", "equal", "logical_and", "logical_or", "logical_xor",
        "maximum", "minimum", "multiply", "not_equal",
    }
)  # fmt: skip

Goal: TypeAlias = "tuple[Pattern, Expr]"
Goals: TypeAlias = "tuple[Pattern, Expr, Goals] | None"
Leaf: TypeAlias = Union[OpPattern, LiteralPattern, ConstantPattern, VarPattern, ExprPattern]
_FAILS: tuple[tuple[Goal, ...], ...] = ()
_HOLDS: tuple[tuple[Goal, ...], ...] = ((),)


class Match(Mapping[Pattern, tuple[Expr, ...]]):
    """What each part of a pattern matched. `match[part]` is a tuple, as callbacks know it; `match.expr(part)` is the
    expression itself."""

    __slots__ = ("_bound",)

    def __init__(self, bound: Mapping[Pattern, Expr]) -> None:
        self._bound = bound

    def __getitem__(self, pattern: Pattern) -> tuple[Expr, ...]:
        return (self._bound[pattern],)

    def __iter__(self) -> Iterator[Pattern]:
        return iter(self._bound)

    def __len__(self) -> int:
        return len(self._bound)

    def expr(self, pattern: Pattern) -> Expr:
        """What a part of the pattern matched. Raises `KeyError` for one that took no part."""
        return self._bound[pattern]


@mutable
class Matcher:
    """Matches patterns against expressions of one program."""

    _parents: dict[DominatorPattern, dict[Expr, Expr | None]] = field(default_factory=dict)

    def match(self, pattern: Pattern, expr: Expr) -> Match | None:
        """What each part of the pattern matches, or None when it does not fit."""
        goals: Goals = (pattern, expr, None)
        bound: dict[Pattern, Expr] = {}
        order: list[Pattern] = []
        choices: list[tuple[Goals, int]] = []
        while goals is not None:
            wanted, found, rest = goals
            known = bound.get(wanted)
            if known is not None:
                options = _HOLDS if known is found or (not children(found) and known == found) else _FAILS
            else:
                options = self._options(wanted, found)
                bound[wanted] = found
                order.append(wanted)
            if options:
                for option in reversed(options[1:]):
                    choices.append((_push(option, rest), len(order)))
                goals = _push(options[0], rest)
                continue
            if not choices:
                return None
            goals, length = choices.pop()
            while len(order) > length:
                del bound[order.pop()]
        return Match(bound)

    def _options(self, pattern: Pattern, expr: Expr) -> tuple[tuple[Goal, ...], ...]:
        """The ways in which an expression may match a pattern: each as what its parts must match."""
        match pattern:
            case Wildcard():  # the forms that rules have most come first
                return _HOLDS
            case CallPattern(op, args):
                return _call(op, args, expr)
            case OpPattern() | LiteralPattern() | ConstantPattern() | VarPattern() | ExprPattern():
                return _HOLDS if _fits(pattern, expr) else _FAILS
            case AltPattern(left, right):
                return ((left, expr),), ((right, expr),)
            case TuplePattern(fields):
                if not isinstance(expr, Tuple):
                    return _FAILS
                return _HOLDS if fields is None else _all(fields, expr.fields)
            case TupleGetItemPattern(tuple_value, index):
                if not isinstance(expr, TupleGetItem) or index not in (None, expr.index):
                    return _FAILS
                return (((tuple_value, expr.tuple_value),),)
            case FunctionPattern(params, body):
                if not isinstance(expr, Function):
                    return _FAILS
                own = expr.params if params is not None else ()
                return _all((*(params or ()), body), (*own, expr.body))
            case LetPattern(var, value, body):
                return _all((var, value, body), (expr.var, expr.value, expr.body)) if isinstance(expr, Let) else _FAILS
            case IfPattern(cond, true_branch, false_branch):
                return _all((cond, true_branch, false_branch), children(expr)) if isinstance(expr, If) else _FAILS
            case AttrPattern(inner, attrs):
                return (((inner, expr),),) if _has_attributes(expr, attrs) else _FAILS
            case TypePattern(inner, type_):
                return (((inner, expr),),) if eager_type(expr) == type_ else _FAILS
            case ShapePattern(inner, shape):
                type_ = _tensor_type(expr)
                return (((inner, expr),),) if type_ is not None and type_.shape == shape else _FAILS
            case DataTypePattern(inner, dtype):
                type_ = _tensor_type(expr)
                return (((inner, expr),),) if type_ is not None and type_.dtype is dtype else _FAILS
            case DominatorPattern(parent, _, child):
                start = self.parent(pattern, expr)
                return (((child, expr), (parent, start)),) if start is not None else _FAILS
            case _:
                assert_never(pattern)

    def parent(self, pattern: DominatorPattern, expr: Expr) -> Expr | None:
        """The one expression from which all inputs of `expr` come along the path, or None."""
        known = self._parents.setdefault(pattern, {})
        stack = [expr]
        while stack:
            node = stack[-1]
            if node in known:
                stack.pop()
                continue
            starts: list[Expr | None] = []
            open_ = False
            for part in inputs_of(node):
                if self.match(pattern.parent, part) is not None:
                    starts.append(part)
                elif self.match(pattern.path, part) is None:
                    starts.append(None)
                elif part in known:
                    starts.append(known[part])
                else:
                    stack.append(part)
                    open_ = True
            if not open_:
                known[node] = starts[0] if starts and all(each is starts[0] for each in starts) else None
                stack.pop()
        return known[expr]

    def between(self, pattern: DominatorPattern, expr: Expr) -> list[Expr]:
        """The nodes on the path from the parent to `expr`, without the two."""
        start = self.parent(pattern, expr)
        found: dict[Expr, None] = {}
        stack = list(inputs_of(expr))
        while stack:
            node = stack.pop()
            if node is not start and node not in found:
                found[node] = None
                stack += inputs_of(node)
        return list(found)


def inputs_of(expr: Expr) -> tuple[Expr, ...]:
    """What an expression computes with: its parts without the function that is called."""
    return expr.args if isinstance(expr, Call) else children(expr)


def is_everywhere(constant: Constant, value: float) -> bool:
    """Whether all elements of a constant are one number; zeros must have the same sign.

    >>> is_everywhere(Constant(np.zeros(3)), 0.0), is_everywhere(Constant(np.zeros(3)), -0.0)
    (True, False)
    """
    data = constant.data
    if data.size == 0:
        return False
    first = float(data.flat[0])
    if first != value or (value == 0 and constant.dtype.is_float and np.signbit(first) != np.signbit(value)):
        return False
    if constant.data.size == 1:
        return True
    raw = np.ascontiguousarray(data).reshape(-1)
    return bool((raw.view(f"u{raw.dtype.itemsize}") == raw[:1].view(f"u{raw.dtype.itemsize}")).all())


def _fits(pattern: Leaf, expr: Expr) -> bool:
    """Whether an expression matches a pattern that has no parts."""
    match pattern:
        case OpPattern(name):
            return isinstance(expr, Op) and expr.name == name
        case LiteralPattern(value):
            return isinstance(expr, Constant) and is_everywhere(expr, value)
        case ConstantPattern():
            return isinstance(expr, Constant)
        case VarPattern(name):
            return isinstance(expr, Var) and name in ("", expr.name_hint)
        case ExprPattern(wanted):
            return wanted is expr or structural_equal(wanted, expr)
        case _:
            assert_never(pattern)


def _all(patterns: tuple[Pattern, ...], parts: tuple[Expr, ...]) -> tuple[tuple[Goal, ...], ...]:
    return (tuple(zip(patterns, parts, strict=True)),) if len(patterns) == len(parts) else _FAILS


def _call(op: Pattern, args: tuple[Pattern, ...] | None, expr: Expr) -> tuple[tuple[Goal, ...], ...]:
    if not isinstance(expr, Call):
        return _FAILS
    if args is None:
        return (((op, expr.op),),)
    if len(args) != len(expr.args):
        return _FAILS
    own = ((op, expr.op), *zip(args, expr.args, strict=True))
    if isinstance(expr.op, Op) and expr.op.name in COMMUTATIVE:
        return own, ((op, expr.op), (args[0], expr.args[1]), (args[1], expr.args[0]))
    return (own,)


def _push(goals: tuple[Goal, ...], rest: Goals) -> Goals:
    for pattern, expr in reversed(goals):
        rest = (pattern, expr, rest)
    return rest


def _tensor_type(expr: Expr) -> TensorType | None:
    type_: Type | None = eager_type(expr)
    return type_ if isinstance(type_, TensorType) else None


def _has_attributes(expr: Expr, wanted: Mapping[str, object]) -> bool:
    return all(_same(_attribute(expr, name), value) for name, value in wanted.items())


_MISSING = object()


def _attribute(expr: Expr, name: str) -> object:
    match expr:
        case Call(attrs=attrs):
            return getattr(attrs, name, _MISSING)
        case Function(attrs=attrs):
            return attrs.get(name, _MISSING)
        case Op(operator=OperatorRecord(fusion=fusion)) if name == "TOpPattern":
            return fusion
        case _:
            return _MISSING


def _same(found: object, wanted: object) -> bool:
    """Lists and tuples are alike, and so are a dtype and its name."""
    if isinstance(found, (list, tuple)) and isinstance(wanted, (list, tuple)):
        return len(found) == len(wanted) and all(map(_same, found, wanted))
    return found is not _MISSING and bool(found == wanted)
