"""Whether levels are faster than the recursion, by an estimate of both.

Alone, every instance reads the matrices of its clause for one row. On a level they are read once, and what instances
cost is the products of their rows; but each level, however many instances it has, runs kernels of its own (addresses
are stacked and looked at), and each instance goes through lists. So

    alone      Σ instances of c · alone(c)
    by levels  start + depth · level + Σ instances of c · batched(c) (+ values · listed, of a list)

where depth is the number of levels with instances that recurse. A run knows instances and depth from the values that it
is given: it takes levels where the gains, `WORTH_IT` · alone(c) − batched(c), exceed the rest. Where no clause gains
anything there is nothing to decide, and nothing is batched.

What a machine does in a nanosecond is the target's to say (`Rates`). The other constants count kernels, and cells on
the heap, in what `linearize`, `levels` and `stacking` generate. Alone, the few kernels of a clause run again and again;
on a level each of them runs once, and dozens of others before it runs again. Elementwise work is the same on both
sides, and left out.
"""

from __future__ import annotations

from relay.base.frozen import frozen
from relay.ir.expr import Call, Constant, Expr, Op
from relay.ir.known_types import known_tensor_type
from relay.ir.traversal import post_order
from relay.ir.types import TensorType
from relay.ops.framework.record import FusionKind, OperatorRecord
from relay.ops.nn.matmul import DenseAttributes, MatmulAttributes, size_of
from relay.transform.batching.recursion import Recursion
from relay.transform.framework.context import Rates

WORTH_IT = 0.9
"""The share of the time alone under which levels are taken: estimates are not exact, and near it little is lost."""

KERNELS_OF_RESULT = 4
"""On a level, for the addresses of the results of one recursive call: they are stacked, and tell rows and sources."""
KERNELS_OF_START = 16

_CELLS_OF_INSTANCE = 3  # its place on a list, its address, the place of that
_CELLS_OF_FIELD = 1
_CELLS_OF_LEVEL = 3
_CELLS_OF_LISTED = 3  # its place on the reversed list, its result, the place of that
_CELLS_IN_A_CALL = 0.5  # a cell, made and released, and its share of the kernels that stack; as a share of a call


@frozen
class Costs:
    """The parts of the estimate, in nanoseconds: of each clause what an instance gains, of a level, of the start.
    `calls`: how often a clause calls the function itself. `listed`: what a value of a list costs, whose result is
    taken from the rows of all.

    >>> Costs(gains=(-10, 40), calls=(0, 2), level=500, start=900, listed=100).may_pay
    True
    >>> Costs(gains=(-50, 40), calls=(0, 2), level=500, start=900, listed=100).may_pay
    False
    """

    gains: tuple[int, ...]
    calls: tuple[int, ...]
    level: int
    start: int
    listed: int

    @property
    def may_pay(self) -> bool:
        """Whether levels of many instances are worth it: with each instance of `n` calls come `n - 1` that end."""
        pairs = tuple(zip(self.gains, self.calls, strict=True))
        end = max((gain for gain, calls in pairs if not calls), default=0)
        return end > 0 or any(gain + (calls - 1) * end > 0 for gain, calls in pairs if calls)


def costs_of(recursion: Recursion, rates: Rates) -> Costs:
    """The estimate for a recursion on a machine."""
    products = [_products(clause.body) for clause in recursion.clauses]
    stored_bytes = sum(each.matrix_bytes for of_clause in products for each in of_clause)
    streamed = rates.streamed_products if stored_bytes <= rates.near_bytes else rates.far_products
    packed_bytes = sum(each.packed_bytes for of_clause in products for each in of_clause)
    copied = rates.copied_bytes if packed_bytes <= rates.cached_bytes else rates.far_copied_bytes
    kernel = rates.call_nanoseconds
    cell = _CELLS_IN_A_CALL * kernel
    level, start, gains = _CELLS_OF_LEVEL * cell, KERNELS_OF_START * kernel + packed_bytes / copied, list[int]()
    for clause, found in zip(recursion.clauses, products, strict=True):
        tiled = sum(each.multiply_adds / rates.tiled_products for each in found)
        rows_apart = sum(each.along_rows * rates.sum_nanoseconds for each in found)
        reading = sum(max(0.0, each.elements / streamed - each.multiply_adds / rates.tiled_products) for each in found)
        kernels = _kernels(clause.body)
        if clause.calls:
            level += reading + (kernels + KERNELS_OF_RESULT * len(clause.calls)) * kernel
        else:
            start += reading + kernels * kernel
        batched = tiled + (_CELLS_OF_INSTANCE + _CELLS_OF_FIELD * len(clause.fields)) * cell
        alone = tiled + reading + rows_apart + kernels * rates.repeated_call_nanoseconds
        gains.append(round(WORTH_IT * alone - batched))
    calls = tuple(len(clause.calls) for clause in recursion.clauses)
    return Costs(tuple(gains), calls, round(level), round(start), round(kernel + _CELLS_OF_LISTED * cell))


def _kernels(body: Expr) -> int:
    """How many kernels a clause is, about: what fuses with nothing in front of it starts one, and ends one."""
    records = [
        node.op.operator
        for node in post_order(body)
        if isinstance(node, Call) and isinstance(node.op, Op) and isinstance(node.op.operator, OperatorRecord)
    ]
    heavy = sum(record.fusion > FusionKind.INJECTIVE for record in records)
    return 2 * heavy + any(not record.is_view for record in records)


@frozen
class _Product:
    """A product of an instance's rows and a matrix of all instances. `along_rows`: sums that are taken along rows of
    both when it is computed alone. `packed_bytes`: of a matrix that must be packed first for levels."""

    multiply_adds: int
    elements: int
    matrix_bytes: int
    along_rows: int
    packed_bytes: int


def _products(body: Expr) -> list[_Product]:
    """Those in the body of a clause."""
    return [found for node in post_order(body) if isinstance(node, Call) and (found := _product(node)) is not None]


def _product(call: Call) -> _Product | None:
    """None for what is no such product, or has extents that are not known."""
    match call.attrs, call.checked_type:
        case DenseAttributes() | MatmulAttributes() as attributes, TensorType() as result:
            matrix = known_tensor_type(call.args[1])
        case _:
            return None
    elements, results, columns = size_of(matrix), size_of(result), result.shape[-1]
    if not isinstance(elements, int) or not isinstance(results, int) or not isinstance(columns, int) or not columns:
        return None
    given = not isinstance(call.args[1], Constant)
    along_rows = given and (isinstance(attributes, DenseAttributes) or attributes.transpose_b)
    matrix_bytes = elements * matrix.dtype.item_bytes
    return _Product(
        multiply_adds=results // columns * elements,
        elements=elements,
        matrix_bytes=matrix_bytes,
        along_rows=results if along_rows else 0,
        packed_bytes=matrix_bytes if given else 0,
    )
