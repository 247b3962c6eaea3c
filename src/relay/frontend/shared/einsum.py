"""Einsum over one or two tensors: sums over what one side alone has, then one batched matrix product."""

from __future__ import annotations

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.frontend.shared.node import Node, Result
from relay.frontend.shared.products import shape_of_expr
from relay.ir.expr import Expr
from relay.ops.elementwise.elementwise_binary import multiply
from relay.ops.manipulation.shape import reshape
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.matmul import batch_matmul
from relay.ops.reduction import reduce


@frozen
class Labelled:
    """A tensor with a letter for each axis."""

    expr: Expr
    letters: str


def einsum(node: Node) -> Result:
    """Letters in both and in the result are batches, in both alone are summed over, in one and the result are kept."""
    operands, result = _parsed(node)
    parts = [_summed(operand, operands, result) for operand in operands]
    if len(parts) == 1:
        return _ordered(parts[0], result)
    return _ordered(_product(node, parts[0], parts[1]) if _shared_sum(parts, result) else _outer(parts, result), result)


def _parsed(node: Node) -> tuple[list[Labelled], str]:
    equation = node.text("equation").replace(" ", "")
    left, arrow, result = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(node.inputs) or len(terms) > 2:
        node.unsupported(f"{equation!r} of {len(node.inputs)} tensors")
    if not arrow:
        result = "".join(sorted(letter for letter in set(left) - {","} if left.count(letter) == 1))
    plain = all(
        term.isascii() and (term.isalpha() or not term) and len(set(term)) == len(term) for term in (*terms, result)
    )
    if not plain or not set(result) <= set(left):
        node.unsupported(f"{equation!r}: an ellipsis, or a letter twice in one term")
    operands: list[Labelled] = []
    for position, term in enumerate(terms):
        if len(term) != node.value(position).rank:
            node.unsupported(f"{equation!r} of {node.value(position).type}")
        operands.append(Labelled(node.expr(position), term))
    return operands, result


def _summed(operand: Labelled, operands: list[Labelled], result: str) -> Labelled:
    """Without the letters that neither the result nor the other tensor has."""
    needed = result + "".join(other.letters for other in operands if other is not operand)
    axes = tuple(axis for axis, letter in enumerate(operand.letters) if letter not in needed)
    if not axes:
        return operand
    return Labelled(reduce.sum(operand.expr, axes), "".join(letter for letter in operand.letters if letter in needed))


def _shared_sum(parts: list[Labelled], result: str) -> bool:
    return any(letter in parts[1].letters and letter not in result for letter in parts[0].letters)


def _product(node: Node, a: Labelled, b: Labelled) -> Labelled:
    """a[batch, m, k] × b[batch, n, k] → [batch, m, n], each of the four a group of letters made one axis."""
    result = node.text("equation").replace(" ", "").partition("->")[2] or _parsed(node)[1]
    both = [letter for letter in a.letters if letter in b.letters]
    batch = "".join(letter for letter in both if letter in result)
    summed = "".join(letter for letter in both if letter not in result)
    m = "".join(letter for letter in a.letters if letter not in both)
    n = "".join(letter for letter in b.letters if letter not in both)
    extents = _extents(node, a) | _extents(node, b)
    left = _grouped(a, (batch, m, summed), extents)
    right = _grouped(b, (batch, n, summed), extents)
    product = batch_matmul(left, right)
    letters = batch + m + n
    return Labelled(reshape(product, [extents[letter] for letter in letters], allowzero=True), letters)


def _outer(parts: list[Labelled], result: str) -> Labelled:
    """Nothing is summed: both tensors take the result's axes and are multiplied."""
    sides: list[Expr] = []
    for part in parts:
        present = "".join(letter for letter in result if letter in part.letters)
        expr = _ordered(part, present)
        shape = dict(zip(present, getattr(expr.checked_type, "shape", ()), strict=True))
        sides.append(reshape(expr, [shape.get(letter, 1) for letter in result], allowzero=True))
    return Labelled(multiply(sides[0], sides[1]), result)


def _extents(node: Node, operand: Labelled) -> dict[str, IntExpr]:
    return dict(zip(operand.letters, shape_of_expr(node, operand.expr), strict=True))


def _grouped(operand: Labelled, groups: tuple[str, ...], extents: dict[str, IntExpr]) -> Expr:
    """The tensor with one axis for each group of letters."""
    ordered = _ordered(operand, "".join(groups))
    shape: list[IntExpr] = []
    for group in groups:
        size: IntExpr = 1
        for letter in group:
            size = size * extents[letter]
        shape.append(size)
    return reshape(ordered, shape, allowzero=True)


def _ordered(operand: Labelled, letters: str) -> Expr:
    axes = tuple(operand.letters.index(letter) for letter in letters)
    return operand.expr if axes == tuple(range(len(axes))) else transpose(operand.expr, axes)
