"""Extents as PyTorch writes them, in Python: `s77`, `2*s77 + 1`, `(s77 // 2)`, and `L['x'].size()[0]` in guards."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from relay.arith.expr import (
    Comparison,
    IntExpr,
    Symbol,
    add,
    ceil_divide,
    floor_divide,
    floor_modulo,
    maximum,
    minimum,
    multiply,
)
from relay.base.frozen import frozen
from relay.base.names.fresh_names import FreshNames
from relay.frontend.shared.names import SymbolNames
from relay.frontend.shared.node import Unsupported
from relay.frontend.torch.package import torch_package
from relay.ops.framework.build import symbol
from relay.ops.framework.dimensions import simplest

if TYPE_CHECKING:
    import torch
    from torch import fx

Condition: TypeAlias = Union[Comparison, "Every", "Some", "Not"]
"""A statement about extents."""


@frozen
class Every:
    """All of these hold."""

    parts: tuple[Condition, ...]


@frozen
class Some:
    """One of these holds, or more."""

    parts: tuple[Condition, ...]


@frozen
class Not:
    """This does not hold."""

    part: Condition


Leaf: TypeAlias = Callable[[ast.expr], "IntExpr | None"]
"""What a name, or the extent of an input, stands for; None for what is neither."""

_BINARY: Mapping[type[ast.operator], Callable[[IntExpr, IntExpr], IntExpr]] = {
    ast.Add: add, ast.Sub: lambda left, right: add(left, multiply(right, -1)), ast.Mult: multiply,
    ast.FloorDiv: floor_divide, ast.Mod: floor_modulo,
    ast.Div: floor_divide,  # of integers PyTorch writes it where nothing is left over
}  # fmt: skip
_OF_TWO: Mapping[str, Callable[[IntExpr, IntExpr], IntExpr]] = {
    "FloorDiv": floor_divide, "CleanDiv": floor_divide, "CeilDiv": ceil_divide, "Mod": floor_modulo,
    "PythonMod": floor_modulo,
}  # fmt: skip
_OF_ALL: Mapping[str, Callable[[IntExpr, IntExpr], IntExpr]] = {
    "max": maximum, "Max": maximum, "min": minimum, "Min": minimum,
}  # fmt: skip
_ROUNDINGS: Mapping[str, Callable[[IntExpr, IntExpr], IntExpr]] = {
    "math.floor": floor_divide, "math.trunc": floor_divide, "math.ceil": ceil_divide,
}  # fmt: skip
_COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: "<", ast.GtE: "<=",
}  # fmt: skip
_LONGEST = 4096
"""Characters of the longest expression that is read: extents are small sums and products."""


def parsed(text: str) -> ast.expr:
    """The text of an expression. Raises `Unsupported`."""
    if len(text) > _LONGEST:
        raise Unsupported(f"an extent of {len(text):,} characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        raise Unsupported(f"the extent {text}, which is no expression") from None


def extent_of(tree: ast.expr, leaf: Leaf) -> IntExpr:
    """The extent that an expression is. Recursion is as deep as the expression, which is short.

    Raises `Unsupported`.
    """
    found = leaf(tree)
    if found is not None:
        return found
    match tree:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return multiply(extent_of(operand, leaf), -1)
        case ast.BinOp(left=base, op=ast.Pow(), right=ast.Constant(value=int(power))) if 0 < power <= 8:
            result = factor = extent_of(base, leaf)
            for _ in range(power - 1):
                result = multiply(result, factor)
            return result
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](extent_of(left, leaf), extent_of(right, leaf))
        case ast.Call(func=function, args=arguments):
            return _of_call(tree, ast.unparse(function), arguments, leaf)
        case _:
            raise _unknown(tree)


def _of_call(tree: ast.Call, name: str, arguments: list[ast.expr], leaf: Leaf) -> IntExpr:
    match name, arguments:
        case _, [left, right] if name in _OF_TWO:
            return _OF_TWO[name](extent_of(left, leaf), extent_of(right, leaf))
        case _, [first, *others] if name in _OF_ALL:
            result = extent_of(first, leaf)
            for other in others:
                result = _OF_ALL[name](result, extent_of(other, leaf))
            return result
        case _, [ast.BinOp(left=left, op=ast.Div(), right=right)] if name in _ROUNDINGS:
            return _ROUNDINGS[name](extent_of(left, leaf), extent_of(right, leaf))
        case _, [whole] if name in _ROUNDINGS:
            return extent_of(whole, leaf)
        case _:
            raise _unknown(tree)


def condition_of(tree: ast.expr, leaf: Leaf) -> Condition:
    """The statement that an expression is. Raises `Unsupported`."""
    match tree:
        case ast.BoolOp(op=ast.And(), values=values):
            return Every(tuple(condition_of(each, leaf) for each in values))
        case ast.BoolOp(op=ast.Or(), values=values):
            return Some(tuple(condition_of(each, leaf) for each in values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return Not(condition_of(operand, leaf))
        case ast.Compare(left=first, ops=operators, comparators=others):
            sides = [extent_of(each, leaf) for each in (first, *others)]
            pairs = zip(sides, operators, sides[1:], strict=False)
            parts = tuple(_comparison(tree, left, op, right) for left, op, right in pairs)
            return parts[0] if len(parts) == 1 else Every(parts)
        case _:
            raise _unknown(tree)


def _comparison(tree: ast.expr, left: IntExpr, op: ast.cmpop, right: IntExpr) -> Comparison:
    if type(op) not in _COMPARISONS:
        raise _unknown(tree)
    if isinstance(op, (ast.Gt, ast.GtE)):
        left, right = right, left
    return Comparison(left, _COMPARISONS[type(op)], right)


def _unknown(tree: ast.expr) -> Unsupported:
    return Unsupported(f"the extent {ast.unparse(tree)}")


class Extents:
    """Extents of PyTorch by what they are here. `symbols` are the names of those that inputs have, and of those that
    data decide once the walk has come to where they do."""

    def __init__(self, symbols: dict[str, IntExpr]) -> None:
        self.symbols = symbols
        self._known: dict[str, IntExpr] = {}

    def decided(self, name: str, called: str) -> Symbol:
        """A symbol for what data decide, which PyTorch calls `name`."""
        taken = {str(each) for each in self.symbols.values()}
        self.symbols[name] = made = symbol(FreshNames(taken.__contains__, separator="_", first=1).take(called))
        return made

    def of(self, value: int | torch.SymInt) -> IntExpr:
        """A number, or what the expression of a symbolic one is. Raises `Unsupported` for one that data decide."""
        if isinstance(value, int):
            return value
        text = printed(value)
        if text not in self._known:
            self._known[text] = simplest(extent_of(parsed(text), self.named))
        return self._known[text]

    def named(self, tree: ast.expr) -> IntExpr | None:
        """The symbol that a name stands for."""
        if not isinstance(tree, ast.Name):
            return None
        if tree.id not in self.symbols:
            raise Unsupported("an extent or a number that data decide")
        return self.symbols[tree.id]


def printed(value: torch.SymInt | torch.SymBool) -> str:
    """The expression of a symbolic number as Python."""
    return str(torch_package("torch.utils._sympy.printers").PythonPrinter().doprint(value.node.expr))


def named_symbols(placeholders: Sequence[fx.Node]) -> dict[str, IntExpr]:
    """The symbols of the inputs by PyTorch's names, each called after the first axis or number that it is alone."""
    torch, names = torch_package(), SymbolNames()
    symbols: dict[str, IntExpr] = {}
    extents: list[tuple[str, Any]] = []
    for node in placeholders:
        value = node.meta["val"]
        if isinstance(value, torch.Tensor):
            extents += [(f"{node.name}_{axis}", extent) for axis, extent in enumerate(value.shape)]
    extents += [(node.name, node.meta["val"]) for node in placeholders]
    for name, extent in extents:
        if is_symbol(extent) and str(extent.node.expr) not in symbols:
            symbols[str(extent.node.expr)] = symbol(names.of(name))
    for _, extent in extents:
        for each in symbols_of(extent):
            if each not in symbols:
                symbols[each] = symbol(names.of(each))
    return symbols


def is_symbol(value: Any) -> bool:
    """Whether a number is a symbol alone."""
    return isinstance(value, torch_package().SymInt) and bool(value.node.expr.is_Symbol)


def symbols_of(value: Any) -> list[str]:
    """The names of the symbols in the expression of a symbolic integer; none of anything else."""
    return sorted(map(str, value.node.expr.free_symbols)) if isinstance(value, torch_package().SymInt) else []
