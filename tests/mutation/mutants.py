"""The small mistakes that a function could have: each mutant has one, at one place.

A comparison or an operator is another one, a condition always or never holds, `and` is `or`, a number is one more, a
statement or a case is missing, an optional result is None. What stands in messages, types and defaults and at the top
of a module stays as it is.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

OTHER: dict[type[ast.AST], type[Any]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
"""What stands for each operator in a mutant."""

LONGEST_TEXT = 70

Change = Callable[[Any], None]


@dataclass(frozen=True)
class Mutant:
    """A module in whose `function`, at the node at `position` of its tree, `before` is replaced by `after`; the
    `nth` place there of these two."""

    path: Path
    function: str
    line: int
    position: int
    before: str
    after: str
    nth: int
    change: Change

    @property
    def name(self) -> str:
        """What it is called whatever its line: `infer/unification/unify.py Unifier.forget: self._told = 0 → pass`, and
        behind it `(2)` where the same stands in a second place."""
        again = f" ({self.nth})" if self.nth > 1 else ""
        return f"{'/'.join(self.path.parts[-2:])} {self.function}: {self.before} → {self.after}{again}"

    def code(self) -> CodeType:
        """The code of the function with the mistake."""
        module = ast.parse(self.path.read_text(), str(self.path))
        self.change(list(ast.walk(module))[self.position])
        stack = [compile(ast.fix_missing_locations(module), str(self.path), "exec")]
        found = None
        while stack:
            code = stack.pop()
            stack += (each for each in code.co_consts if isinstance(each, CodeType))
            found = code if code.co_qualname == self.function else found
        if found is None:
            raise LookupError(self.name)
        return found


def mutants(path: Path) -> list[Mutant]:
    """Every mutant of the functions and methods of a module, in the order of its text."""
    module = ast.parse(path.read_text(), str(path))
    positions = {id(node): at for at, node in enumerate(ast.walk(module))}
    found: list[Mutant] = []
    for name, function in _functions(module):
        optional = function.returns is not None and "None" in ast.unparse(function.returns)
        times: Counter[tuple[str, str]] = Counter()
        for node in _inside(function):
            for before, after, change in (*_of_node(node, optional), *_of_blocks(node)):
                line = getattr(node, "lineno", function.lineno)
                texts = _short(before), _short(after)
                times[texts] += 1
                found.append(Mutant(path, name, line, positions[id(node)], *texts, times[texts], change))
    return found


def _functions(module: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in module.body:
        for each in node.body if isinstance(node, ast.ClassDef) else (node,):
            if isinstance(each, ast.FunctionDef):
                yield f"{node.name}.{each.name}" if isinstance(node, ast.ClassDef) else each.name, each


def _inside(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function that are neither types, nor defaults, nor text, nor what an error says."""
    stack: list[ast.AST] = [function]
    while stack:
        node = stack.pop()
        yield node
        skipped = {"annotation", "returns", "decorator_list", *(("args",) if isinstance(node, ast.FunctionDef) else ())}
        parts = [part for name, part in ast.iter_fields(node) if name not in skipped]
        children = [each for part in parts for each in (part if isinstance(part, list) else [part])]
        stack += (each for each in reversed(children) if isinstance(each, ast.AST) and not _is_words(each))


def _is_words(node: ast.AST) -> bool:
    """Whether a node says something to people, or (`strict=True`) states what holds anyway."""
    if isinstance(node, ast.keyword):
        return node.arg == "strict"
    return isinstance(node, (ast.Raise, ast.JoinedStr, ast.Assert))


def _of_node(node: ast.AST, optional: bool) -> Iterator[tuple[str, str, Change]]:
    """What is before and after, and the change, for each mistake in a node itself."""
    text = ast.unparse(node)
    match node:
        case ast.Compare(left, ops, comparators):
            for at, op in enumerate(ops):
                others = [OTHER[type(op)]() if i == at else each for i, each in enumerate(ops)]
                yield text, ast.unparse(ast.Compare(left, others, comparators)), _set("ops", others)
        case ast.BoolOp(op, values):
            yield text, ast.unparse(ast.BoolOp(OTHER[type(op)](), values)), _set("op", OTHER[type(op)]())
        case ast.BinOp(left, op, right) if type(op) in OTHER:
            yield text, ast.unparse(ast.BinOp(left, OTHER[type(op)](), right)), _set("op", OTHER[type(op)]())
        case ast.UnaryOp(ast.Not(), operand):
            yield text, ast.unparse(operand), _set("operand", ast.UnaryOp(ast.Not(), operand))
        case ast.Constant(bool() as value):
            yield text, str(not value), _set("value", not value)
        case ast.Constant(int() as value):
            yield text, str(value + 1), _set("value", value + 1)
        case ast.If(test) | ast.IfExp(test):
            yield f"if {ast.unparse(test)}", "if True", _set("test", ast.Constant(True))
            yield f"if {ast.unparse(test)}", "if False", _set("test", ast.Constant(False))
        case ast.While(test):
            yield f"while {ast.unparse(test)}", "while False", _set("test", ast.Constant(False))
        case ast.Match(_, cases) if len(cases) > 1:
            for at, case in enumerate(cases):
                if not _does_nothing(case):
                    yield f"case {ast.unparse(case.pattern)}", "no such case", lambda copy, at=at: copy.cases.pop(at)
        case ast.Return(ast.expr()) if optional and text != "return None":
            yield text, "return None", _set("value", ast.Constant(None))
        case _:
            pass


def _set(name: str, value: object) -> Change:
    return lambda copy: setattr(copy, name, value)


def _of_blocks(node: ast.AST) -> Iterator[tuple[str, str, Change]]:
    """The same for each statement of a block that is missing."""
    for block in ("body", "orelse"):
        statements = getattr(node, block, ())
        for at, statement in enumerate(statements if isinstance(statements, list) else ()):
            if _may_be_missing(statement):
                yield ast.unparse(statement), "pass", _without(block, at)


def _without(block: str, at: int) -> Change:
    def change(copy: Any) -> None:
        getattr(copy, block)[at] = ast.Pass()

    return change


def _may_be_missing(statement: ast.stmt) -> bool:
    """Whether a function could run without it: not what gives a name its value, and not a report of a bug of the
    compiler, which nothing reaches."""
    match statement:
        case ast.Expr(ast.Constant()) | ast.Raise(ast.Call(ast.Name("CompilerBug"))):
            return False
        case ast.Assign([target]):
            return isinstance(target, (ast.Attribute, ast.Subscript))
        case _:
            return isinstance(statement, (ast.Expr, ast.AugAssign, ast.Delete, ast.Raise, ast.Continue, ast.Break))


def _does_nothing(case: ast.match_case) -> bool:
    """Whether a case is there for the type checker alone."""
    return isinstance(case.body[0], ast.Pass) or "assert_never" in ast.unparse(case.body[0])


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TEXT else f"{line[: LONGEST_TEXT - 1]}…"
