"""Einsum: sums over what one tensor alone has, then a batched matrix product of two at a time."""

from __future__ import annotations

from string import ascii_letters

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.frontend.shared.node import Node, Result
from relay.ir.expr import Expr
from relay.ops.elementwise.elementwise_binary import multiply
from relay.ops.manipulation.shape import reshape
from relay.ops.manipulation.slice import strided_slice
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.matmul import batch_matmul
from relay.ops.reduction import reduce


@frozen
class Labelled:
    """A tensor with a letter for each axis."""

    expr: Expr
    letters: str


@frozen
class _Equation:
    """The letters of each tensor, and those of the result; an ellipsis is written out by letters of its own."""

    terms: tuple[str, ...]
    result: str


def einsum(node: Node) -> Result:
    """Letters in both and in the result are batches, in both alone are summed over, in one and the result are kept.
    More than two tensors are taken two by two, from the left."""
    equation = _parsed(node)
    parts = [
        _diagonals(node, _squeezed(node, position, term, equation)) for position, term in enumerate(equation.terms)
    ]
    while len(parts) > 2:
        first, second, *rest = parts
        needed = equation.result + "".join(part.letters for part in rest)
        kept = "".join(dict.fromkeys(letter for letter in first.letters + second.letters if letter in needed))
        parts = [_combined(node, [first, second], kept), *rest]
    whole = _combined(node, parts, equation.result)
    return whole.expr


def _combined(node: Node, parts: list[Labelled], result: str) -> Labelled:
    """One tensor or the product of two, as `result` has their letters."""
    parts = [_summed(part, parts, result) for part in parts]
    if len(parts) == 1:
        return Labelled(_ordered(parts[0], result), result)
    product = _product(node, parts[0], parts[1], result) if _shared_sum(parts, result) else _outer(parts, result)
    return Labelled(_ordered(product, result), result)


def _parsed(node: Node) -> _Equation:
    text = node.text("equation").replace(" ", "")
    left, arrow, result = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(node.inputs):
        node.unsupported(f"{text!r} of {len(node.inputs)} tensors")
    wholes = [*terms, result]
    plain = all(not (rest := whole.replace("...", "", 1)) or (rest.isascii() and rest.isalpha()) for whole in wholes)
    given = "".join(terms).replace("...", "")
    if (
        not plain
        or not set(result.replace("...", "")) <= set(given)
        or len(set(result)) < len(result.replace("...", ""))
    ):
        node.unsupported(f"{text!r}, which is no equation")
    spare = [letter for letter in ascii_letters if letter not in given]
    widths = [node.value(at).rank - len(term.replace("...", "")) for at, term in enumerate(terms)]
    if any((width and "..." not in term) or width < 0 for width, term in zip(widths, terms, strict=True)):
        node.unsupported(f"{text!r} of {', '.join(str(node.value(at).type) for at in range(len(terms)))}")
    most = max((width for width, term in zip(widths, terms, strict=True) if "..." in term), default=0)
    if most > len(spare):
        node.unsupported(f"{text!r}, with more letters than there are")
    axes = "".join(spare[:most])
    if not arrow:
        result = "..." * ("..." in left) + "".join(sorted(letter for letter in set(given) if given.count(letter) == 1))
    full = [term.replace("...", axes[most - width :]) for width, term in zip(widths, terms, strict=True)]
    return _Equation(tuple(full), result.replace("...", axes))


def _squeezed(node: Node, position: int, term: str, equation: _Equation) -> Labelled:
    """A tensor without axes of extent 1 that are longer in another tensor: there they are repeated."""
    value = node.value(position)
    others = [
        (letter, extent)
        for at, letters in enumerate(equation.terms)
        for letter, extent in zip(letters, node.value(at).shape, strict=True)
    ]
    longer = {letter for letter, extent in others if extent != 1}
    kept = [axis for axis, letter in enumerate(term) if value.shape[axis] != 1 or letter not in longer]
    if len(kept) == len(term):
        return Labelled(value.expr, term)
    shape = [value.shape[axis] for axis in kept]
    return Labelled(reshape(value.expr, shape, allowzero=True), "".join(term[axis] for axis in kept))


def _diagonals(node: Node, operand: Labelled) -> Labelled:
    """A tensor in which no letter is there twice: of equal ones, where their places are equal."""
    while repeated := next((letter for letter in operand.letters if operand.letters.count(letter) > 1), ""):
        first, second = _two(operand.letters, repeated)
        rest = [axis for axis in range(len(operand.letters)) if axis not in (first, second)]
        shape = node.type_of(operand.expr).shape
        extent = shape[first]
        if not isinstance(extent, int):
            node.unsupported(f"with {repeated} twice in one term, along a symbolic extent")
        square = transpose(operand.expr, (*rest, first, second))
        lines = reshape(square, [*(shape[axis] for axis in rest), extent * extent], allowzero=True)
        taken = strided_slice(lines, (0,), (extent * extent,), (extent + 1,), (len(rest),))
        operand = Labelled(taken, "".join(operand.letters[axis] for axis in rest) + repeated)
    return operand


def _two(letters: str, letter: str) -> tuple[int, int]:
    """The first two places of a letter."""
    first = letters.index(letter)
    return first, letters.index(letter, first + 1)


def _summed(operand: Labelled, operands: list[Labelled], result: str) -> Labelled:
    """Without the letters that neither the result nor the other tensor has."""
    needed = result + "".join(other.letters for other in operands if other is not operand)
    axes = tuple(axis for axis, letter in enumerate(operand.letters) if letter not in needed)
    if not axes:
        return operand
    return Labelled(reduce.sum(operand.expr, axes), "".join(letter for letter in operand.letters if letter in needed))


def _shared_sum(parts: list[Labelled], result: str) -> bool:
    return any(letter in parts[1].letters and letter not in result for letter in parts[0].letters)


def _product(node: Node, a: Labelled, b: Labelled, result: str) -> Labelled:
    """a[batch, m, k] × b[batch, n, k] → [batch, m, n], each of the four a group of letters made one axis."""
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
    return dict(zip(operand.letters, node.type_of(operand.expr).shape, strict=True))


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
