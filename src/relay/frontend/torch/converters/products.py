"""Matrix products.   a[.., m, k] × b[.., k, n] → [.., m, n]"""

from __future__ import annotations

from collections.abc import Callable

from relay.frontend.shared.formulas.activations import scaled
from relay.frontend.shared.formulas.einsum import einsum
from relay.frontend.shared.formulas.products import matmul, matrix_product
from relay.frontend.shared.node import Result
from relay.frontend.torch.node import Converter, TorchNode, converters
from relay.ir.expr import Expr
from relay.ops.elementwise.activation import bias_add
from relay.ops.elementwise.elementwise_binary import add, multiply
from relay.ops.manipulation.shape import expand_dims, squeeze
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.matmul import batch_matmul, dense
from relay.ops.reduction.reduce import sum as total


def _linear(node: TorchNode) -> Result:
    """x[.., k] × w[n, k] + b[n] → [.., n]"""
    x, bias = node.value(0), node.optional_value(2)
    if node.value(1).rank == 1:
        product: Expr = total(multiply(x.expr, node.expr(1)), -1)
        return product if bias is None else add(product, bias.expr)
    rows = x.expr if x.rank > 1 else expand_dims(x.expr, 0)
    result: Expr = dense(rows, node.expr(1))
    result = result if bias is None else bias_add(result, bias.expr, axis=-1)
    return result if x.rank > 1 else squeeze(result, [0])


def _added(product: Callable[[TorchNode], Expr]) -> Callable[[TorchNode], Result]:
    """beta · x + alpha · a b"""

    def convert(node: TorchNode) -> Result:
        beta, alpha = node.number(3, 1), node.number(4, 1)
        result = scaled(product(node), alpha, node.dtype)
        if beta == 0:
            return result
        addend = scaled(node.expr(0), beta, node.dtype)
        if node.value(0).shape == node.shape[-1:]:
            return bias_add(result, addend, axis=-1)
        return add(result, addend)

    return convert


def _outer(node: TorchNode) -> Result:
    return multiply(expand_dims(node.operand(0), 1), node.operand(1))


def _trilinear(node: TorchNode) -> Result:
    """The product of three tensors, each with axes of one entry at its `expand`, summed over `sumdim`."""
    factors = [node.expr(place) for place in range(3)]
    for place in range(3):
        for axis in sorted(node.ints(f"expand{place + 1}")):
            factors[place] = expand_dims(factors[place], axis)
    product = multiply(multiply(factors[0], factors[2]), factors[1])
    return total(product, node.ints("sumdim"))


PRODUCTS: tuple[Converter, ...] = (
    *converters("linear", _linear),
    *(record for name in ("matmul", "mm", "bmm", "mv", "dot") for record in converters(name, matmul)),
    *converters("addmm", _added(lambda node: dense(node.expr(1), transpose(node.expr(2), (1, 0))))),
    *converters(
        "addmv", _added(lambda node: squeeze(matrix_product(node, node.expr(1), expand_dims(node.expr(2), 1)), [-1]))
    ),
    *converters("baddbmm", _added(lambda node: batch_matmul(node.expr(1), node.expr(2), transpose_b=False))),
    *converters("outer", _outer),
    *converters("_trilinear", _trilinear, "expand1", "expand2", "expand3", "sumdim", "unroll_dim"),
    *converters("einsum", einsum, "equation", "path"),
)
