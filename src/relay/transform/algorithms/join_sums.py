"""Take sums of products of one shape as one product, which sums over all of their axes: JoinSumsOfProducts.

    before: add(nn.matmul(%a, %b, transpose_a=True), nn.matmul(%c, %d, transpose_a=True))
    after:  nn.matmul(concatenate((%a, %c)), concatenate((%b, %d)), transpose_a=True)

What a weight that is used many times gets from each of its uses is such a sum: each product alone writes a matrix as
large as the weight, and reads the sum of those before it; together they write it once. Joined are products whose
factors, which are put side by side, are smaller than the results that are not written. Floating point: ROUNDING.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.expr import Call, Expr, Function, Op
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes, uses_in
from relay.ir.traversal import post_order
from relay.ir.types import TensorType
from relay.ops.elementwise.elementwise_binary import ADD, add
from relay.ops.manipulation.combine import concatenate
from relay.ops.nn.matmul import MATMUL, MatmulAttributes, matmul
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass


@function_pass(level=3, floating_point=FloatingPointClass.ROUNDING)
def JoinSumsOfProducts(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Take sums of products of transposed matrices as one product."""
    sums = _sums(function.body)
    made: dict[Expr, Expr] = {}

    def step(node: Expr, rebuilt: Expr) -> Expr:
        made[node] = _joined(sums[node], made) if node in sums else rebuilt
        return made[node]

    return rewrite_nodes(function, step) if sums else function


@frozen(eq=False)
class _Sum:
    """The terms of a sum, and which of them are products that are worth joining."""

    terms: tuple[Expr, ...]
    products: frozenset[Expr]


def _sums(body: Expr) -> dict[Expr, _Sum]:
    """The sums with products that are worth joining. Sums inside of a sum are not told apart."""
    nodes = post_order(body)
    if not any(map(_is_product, nodes)):
        return {}
    uses = uses_in(body)
    terms: dict[Expr, list[Expr]] = {}
    for node in nodes:
        match node:
            case Call(op=Op(operator=operator), args=arguments) if operator is ADD:
                left, right = (terms.pop(x) if _is_inner(x, node, terms, uses.of(x)) else [x] for x in arguments)
                terms[node] = _together(left, right)
            case _:
                pass
    found: dict[Expr, _Sum] = {}
    for node, each in terms.items():
        type_ = node.checked_type
        products = [x for x in each if x.checked_type == type_ and uses.of(x) == 1 and _is_product(x)]
        if _are_worth_joining(products):
            found[node] = _Sum(tuple(each), frozenset(products))
    return found


def _together(left: list[Expr], right: list[Expr]) -> list[Expr]:
    """Both, one behind the other, in the longer list: a long sum is gone through once."""
    if len(left) < len(right):
        right[:0] = left
        return right
    left += right
    return left


def _is_inner(term: Expr, whole: Expr, terms: Mapping[Expr, list[Expr]], uses: int) -> bool:
    """Whether a term is a sum of the same shape, which nothing else reads."""
    return term in terms and uses == 1 and term.checked_type == whole.checked_type


def _is_product(expr: Expr) -> bool:
    """Whether an expression is a product that sums over the first axes of two matrices."""
    match expr:
        case Call(op=Op(operator=operator), args=(left, right), attrs=MatmulAttributes() as attributes):
            known = [each for part in (left, right) for each in _extents(part)]
            plain = attributes.transpose_a and not attributes.transpose_b and attributes.out_dtype is None
            return operator is MATMUL and plain and len(known) == 2 + 2
        case _:
            return False


def _extents(expr: Expr) -> list[int]:
    type_ = expr.checked_type
    return [each for each in type_.shape if isinstance(each, int)] if isinstance(type_, TensorType) else []


def _are_worth_joining(products: Sequence[Expr]) -> bool:
    factors = [each.args for each in products if isinstance(each, Call)]
    if len(factors) < 2:
        return False
    depth = sum(_extents(left)[0] for left, _ in factors)
    rows, columns = _extents(products[0])
    return depth * (rows + columns) <= (len(factors) - 1) * rows * columns


def _joined(sum_: _Sum, made: Mapping[Expr, Expr]) -> Expr:
    """The sum, with its products as one in the place of the first."""
    calls = [new for new in (made[each] for each in sum_.terms if each in sum_.products) if isinstance(new, Call)]
    left, right = (concatenate([each.args[side] for each in calls], axis=0) for side in (0, 1))
    together, terms = matmul(left, right, transpose_a=True), list[Expr]()
    for each in sum_.terms:
        if each not in sum_.products:
            terms.append(made[each])
        elif together not in terms:
            terms.append(together)
    return reduce(add, terms)
