"""Matrix products and determinants: MatMul, Gemm, Det.   a[.., m, k] × b[.., k, n] → [.., m, n]"""

from __future__ import annotations

from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.formulas.determinant import LARGEST, determinant
from relay.frontend.shared.formulas.products import matmul
from relay.frontend.shared.node import Result, converter
from relay.ir.expr import Expr, const
from relay.ops.elementwise.activation import bias_add
from relay.ops.elementwise.elementwise_binary import add, multiply
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.matmul import dense


def _gemm(node: OnnxNode) -> Result:
    """alpha · a · b + beta · c, with a and b transposed on demand; c broadcasts."""
    a, b, c = node.value(0), node.value(1), node.optional_value(2)
    if a.rank != 2 or b.rank != 2:
        node.unsupported(f"of {a.type} and {b.type}")
    left = transpose(a.expr, (1, 0)) if node.int("transA") else a.expr
    right = b.expr if node.int("transB") else transpose(b.expr, (1, 0))
    result: Expr = dense(left, right)
    alpha, beta = node.float("alpha"), node.float("beta")
    if alpha != 1:
        result = multiply(result, const(alpha, a.dtype))
    if c is None or beta == 0:
        return result
    addend = c.expr if beta == 1 else multiply(c.expr, const(beta, a.dtype))
    columns = b.shape[0 if node.int("transB") else 1]
    if c.rank == 1 and c.shape[0] == columns:
        return bias_add(result, addend, axis=-1)
    return add(result, addend)


def _det(node: OnnxNode) -> Result:
    value = node.value(0)
    size = value.shape[-1] if value.rank >= 2 else None
    if not isinstance(size, int) or value.shape[-2] != size or size > LARGEST:
        node.unsupported(f"of {value.type}, which is not [.., n, n] of at most {LARGEST} rows")
    return determinant(value.expr, value.shape[:-2], size, value.dtype)


PRODUCTS: tuple[Converter, ...] = (
    converter("Det", _det),
    converter("MatMul", matmul),
    converter("Gemm", _gemm, "alpha", "beta", "transA", "transB"),
)
