"""What a clause computes that is the same for all instances: matrices in panels, and all that is made once for a call.

    before: @f_Node(%of_left, …, %w) { … nn.dense(%rows, %w) … }
    after:  @f_Node_shared(%w) { (transpose(reshape(%w)),) }                       once, in front of all levels
            @f_Node(%of_left, …, %w, %shared) { … nn.contrib_dense_pack(%rows, %shared) … }

The kernels of products want their second matrix in panels as wide as a tile of registers. Without this, a matrix that
is given would be transposed on every level; of a constant the panels are made when the program is compiled. Only values
of known extents move: nothing is checked when they are computed, so nobody can tell when that is.
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.base.dtypes import DType
from relay.ir.expr import Call, Constant, Expr, Op, Tuple, TupleGetItem, Var
from relay.ir.known_types import known_tensor_type
from relay.ir.rewriting import typed_as
from relay.ir.traversal import children, post_order
from relay.ir.type_traversal import is_closed
from relay.ir.types import TensorType
from relay.ops.framework.record import OperatorRecord
from relay.ops.manipulation.pad import pad
from relay.ops.manipulation.shape import reshape
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.matmul import DENSE_PACK, DenseAttributes, DensePackAttributes, MatmulAttributes
from relay.transform.batching.rows import Batched, Rows, Shared
from relay.transform.framework.context import fitting_block


def with_panels(call: Call, args: tuple[Batched, ...], blocks: tuple[int, ...]) -> tuple[Call, tuple[Batched, ...]]:
    """A product of rows and a matrix of all instances, with that in panels; other calls as they are. `blocks`: the
    widths of panels that the target's kernels are made for."""
    match call.attrs, args:
        case DenseAttributes(), (Rows() as rows, Shared() as matrix):
            columns_first = True
        case MatmulAttributes(transpose_a=False), (Rows() as rows, Shared() as matrix):
            columns_first = call.attrs.transpose_b
        case _:
            return call, args
    extents = matrix.type.shape if columns_first else matrix.type.shape[::-1]
    units, depth = (extent if isinstance(extent, int) else 0 for extent in extents)
    if not blocks or not units or not depth or {matrix.type.dtype, rows.type.dtype} != {DType.FLOAT32}:
        return call, args
    packed = _panels(matrix.expr, units, depth, fitting_block(blocks, units), columns_first)
    product = Call(DENSE_PACK.op, call.args, DensePackAttributes(units, call.attrs.out_dtype), span=call.span)
    return typed_as(product, call), (rows, Shared(packed, known_tensor_type(packed)))


def _panels(matrix: Expr, units: int, depth: int, block: int, columns_first: bool) -> Expr:
    """matrix[units, depth], or [depth, units] → [ceil(units / block), depth, block], with zeros behind the last."""
    count = -(-units // block)
    if count * block != units:
        behind, none = (0, count * block - units), (0, 0)
        matrix = pad(matrix, (behind, none) if columns_first else (none, behind))
    if columns_first:
        return transpose(reshape(matrix, (count, block, depth)), (0, 2, 1))
    return transpose(reshape(matrix, (depth, count, block)), (1, 0, 2))


def shared_parts(body: Expr, invariants: Sequence[Var]) -> tuple[Expr, ...]:
    """What a clause's result is made of that depends on `invariants` alone and is more than a view of them: the
    largest such tensors."""
    same: set[Expr] = {*invariants}
    work: set[Expr] = set()
    for node in post_order(body):
        parts = [part for part in children(node) if not isinstance(part, Op | Constant)]
        if isinstance(node, Call | Tuple | TupleGetItem) and parts and all(part in same for part in parts):
            same.add(node)
            if _computes(node) or any(part in work for part in parts):
                work.add(node)
    found: dict[Expr, None] = {}
    met: set[Expr] = set()
    stack = [body]
    while stack:
        node = stack.pop()
        if node not in met:
            met.add(node)
            if node in work and isinstance(node.checked_type, TensorType) and is_closed(node.checked_type):
                found[node] = None
            else:
                stack += children(node)
    return tuple(found)


def _computes(node: Expr) -> bool:
    """Whether a node is more than another view of a tensor."""
    match node:
        case Call(op=Op(operator=OperatorRecord() as record)):
            return not record.is_view
        case _:
            return False
