"""Take terms of a sum together: JoinSums.

    before: add(nn.matmul(%a, %b, transpose_a=True), nn.matmul(%c, %d, transpose_a=True))
    after:  nn.matmul(concatenate((%c, %a)), concatenate((%d, %b)), transpose_a=True)

    before: add(nn.pad(%a, 0, pad_width=[[2, 0]]), nn.pad(%b, 0, pad_width=[[0, 3]]))      (%a of 3 elements, %b of 2)
    after:  concatenate((%b, %a))

What a value gets on the way back from each of its uses is such a sum. A weight gets products, each of which writes a
matrix as large as the weight and reads the sum of those before it; together they write it once. They are joined where
their factors, which are put side by side, are smaller than the results that are not written. What is cut in slices
gets each with zeros around; those that do not overlap are put side by side. The way back begins at the last use, so
factors stand in the other order than terms, which is that of slices. Floating point: ROUNDING.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from heapq import heappush, heapreplace

from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.expr import Call, Constant, Expr, Function, Op
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes, uses_in
from relay.ir.traversal import post_order
from relay.ir.types import TensorType
from relay.ops.elementwise.elementwise_binary import ADD, add
from relay.ops.manipulation.combine import concatenate
from relay.ops.manipulation.pad import PAD, PadAttributes, pad
from relay.ops.nn.matmul import MATMUL, MatmulAttributes, matmul
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass


@function_pass(level=3, floating_point=FloatingPointClass.ROUNDING)
def JoinSums(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Take products of transposed matrices as one product, and put slices with zeros around side by side."""
    sums = _sums(function.body)
    made: dict[Expr, Expr] = {}

    def step(node: Expr, rebuilt: Expr) -> Expr:
        made[node] = sums[node].joined(made) if node in sums else rebuilt
        return made[node]

    return rewrite_nodes(function, step) if sums else function


@frozen(eq=False)
class _Group:
    """Terms that are joined, in the order in which they are, and by what."""

    terms: Sequence[Expr]
    join: Callable[[Sequence[Call]], Expr]


@frozen(eq=False)
class _Sum:
    """The terms of a sum, and which of them are joined."""

    terms: tuple[Expr, ...]
    groups: tuple[_Group, ...]

    def joined(self, made: Mapping[Expr, Expr]) -> Expr:
        """The sum, with each group as one term in the place of its first. `made` stands for terms."""
        group_of = {term: group for group in self.groups for term in group.terms}
        terms, seen = list[Expr](), set[_Group]()
        for term in self.terms:
            group = group_of.get(term)
            if group is None:
                terms.append(made[term])
            elif group not in seen:
                seen.add(group)
                terms.append(group.join([new for new in map(made.__getitem__, group.terms) if isinstance(new, Call)]))
        return reduce(add, terms)


def _sums(body: Expr) -> dict[Expr, _Sum]:
    """The sums with terms to join. Sums inside of a sum are not told apart."""
    nodes = post_order(body)
    if not any(_is_product(each) or _slice(each) is not None for each in nodes):
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
        own = [x for x in each if x.checked_type == node.checked_type and uses.of(x) == 1]
        groups = (*_products(own), *_slices(own))
        if groups:
            found[node] = _Sum(tuple(each), groups)
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


# -------------------------------------------------------------------------------------------------------- products


def _products(terms: Sequence[Expr]) -> Iterator[_Group]:
    """The products among terms, if they are worth joining."""
    products = [each for each in reversed(terms) if isinstance(each, Call) and _is_product(each)]
    if len(products) > 1:
        depth = sum(_extents(each.args[0])[0] for each in products)
        rows, columns = _extents(products[0])
        if depth * (rows + columns) <= (len(products) - 1) * rows * columns:
            yield _Group(products, _product)


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


def _product(calls: Sequence[Call]) -> Expr:
    left, right = (concatenate([each.args[side] for each in calls], axis=0) for side in (0, 1))
    return matmul(left, right, transpose_a=True)


# ---------------------------------------------------------------------------------------------------------- slices


@frozen
class _Slice:
    """Where what a term has zeros around lies in it: from `begin` to `end` of an axis of `extent`."""

    axis: int
    begin: int
    end: int
    extent: int


def _slice(expr: Expr) -> _Slice | None:
    """The slice that an expression has zeros around, along one axis."""
    type_ = expr.checked_type
    match expr:
        case Call(op=Op(operator=operator), args=(_, value), attrs=PadAttributes(widths, "constant")) if (
            operator is PAD and isinstance(value, Constant) and not value.data.any() and isinstance(type_, TensorType)
        ):
            padded = [axis for axis, width in enumerate(widths) if width != (0, 0)]
            extents = [type_.shape[axis] for axis in padded]
            if len(padded) != 1 or min(widths[padded[0]]) < 0 or not isinstance(extents[0], int):
                return None
            before, after = widths[padded[0]]
            return _Slice(padded[0], before, extents[0] - after, extents[0])
        case _:
            return None


def _slices(terms: Sequence[Expr]) -> Iterator[_Group]:
    """Slices that do not overlap, in as few groups as there can be: each goes behind the slice that ends first."""
    found = [(place, term) for term in terms if (place := _slice(term)) is not None]
    groups: list[list[tuple[_Slice, Expr]]] = []
    ends: dict[int, list[tuple[int, int]]] = {}  # heaps: where the groups of an axis end, and which they are
    for place, term in sorted(found, key=lambda each: each[0].begin):
        heap = ends.setdefault(place.axis, [])
        if heap and heap[0][0] <= place.begin:
            _, at = heapreplace(heap, (place.end, heap[0][1]))
            groups[at].append((place, term))
        else:
            heappush(heap, (place.end, len(groups)))
            groups.append([(place, term)])
    for group in groups:
        if len(group) > 1:
            places, members = zip(*group, strict=True)
            yield _Group(members, partial(_side_by_side, places))


def _side_by_side(places: Sequence[_Slice], calls: Sequence[Call]) -> Expr:
    """What the calls have zeros around, one behind the other, with zeros where there is nothing."""
    parts, reached = list[Expr](), 0
    for place, each in zip(places, calls, strict=True):
        behind = place.extent - place.end if each is calls[-1] else 0
        parts.append(_padded(each, (place.begin - reached, behind)))
        reached = place.end
    return concatenate(parts, axis=places[0].axis)


def _padded(call: Call, width: tuple[int, int]) -> Expr:
    """What a call has zeros around, with others in their place."""
    assert isinstance(call.attrs, PadAttributes)
    data, zero = call.args
    widths = [width if each != (0, 0) else each for each in call.attrs.pad_width]
    return pad(data, widths, zero) if any(width) else data
