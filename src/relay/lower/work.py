"""How much a kernel has to do: what it was fused of, its multiply-adds, and the bytes that it must read and write.

A roofline needs these (Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", 2009).
Each input and result counts once, however often a schedule reads it: what is read again should come from a cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from relay.analysis.multiply_adds import get_total_mac_number
from relay.arith.expr import IntExpr, Symbol, add, free_symbols, minimum, multiply, substitute
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.expr import Call, Expr, Function, Op
from relay.ir.known_types import known_type
from relay.ir.traversal import post_order
from relay.ir.type_traversal import has_unknown_dimension
from relay.ir.types import TensorType
from relay.lower.kernels.group import leaf_types
from relay.lower.kernels.index_faults import tells_of_body
from relay.lower.kernels.updates import updated_input, updated_part
from relay.lower.planning.kernel_calls import size_bytes
from relay.lower.program.place import ConstantPlace
from relay.lower.program.program import Program
from relay.ops.framework.record import FusionKind, OperatorRecord
from relay.runtime.artefact.work import KernelWork


@frozen
class KernelUse:
    """How a program calls a kernel: with how many pointers, and which inputs are constants in every call."""

    pointers: int
    constants: frozenset[int]


def kernel_uses(program: Program) -> dict[str, KernelUse]:
    """The kernels that a program calls, in the order of their calls."""
    found: dict[str, KernelUse] = {}
    for name, inputs, pointers in _calls(program):
        constants = frozenset(position for position, each in enumerate(inputs) if isinstance(each, ConstantPlace))
        known = found.get(name)
        found[name] = KernelUse(pointers, constants if known is None else known.constants & constants)
    return found


def _calls(program: Program) -> Iterator[tuple[str, Sequence[object], int]]:
    for procedure in program.procedures:
        for region in procedure.regions():
            calls = (each for each in region.calls if not each.on_device)
            yield from ((each.kernel, each.inputs, len(each.arguments)) for each in calls)


def kernel_work(name: str, function: Function, symbols: Sequence[Symbol], use: KernelUse) -> KernelWork:
    """The work of a primitive function; `symbols` are the extents that a call passes, here named by their position.

    A kernel without sums reads no more elements of an input than it writes: a gather does not read its whole table. One
    that changes a part of a tensor writes as many elements as it is given for that part, and leaves the others alone.
    """
    own = {symbol: Symbol(f"s{position}") for position, symbol in enumerate(symbols)}
    operators = [call for call in post_order(function.body) if isinstance(call, Call) and isinstance(call.op, Op)]
    tells = tells_of_body(function)
    inputs = [leaf for parameter in function.params for leaf in leaf_types(known_type(parameter))]
    updated, part = updated_input(function), updated_part(function)
    results = leaf_types(known_type(function.body)) if part is None else (part,)
    gathers = not tells and all(map(_has_no_sums, operators))

    def count(exact: Callable[[], IntExpr]) -> IntExpr | None:
        return None if tells else _in_symbols(exact, own)

    def read(positions: Iterable[int]) -> IntExpr:
        return _total(
            _read_bytes(inputs[position], results if gathers else ()) for position in positions if position != updated
        )

    varying = [position for position in range(len(inputs)) if position not in use.constants]
    return KernelWork(
        name=name,
        operators=tuple(str(getattr(call.op, "name", call.op)) for call in operators),
        pointers=use.pointers,
        symbols=tuple(own.values()),
        dtype=_dtype(operators, results),
        multiply_adds=count(lambda: get_total_mac_number(function)),
        constant_bytes=count(lambda: read(sorted(use.constants))),
        value_bytes=count(lambda: add(read(varying), _total(map(size_bytes, results)))),
    )


def _in_symbols(exact: Callable[[], IntExpr], own: dict[Symbol, Symbol]) -> IntExpr | None:
    """A count in the kernel's symbols; None where these do not tell it."""
    try:
        found = exact()
    except RelayError:  # an extent that no symbol stands for
        return None
    return substitute(found, own) if free_symbols(found) <= own.keys() else None


def _read_bytes(type_: TensorType, results: Sequence[TensorType]) -> IntExpr:
    """The bytes of an input, and no more than one element for each of `results`, if there are any."""
    whole = size_bytes(type_)
    if not results or any(map(has_unknown_dimension, results)):
        return whole
    elements = _total(size_bytes(each) // each.dtype.item_bytes for each in results)
    return minimum(whole, multiply(elements, type_.dtype.item_bytes))


def _total(parts: Iterable[IntExpr]) -> IntExpr:
    total: IntExpr = 0
    for part in parts:
        total = add(total, part)
    return total


def _has_no_sums(call: Call) -> bool:
    match call.op:
        case Op(operator=OperatorRecord(fusion=kind)):
            return kind <= FusionKind.INJECTIVE
        case _:
            return False


def _dtype(operators: Sequence[Call], results: Sequence[TensorType]) -> DType:
    """The type of the factors of the first product; where there is none, of the first result."""
    for call in operators:
        if isinstance(call.op, Op) and call.op.operator.multiply_adds is not None:
            factor: Expr = call.args[0]
            return leaf_types(known_type(factor))[0].dtype
    return results[0].dtype
