"""A program as plain Python over NumPy: a second opinion on what it means, which shares nothing with the compiler.

Every value is what a Python programmer would use: tuples, closures, one-element lists for refs, tagged tuples for data.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, assert_never

import numpy as np

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
from relay.ir.module import IRModule


def _softmax(x: Any) -> Any:
    shifted = np.exp(x - x.max(-1, keepdims=True))
    return shifted / shifted.sum(-1, keepdims=True)


def _wrapping(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(left: Any, right: Any) -> Any:
        with np.errstate(over="ignore"):
            return operation(left, right)

    return apply


OPERATORS: Mapping[str, Callable[..., Any]] = {
    "add": _wrapping(np.add),
    "subtract": _wrapping(np.subtract),
    "multiply": _wrapping(np.multiply),
    "floor_divide": np.floor_divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "negative": np.negative,
    "tanh": np.tanh,
    "nn.relu": lambda x: np.maximum(x, np.float32(0)),
    "less": np.less,
    "less_equal": np.less_equal,
    "equal": np.equal,
    "greater_equal": np.greater_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_not": np.logical_not,
    "where": np.where,
    "zeros_like": np.zeros_like,
    "cast": lambda x, dtype: np.asarray(x).astype(str(dtype)),
    "sum": lambda x, axis, keepdims, **_: np.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype),
    "take": lambda x, index, axis, **_: np.take(x, index, axis=axis),
    "strided_slice": lambda x, begin, end, **_: x[begin[0] : end[0]],
    "concatenate": lambda parts, axis: np.concatenate(parts, axis),
    "stack": lambda parts, axis: np.stack(parts, axis),
    "nn.dense": lambda x, w, **_: x @ w.T,
    "nn.softmax": lambda x, axis: _softmax(x),
    "transpose": lambda x, axes: np.transpose(x),
}


def as_python(module: IRModule, constants: list[Any] | None = None) -> str:
    """Python source that defines a function for each of the module's that `@main` needs. Arrays become `constants`."""
    text = _Text([] if constants is None else constants)
    waiting, done = [GlobalVar("main")], set[GlobalVar]()
    while waiting:
        name = waiting.pop()
        if name not in done:
            done.add(name)
            text.function(f"global_{name.name_hint}", module[name], {})
            waiting += text.called
    return "\n".join(text.lines) + "\n"


def run_python(module: IRModule, arguments: tuple[Any, ...]) -> Any:
    """What `@main` gives for these arguments."""
    constants: list[Any] = []
    names: dict[str, Any] = {"op": OPERATORS, "constants": constants}
    exec(compile(as_python(module, constants), "generated", "exec"), names)
    return names["global_main"](*arguments)


class _Text:
    def __init__(self, constants: list[Any]) -> None:
        self.lines: list[str] = []
        self.constants = constants
        self.called: list[GlobalVar] = []
        self.indent = 0
        self.count = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def name(self, hint: str = "t") -> str:
        self.count += 1
        return f"{hint}_{self.count}"

    def function(self, name: str, function: Function, known: dict[int, str]) -> None:
        inner = dict(known)
        for parameter in function.params:
            inner[id(parameter)] = self.name(parameter.name_hint)
        self.line(f"def {name}({', '.join(inner[id(parameter)] for parameter in function.params)}):")
        self.indent += 1
        self.line(f"return {self.expr(function.body, inner)}")
        self.indent -= 1

    def branch(self, result: str, expr: Expr, known: dict[int, str]) -> None:
        self.indent += 1
        self.line(f"{result} = {self.expr(expr, dict(known))}")
        self.indent -= 1

    def expr(self, expr: Expr, known: dict[int, str]) -> str:
        """A name for the value; lines that compute it come first, unless it is known."""
        if id(expr) not in known:
            known[id(expr)] = self.computed(expr, known)
        return known[id(expr)]

    def assigned(self, value: str) -> str:
        name = self.name()
        self.line(f"{name} = {value}")
        return name

    def computed(self, expr: Expr, known: dict[int, str]) -> str:
        match expr:
            case Var():
                raise AssertionError(f"{expr.name_hint} is not in scope")
            case Constant(data=data):
                self.constants.append(data)
                return f"constants[{len(self.constants) - 1}]"
            case GlobalVar(name_hint=name):
                self.called.append(expr)
                return f"global_{name}"
            case Constructor(name_hint=name, inputs=inputs):
                return f"(lambda *fields: ({name!r}, *fields))" if inputs else f"({name!r},)"
            case Op():
                return f"op[{expr.name!r}]"
            case Tuple(fields=fields):
                return self.assigned("(" + "".join(f"{self.expr(field, known)}, " for field in fields) + ")")
            case TupleGetItem(tuple_value=value, index=index):
                return self.assigned(f"{self.expr(value, known)}[{index}]")
            case Function():
                name = self.name("function")
                self.function(name, expr, known)
                return name
            case Call():
                return self.call(expr, known)
            case Let(var, value, body):
                if isinstance(value, Function):
                    known[id(var)] = self.name(var.name_hint)
                    self.function(known[id(var)], value, known)
                else:
                    known[id(var)] = self.expr(value, known)
                return self.expr(body, known)
            case If(cond, true_branch, false_branch):
                result = self.name("chosen")
                self.line(f"if {self.expr(cond, known)}:")
                self.branch(result, true_branch, known)
                self.line("else:")
                self.branch(result, false_branch, known)
                return result
            case RefCreate(value=value):
                return self.assigned(f"[{self.expr(value, known)}]")
            case RefRead(ref=ref):
                return self.assigned(f"{self.expr(ref, known)}[0]")
            case RefWrite(ref=ref, value=value):
                target = self.expr(ref, known)
                self.line(f"{target}[0] = {self.expr(value, known)}")
                return "()"
            case Match():
                return self.match(expr, known)
            case _:
                assert_never(expr)

    def call(self, call: Call, known: dict[int, str]) -> str:
        if isinstance(call.op, Constructor):
            fields = "".join(f", {self.expr(argument, known)}" for argument in call.args)
            return self.assigned(f"({call.op.name_hint!r}{fields or ','})")
        callee = self.expr(call.op, known)
        arguments = [self.expr(argument, known) for argument in call.args]
        for field in () if call.attrs is None else dataclasses.fields(call.attrs):
            arguments.append(f"{field.name}={_literal(getattr(call.attrs, field.name))}")
        return self.assigned(f"{callee}({', '.join(arguments)})")

    def match(self, match: Match, known: dict[int, str]) -> str:
        value, result = self.expr(match.data, known), self.name("matched")
        for position, clause in enumerate(match.clauses):
            inner = dict(known)
            tests = _tests(clause.lhs, value, inner)
            self.line(f"{'elif' if position else 'if'} {' and '.join(tests) or 'True'}:")
            self.branch(result, clause.rhs, inner)
        self.line("else:")
        self.line("    raise LookupError('no clause fits')")
        return result


def _tests(pattern: Pattern, path: str, known: dict[int, str]) -> list[str]:
    """What must hold for a pattern to fit the value at `path`; its variables become paths."""
    match pattern:
        case PatternWildcard():
            return []
        case PatternVar(var):
            known[id(var)] = path
            return []
        case PatternTuple(patterns):
            return [test for i, each in enumerate(patterns) for test in _tests(each, f"{path}[{i}]", known)]
        case PatternConstructor(constructor, patterns):
            tests = [f"{path}[0] == {constructor.name_hint!r}"]
            fields = enumerate(patterns, start=1)
            return tests + [test for i, each in fields for test in _tests(each, f"{path}[{i}]", known)]
        case _:
            assert_never(pattern)


def _literal(value: Any) -> str:
    return repr(value) if type(value) in (int, float, bool, str, tuple, type(None)) else repr(str(value))
