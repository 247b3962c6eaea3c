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

from collections.abc import Mapping, Sequence

from relay.base.frozen import frozen
from relay.ir.expr import Call, Constant, Expr, Op, Var
from relay.ir.known_types import known_tensor_type
from relay.ir.types import TensorType
from relay.ops.framework.record import FusionKind, OperatorRecord
from relay.ops.nn.matmul import DenseAttributes, MatmulAttributes, size_of
from relay.transform.batching.recursions.clause_form import ClauseForm
from relay.transform.batching.recursions.recursion import Recursion
from relay.transform.framework.context import Rates

WORTH_IT = 0.9
"""The share of the time alone under which levels are taken: estimates are not exact, and near it little is lost."""

KERNELS_OF_RESULT = 4
"""On a level, for the addresses of the results of one recursive call: they are stacked, and tell rows and sources."""
KERNELS_OF_OWNERS = 4
"""On a level, for who owns the elements of lists, and for adding them up."""
KERNELS_OF_STATES = 3
"""On a level, for states that are handed on: they are gathered, computed and joined."""
KERNELS_OF_START = 16

_CELLS_OF_INSTANCE = 3  # its place on a list, its address, the place of that
_CELLS_OF_FIELD = 1
_CELLS_OF_ELEMENT = 2  # its place on the joined list, its owner
_CELLS_OF_LEVEL = 3
_CELLS_OF_LISTED = 3  # its place on the reversed list, its result, the place of that
_CELLS_IN_A_CALL = 0.5  # a cell, made and released, and its share of the kernels that stack; as a share of a call


@frozen
class ClauseCosts:
    """Of a clause: what an instance gains, in nanoseconds; of each of its branches what an element of its list does (0
    where it is on one value); and on how many single values it calls."""

    gain: int
    elements: tuple[int, ...] = ()
    calls: int = 0


@frozen
class Costs:
    """The parts of the estimate, in nanoseconds: of each clause, of a level, of the start. `listed`: what a value of a
    list costs, whose result is taken from the rows of all.

    >>> Costs((ClauseCosts(-10), ClauseCosts(40, (0, 0), 2)), level=500, start=900, listed=100).may_pay
    True
    >>> Costs((ClauseCosts(-50), ClauseCosts(40, (0, 0), 2)), level=500, start=900, listed=100).may_pay
    False
    """

    clauses: tuple[ClauseCosts, ...]
    level: int
    start: int
    listed: int

    @property
    def may_pay(self) -> bool:
        """Whether levels of many instances are worth it: with each instance of `n` calls come `n - 1` that end, and
        nearly every one is an element if any is."""
        end = max((each.gain for each in self.clauses if not each.elements), default=0)
        return end > 0 or any(
            each.gain + max(0, each.calls - 1) * end + max(each.elements) > 0 for each in self.clauses if each.elements
        )


def costs_of(recursion: Recursion, rates: Rates) -> Costs:
    """The estimate for a recursion on a machine."""
    forms = recursion.clauses
    products = [_products(form.nodes) for _, form in forms]
    stored_bytes = sum(each.matrix_bytes for of_clause in products for each in of_clause.values())
    streamed = rates.streamed_products if stored_bytes <= rates.near_bytes else rates.far_products
    packed_bytes = sum(each.packed_bytes for of_clause in products for each in of_clause.values())
    copied = rates.copied_bytes if packed_bytes <= rates.cached_bytes else rates.far_copied_bytes
    kernel = rates.call_nanoseconds
    cell = _CELLS_IN_A_CALL * kernel
    level, start = _CELLS_OF_LEVEL * cell, KERNELS_OF_START * kernel + packed_bytes / copied
    clauses: list[ClauseCosts] = []
    for (member, form), found in zip(forms, products, strict=True):
        apart = {element: _part(form, found, rates, streamed, element) for element in _elements(form)}
        own = apart.pop(None)
        reading = own.reading + sum(each.reading for each in apart.values())
        kernels = own.kernels + sum(each.kernels for each in apart.values())
        if member.on_levels(form):
            results = KERNELS_OF_RESULT * len(form.branches) + KERNELS_OF_OWNERS * len(apart)
            level += reading + (kernels + results) * kernel
            level += KERNELS_OF_STATES * sum(bool(branch.states) for branch in form.branches) * kernel
        else:
            start += reading + kernels * kernel
        cells = _CELLS_OF_INSTANCE + _CELLS_OF_FIELD * (len(form.fields) + len(member.states))
        of_elements = tuple(
            0 if branch.element is None else round(apart[branch.element].gain - _CELLS_OF_ELEMENT * cell)
            for branch in form.branches
        )
        calls = sum(not branch.many for branch in form.branches)
        clauses.append(ClauseCosts(round(own.gain - cells * cell), of_elements, calls))
    return Costs(tuple(clauses), round(level), round(start), round(kernel + _CELLS_OF_LISTED * cell))


@frozen
class _Part:
    """What a clause computes for each instance, or for each element: what the products gain, what reading matrices once
    takes, and how many kernels there are."""

    gain: float
    reading: float
    kernels: int


def _elements(form: ClauseForm) -> list[Var | None]:
    """None for the instance itself, and the elements of the lists that its branches are on."""
    return list(dict.fromkeys([None, *(branch.element for branch in form.branches)]))


def _part(
    form: ClauseForm, products: Mapping[Expr, _Product], rates: Rates, streamed: float, element: Var | None
) -> _Part:
    nodes = [node for node in form.nodes if form.elements.get(node) is element]
    found = [products[node] for node in nodes if node in products]
    tiled = sum(each.multiply_adds / rates.tiled_products for each in found)
    rows_apart = sum(each.along_rows * rates.sum_nanoseconds for each in found)
    reading = sum(max(0.0, each.elements / streamed - each.multiply_adds / rates.tiled_products) for each in found)
    kernels = _kernels(nodes)
    alone = tiled + reading + rows_apart + kernels * rates.repeated_call_nanoseconds
    return _Part(WORTH_IT * alone - tiled, reading, kernels)


def _kernels(nodes: Sequence[Expr]) -> int:
    """How many kernels these are, about: what fuses with nothing in front of it starts one, and ends one."""
    records = [
        node.op.operator
        for node in nodes
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


def _products(nodes: Sequence[Expr]) -> dict[Expr, _Product]:
    """Those among the nodes of a clause."""
    return {node: found for node in nodes if isinstance(node, Call) and (found := _product(node)) is not None}


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
